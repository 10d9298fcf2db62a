"""Lines that failures stop: which line a target stands in, who has failed there, and of how many."""

from __future__ import annotations

from collections import Counter

from headgate.fleet.model.records import Breaker
from headgate.fleet.rules import gradual_rollout
from headgate.fleet.rules.failure_budget import FailureBudget
from headgate.fleet.rules.gradual_rollout import GradualRollout
from headgate.fleet.state import wakes
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import BoundRule, Target, VersionNode
from headgate.kernel.instants import Instant
from headgate.kernel.wakes import Wake


def scope_of(rule: BoundRule[FailureBudget], target: Target) -> str:
    """The environment, and with `groupBy` the value after a slash, which is in no environment's name."""
    environment = target.environment.name if rule.spec.per == "environment" else ""
    if rule.spec.group_by is None:
        return environment
    return f"{environment}/{target.resource.value_of(rule.spec.group_by)}"


def failed_in(state: State, rule: BoundRule[FailureBudget], scope: str) -> dict[str, Instant]:
    """Targets that the rule counts there and that have failed, with when. Who was deleted, has another value or is nobody's
    concern of the rule any more does not count; who comes back counts again."""
    breaker = state.breakers.get((rule.id, scope))
    return {
        name: at
        for name, at in (breaker.failed.items() if breaker is not None else ())
        if (target := state.targets.get(name)) is not None
        and any(one.id == rule.id for one in target.rules.of(FailureBudget))
        and scope_of(rule, target) == scope
    }


def parts_of_scope(scope: str) -> tuple[str | None, str | None]:
    """The environment and the value of a budget's scope, as far as it has them."""
    environment, separator, value = scope.partition("/")
    return environment or None, value if separator else None


def total(state: State, rule: BoundRule[FailureBudget], scope: str) -> int:
    """How many targets the budget covers there: those of the policy, in the environment if it counts per environment. All
    scopes of a rule are counted at once: there may be as many as targets."""
    counted = state.totals.get((rule.id, scope))
    if counted is None:
        counts = Counter(
            scope_of(rule, target)
            for target in state.targets.values()
            if any(rule.id == one.id for one in target.rules.of(FailureBudget))
        )
        state.totals.update({(rule.id, one): count for one, count in counts.items()})
        counted = state.totals.setdefault((rule.id, scope), 0)
    return counted


def rollout_stopped(
    state: State, rule: BoundRule[GradualRollout], version: VersionNode, target: Target
) -> GateResult | None:
    """Until a person decides. Who lets it be tried again where it failed has decided for that target."""
    breaker = state.breakers.get((rule.id, version.id))
    if breaker is None or breaker.stopped_at is None or rule.spec.stop_after_failures is None:
        return None
    if _may_try_again(target, version, breaker):
        return None
    verdict = gradual_rollout.stopped(list(breaker.failed), breaker.stopped_at)
    return GateResult(rule, rule.kind, verdict, (wakes.breaker(rule.id, version.id),))


def _may_try_again(target: Target, version: VersionNode, breaker: Breaker) -> bool:
    """What failed or was put back is barred until a person retries it; what runs is not started but repeated."""
    record = target.record
    if record.deployed == version.id:
        return True
    is_barred = version.id in record.failures or version.id in record.rolled_back
    return target.name in breaker.failed and not is_barred


def stop_wakes(rule: BoundRule[GradualRollout], *versions: VersionNode) -> tuple[Wake, ...]:
    """What stops the line also for those whose turn has come and who wait for something else: another version, or values
    alone, then stands in line for them, at another place."""
    if rule.spec.stop_after_failures is None:
        return ()
    return tuple(wakes.breaker(rule.id, version.id) for version in versions)
