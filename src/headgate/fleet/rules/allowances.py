"""How many steps a condition of a gate may take when it is asked.

A gate is asked for every target, in the one thread that serves all workspaces, so a costly one would keep everybody
waiting for as long as there are targets. All conditions of a workspace share what one look may take. A condition that
needs more than its share is given more in turn: twice as much every second turn, four times as much every fourth, up to
the most that one may take. Whose turn it is follows from the moment and the target's name, and from nothing that
happened before: an engine that was just loaded looks at all there is and still decides as the others do.
"""

from __future__ import annotations

import msgspec

from headgate.kernel import identifiers, instants
from headgate.kernel.instants import Instant

STEPS_OF_ALL = 50_000
LEAST_STEPS = 50
"""Enough to compare a few fields or to ask for a wave, however many targets there are."""
MOST_STEPS = 100_000
TURN = instants.seconds(1)


class Allowance(msgspec.Struct, frozen=True):
    """`share` is there at any time; `steps` is what there is now, and from `more_at` on there is more, if ever."""

    share: int
    steps: int
    more_at: Instant | None


def of(conditions: int, name: str, now: Instant) -> Allowance:
    """`conditions` are all that the workspace asks of its targets; `name` is that of the target."""
    share = min(max(STEPS_OF_ALL // max(conditions, 1), LEAST_STEPS), MOST_STEPS)
    place = identifiers.fnv1a_64(name)
    turn = now // TURN
    steps, every = share, 1
    while steps < MOST_STEPS and (turn + place) % (every * 2) == 0:
        steps, every = min(steps * 2, MOST_STEPS), every * 2
    if steps == MOST_STEPS:
        return Allowance(share, steps, None)
    turns_left = every * 2 - (turn + place) % (every * 2)
    return Allowance(share, steps, (turn + turns_left) * TURN)
