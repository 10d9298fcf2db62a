"""How full every concurrency budget was over time, for the result and the chart."""

import bisect
from collections.abc import Collection

import msgspec

from headgate.fleet import changes
from headgate.kernel.instants import Instant
from headgate.simulate.mirror import Mirror
from headgate.simulate.promises.budgets import Budget, Budgets


class Point(msgspec.Struct):
    at: Instant
    used: int
    limit: int


class Usage(msgspec.Struct):
    """One concurrency rule; `series` has a point wherever the number of holders moved."""

    policy: str
    rule: str
    scope: str
    limit: int
    peak: int = 0
    peak_at: Instant | None = None
    series: list[Point] = []
    holders: set[str] = set()
    takers: set[tuple[Instant, str]] = set()

    def taken_at(self, moment: Instant, resource: str) -> Point | None:
        """How full it was after the moment in which this resource took a slot."""
        if (moment, resource) not in self.takers:
            return None
        return self.series[bisect.bisect_left(self.series, moment, key=lambda point: point.at)]


class Ledger:
    def __init__(self, mirror: Mirror) -> None:
        self._budgets = Budgets(mirror)
        self._usage: dict[tuple[str, str | None], Usage] = {}
        self._held: dict[tuple[str, str], Usage] = {}
        """Where a resource holds its slot of a rule: it may have moved to another group meanwhile."""

    def changed(self, change: changes.Change) -> None:
        self._budgets.changed(change)

    def taken(self, rule: str, resource: str, now: Instant) -> None:
        budget = self._budgets.of(rule, resource)
        if budget is None:
            return
        usage = self._held[(rule, resource)] = self._usage_of(budget)
        usage.holders.add(resource)
        usage.takers.add((now, resource))
        limit = budget.limit
        if len(usage.holders) > usage.peak:
            usage.peak = len(usage.holders)
            usage.peak_at = now
            usage.limit = limit
        _note(usage, now, limit)

    def held(self, rule: str, resources: Collection[str], now: Instant) -> None:
        """Slots that were taken before the books begin."""
        for resource in resources:
            budget = self._budgets.of(rule, resource)
            if budget is None:
                continue
            usage = self._held[(rule, resource)] = self._usage_of(budget)
            usage.holders.add(resource)
            usage.peak = len(usage.holders)
            usage.peak_at = now
            usage.limit = budget.limit
            _note(usage, now, usage.limit)

    def freed(self, rule: str, resource: str, now: Instant) -> None:
        usage = self._held.pop((rule, resource), None)
        if usage is None:
            return
        usage.holders.discard(resource)
        budget = next(
            (b for b in self._budgets.current() if self._usage.get((b.rule.id, b.value)) is usage), None
        )
        _note(usage, now, budget.limit if budget is not None else usage.limit)

    def all(self) -> list[Usage]:
        """Also the budgets that nobody ever used."""
        for budget in self._budgets.current():
            self._usage_of(budget)
        return list(self._usage.values())

    def _usage_of(self, budget: Budget) -> Usage:
        usage = self._usage.get((budget.rule.id, budget.value))
        if usage is None:
            usage = self._usage[(budget.rule.id, budget.value)] = Usage(
                policy=budget.policy.name,
                rule=budget.rule.label,
                scope=budget.scope,
                limit=budget.limit,
            )
        return usage


def _note(usage: Usage, now: Instant, limit: int) -> None:
    """Within one instant only the last number counts: decisions of a moment are one."""
    if usage.series and usage.series[-1].at == now:
        usage.series[-1] = Point(now, len(usage.holders), limit)
    else:
        usage.series.append(Point(now, len(usage.holders), limit))
