"""What waits for its turn at the worker."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from typing import Any

import msgspec

from headgate.runtime.commands import ENGINE, Caller, Command, Idempotency, Question


class WorkItem(msgspec.Struct, eq=False):
    """A command or a question with the future that its answer goes to. The answer is kept until it is committed."""

    workspace: str
    command: Command[Any] | None = None
    question: Question[Any] | None = None
    caller: Caller = Caller("")
    idempotency: Idempotency | None = None
    alone: bool = False
    future: Future[Any] = msgspec.field(default_factory=Future)
    result: Any = None
    error: BaseException | None = None

    def settle(self) -> None:
        """The other side may have stopped waiting."""
        try:
            if self.error is not None:
                self.future.set_exception(self.error)
            else:
                self.future.set_result(self.result)
        except InvalidStateError:
            pass

    def fail(self, error: BaseException) -> None:
        self.error = error
        self.settle()


class WaitingLine:
    """Who waits at the worker, by workspace. Filled and emptied by its thread; others only count in."""

    def __init__(self, most_of_one: int) -> None:
        self._most_of_one = most_of_one
        self._lock = threading.Lock()
        self._lengths: Counter[str] = Counter()
        self._items: dict[str, deque[WorkItem]] = {}

    def has_room_for(self, item: WorkItem) -> bool:
        """Counts it in, if so."""
        with self._lock:
            if item.caller is not ENGINE and self._lengths[item.workspace] >= self._most_of_one:
                return False
            self._lengths[item.workspace] += 1
            return True

    def length_of(self, workspace: str) -> int:
        return self._lengths[workspace]

    @property
    def length(self) -> int:
        with self._lock:
            return self._lengths.total()

    @property
    def is_empty(self) -> bool:
        return not self._items

    def add(self, item: WorkItem) -> None:
        self._items.setdefault(item.workspace, deque()).append(item)

    def put_back(self, items: Sequence[WorkItem]) -> None:
        """Before all others of their workspace, as they were."""
        for item in reversed(items):
            self._items.setdefault(item.workspace, deque()).appendleft(item)
            with self._lock:
                self._lengths[item.workspace] += 1

    def next_turn(self, most_of_one: int) -> dict[str, list[WorkItem]]:
        """The oldest of each workspace; whoever has more left than that stands in line again."""
        taken: dict[str, list[WorkItem]] = {}
        for workspace, items in list(self._items.items()):
            taken[workspace] = [items.popleft() for _ in range(min(most_of_one, len(items)))]
            if not items:
                del self._items[workspace]
            with self._lock:
                self._lengths[workspace] -= len(taken[workspace])
                if not self._lengths[workspace]:
                    del self._lengths[workspace]
        return taken


def in_turn(items: Sequence[WorkItem]) -> list[list[WorkItem]]:
    """Neighbours of the same sort share a batch; a command that must be alone has one of its own."""
    groups: list[list[WorkItem]] = []
    for item in items:
        last = groups[-1] if groups else None
        if (
            last is not None
            and not item.alone
            and not last[-1].alone
            and (last[-1].question is None) == (item.question is None)
        ):
            last.append(item)
        else:
            groups.append([item])
    return groups
