"""What a member of a bracket waits for: its window, its group, the members before it, or a person."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from headgate.fleet.cycles import (
    choosing,
    collecting,
    finishing,
    giving_up,
    group_rollbacks,
    locking,
    ordered_rollbacks,
    ordering,
    readiness,
    running,
    shape,
)
from headgate.fleet.cycles.choosing import Choices
from headgate.fleet.engine import (
    explain_attempts,
    explain_kept,
    explain_rollbacks,
    explain_slots,
    explain_windows,
    target_states,
)
from headgate.fleet.gates import gates
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import MEMBER_UNDER_WAY, GivenUp, Group, Member
from headgate.fleet.state import candidates, evidence
from headgate.fleet.state.state import GateResult, JudgedVersion, State
from headgate.fleet.state.units import Site, Target, VersionNode
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant

_TRIED_AGAIN = "it is tried again when an operator retries it, or by the next group that a newer version of the bracket opens"


def of_member(state: State, target: Target, site: Site, now: Instant) -> Iterator[JudgedVersion]:
    seen: set[str] = set()
    if not site.is_home_of(target):
        yield from explain_kept.verdicts_of(state, target, site, now)
    for group in site.groups():
        member = group.member(target.deployment.name)
        locked = state.version(member.version) if member is not None else None
        if member is None or _is_over(group, member):
            continue
        if locked is None and group.status != "failed" and member.deployment in locking.missing_hooks(group):
            yield None, _bracket_verdict(state, target, site, group, now)
        if locked is None:
            continue
        if member.state != "succeeded":
            seen.add(locked.id)
        yield locked, _bracket_verdict(state, target, site, group, now)
        for result in _verdicts_of_member(state, target, site, group, member, now):
            yield locked, result
    fresh = collecting.fresh_versions(state, site).get(target.deployment.name, [])
    for version in fresh[: target_states.CANDIDATES_AT_MOST]:
        if version.id not in seen:
            yield from _version_verdicts(state, target, site, version, now)
            yield version, explain_windows.of_window(state, site, now)
    if target.deployment.name in shape.of_site(site).hooks and not seen:
        ahead = next(candidates.newest_first(target), None)
        if ahead is not None and ahead.id != target.record.deployed:
            yield from _version_verdicts(state, target, site, ahead, now)
            yield ahead, explain_windows.of_window(state, site, now) if site.collecting else _no_cycle(site)
    if not seen:
        yield from _unhooked_verdicts(state, target, site, now)
    if not locking.is_in_started_group(site, target.deployment.name):
        yield from explain_attempts.of_paused(state, target)
    yield from explain_rollbacks.verdicts_of(state, target)
    yield from _given_up_verdicts(state, target, site, now)
    yield from _passed_over_verdicts(state, target, site, now)
    yield from explain_attempts.of_rolled_back(state, target)
    yield from explain_attempts.of_verification(state, target)


def _version_verdicts(
    state: State, target: Target, site: Site, version: VersionNode, now: Instant
) -> Iterator[JudgedVersion]:
    """The version's own gates, with what a close now would lock beside it."""
    choices = Choices(state, site, now, Blockers())
    prospects = choices.prospects_of(target.deployment.name, version)
    for result in gates.of_version(state, target, version, now, prospects):
        yield version, result


def _is_over(group: Group, member: Member) -> bool:
    """Its part in the group is done without its lock; a failed group says so to everyone."""
    return member.state == "dropped" or (member.state == "rolledBack" and group.status != "failed")


def _unhooked_verdicts(state: State, target: Target, site: Site, now: Instant) -> Iterator[JudgedVersion]:
    """Changed values, and what was ordered, run in a cycle of their own, which no hook may be missing from."""
    record = target.record
    is_ordered = record.rollback_to is not None or record.ordered is not None
    if not is_ordered and not target_states.has_changed_values(state, target):
        return
    _, missing = choosing.hooks_alone(state, site, now, Blockers())
    if missing:
        verdict = explain_windows.missing_verdict(
            state, site, missing, explain_windows.missing_sentence(missing), now
        )
        yield candidates.deployed_version(state, target), GateResult(site.rule, site.rule.kind, verdict)


def _given_up_verdicts(state: State, target: Target, site: Site, now: Instant) -> Iterator[JudgedVersion]:
    given_up = target.record.given_up
    if not site.is_home_of(target):
        return
    values = giving_up.values_of(state, target)
    if values is not None:
        message = _given_up_sentence(f"changed values of {target.deployment.name} have not run", values)
        verdict = decisions.pending(Reason.CYCLE_FAILED, message, given_up=values.group)
        yield (
            candidates.deployed_version(state, target),
            GateResult(site.rule, site.rule.kind, verdict),
        )
    if not given_up:
        return
    fresh = collecting.fresh_versions(state, site).get(target.deployment.name, [])
    for version in collecting.lockable_versions(state, target):
        if version.id in given_up and version not in fresh:
            yield from _version_verdicts(state, target, site, version, now)
            what = f"{target.deployment.name} {version.tag} {_what_became_of(state, target, version)}"
            message = _given_up_sentence(what, given_up[version.id])
            verdict = decisions.pending(Reason.CYCLE_FAILED, message, given_up=given_up[version.id].group)
            yield version, GateResult(site.rule, site.rule.kind, verdict)


def _passed_over_verdicts(state: State, target: Target, site: Site, now: Instant) -> Iterator[JudgedVersion]:
    newest = state.version(site.record.watermarks.get(target.deployment.name))
    if newest is None or target.deployment.name in shape.of_site(site).hooks:
        return
    for version in collecting.passed_over(state, site, target)[: target_states.CANDIDATES_AT_MOST]:
        yield from _version_verdicts(state, target, site, version, now)
        verdict = _passed_over_verdict(state, site, target, version, newest)
        yield version, GateResult(site.rule, site.rule.kind, verdict)


def _passed_over_verdict(
    state: State, site: Site, target: Target, version: VersionNode, newest: VersionNode
) -> decisions.Verdict:
    subject = f"{target.deployment.name} {version.tag} opens no window:"
    if version is newest:
        became = _what_became_of(state, target, version)
        message = f"{subject} it was locked here, as a hook then, and {became}; {_TRIED_AGAIN}"
        return decisions.pending(Reason.CYCLE_FAILED, message, passed_over=newest.tag)
    subject = f"{subject} {newest.tag}, which is newer,"
    for group in site.groups():
        member = group.member(target.deployment.name)
        if member is not None and member.version == newest.id and member.state in MEMBER_UNDER_WAY:
            return decisions.pending(Reason.AWAITING_CYCLE, f"{subject} is locked in group {group.id}")
    message = f"{subject} was locked here and put back; {_TRIED_AGAIN}"
    return decisions.pending(Reason.CYCLE_FAILED, message, passed_over=newest.tag)


def _what_became_of(state: State, target: Target, version: VersionNode) -> str:
    if version.id in target.record.ran:
        return "ran here and was put back"
    last = state.last_attempt(target.record.attempts)
    if last is not None and last.version == version.id:
        return f"ended {last.status} and has not been tried again"
    return "has not run"


def _given_up_sentence(what: str, given_up: GivenUp) -> str:
    """Which group, what ended it, and what would try it again."""
    return (
        f"{what}: group {given_up.group} {_how_it_ended(given_up)} "
        f"at {instants.show_to_the_second(given_up.at)}; {_TRIED_AGAIN}"
    )


def _how_it_ended(given_up: GivenUp) -> str:
    match given_up.how:
        case "aborted":
            return (
                f"was {given_up.reason}"
                if given_up.reason.startswith("aborted")
                else f"was aborted ({given_up.reason})"
            )
        case "skipped":
            return f"went on without it ({given_up.reason})"
        case "rolledBack":
            return f"was rolled back ({given_up.reason})"
        case "left":
            return f"let it go ({given_up.reason})"


def _verdicts_of_member(
    state: State, target: Target, site: Site, group: Group, member: Member, now: Instant
) -> Iterator[GateResult]:
    if group.started_at is None:
        for result in readiness.verdicts_of(state, site, group, now):
            yield _naming_whom_it_holds(state, target, site, group, result, now)
    if group.started_at is None or _takes_slots_again(group):
        for table in readiness.tables_of(state, site, group):
            yield explain_slots.of_table(state, table, target)
    if member.state in ("waiting", "retrying"):
        if group.phase == "finishing" and member.role == "postHook":
            yield finishing.verdict_of(state, site, group, member)
        elif not running.went_back(state, member):
            yield from ordering.verdicts_of(state, site, group, member, now)
        if group.started_at is not None:
            yield gates.frozen(state, target, now)
            yield from ordering.paused(state, member)
        if member.retry_at is not None:
            yield from explain_attempts.of_retry(target, member.retry_at, now)


def _naming_whom_it_holds(
    state: State, target: Target, site: Site, group: Group, result: GateResult, now: Instant
) -> GateResult:
    """A group starts when every member passes: what is in a sibling's way says whose it is."""
    if result.is_allowed or not gates.is_of_moment(result):
        return result
    holds = [
        other
        for other, version in readiness.runners(state, site, group)
        if any(_says_the_same(result, own) for own in gates.of_moment(state, other, version, now))
    ]
    if not holds or target in holds:
        return result
    message = f"holds {holds[0].deployment.name} of this group: {result.verdict.message}"
    return GateResult(
        result.rule, result.kind, msgspec.structs.replace(result.verdict, words=message), result.wakes
    )


def _says_the_same(result: GateResult, other: GateResult) -> bool:
    return (
        result.rule is other.rule
        and result.kind == other.kind
        and result.verdict.message == other.verdict.message
    )


def _takes_slots_again(group: Group) -> bool:
    """It goes on, or back, after its slot was released: nothing of it starts before it has one again."""
    return group.slot_released and (group.status != "failed" or ordered_rollbacks.is_about(group))


def _no_cycle(site: Site) -> GateResult:
    verdict = decisions.pending(
        Reason.AWAITING_CYCLE,
        "runs with the next cycle here; a new version of a hook alone opens no window, one of another member does",
    )
    return GateResult(site.rule, site.rule.kind, verdict)


def _bracket_verdict(state: State, target: Target, site: Site, group: Group, now: Instant) -> GateResult:
    member = group.member(target.deployment.name) or group.members[0]
    version = state.tag(member.version)
    locked_since = member.locked_at or group.locked_at
    locked_at = instants.show_to_the_second(locked_since or now)
    missing = locking.missing_hooks(group)
    if missing:
        verdict = explain_windows.missing_verdict(
            state, site, missing, explain_windows.missing_sentence(missing), now, group
        )
    elif group.status == "queued":
        other = state.executing_at.get(site.location)
        ahead = other.executing if other is not None else None
        what = (
            f"group {ahead.id} is {ahead.status} on {group.resource}"
            if ahead is not None
            else "another group"
        )
        message = f"{version} is locked since {locked_at}; queued: {what}"
        if ahead is not None and ahead.status == "failed":
            verdict = decisions.pending(Reason.AWAITING_CYCLE, message, failed_group=ahead.id)
        else:
            verdict = decisions.pending(Reason.AWAITING_CYCLE, message)
    elif group.status == "failed":
        failed = ", ".join(m.deployment for m in group.members if m.state == "failed")
        stuck = "is stuck, it " if group.stuck else ""
        verdict = decisions.pending(
            Reason.CYCLE_FAILED,
            f"the group {stuck}failed at {instants.show_to_the_second(group.failed_at or now)} ({group.reason}); "
            f"nothing further starts until an operator retries, skips {failed or 'a member'}, or aborts",
        )
    elif group is site.executing and target_states.is_put_back_by_its_group(state, target):
        verdict = decisions.pending(Reason.AWAITING_CYCLE, _back_sentence(state, target, site, group))
    else:
        verdict = decisions.allowed(
            f"{version} is locked in group {group.id} since {locked_at}", satisfied_at=locked_since
        )
    return GateResult(site.rule, site.rule.kind, verdict)


def _back_sentence(state: State, target: Target, site: Site, group: Group) -> str:
    left = [m for m in group_rollbacks.affected(state, site, group) if m.state != "rolledBack"]
    own = next(member for member in left if member.deployment == target.deployment.name)
    after = ordering.downstream_first(state, site, group, [member.deployment for member in left])
    behind = ", ".join(member.deployment for member in left if member.deployment in after[own.deployment])
    turn = f" after {behind}" if behind else ""
    if running.goes_back_again(state, own):
        turn += f" ({evidence.of_job(state.jobs[own.attempts[-1]])})"
    return (
        f"group {group.id} is rolled back ({group.reason}); "
        f"{own.deployment} goes back to {state.tag(own.previous)}{turn}"
    )
