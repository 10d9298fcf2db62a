"""What each rule judges by: its adapter hands it what it needs of the state, and says what can change the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from headgate.fleet.gates import breakers, items
from headgate.fleet.model.records import MEMBER_UNDER_WAY
from headgate.fleet.rules import (
    allowances,
    approval,
    deployment_window,
    environment_progression,
    failure_budget,
    gate,
    scoped_version,
    version_cooldown,
    version_selector,
)
from headgate.fleet.rules.approval import Approval
from headgate.fleet.rules.deployment_window import DeploymentWindow
from headgate.fleet.rules.environment_progression import EnvironmentProgression
from headgate.fleet.rules.failure_budget import FailureBudget
from headgate.fleet.rules.gate import Gate
from headgate.fleet.rules.scoped_version import ScopedVersion
from headgate.fleet.rules.spec import RuleSpec
from headgate.fleet.rules.version_cooldown import VersionCooldown
from headgate.fleet.rules.version_selector import VersionSelector
from headgate.fleet.state import candidates, promotion, successes, wakes
from headgate.fleet.state.state import ApprovalRequest, GateResult, State
from headgate.fleet.state.units import AnyRule, BoundRule, Target, VersionNode
from headgate.kernel import decisions
from headgate.kernel.decisions import Verdict
from headgate.kernel.instants import Instant
from headgate.kernel.wakes import Wake

_CONDITIONS = ("", "gate")
"""Beside the totals of rules, whose first is an id."""


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
    job = state.jobs.get(record.job or "")
    if job is not None and job.version == version.id:
        return GateResult(rule, rule.kind, decisions.allowed("its own deployment is under way"))
    verdict = version_cooldown.judge(
        rule.spec,
        record.finished_at,
        now,
        is_under_way=job is not None or _is_to_run_first(target),
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
    scope = breakers.scope_of(rule, target)
    breaker = state.breakers.get((rule.id, scope))
    verdict = failure_budget.judge(
        rule.spec,
        breaker.stopped_at if breaker else None,
        tuple(breakers.failed_in(state, rule, scope)),
        breakers.total(state, rule, scope),
    )
    return GateResult(rule, rule.kind, verdict, (wakes.breaker(rule.id, scope),))


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


Judge = Callable[[State, BoundRule[Any], VersionNode, Target, Instant], GateResult]

OF_SPEC: Mapping[type[RuleSpec], Judge] = {
    ScopedVersion: _scoped,
    VersionSelector: _selected,
    Approval: _approved,
    EnvironmentProgression: _progressed,
    VersionCooldown: _cooled_down,
    DeploymentWindow: _windowed,
    FailureBudget: _within_budget,
    Gate: _gate,
}
"""When each is asked, its own file says."""
