"""Every gate of a target, one verdict after another, in the order in which people read them.

Deciding stops at the first that is not allowed; explaining asks them all. Both say the same sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from headgate.fleet.gates import items, version_dependencies
from headgate.fleet.gates.version_dependencies import NO_PROSPECTS, Prospects
from headgate.fleet.model.records import MEMBER_UNDER_WAY, Breaker
from headgate.fleet.rules import (
    allowances,
    approval,
    deployment_window,
    environment_progression,
    failure_budget,
    gate,
    gradual_rollout,
    scoped_version,
    version_cooldown,
    version_selector,
)
from headgate.fleet.rules.approval import Approval
from headgate.fleet.rules.deployment_window import DeploymentWindow
from headgate.fleet.rules.environment_progression import EnvironmentProgression
from headgate.fleet.rules.failure_budget import FailureBudget
from headgate.fleet.rules.gate import Gate
from headgate.fleet.rules.gradual_rollout import GradualRollout
from headgate.fleet.rules.scoped_version import ScopedVersion
from headgate.fleet.rules.version_cooldown import VersionCooldown
from headgate.fleet.rules.version_selector import VersionSelector
from headgate.fleet.state import candidates, promotion, successes, wakes
from headgate.fleet.state.state import ApprovalRequest, GateResult, State
from headgate.fleet.state.units import AnyRule, BoundRule, Target, VersionNode
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.instants import Instant
from headgate.kernel.wakes import Wake

_CONDITIONS = ("", "gate")
"""Beside the totals of rules, whose first is an id."""


Judge = Callable[[State, BoundRule[Any], VersionNode, Target, Instant], GateResult]
"""Hands a rule what it judges by. Which rules are gates, and in which order they are asked, is in the tables below."""


def of_version(
    state: State, target: Target, version: VersionNode, now: Instant, prospects: Prospects = NO_PROSPECTS
) -> Iterator[GateResult]:
    """Gates that judge a version: in a bracket they decide what may be locked."""
    if version.scope is not None:
        yield from _asked(_OF_SCOPE, state, target, version, now)
    yield from _asked(_OF_VERSION, state, target, version, now)
    if version.dependencies:
        yield version_dependencies.judge(state, version, target, prospects)
    yield from _asked(_OF_PACE, state, target, version, now)


def of_moment(state: State, target: Target, version: VersionNode, now: Instant) -> Iterator[GateResult]:
    """Gates that judge a moment, but for the rollout position and slots: in a bracket they decide when a group starts."""
    yield frozen(state, target, now)
    yield from _asked(_OF_MOMENT, state, target, version, now)


def _asked(
    judges: Mapping[type[msgspec.Struct], Judge],
    state: State,
    target: Target,
    version: VersionNode,
    now: Instant,
) -> Iterator[GateResult]:
    by_spec = target.rules.by_spec
    for spec, judge in judges.items():
        for rule in by_spec.get(spec, ()):
            skip = skipped(state, rule, version, target, now)
            if skip is None:
                yield judge(state, rule, version, target, now)
            elif spec in _KEEPS_TIME:
                yield _not_later(skip, judge(state, rule, version, target, now))
            else:
                yield skip


def _not_later(skip: GateResult, judged: GateResult) -> GateResult:
    """A skip makes nothing later: what the rule has allowed by itself counts from then on, as long as it does."""
    since, skipped_at = judged.verdict.satisfied_at, skip.verdict.satisfied_at
    if not judged.is_allowed or since is None or skipped_at is None or since >= skipped_at:
        return skip
    ends = [at for at in (skip.verdict.requeue_at, judged.verdict.requeue_at) if at is not None]
    verdict = msgspec.structs.replace(
        skip.verdict, satisfied_at=since, requeue_at=min(ends) if ends else None
    )
    return GateResult(skip.rule, skip.kind, verdict, judged.wakes)


def skipped(
    state: State, rule: AnyRule, version: VersionNode | None, target: Target, now: Instant
) -> GateResult | None:
    """What is said in place of the rule where a person skips it."""
    if rule.id not in state.skips_by_rule:
        return None
    skip = state.skip_for(rule, version.id if version else None, target, now)
    if skip is None:
        return None
    verdict = decisions.allowed(
        f"skipped by {skip.user or 'an operator'}: {skip.reason}",
        satisfied_at=skip.created_at,
        requeue_at=skip.expires_at,
        skip=skip.id,
    )
    return GateResult(rule, rule.kind, verdict)


def frozen(state: State, target: Target, now: Instant) -> GateResult:
    freeze = state.freeze_on(target, now) if state.freezes else None
    if freeze is None:
        return NOT_FROZEN
    until = (
        f" until {instants.show_to_the_second(freeze.expires_at)}" if freeze.expires_at is not None else ""
    )
    who = f" by {freeze.user}" if freeze.user else ""
    verdict = decisions.pending(
        Reason.FROZEN,
        f"frozen by {freeze.name}{who} since {instants.show_to_the_second(freeze.created_at)}{until}: {freeze.reason}",
        requeue_at=freeze.expires_at,
        freeze=freeze.name,
    )
    return GateResult(None, "freeze", verdict, (wakes.FREEZES,))


def paused(version: VersionNode) -> GateResult | None:
    """What somebody has paused starts nothing more, also in a cycle that has begun."""
    if version.object.status != "paused":
        return None
    verdict = decisions.pending(
        Reason.PAUSED, f"{version.tag} is paused", paused=f"{version.object.deployment}/{version.tag}"
    )
    return GateResult(None, "pause", verdict, (wakes.versions(version.object.deployment),))


def of_people(state: State, target: Target, version: VersionNode, now: Instant) -> Iterator[GateResult]:
    """Those of a version's gates that people answer."""
    if version.scope is not None:
        yield from _asked(_OF_SCOPE, state, target, version, now)
    yield from _asked(_OF_PEOPLE, state, target, version, now)


def is_vetoed(state: State, target: Target, version: VersionNode, now: Instant) -> bool:
    """Whether somebody who has a say has rejected it in the target's environment, and not withdrawn that."""
    return any(is_veto(judged) for judged in of_people(state, target, version, now))


def is_veto(judged: GateResult) -> bool:
    return judged.verdict.reason is Reason.REJECTED


def window(rule: BoundRule[DeploymentWindow], target: Target, now: Instant) -> GateResult:
    if rule.spec.first_deployment == "bypass" and target.record.deployed is None:
        return GateResult(
            rule, rule.kind, decisions.allowed("first deployment of this target, windows do not apply")
        )
    return GateResult(rule, rule.kind, deployment_window.judge(rule.spec, now))


def _windowed(
    state: State, rule: BoundRule[DeploymentWindow], version: VersionNode, target: Target, now: Instant
) -> GateResult:
    return window(rule, target, now)


def _scoped(
    state: State, rule: BoundRule[ScopedVersion], version: VersionNode, target: Target, now: Instant
) -> GateResult:
    environment = target.environment.name
    votes = tuple(state.approvals.get((version.id, environment), {}).values())
    verdict = scoped_version.judge(rule.spec, True, votes, version.tag, environment, version.published_at)
    return _asking(rule, verdict, version, environment)


def _selected(
    state: State, rule: BoundRule[VersionSelector], version: VersionNode, target: Target, now: Instant
) -> GateResult:
    bindings = target.bindings()
    bindings["version"] = version.view
    return GateResult(rule, rule.kind, version_selector.judge(rule.spec, bindings))


def is_kept_away(state: State, target: Target, version: VersionNode, now: Instant) -> bool:
    """A version selector keeps the version away from here: nobody asks for it on this target."""
    return any(
        skipped(state, rule, version, target, now) is None
        and not _selected(state, rule, version, target, now).is_allowed
        for rule in target.rules.of(VersionSelector)
    )


def let_in_until(state: State, target: Target, version: VersionNode, now: Instant) -> Instant | None:
    """When the first of the skips ends by which version selectors do not keep the version away from here."""
    skips = [skipped(state, rule, version, target, now) for rule in target.rules.of(VersionSelector)]
    ends = [skip.verdict.requeue_at for skip in skips if skip is not None]
    return min((at for at in ends if at is not None), default=None)


def _asking(rule: AnyRule, verdict: Verdict, version: VersionNode, environment: str) -> GateResult:
    """A verdict that follows from people's votes; while it is open they are to be asked for them."""
    request = ApprovalRequest(version, environment, verdict) if verdict.outcome == "pending" else None
    return GateResult(rule, rule.kind, verdict, (wakes.votes(version.id, environment),), request)


def _approved(
    state: State, rule: BoundRule[Approval], version: VersionNode, target: Target, now: Instant
) -> GateResult:
    environment = target.environment.name
    key = (rule.id, version.id, "", environment)
    shared = state.shared.get(key)
    if shared is None:
        votes = tuple(state.approvals.get((version.id, environment), {}).values())
        verdict = approval.judge(rule.spec, votes, version.tag, environment, version.published_at)
        shared = state.shared[key] = _asking(rule, verdict, version, environment)
    return shared


def _progressed(
    state: State, rule: BoundRule[EnvironmentProgression], version: VersionNode, target: Target, now: Instant
) -> GateResult:
    resource = target.resource.name if promotion.reads_the_resource(rule) else ""
    key = (rule.id, version.id, resource, target.environment.name)
    shared = state.shared.get(key)
    if shared is not None and (shared.stale_at is None or shared.stale_at > now):
        return shared
    stages = _stages_before(state, rule, version, target)
    shared = state.shared[key] = GateResult(
        rule,
        rule.kind,
        environment_progression.judge(rule.spec, stages, now),
        (
            wakes.stages(version.id, target.environment.name),
            wakes.members(target.deployment.name),
            wakes.ENVIRONMENTS,
        ),
        stale_at=environment_progression.stale_at(rule.spec, stages, now),
    )
    return shared


def _stages_before(
    state: State, rule: BoundRule[EnvironmentProgression], version: VersionNode, target: Target
) -> list[environment_progression.Stage]:
    """Counts, in each environment that the rule names, the targets of the version's scope that have succeeded."""
    stages = []
    for environment in promotion.environments_before(state, rule, target):
        pair = target.deployment.pairs.get(environment.name)
        scoped = candidates.scoped_targets(pair, version) if pair is not None else {}
        stages.append(
            environment_progression.Stage(
                environment.name,
                len(scoped),
                tuple(sorted(successes.counted(state, rule.spec, version, environment.name, scoped))),
                successes.renewed_at(version, scoped) if rule.spec.maximum_age_hours is not None else None,
            )
        )
    return stages


def _cooled_down(
    state: State, rule: BoundRule[VersionCooldown], version: VersionNode, target: Target, now: Instant
) -> GateResult:
    record = target.record
    last = state.last_attempt(record.attempts)
    is_tried_again = version.id in record.tried_again or (last is not None and last.version == version.id)
    if record.deployed == version.id or is_tried_again:
        return GateResult(rule, rule.kind, decisions.allowed("not a new version here, no cooldown"))
    verdict = version_cooldown.judge(
        rule.spec,
        record.finished_at,
        now,
        is_under_way=record.job is not None or _is_to_run_first(target),
        is_being_verified=record.verification == "running",
    )
    return GateResult(rule, rule.kind, verdict, (wakes.resource(target.resource.name),))


def _is_to_run_first(target: Target) -> bool:
    """The cycle that executes here is still to deploy to the target; what joins that cycle takes the place of that."""
    site = target.site
    group = site.executing if site is not None else None
    member = group.member(target.deployment.name) if group is not None else None
    if site is None or member is None or site.rule.spec.overlap_strategy == "merge":
        return False
    return member.state in MEMBER_UNDER_WAY


def _within_budget(
    state: State, rule: BoundRule[FailureBudget], version: VersionNode, target: Target, now: Instant
) -> GateResult:
    scope = breaker_scope(rule, target)
    breaker = state.breakers.get((rule.id, scope))
    verdict = failure_budget.judge(
        rule.spec,
        breaker.stopped_at if breaker else None,
        tuple(failed_in(state, rule, scope)),
        budget_total(state, rule, scope),
    )
    return GateResult(rule, rule.kind, verdict, (wakes.breaker(rule.id, scope),))


def breaker_scope(rule: BoundRule[FailureBudget], target: Target) -> str:
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
        and breaker_scope(rule, target) == scope
    }


def parts_of_scope(scope: str) -> tuple[str | None, str | None]:
    """The environment and the value of a budget's scope, as far as it has them."""
    environment, separator, value = scope.partition("/")
    return environment or None, value if separator else None


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


def budget_total(state: State, rule: BoundRule[FailureBudget], scope: str) -> int:
    """How many targets the budget covers there: those of the policy, in the environment if it counts per environment. All
    scopes of a rule are counted at once: there may be as many as targets."""
    total = state.totals.get((rule.id, scope))
    if total is None:
        counts = Counter(
            breaker_scope(rule, target)
            for target in state.targets.values()
            if any(rule.id == one.id for one in target.rules.of(FailureBudget))
        )
        state.totals.update({(rule.id, one): count for one, count in counts.items()})
        total = state.totals.setdefault((rule.id, scope), 0)
    return total


def _gate(
    state: State, rule: BoundRule[Gate], version: VersionNode, target: Target, now: Instant
) -> GateResult:
    bindings = items.GateBindings(state, target, version, now)
    allowance = allowances.of(_conditions(state), target.name, now)
    verdict = gate.judge(rule.spec, bindings, allowance, now)
    expiry = items.next_signal_expiry(state, now)
    if expiry is not None and not verdict.is_allowed:
        again = verdict.requeue_at
        verdict = msgspec.structs.replace(verdict, requeue_at=expiry if again is None else min(again, expiry))
    reasons: tuple[Wake, ...] = (
        wakes.pair(target.deployment.name, target.environment.name),
        wakes.SIGNALS,
    )
    return GateResult(rule, rule.kind, verdict, reasons)


def _conditions(state: State) -> int:
    """How many conditions of gates are asked in one look at everything."""
    total = state.totals.get(_CONDITIONS)
    if total is None:
        total = state.totals[_CONDITIONS] = sum(
            len(rule.spec.when) for target in state.targets.values() for rule in target.rules.of(Gate)
        )
    return total


NOT_FROZEN = GateResult(None, "freeze", decisions.allowed("not frozen"))
_OF_SCOPE: Mapping[type[msgspec.Struct], Judge] = {ScopedVersion: _scoped}
_KEEPS_TIME = frozenset({ScopedVersion, Approval, EnvironmentProgression})
"""Rules by which a rollout's clock goes: since when they allow counts."""
_OF_PEOPLE: Mapping[type[msgspec.Struct], Judge] = {Approval: _approved}
_OF_VERSION: Mapping[type[msgspec.Struct], Judge] = {
    VersionSelector: _selected,
    Approval: _approved,
    EnvironmentProgression: _progressed,
}
_OF_PACE: Mapping[type[msgspec.Struct], Judge] = {VersionCooldown: _cooled_down}
_OF_MOMENT: Mapping[type[msgspec.Struct], Judge] = {
    DeploymentWindow: _windowed,
    FailureBudget: _within_budget,
    Gate: _gate,
}
