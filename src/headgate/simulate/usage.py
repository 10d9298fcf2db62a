"""How full every concurrency budget was over time, for the result and the chart."""

import bisect
from collections.abc import Collection

import msgspec

from headgate.fleet import changes
from headgate.kernel.instants import Instant
from headgate.simulate.mirror import Mirror
from headgate.simulate.promises.budget_never_exceeded import Budget, Budgets


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
        self._usage: dict[str, Usage] = {}

    def changed(self, change: changes.Change) -> None:
        self._budgets.changed(change)

    def taken(self, rule: str, resource: str, now: Instant) -> None:
        budget = self._budget(rule)
        usage = self._usage_of(rule, budget)
        if usage is None:
            return
        usage.holders.add(resource)
        usage.takers.add((now, resource))
        limit = budget.limit if budget is not None else usage.limit
        if len(usage.holders) > usage.peak:
            usage.peak = len(usage.holders)
            usage.peak_at = now
            usage.limit = limit
        _note(usage, now, limit)

    def held(self, rule: str, resources: Collection[str], now: Instant) -> None:
        """Slots that were taken before the books begin."""
        budget = self._budget(rule)
        usage = self._usage_of(rule, budget)
        if usage is None or budget is None or not resources:
            return
        usage.holders.update(resources)
        usage.peak = len(usage.holders)
        usage.peak_at = now
        usage.limit = budget.limit
        _note(usage, now, usage.limit)

    def freed(self, rule: str, resource: str, now: Instant) -> None:
        usage = self._usage.get(rule)
        if usage is None or resource not in usage.holders:
            return
        usage.holders.discard(resource)
        budget = self._budget(rule)
        _note(usage, now, budget.limit if budget is not None else usage.limit)

    def all(self) -> list[Usage]:
        """Also the budgets that nobody ever used."""
        for budget in self._budgets.current():
            self._usage_of(budget.rule.id, budget)
        return list(self._usage.values())

    def _budget(self, rule: str) -> Budget | None:
        return next((budget for budget in self._budgets.current() if budget.rule.id == rule), None)

    def _usage_of(self, rule: str, budget: Budget | None) -> Usage | None:
        usage = self._usage.get(rule)
        if usage is None and budget is not None:
            usage = self._usage[rule] = Usage(
                policy=budget.policy.name,
                rule=budget.rule.label,
                scope=budget.rule.spec.group_selector,
                limit=budget.limit,
            )
        return usage


def _note(usage: Usage, now: Instant, limit: int) -> None:
    """Within one instant only the last number counts: decisions of a moment are one."""
    if usage.series and usage.series[-1].at == now:
        usage.series[-1] = Point(now, len(usage.holders), limit)
    else:
        usage.series.append(Point(now, len(usage.holders), limit))
