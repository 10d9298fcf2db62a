"""What people order for targets, one or many: try again, go back, deploy again, take over what runs.

What an order would do is found out first, target by target (`Prospect`), so that a preview, a refusal and the act itself
say the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headgate.fleet import rules
from headgate.fleet.cycles import collecting, giving_up, jobs, operators, shape
from headgate.fleet.engine import selections, target_states
from headgate.fleet.gates import failures, gates
from headgate.fleet.model import expressions
from headgate.fleet.model.changes import (
    ORDER_WORDS,
    GroupAction,
    OperatorCommand,
    TargetAction,
    TargetsAction,
)
from headgate.fleet.model.records import Group, Job, Member
from headgate.fleet.rules.spec import GateStage
from headgate.fleet.state import candidates, holds, references, rollbacks, variables, verifying
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected

PROBLEMS_NAMED = 3


class Prospect(msgspec.Struct, frozen=True):
    """What an order would do to a target: from which version to which, or why it cannot."""

    target: Target
    before: VersionNode | None
    after: VersionNode | None
    problem: str | None = None


def act(state: State, change: TargetAction, now: Instant) -> None:
    target = references.target(state, change.target)
    to = _wanted(state, target.deployment.name, change.action, change.to)
    order_prospect = prospect(state, target, change.action, to, now)
    if order_prospect.problem is not None:
        raise Rejected((Problem("target", order_prospect.problem),))
    _carry_out(state, order_prospect, change, to, now)


def act_on_many(state: State, change: TargetsAction, now: Instant) -> None:
    """Those that cannot are passed over; if none can, that is a refusal."""
    order_prospects = prospects(state, change, now)
    able = [one for one in order_prospects if one.problem is None]
    if not able:
        problems = [one.problem for one in order_prospects if one.problem is not None]
        more = f"; and {len(problems) - PROBLEMS_NAMED} more" if len(problems) > PROBLEMS_NAMED else ""
        message = f"no target can {ORDER_WORDS[change.action]}: {'; '.join(problems[:PROBLEMS_NAMED])}{more}"
        raise Rejected((Problem("deployment", message),))
    to = _wanted(state, change.deployment, change.action, change.to)
    for able_prospect in able:
        _carry_out(state, able_prospect, change, to, now)


def prospects(state: State, change: TargetsAction, now: Instant) -> list[Prospect]:
    """By name. Raises Rejected if it concerns nobody."""
    to = _wanted(state, change.deployment, change.action, change.to)
    return [prospect(state, target, change.action, to, now) for target in _concerned(state, change)]


def _concerned(state: State, change: TargetsAction) -> list[Target]:
    deployment = references.deployment(state, change.deployment)
    environment = references.environment(state, change.environment)
    pair = deployment.pairs.get(environment.name)
    if pair is None:
        message = f"{deployment.name} has no release target in {environment.name}"
        raise Rejected((Problem("environment", message),))
    named = set(change.resources)
    targets = [pair.targets[name] for name in sorted(pair.targets) if not named or name in named]
    missing = sorted(named - pair.targets.keys())
    if missing:
        message = f"{missing[0]} is no release target of {deployment.name} in {environment.name}"
        raise Rejected((Problem("resources", message),))
    return targets if change.selector is None else _selected(targets, change.selector)


def _selected(targets: list[Target], text: str) -> list[Target]:
    problems: list[Problem] = []
    expressions.check_selector(expressions.SELECTOR, text, "selector", problems)
    if problems:
        raise Rejected(problems)
    selector = expressions.SELECTOR.selector(text)
    matching = [target for target in targets if selector.matches(target.bindings())]
    if not matching:
        raise Rejected((Problem("selector", selections.nobody(selector, targets)),))
    return matching


def _wanted(state: State, deployment: str, action: OperatorCommand, to: str | None) -> VersionNode | None:
    if action == "adopt" and to is None:
        raise Rejected((Problem("version", "is required: which version runs there?"),))
    return references.version(state, deployment, to) if to is not None else None


def prospect(
    state: State, target: Target, action: OperatorCommand, to: VersionNode | None, now: Instant
) -> Prospect:
    before = state.version(target.record.deployed)
    problem = _busy(target)
    if problem is None and action != "adopt" and _is_hook(target):
        problem = f"{target.name} is a hook: it runs in every cycle, not by itself"
    if problem is not None:
        return Prospect(target, before, None, problem)
    match action:
        case "retry":
            return _of_retry(state, target, before, to, now)
        case "redeploy":
            return _of_redeploy(state, target, before, to, now)
        case "rollback":
            return _of_rollback(state, target, before, to, now)
        case "adopt":
            return _of_adopting(target, before, to)


def _busy(target: Target) -> str | None:
    if target.record.job is not None:
        return f"{target.name} has a live job; wait for it to end"
    member = _cycle_of(target)
    if member is not None and member[1].state in ("running", "rollingBack"):
        return f"{target.name} is in a cycle that is not over; wait for it to end"
    return None


def _is_hook(target: Target) -> bool:
    return target.site is not None and target.deployment.name in shape.of_site(target.site).hooks


def _cycle_of(target: Target) -> tuple[Group, Member] | None:
    group = target.site.executing if target.site is not None else None
    member = group.member(target.deployment.name) if group is not None else None
    return (group, member) if group is not None and member is not None else None


def _failed_in_its_cycle(target: Target) -> tuple[Group, Member] | None:
    """The failed cycle that can try it again; one that is being ended runs its post-hooks only."""
    cycle = _cycle_of(target)
    if cycle is None or cycle[0].status != "failed" or cycle[0].phase == "finishing":
        return None
    return cycle if cycle[1].state == "failed" else None


def _of_retry(
    state: State, target: Target, before: VersionNode | None, to: VersionNode | None, now: Instant
) -> Prospect:
    failed = _failed_rollback(state, target, to)
    if failed is not None:
        return _of_rollback_again(state, target, before, failed)
    back = rollbacks.given_up(state, target)
    if back is not None and to in (None, back):
        return Prospect(target, before, back)
    given_up = given_up_here(state, target)
    if to is not None and to.id not in given_up:
        tags = _tags(state, given_up)
        message = (
            f"{target.name} has not failed with {to.tag}; allowed are {tags}" if tags else _not_failed(target)
        )
        return Prospect(target, before, None, message)
    if not given_up:
        return Prospect(target, before, None, _not_failed(target))
    known = [to] if to is not None else [one for one in map(state.version, given_up) if one is not None]
    allowed = [version for version in known if version.object.status != "rejected"]
    if not allowed and _failed_in_its_cycle(target) is None:
        gone = f"{target.name}: the version that failed was deleted, it starts nowhere any more"
        return Prospect(target, before, None, _barred(target, known[0]) if known else gone)
    problem = _not_again_in_its_cycle(state, target, now)
    if problem is not None:
        return Prospect(target, before, None, f"{target.name}: {problem}")
    return Prospect(target, before, max(allowed or known, key=lambda version: version.sort_key, default=None))


def _failed_rollback(state: State, target: Target, to: VersionNode | None) -> Job | None:
    """The rollback that failed, for good or not, and that the order is about: no version is named, or that one."""
    failed = rollbacks.tried_last(state, target) if _failed_in_its_cycle(target) else None
    failed = failed or rollbacks.in_vain(state, target)
    return failed if failed is not None and (to is None or to.id == failed.version) else None


def _of_rollback_again(state: State, target: Target, before: VersionNode | None, failed: Job) -> Prospect:
    after = rollbacks.again(state, target, failed)
    if after is None:
        problem = (
            f"{target.name}: {failed.tag} starts nowhere any more, and nothing else is left to go back to"
        )
        return Prospect(target, before, None, problem)
    return Prospect(target, before, after)


def _not_again_in_its_cycle(state: State, target: Target, now: Instant) -> str | None:
    cycle = _cycle_of(target)
    if cycle is None or target.site is None:
        return None
    group, member = cycle
    is_going_back = group.phase == "rollingBack" and member.ran
    if not is_going_back and _failed_in_its_cycle(target) is None:
        return None
    return operators.why_not_alone(group, member) or operators.why_not_again(
        state, target.site, group, member, now
    )


def _barred(target: Target, version: VersionNode) -> str:
    return f"{target.name}: {version.tag} is rejected, it starts nowhere any more"


def _not_failed(target: Target) -> str:
    return f"{target.name} has nothing that failed or was put back"


def given_up_here(state: State, target: Target) -> list[str]:
    """Versions that are not tried again here by themselves: failed, put back, or given up with a group."""
    record = target.record
    given_up = dict.fromkeys((*record.failures, *record.rolled_back, *record.given_up))
    if record.failed_version is not None:
        given_up[record.failed_version] = None
    if record.deployed is not None and giving_up.values_of(state, target) is not None:
        given_up[record.deployed] = None
    if record.retry_at is not None and record.attempts:
        given_up[state.jobs[record.attempts[-1]].version] = None
    cycle = _cycle_of(target)
    if cycle is not None and cycle[1].state in ("failed", "retrying") and cycle[1].version is not None:
        given_up[cycle[1].version] = None
    missed = collecting.missed_as_a_hook(state, target)
    if missed is not None:
        given_up[missed.id] = None
    return list(given_up)


def _of_redeploy(
    state: State, target: Target, before: VersionNode | None, to: VersionNode | None, now: Instant
) -> Prospect:
    if before is None:
        return Prospect(target, before, None, f"{target.name} has nothing deployed to deploy again")
    if to is not None and to is not before:
        return _of_rollback(state, target, before, to, now)
    if before.object.status == "rejected":
        return Prospect(target, before, None, _barred(target, before))
    return Prospect(target, before, before)


def _of_rollback(
    state: State, target: Target, before: VersionNode | None, to: VersionNode | None, now: Instant
) -> Prospect:
    """Without `to`: after a failure what ran before it, also if another attempt is to come; after a failed rollback the
    same again; else the version before. Where that was rejected meanwhile, or is newer, because somebody said that the
    older one runs, the last older one that ran here and is good."""
    again = _failed_rollback(state, target, to)
    if again is not None:
        return _of_rollback_again(state, target, before, again)
    cycle = _cycle_of(target)
    if cycle is not None and _is_ahead(cycle[1]):
        return Prospect(target, before, None, _ahead_in(target, *cycle))
    record = target.record
    tried = jobs.unsettled(state, target)
    failed_id = tried.version if tried is not None else record.failed_version
    failed = state.version(failed_id)
    has_failed_anew = failed_id is not None and failed_id != record.deployed
    after = to or (before if has_failed_anew else _older_than(state, target, before))
    if to is None and after is not None and after.object.status == "rejected":
        after = candidates.last_good(state, target) or after
    known = [one for one in ran_here(state, target) if has_failed_anew or one is not before]
    problem = None
    if after is None:
        problem = f"{target.name} has no previous version to go back to{_instead(known)}"
    elif to is not None and to not in known:
        problem = f"{target.name} runs {to.tag} already" if to is before else _never_ran(target, to, known)
    elif after.object.status == "rejected":
        nothing = "; nothing else that ran there is left to go back to"
        problem = f"{_barred(target, after)}{_instead(known) or nothing}"
    elif to is not None and before is not None and to.sort_key > before.sort_key:
        problem = _not_forward(state, target, to, now)
    return Prospect(target, failed if has_failed_anew else before, None if problem else after, problem)


def _older_than(state: State, target: Target, before: VersionNode | None) -> VersionNode | None:
    previous = state.version(target.record.previous)
    if before is None or (previous is not None and previous.sort_key < before.sort_key):
        return previous
    return candidates.last_good(state, target, before=before)


def _not_forward(state: State, target: Target, to: VersionNode, now: Instant) -> str | None:
    """Forward is not back: what people or selectors hold back there is not reached by an order."""
    for result in gates.of_version(state, target, to, now):
        if not result.is_allowed and _says_whether_it_may_come(result):
            return f"{target.name}: {to.tag} is newer than what runs, and held: {result.verdict.message}"
    return None


def _says_whether_it_may_come(result: GateResult) -> bool:
    stage = rules.TRAITS[result.kind].stage
    return stage is not None and stage <= GateStage.CONSENT


def _is_ahead(member: Member) -> bool:
    """What its cycle is still to run there would come first; a way back that is ordered anew takes the place of the one
    before."""
    return member.state == "retrying" or (member.state == "waiting" and member.kind != "rollback")


def _ahead_in(target: Target, group: Group, member: Member) -> str:
    """A way back would stand in line behind what it is to end or to forestall."""
    what = "its next attempt" if member.state == "retrying" else "its turn"
    return f"{target.name} waits for {what} in group {group.id}; abort the group, then roll back"


def ran_here(state: State, target: Target) -> list[VersionNode]:
    record = target.record
    known = dict.fromkeys((*record.ran, record.previous, record.deployed))
    return [version for version in map(state.version, known) if version is not None]


def _never_ran(target: Target, to: VersionNode, known: Sequence[VersionNode]) -> str:
    return f"{target.name} has not run {to.tag}{_instead(known)}"


def _instead(known: Sequence[VersionNode]) -> str:
    tags = ", ".join(version.tag for version in known if version.object.status != "rejected")
    return f"; allowed are the versions that ran there: {tags}" if tags else ""


def _tags(state: State, versions: Sequence[str]) -> str:
    return ", ".join(state.tag(version) for version in versions if version in state.versions)


def _of_adopting(target: Target, before: VersionNode | None, to: VersionNode | None) -> Prospect:
    cycle = _cycle_of(target)
    if cycle is not None and cycle[1].state in ("waiting", "retrying"):
        return Prospect(
            target, before, None, f"{target.name} is in a cycle that is not over; wait for it to end"
        )
    return Prospect(target, before, to)


def _carry_out(
    state: State,
    order_prospect: Prospect,
    change: TargetAction | TargetsAction,
    to: VersionNode | None,
    now: Instant,
) -> None:
    target = order_prospect.target
    failed = _failed_rollback(state, target, to)
    match change.action:
        case "retry" | "rollback" if failed is not None and order_prospect.after is not None:
            _roll_back_again(state, target, order_prospect.after, failed, change.user, now)
        case "retry" if order_prospect.after is not None and order_prospect.after is rollbacks.given_up(
            state, target
        ):
            target.record.rollback_to = order_prospect.after.id
            target.record.given_up_rollback = None
        case "retry":
            _retry(state, target, to, change.user, now)
        case "adopt" if order_prospect.after is not None:
            _adopt(state, target, order_prospect.after, change.user, now)
        case "redeploy" if order_prospect.after is order_prospect.before:
            target.record.ordered = "redeploy"
        case _:
            _go_to(state, target, order_prospect, change.user)
    state.target_changed(target)
    state.touch(target)


def _roll_back_again(
    state: State, target: Target, to: VersionNode, failed: Job, user: str, now: Instant
) -> None:
    """For the cause that it had; what it goes back from stays put back. In the cycle that it failed in, while that waits."""
    record = target.record
    cycle = _failed_in_its_cycle(target)
    if cycle is not None:
        operators.roll_back_again(state, cycle[0], cycle[1], to.id, user, now)
        return
    record.rollback_to = to.id
    record.rollback_cause = failed.reason
    if record.fault is not None and record.fault.job == failed.id:
        record.fault = None
    record.failures.pop(to.id, None)
    record.failed_at = None
    record.failed_version = None
    record.retry_at = None


def _go_to(state: State, target: Target, order_prospect: Prospect, user: str) -> None:
    """What it goes back from is not tried again by itself; what it goes to may be, even if it was put back before."""
    assert order_prospect.after is not None
    cause = f"{target_states.ORDERED_BY} {user or 'an operator'}"
    if rollbacks.kind_of(state, target, order_prospect.after) == "rollback":
        jobs.order_rollback(
            state,
            target,
            order_prospect.before.id if order_prospect.before is not None else "",
            order_prospect.after.id,
            cause,
        )
    else:
        target.record.rollback_to = order_prospect.after.id
        target.record.rollback_cause = cause
    target.record.rolled_back.pop(order_prospect.after.id, None)
    target.record.failed_at = None
    target.record.failed_version = None
    target.record.retry_at = None


def _retry(state: State, target: Target, to: VersionNode | None, user: str, now: Instant) -> None:
    """Whatever failed or was put back here may be tried again, or the one version that is named."""
    record = target.record
    ordered = _ordered_by_retry(target, to)
    record.tried_again = (to.id,) if to is not None else tuple(given_up_here(state, target))
    if to is None:
        record.failures.clear()
        record.rolled_back.clear()
        record.given_up.clear()
    else:
        record.failures.pop(to.id, None)
        record.rolled_back.pop(to.id, None)
        record.given_up.pop(to.id, None)
    if to is None or to.id == record.deployed:
        record.given_up_values = None
        record.given_up_rollback = None
    if record.fault is not None and (to is None or record.fault.version == to.id):
        record.fault = None
    if to is None or record.failed_version == to.id:
        record.failed_at = None
        record.failed_version = None
    record.retry_at = None
    record.ordered = ordered
    record.attempts = record.attempts[-1:]
    failed = _failed_in_its_cycle(target)
    if failed is not None:
        group, member = failed
        operators.act(state, GroupAction("retry", group=group.id, member=member.deployment, user=user), now)
    else:
        _forget_locks(state, target)


def _forget_locks(state: State, target: Target) -> None:
    """What groups here have locked before does not keep it from being new again."""
    if target.site is not None:
        target.site.record.watermarks.pop(target.deployment.name, None)
        target.site.record.backs.pop(target.deployment.name, None)
        state.journal.changed("place", *target.site.key)


def _ordered_by_retry(target: Target, to: VersionNode | None) -> str | None:
    """What runs, and failed its verification or when it was deployed again, is deployed and verified again; in brackets
    what failed is new again."""
    record = target.record
    failed = record.failures.get(record.deployed or "")
    has_failed_again = (
        target.site is None
        and record.failed_version == record.deployed
        and failed is not None
        and variables.are_same(failed, record.deployed_variables)
    )
    if (record.verification == "failed" or has_failed_again) and (to is None or to.id == record.deployed):
        return "redeploy"
    return "retry" if target.site is None else None


def _adopt(state: State, target: Target, version: VersionNode, user: str, now: Instant) -> None:
    """It runs there already, whoever put it there: nothing is left to do for it, and nothing of it has failed."""
    record = target.record
    if record.deployed not in (None, version.id):
        record.previous = record.deployed
    record.retry_at = record.ordered = record.rollback_to = None
    record.failed_at = record.failed_version = None
    record.failures.pop(version.id, None)
    record.rolled_back.pop(version.id, None)
    jobs.forget_attempts(state, target)
    jobs.note_running(state, target, version.id, variables.resolve(state, target), now)
    record.adopted_by = user
    verifying.forget(state, target, version.id)
    _forget_locks(state, target)
    failures.forgiven(state, target)
    holds.settle_target(state, target)
