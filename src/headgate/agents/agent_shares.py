"""How many jobs a runner works on at once, shared fairly among agents.

An agent whose other side hangs keeps what it holds for long. So each may hold a few times as many slots as are free, and no
more: the fuller a runner is, the less of it one agent can take, and there is room for the next one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

AgentKey = tuple[str, str]
"""Workspace and name."""
MOST_AT_ONCE = 96
TIMES_FREE = 3
"""One agent alone gets three quarters."""


class AgentShares:
    """A reading of who holds how many; takes are counted as they come."""

    def __init__(self, most: int, held: Iterable[AgentKey]) -> None:
        self._held = Counter(held)
        self._free = max(0, most - self._held.total())

    @property
    def full(self) -> tuple[AgentKey, ...]:
        """Those that get nothing more now."""
        return tuple(agent for agent in self._held if self._room(agent) == 0)

    @property
    def step(self) -> int:
        """How many can be taken, whoever they turn out to be of, the full ones left aside."""
        rooms = [self._room(agent) for agent in self._held if self._room(agent) > 0]
        return min([*rooms, self._room(None)])

    def take(self, agent: AgentKey) -> bool:
        if self._room(agent) == 0:
            return False
        self._held[agent] += 1
        self._free -= 1
        return True

    def _room(self, agent: AgentKey | None) -> int:
        """The last free slots go one by one, to whoever holds none."""
        held = self._held[agent] if agent is not None else 0
        room = (TIMES_FREE * self._free - held) // (TIMES_FREE + 1)
        return max(room, 1 if self._free and not held else 0)
