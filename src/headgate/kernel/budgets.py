"""How many units may change now, and how full a budget is: one function for replicas of a set, replicas of a scaling group and pods of a clique.

A unit is whatever stands at an index. Its role follows from the index and the replicas wanted now: below them it is
regular, from them up to the ceiling it is surge, above it is too many. Nothing is remembered from pass to pass.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from headgate.kernel.documents import Moment
from headgate.kernel.instants import Instant
from headgate.kernel.quantities import Quantity
from headgate.kernel.units import Unit

BudgetKind = Literal["resourceConcurrency", "failureBudget", "gradualRollout", "maxUnavailable", "maxSurge"]


class BudgetHolder(msgspec.Struct, frozen=True):
    """A resource that holds a slot, or a target that failed."""

    name: str
    since: Moment | None


class BudgetUse(msgspec.Struct, frozen=True):
    """How full a budget of the fleet is now, and who is counted there; `stopped_at` is set while failures stop the line."""

    policy: str
    rule: str
    rule_id: str
    kind: BudgetKind
    environment: str | None
    scope: str | None
    limit: int
    holders: tuple[BudgetHolder, ...]
    stopped_at: Instant | None

    @property
    def used(self) -> int:
        return len(self.holders)


class BudgetPeak(msgspec.Struct, rename="camel"):
    """How full a budget has been at most, and its limit at that moment. Those of a workload are no policy's."""

    policy: str | None
    rule: str | None
    kind: BudgetKind
    scope: str
    limit: int
    peak: int = 0
    peak_at: Moment | None = None

    def reach(self, used: int, limit: int, now: Instant) -> None:
        if used > self.peak:
            self.peak, self.peak_at, self.limit = used, now, limit


class Limits(msgspec.Struct, frozen=True):
    replicas: int
    max_unavailable: int
    max_surge: int

    @property
    def floor(self) -> int:
        """No deletion of ours takes the available units below it."""
        return self.replicas - self.max_unavailable

    @property
    def ceiling(self) -> int:
        """No creation of ours takes the units that are not terminating above it."""
        return self.replicas + self.max_surge


def limits(replicas: int, unavailable: Quantity, surge: Quantity) -> Limits:
    """Both resolving to nothing would wait for ever, so then one unit may be down."""
    max_unavailable = min(unavailable.resolve(replicas, "down"), replicas)
    max_surge = surge.resolve(replicas, "up")
    if not max_unavailable and not max_surge:
        max_unavailable = min(1, replicas)
    return Limits(replicas, max_unavailable, max_surge)


class BudgetMove(msgspec.Struct, frozen=True):
    """`replaced` and `removed` are deletions: the first come back at the same index, the second do not."""

    create: tuple[int, ...] = ()
    replaced: tuple[Unit, ...] = ()
    removed: tuple[Unit, ...] = ()


def step(units: Sequence[Unit], limits: Limits, *, may_update: bool, keeps_surge: bool) -> BudgetMove:
    """What to create and delete now. Creations are counted before the deletions beside them have happened, so they
    may be carried out in any order.

    `may_update` is false while outdated units are to be left alone; `keeps_surge` is true during an update, when a
    surge unit stays until every regular one is new and available.
    """
    live = [unit for unit in units if not unit.is_going]
    deletions = _Deletions(sum(unit.is_available for unit in live), limits.floor)
    deletions.take(_too_many(live, limits, keeps_surge))
    removed = tuple(deletions.taken)
    to_replace = _to_replace(live, limits) if may_update else []
    deletions.taken = []
    deletions.take(to_replace)
    protected = sum(unit.is_available for unit in to_replace)
    return BudgetMove(_creations(units, live, limits, protected), tuple(deletions.taken), removed)


class _Deletions:
    """Only available units use up the budget: what is down already may go at once."""

    def __init__(self, available: int, floor: int) -> None:
        self._spare = available - floor
        self.taken: list[Unit] = []

    def take(self, candidates: Iterable[Unit]) -> None:
        for unit in candidates:
            if unit.is_available:
                if self._spare <= 0:
                    continue
                self._spare -= 1
            self.taken.append(unit)


def _too_many(live: Sequence[Unit], limits: Limits, keeps_surge: bool) -> list[Unit]:
    above = [unit for unit in live if unit.index >= limits.replicas]
    if not above:
        return above
    if keeps_surge and not _is_finished(live, limits):
        above = [unit for unit in above if unit.index >= limits.ceiling or unit.is_outdated]
    return sorted(above, key=lambda unit: (not unit.is_outdated, -unit.index))


def _is_finished(live: Sequence[Unit], limits: Limits) -> bool:
    good = sum(
        unit.index < limits.replicas and unit.is_available and not (unit.is_outdated and unit.may_move)
        for unit in live
    )
    return good >= limits.replicas


def _to_replace(live: Sequence[Unit], limits: Limits) -> list[Unit]:
    outdated = [unit for unit in live if unit.is_outdated and unit.may_move and unit.index < limits.replicas]
    return sorted(outdated, key=lambda unit: (unit.is_available, unit.age_rank, unit.index))


def _creations(
    units: Sequence[Unit], live: Sequence[Unit], limits: Limits, protected: int
) -> tuple[int, ...]:
    """Holes first, then as much surge as there is something to protect."""
    room = limits.ceiling - len(live)
    if room <= 0:
        return ()
    held = {unit.index for unit in units}
    created = [index for index in range(limits.replicas) if index not in held][:room]
    surge = sum(limits.replicas <= unit.index < limits.ceiling and not unit.is_outdated for unit in live)
    lacking = min(limits.max_surge, protected) - surge
    if lacking > 0:
        free = [index for index in range(limits.replicas, limits.ceiling) if index not in held]
        created += free[: min(lacking, room - len(created))]
    return tuple(created)
