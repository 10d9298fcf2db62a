"""What can change a target's state, and what a person can do about it: commands, each with the permission it needs.

What ends a wait is found by `waits`; here it becomes sentences and commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from headgate.fleet.cycles import jobs, operators
from headgate.fleet.engine import orders, waits
from headgate.fleet.model import objects as model
from headgate.fleet.model.records import Group
from headgate.fleet.rules.failure_budget import FailureBudget
from headgate.fleet.state import candidates, references, rollbacks, units
from headgate.fleet.state.state import GateResult, JudgedVersion, State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel import instants
from headgate.kernel.instants import Instant

_RATHER_THAN_SKIPPED = {
    "failureBudget": "a skip does not start the line again: resume it, or mark the version as bad",
    "deploymentBracket": "a cycle is not skipped: retry it, go on without a member, or abort it",
}
"""What a skip does not help, or what somebody had better resume, retry or abort."""
_EVENTS = {
    "resourceConcurrency": "a slot becomes free",
    "deploymentDependency": "a deployment that it depends on has succeeded",
    "dependencies": "a deployment that it depends on has succeeded",
    "environmentProgression": "the version has succeeded in the environments before",
    "gate": "a signal or another target changes",
    "gradualRollout": "the rollout starts",
    "deploymentBracket": "the group here goes on or ends",
}


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
    if kind in _RATHER_THAN_SKIPPED:
        return _RATHER_THAN_SKIPPED[kind]
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
    earliest = _earliest([one for _, one in held_back])
    if earliest is not None:
        return f"at {instants.show_to_the_second(earliest)}", earliest
    events = dict.fromkeys(_event(one) for _, one in held_back if one.kind in _EVENTS)
    return f"when {' and '.join(events) or 'the engine looks again'}", None


def _earliest(held_back: Sequence[GateResult]) -> Instant | None:
    """Whose turn comes during a freeze does not start for that: only a bracket goes on collecting, and locks."""
    if any(one.kind == "freeze" for one in held_back):
        held_back = [one for one in held_back if one.kind in ("freeze", "deploymentBracket")]
    return min((at for one in held_back if (at := one.verdict.requeue_at) is not None), default=None)


def _event(one: GateResult) -> str:
    if "behind" in one.verdict.details:
        return "those before it in the rollout have succeeded"
    return _EVENTS[one.kind]


def of_target(
    state: State,
    target: Target,
    stance: model.TargetState,
    held_back: Sequence[JudgedVersion],
    group: Group | None,
    now: Instant,
) -> tuple[Action, ...]:
    """What a person can do, the nearest first, each once."""
    found = [
        *(
            action
            for version, one in held_back
            for action in _of_verdict(state, target, version, one, group, now)
        ),
        *_of_state(state, target, stance, now),
    ]
    if stance in ("failed", "rolledBack"):
        found += _marking(target, next((version for version, _ in held_back if version is not None), None))
    return tuple(dict.fromkeys(found))


def _of_verdict(
    state: State,
    target: Target,
    version: VersionNode | None,
    one: GateResult,
    group: Group | None,
    now: Instant,
) -> Iterator[Action]:
    environment = target.environment.name
    if one.kind in ("approval", "scopedVersion") and version is not None and one.verdict.outcome == "pending":
        command = (
            f"headgate approve {_word(target.deployment.name)} {_word(version.tag)} -e {_word(environment)}"
        )
        yield Action(command, "approval:write", "approves it")
    elif one.kind == "freeze":
        yield Action(
            f"headgate unfreeze {_word(str(one.verdict.details['freeze']))}",
            "freeze:write",
            "ends the freeze",
        )
    elif one.kind == "pause" and version is not None:
        yield _unpausing(target, version)
    elif one.rule is not None and units.is_a(one.rule, FailureBudget):
        where = f" --environment {_word(environment)}" if one.rule.spec.per == "environment" else ""
        if one.rule.spec.group_by is not None:
            value = units.render_value(target.resource.value_of(one.rule.spec.group_by))
            where += f" --value {_word(value)}"
        command = f"headgate resume {_rule(one)}{where}"
        yield Action(command, "budget:resume", "resumes the line; failures so far no longer count")
        if _has_failed_with(state, one, version):
            yield from _marking(target, version)
    elif one.kind == "gradualRollout" and one.verdict.outcome == "denied":
        command = f"headgate resume {_rule(one)}"
        yield Action(command, "budget:resume", "goes on with this version; failures so far no longer count")
        yield from _marking(target, version)
    elif one.kind == "gradualRollout" and one.verdict.details.get("by_person"):
        yield from _of_target_before(state, str(one.verdict.details["behind"]), now)
        yield from _marking(target, version)
    elif one.kind == "resourceConcurrency":
        for failed in _failed_groups(state, one):
            yield from _of_failed_group(state, failed, now)
            yield Action(
                f"headgate release-slot {failed.id}", "group:act", f"frees the slot of {failed.resource}"
            )
        for name in _failed_rollbacks(one):
            yield from _of_failed_rollback(state, state.targets[name], now)
    elif "missing_hooks" in one.verdict.details:
        yield from _of_missing_hooks(one)
    elif (
        one.kind == "deploymentBracket"
        and one.verdict.outcome == "denied"
        and "brackets" in one.verdict.details
    ):
        yield from _of_two_brackets(one)
    elif one.kind == "deploymentBracket" and "failed_group" in one.verdict.details:
        yield from _of_failed_group(state, state.groups[str(one.verdict.details["failed_group"])], now)
    elif one.kind == "deploymentBracket" and group is not None and group.status == "failed":
        yield from _of_failed_group(state, group, now)
    elif one.kind == "deploymentBracket" and waits.TRIED_BY_RETRY & one.verdict.details.keys():
        yield Action(f"headgate retry {_word(target.name)}", "target:act", "tries it again")
    if one.rule is not None and version is not None and why_not_skipped(one.kind, has_version=True) is None:
        command = (
            f"headgate skip {_rule(one)} --deployment {_word(target.deployment.name)} --tag {_word(version.tag)} "
            f"--environment {_word(environment)} --resource {_word(target.resource.name)} --reason ..."
        )
        yield Action(command, "skip:write", "lets this target pass the rule")


def _has_failed_with(state: State, one: GateResult, version: VersionNode | None) -> bool:
    """Whether what would go on is what the line was stopped for."""
    names = one.verdict.details.get("failed")
    if version is None or not isinstance(names, list):
        return False
    records = [state.targets[name].record for name in names if name in state.targets]
    return any(version.id in (record.failed_version, *record.rolled_back) for record in records)


def _of_target_before(state: State, name: str, now: Instant) -> Iterator[Action]:
    """Who stands before it in the rollout, where that is a target; a resource's group is asked about itself."""
    before = state.targets.get(name)
    if before is not None and orders.prospect(state, before, "retry", None, now).problem is None:
        yield Action(
            f"headgate retry {_word(name)}", "target:act", f"tries it again on {before.resource.name}"
        )


def _failed_groups(state: State, one: GateResult) -> list[Group]:
    found = one.verdict.details.get("failed_groups")
    assert found is None or isinstance(found, list)
    return [state.groups[group] for group in (found or [])[:MOST_GROUPS_NAMED]]


def _failed_rollbacks(one: GateResult) -> list[str]:
    found = one.verdict.details.get("failed_rollbacks")
    assert found is None or isinstance(found, list)
    return (found or [])[:MOST_GROUPS_NAMED]


def _of_failed_rollback(state: State, target: Target, now: Instant) -> Iterator[Action]:
    """Its slot is held until one of them has been done."""
    name = _word(target.name)
    found = orders.prospect(state, target, "retry", None, now)
    if found.problem is None and found.after is not None:
        yield Action(f"headgate retry {name}", "target:act", f"tries the rollback to {found.after.tag} again")
    yield Action(
        f"headgate adopt {name} TAG",
        "target:adopt",
        f"records which version runs there and frees the slot of {target.resource.name}",
    )


def _of_missing_hooks(one: GateResult) -> Iterator[Action]:
    hooks, group = one.verdict.details["missing_hooks"], one.verdict.details.get("group")
    assert isinstance(hooks, list)
    for hook in hooks:
        yield _publishing(hook, "brings a version that the hook can run with")
        if group is not None:
            command = f"headgate skip-member {group} {_word(hook)}"
            yield Action(command, "group:act", "goes on without it")
    if group is not None:
        yield Action(f"headgate abort {group}", "group:act", "ends the cycle, post-hooks included")


def _of_two_brackets(one: GateResult) -> Iterator[Action]:
    policies = one.verdict.details["brackets"]
    assert isinstance(policies, list)
    for policy in dict.fromkeys(policies):
        command = f"headgate get policies {_word(policy)} -o yaml"
        effect = (
            "shows it: apply it with a selector that leaves this target to the other, or with enabled: false"
        )
        yield Action(command, "policy:write", effect)


def _unpausing(target: Target, version: VersionNode) -> Action:
    command = f"headgate unpause-version {_word(target.deployment.name)} {_word(version.tag)}"
    return Action(command, "version:write", "makes it ready again: it starts when its gates allow")


def _publishing(deployment: str, effect: str) -> Action:
    return Action(f"headgate publish {_word(deployment)} TAG", "version:write", effect)


def _of_failed_group(state: State, group: Group, now: Instant) -> Iterator[Action]:
    site = state.sites[(group.rule, group.environment, group.resource)]
    if any(
        m.state == "failed" and operators.why_not_again(state, site, group, m, now) is None
        for m in group.members
    ):
        yield Action(f"headgate retry --group {group.id}", "group:act", "tries the failed member again")
    for member in group.members:
        if member.state == "failed":
            command = f"headgate skip-member {group.id} {_word(member.deployment)}"
            yield Action(command, "group:act", "goes on without it")
    yield Action(f"headgate abort {group.id}", "group:act", "ends the cycle, post-hooks included")


def _of_state(state: State, target: Target, stance: model.TargetState, now: Instant) -> Iterator[Action]:
    """Only what would not be refused."""
    name = _word(target.name)
    runs = state.version(target.record.deployed)
    if stance in ("upToDate", "waiting") and runs is not None and runs.is_rejected:
        if orders.prospect(state, target, "rollback", None, now).problem is None:
            yield Action(f"headgate rollback {name}", "target:act", "goes back to the version before")
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
        yield Action(f"headgate rollback {name}", "target:act", effect)
    if (
        stance in ("failed", "rolledBack")
        and orders.prospect(state, target, "retry", None, now).problem is None
    ):
        yield Action(retry_of(target.name), "target:act", "tries it again")
    if (
        stance in ("failed", "verifying")
        and orders.prospect(state, target, "rollback", None, now).problem is None
    ):
        yield Action(f"headgate rollback {name}", "target:act", "goes back to the version before")


def _marking(target: Target, version: VersionNode | None) -> Iterator[Action]:
    """Where it failed for good it may fail elsewhere too; marked as bad, it is tried nowhere any more."""
    if version is not None and version.object.status != "rejected":
        command = f"headgate reject-version {_word(target.deployment.name)} {_word(version.tag)} --reason ..."
        yield Action(command, "version:reject", "marks it as bad: it starts nowhere any more")


def _rule(one: GateResult) -> str:
    assert one.rule is not None
    rule = one.rule.rule
    return f"{_word(rule.name or str(rule.index))} --policy {_word(one.rule.policy.name)}"


def retry_of(target: str) -> str:
    return f"headgate retry {_word(target)}"


def retrying_all(deployment: str, environment: str) -> Action:
    command = f"headgate retry {_word(deployment)} -e {_word(environment)}"
    return Action(command, "target:act", "tries again whatever failed there, and shows first what that is")


def _word(text: str) -> str:
    """As a shell takes it."""
    is_plain = text and all(character.isalnum() or character in "-_./:@%+=," for character in text)
    return text if is_plain else "'" + text.replace("'", "'\\''") + "'"
