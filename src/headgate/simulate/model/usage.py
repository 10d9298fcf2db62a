"""How full every concurrency budget was over time, for the result and the chart."""

import bisect
from collections.abc import Collection

import msgspec

from headgate.fleet.model import changes
from headgate.kernel.budgets import BudgetPeak
from headgate.kernel.instants import Instant
from headgate.promises.books.concurrency import Budget, Budgets
from headgate.promises.books.mirror import Mirror


class Point(msgspec.Struct):
    at: Instant
    used: int
    limit: int


class Usage(BudgetPeak):
    """One concurrency rule; `series` has a point wherever the number of holders moved."""

    series: list[Point] = []
    holders: set[str] = set()
    takers: set[tuple[Instant, str]] = set()

    def note(self, now: Instant, limit: int) -> None:
        """How full it is, and how full it may be at the same moment.

        Of the course over time only the last number of an instant counts: decisions of a moment are one.
        """
        used = len(self.holders)
        self.reach(used, limit, now)
        if self.series and self.series[-1].at == now:
            self.series.pop()
        self.series.append(Point(now, used, limit))

    def taken_at(self, moment: Instant, resource: str) -> Point | None:
        """How full it was after the moment in which this resource took a slot."""
        if (moment, resource) not in self.takers:
            return None
        return self.series[bisect.bisect_left(self.series, moment, key=lambda point: point.at)]


class Move(msgspec.Struct, frozen=True):
    """A slot that the engine has said is taken or free."""

    at: Instant
    rule: str
    resource: str
    is_taken: bool


class UsageLedger:
    """Moves wait until the moment is decided: the engine tells of them before the change that caused them is in the
    mirror, and under the rules and groups of before they would be counted where they are not."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._budgets = Budgets(mirror)
        self._usage: dict[tuple[str, str | None], Usage] = {}
        self._held: dict[tuple[str, str], Usage | None] = {}
        """Where a resource counts with its slot of a rule: nowhere, while the rule's policy is disabled."""
        self._moves: list[Move] = []
        self._has_changed = False

    def changed(self, change: changes.Change) -> None:
        self._budgets.changed(change)
        self._has_changed = self._has_changed or isinstance(
            change, changes.Put | changes.Delete | changes.SetVariable
        )

    def taken(self, rule: str, resource: str, now: Instant) -> None:
        self._moves.append(Move(now, rule, resource, is_taken=True))

    def freed(self, rule: str, resource: str, now: Instant) -> None:
        self._moves.append(Move(now, rule, resource, is_taken=False))

    def decided(self, now: Instant) -> None:
        """The moment, or a round of it, is over: what moved in it is counted under the rules as they are now."""
        moved = self._place_anew() if self._has_changed and self._held else []
        self._has_changed = False
        for move in self._moves:
            if move.is_taken:
                self._take(move)
            else:
                self._free(move)
        self._moves.clear()
        for usage, limit in moved:
            usage.note(now, limit)

    def held(self, rule: str, resources: Collection[str], now: Instant) -> None:
        """Slots that were taken before the books begin."""
        for resource in resources:
            usage, limit = self._count(rule, resource)
            if usage is not None:
                usage.note(now, limit)

    def all(self) -> list[Usage]:
        """Also the budgets that nobody ever used."""
        for budget in self._budgets.current():
            self._usage_of(budget)
        return list(self._usage.values())

    def _take(self, move: Move) -> None:
        usage, limit = self._count(move.rule, move.resource)
        if usage is not None:
            usage.takers.add((move.at, move.resource))
            usage.note(move.at, limit)

    def _free(self, move: Move) -> None:
        usage = self._held.pop((move.rule, move.resource), None)
        if usage is not None:
            usage.holders.discard(move.resource)
            usage.note(move.at, self._limit_of(usage))

    def _count(self, rule: str, resource: str) -> tuple[Usage | None, int]:
        """The resource holds a slot of the rule: where that counts now, and how many may there."""
        budget = self._budgets.of(rule, resource)
        usage = self._usage_of(budget) if budget is not None else None
        self._held[(rule, resource)] = usage
        if usage is None or budget is None:
            return None, 0
        usage.holders.add(resource)
        return usage, budget.limit

    def _place_anew(self) -> list[tuple[Usage, int]]:
        """After rules or resources have changed, who holds a slot counts where it is now; the budgets that this moved.

        Slots of a rule that is gone went with it, without a word of the engine.
        """
        rules = {rule.id for policy in self._mirror.policies.values() for rule in policy.rules}
        moved: dict[int, Usage] = {}
        for (rule, resource), before in list(self._held.items()):
            if before is not None:
                before.holders.discard(resource)
            if rule not in rules:
                del self._held[(rule, resource)]
                after = None
            else:
                after, _ = self._count(rule, resource)
            if after is not before:
                moved |= {id(usage): usage for usage in (before, after) if usage is not None}
        return [(usage, self._limit_of(usage)) for usage in moved.values()]

    def _limit_of(self, usage: Usage) -> int:
        """As it is now; of a budget that is no longer there, as it was last."""
        for budget in self._budgets.current():
            if self._usage.get((budget.rule.id, budget.value)) is usage:
                return budget.limit
        return usage.series[-1].limit if usage.series else usage.limit

    def _usage_of(self, budget: Budget) -> Usage:
        usage = self._usage.get((budget.rule.id, budget.value))
        if usage is None:
            usage = self._usage[(budget.rule.id, budget.value)] = Usage(
                policy=budget.policy.name,
                rule=budget.rule.label,
                kind="resourceConcurrency",
                scope=budget.scope,
                limit=budget.limit,
            )
        return usage
