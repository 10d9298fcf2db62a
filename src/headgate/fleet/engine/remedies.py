"""What can change a target's state, and what a person can do about it: commands, each with the permission it needs.

What ends a wait is found by `waits`; here it becomes sentences and commands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from headgate.fleet import rules
from headgate.fleet.cycles import jobs, operators
from headgate.fleet.engine import orders, waits
from headgate.fleet.model import objects as model
from headgate.fleet.model.records import Group
from headgate.fleet.rules import always_on
from headgate.fleet.rules.deployment_bracket import DeploymentBracket
from headgate.fleet.rules.failure_budget import FailureBudget
from headgate.fleet.rules.gradual_rollout import GradualRollout
from headgate.fleet.rules.resource_concurrency import ResourceConcurrency
from headgate.fleet.rules.spec import RuleSpec
from headgate.fleet.state import candidates, references, rollbacks, units
from headgate.fleet.state.state import GateResult, JudgedVersion, State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel import instants
from headgate.kernel.command_lines import command_line
from headgate.kernel.instants import Instant

MOST_GROUPS_NAMED = 3
"""Of those whose slots somebody waits for."""


class Action(msgspec.Struct, frozen=True, rename="camel"):
    """`permission` is what the command needs; who has it, the service's roles say."""

    command: str
    permission: str
    effect: str


def why_not_skipped(kind: str, *, has_version: bool) -> str | None:
    """Why nobody is offered to skip a rule that does not allow; None if it helps."""
    if kind in references.NOT_SKIPPABLE:
        return references.no_verdict_to_skip(kind)
    if rules.TRAITS[kind].rather_than_skipped:
        return rules.TRAITS[kind].rather_than_skipped
    return None if has_version else "there is no version that it could be skipped for"


def what_changes(
    state: State,
    target: Target,
    stance: model.TargetState,
    held_back: Sequence[JudgedVersion],
    group: Group | None,
) -> tuple[str, Instant | None]:
    """The earliest time or the event that can change anything, in a sentence, and the time if it is one."""
    job = state.jobs.get(target.record.job or "")
    if job is not None:
        return f"when job {job.id} ends", None
    paused = candidates.paused_ahead(state, target)
    or_ready = f"{paused.tag} is ready again or " if paused is not None else ""
    if stance == "upToDate":
        return f"when {or_ready}a newer version is published", None
    if stance == "noVersion":
        return f"when {or_ready}a version in scope is published", None
    if waits.is_blocked(stance, held_back, group):
        return "when a person decides: see what you can do", None
    earliest = _earliest([result for _, result in held_back])
    if earliest is not None:
        return f"at {instants.show_to_the_second(earliest)}", earliest
    events = dict.fromkeys(event for _, result in held_back if (event := _event(result)))
    return f"when {' and '.join(events) or 'the engine looks again'}", None


def _earliest(held_back: Sequence[GateResult]) -> Instant | None:
    """Whose turn comes during a freeze does not start for that: only a bracket goes on collecting, and locks."""
    if any(result.kind == always_on.FREEZE for result in held_back):
        held_back = [
            result for result in held_back if result.kind == always_on.FREEZE or _is_of_bracket(result)
        ]
    return min((at for result in held_back if (at := result.verdict.requeue_at) is not None), default=None)


def _is_of_bracket(result: GateResult) -> bool:
    return result.rule is not None and units.is_a(result.rule, DeploymentBracket)


def _event(result: GateResult) -> str:
    if "behind" in result.verdict.details:
        return "those before it in the rollout have succeeded"
    return rules.TRAITS[result.kind].event


def of_target(
    state: State,
    target: Target,
    stance: model.TargetState,
    held_back: Sequence[JudgedVersion],
    group: Group | None,
    now: Instant,
) -> tuple[Action, ...]:
    """What a person can do, the nearest first, each once."""
    actions = [
        *(
            action
            for version, result in held_back
            for action in _of_wait(_Wait(state, target, version, result, group, now))
        ),
        *_of_state(state, target, stance, now),
    ]
    if stance in ("failed", "rolledBack"):
        actions += _marking(target, next((version for version, _ in held_back if version is not None), None))
    return tuple(dict.fromkeys(actions))


class _Wait(msgspec.Struct, frozen=True):
    """For what a gate says that does not allow, and all there is to know for a way out of it."""

    state: State
    target: Target
    version: VersionNode | None
    judged: GateResult
    group: Group | None
    now: Instant


def _of_wait(wait: _Wait) -> Iterator[Action]:
    target, version, judged = wait.target, wait.version, wait.judged
    help_with = _OF_RULE.get(type(judged.rule.spec)) if judged.rule is not None else None
    if rules.TRAITS[judged.kind].is_answered_by_votes and version is not None:
        yield from _approving(target, version, judged)
    elif judged.kind == always_on.FREEZE:
        command = command_line("unfreeze", str(judged.verdict.details["freeze"]))
        yield Action(command, "freeze:write", "ends the freeze")
    elif judged.kind == always_on.PAUSE and version is not None:
        yield _unpausing(target, version)
    elif help_with is not None:
        yield from help_with(wait)
    if (
        judged.rule is not None
        and version is not None
        and why_not_skipped(judged.kind, has_version=True) is None
    ):
        narrowed = (
            *("--deployment", target.deployment.name, "--tag", version.tag),
            *("--environment", target.environment.name, "--resource", target.resource.name),
        )
        command = _on_rule("skip", judged, *narrowed, "--reason", "...")
        yield Action(command, "skip:write", "lets this target pass the rule")


def _approving(target: Target, version: VersionNode, judged: GateResult) -> Iterator[Action]:
    if judged.verdict.outcome == "pending":
        where = ("-e", target.environment.name)
        command = command_line("approve", target.deployment.name, version.tag, options=where)
        yield Action(command, "approval:write", "approves it")


def _of_budget(wait: _Wait) -> Iterator[Action]:
    rule, target = wait.judged.rule, wait.target
    assert rule is not None
    assert units.is_a(rule, FailureBudget)
    where = ["--environment", target.environment.name] if rule.spec.per == "environment" else []
    if rule.spec.group_by is not None:
        where += ["--value", units.render_value(target.resource.value_of(rule.spec.group_by))]
    command = _on_rule("resume", wait.judged, *where)
    yield Action(command, "budget:resume", "resumes the line; failures so far no longer count")
    if _has_failed_with(wait.state, wait.judged, wait.version):
        yield from _marking(target, wait.version)


def _of_rollout(wait: _Wait) -> Iterator[Action]:
    verdict = wait.judged.verdict
    if verdict.outcome == "denied":
        command = _on_rule("resume", wait.judged)
        yield Action(command, "budget:resume", "goes on with this version; failures so far no longer count")
        yield from _marking(wait.target, wait.version)
    elif verdict.details.get("by_person"):
        yield from _of_target_before(wait.state, str(verdict.details["behind"]), wait.now)
        yield from _marking(wait.target, wait.version)


def _of_slots(wait: _Wait) -> Iterator[Action]:
    for failed in _failed_groups(wait.state, wait.judged):
        yield from _of_failed_group(wait.state, failed, wait.now)
        command = command_line("release-slot", failed.id)
        yield Action(command, "group:act", f"frees the slot of {failed.resource}")
    for name in _failed_rollbacks(wait.judged):
        yield from _of_failed_rollback(wait.state, wait.state.targets[name], wait.now)


def _of_bracket(wait: _Wait) -> Iterator[Action]:
    details, group = wait.judged.verdict.details, wait.group
    if "missing_hooks" in details:
        yield from _of_missing_hooks(wait.judged)
    elif wait.judged.verdict.outcome == "denied" and "brackets" in details:
        yield from _of_two_brackets(wait.judged)
    elif "failed_group" in details:
        yield from _of_failed_group(wait.state, wait.state.groups[str(details["failed_group"])], wait.now)
    elif group is not None and group.status == "failed":
        yield from _of_failed_group(wait.state, group, wait.now)
    elif waits.TRIED_BY_RETRY & details.keys():
        yield Action(retry_of(wait.target.name), "target:act", "tries it again")


def _has_failed_with(state: State, result: GateResult, version: VersionNode | None) -> bool:
    """Whether what would go on is what the line was stopped for."""
    names = result.verdict.details.get("failed")
    if version is None or not isinstance(names, list):
        return False
    records = [state.targets[name].record for name in names if name in state.targets]
    return any(version.id in (record.failed_version, *record.rolled_back) for record in records)


def _of_target_before(state: State, name: str, now: Instant) -> Iterator[Action]:
    """Who stands before it in the rollout, where that is a target; a resource's group is asked about itself."""
    before = state.targets.get(name)
    if before is not None and orders.prospect(state, before, "retry", None, now).problem is None:
        yield Action(retry_of(name), "target:act", f"tries it again on {before.resource.name}")


def _failed_groups(state: State, result: GateResult) -> list[Group]:
    groups = result.verdict.details.get("failed_groups")
    assert groups is None or isinstance(groups, list)
    return [state.groups[group] for group in (groups or [])[:MOST_GROUPS_NAMED]]


def _failed_rollbacks(result: GateResult) -> list[str]:
    targets = result.verdict.details.get("failed_rollbacks")
    assert targets is None or isinstance(targets, list)
    return (targets or [])[:MOST_GROUPS_NAMED]


def _of_failed_rollback(state: State, target: Target, now: Instant) -> Iterator[Action]:
    """Its slot is held until one of them has been done."""
    prospect = orders.prospect(state, target, "retry", None, now)
    if prospect.problem is None and prospect.after is not None:
        effect = f"tries the rollback to {prospect.after.tag} again"
        yield Action(retry_of(target.name), "target:act", effect)
    yield Action(
        command_line("adopt", target.name, "TAG"),
        "target:adopt",
        f"records which version runs there and frees the slot of {target.resource.name}",
    )


def _of_missing_hooks(result: GateResult) -> Iterator[Action]:
    hooks, group = result.verdict.details["missing_hooks"], result.verdict.details.get("group")
    assert isinstance(hooks, list)
    for hook in hooks:
        yield _publishing(hook, "brings a version that the hook can run with")
        if group is not None:
            yield _skipping(str(group), hook)
    if group is not None:
        yield _aborting(str(group))


def _of_two_brackets(result: GateResult) -> Iterator[Action]:
    policies = result.verdict.details["brackets"]
    assert isinstance(policies, list)
    for policy in dict.fromkeys(policies):
        command = command_line("get", "policies", policy, options=("-o", "yaml"))
        effect = (
            "shows it: apply it with a selector that leaves this target to the other, or with enabled: false"
        )
        yield Action(command, "policy:write", effect)


def _unpausing(target: Target, version: VersionNode) -> Action:
    command = command_line("unpause-version", target.deployment.name, version.tag)
    return Action(command, "version:write", "makes it ready again: it starts when its gates allow")


def _publishing(deployment: str, effect: str) -> Action:
    return Action(command_line("publish", deployment, "TAG"), "version:write", effect)


def _skipping(group: str, member: str) -> Action:
    return Action(command_line("skip-member", group, member), "group:act", "goes on without it")


def _aborting(group: str) -> Action:
    return Action(command_line("abort", group), "group:act", "ends the cycle, post-hooks included")


def _of_failed_group(state: State, group: Group, now: Instant) -> Iterator[Action]:
    site = state.sites[(group.rule, group.environment, group.resource)]
    if any(
        m.state == "failed" and operators.why_not_again(state, site, group, m, now) is None
        for m in group.members
    ):
        command = command_line("retry", options=("--group", group.id))
        yield Action(command, "group:act", "tries the failed member again")
    for member in group.members:
        if member.state == "failed":
            yield _skipping(group.id, member.deployment)
    yield _aborting(group.id)


def _of_state(state: State, target: Target, stance: model.TargetState, now: Instant) -> Iterator[Action]:
    """Only what would not be refused."""
    rollback = command_line("rollback", target.name)
    runs = state.version(target.record.deployed)
    if stance in ("upToDate", "waiting") and runs is not None and runs.is_rejected:
        if orders.prospect(state, target, "rollback", None, now).problem is None:
            yield Action(rollback, "target:act", "goes back to the version before")
        yield _publishing(target.deployment.name, "a newer version replaces what runs and was rejected")
    paused = candidates.paused_ahead(state, target)
    if paused is not None:
        yield _unpausing(target, paused)
    if rollbacks.failed(state, target) is not None:
        yield from _of_failed_rollback(state, target, now)
        return
    tried = jobs.unsettled(state, target)
    back = orders.prospect(state, target, "rollback", None, now) if tried is not None else None
    if back is not None and back.after is not None:
        effect = f"gives up the next attempt and goes back to {back.after.tag}"
        yield Action(rollback, "target:act", effect)
    if (
        stance in ("failed", "rolledBack")
        and orders.prospect(state, target, "retry", None, now).problem is None
    ):
        yield Action(retry_of(target.name), "target:act", "tries it again")
    if (
        stance in ("failed", "verifying")
        and orders.prospect(state, target, "rollback", None, now).problem is None
    ):
        yield Action(rollback, "target:act", "goes back to the version before")


def _marking(target: Target, version: VersionNode | None) -> Iterator[Action]:
    """Where it failed for good it may fail elsewhere too; marked as bad, it is tried nowhere any more."""
    if version is not None and version.object.status != "rejected":
        reason = ("--reason", "...")
        command = command_line("reject-version", target.deployment.name, version.tag, options=reason)
        yield Action(command, "version:reject", "marks it as bad: it starts nowhere any more")


def _on_rule(action: str, result: GateResult, *options: str) -> str:
    assert result.rule is not None
    rule, policy = result.rule.rule, result.rule.policy
    name = rule.name or str(rule.index)
    return command_line(action, name, options=("--policy", policy.name, *options))


def retry_of(target: str) -> str:
    return command_line("retry", target)


def retrying_all(deployment: str, environment: str) -> Action:
    command = command_line("retry", deployment, options=("-e", environment))
    return Action(command, "target:act", "tries again whatever failed there, and shows first what that is")


_OF_RULE: Mapping[type[RuleSpec], Callable[[_Wait], Iterator[Action]]] = {
    FailureBudget: _of_budget,
    GradualRollout: _of_rollout,
    ResourceConcurrency: _of_slots,
    DeploymentBracket: _of_bracket,
}
"""Whose commands follow from more than the rule: what has failed, who is before it, who holds a slot."""
