"""Every verdict that keeps a target where it is, candidate by candidate, in the words that people read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec

from headgate.fleet.cycles import (
    collecting,
    group_rollbacks,
    locking,
    ordering,
    readiness,
    running,
    shape,
    targets,
)
from headgate.fleet.engine import explain_rollbacks, explain_slots, remedies, target_states
from headgate.fleet.gates import dependencies, gates, rejecting
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import GivenUp, Group, Member
from headgate.fleet.state import candidates, evidence, holds, rollbacks
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Site, Target, VersionNode
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant

CANDIDATES_AT_MOST = 20

Verdict = tuple[VersionNode | None, GateResult]


def of_target(state: State, target: Target, now: Instant) -> Iterator[Verdict]:
    conflict = targets.denied_by_two_brackets(target)
    if conflict is not None:
        yield None, conflict
        return
    yield from _stranded_verdicts(state, target)
    if target.site is not None:
        yield from _verdicts_in_bracket(state, target, target.site, now)
        return
    for version, _ in zip(target_states.ahead_of(state, target), range(CANDIDATES_AT_MOST)):
        for one in targets.verdicts_of(state, target, version, now):
            yield version, one
        for table in holds.tables_for(state, (target,)):
            yield version, explain_slots.of_table(state, table, target)
        if target.record.retry_at is not None and targets.retried_version(state, target) == version.id:
            yield from ((version, one) for one in _retry_verdicts(target, target.record.retry_at, now))
        elif version.id in target.record.failures and rollbacks.failed(state, target) is None:
            yield (
                version,
                GateResult(
                    None, "retry", decisions.denied(Reason.FAILED, failed_sentence(state, target, version.id))
                ),
            )
    yield from _paused_verdicts(state, target)
    yield from _ordered_verdicts(state, target, now)
    yield from explain_rollbacks.verdicts_of(state, target)
    yield from _changed_values_verdicts(state, target, now)
    yield from _rolled_back_verdicts(state, target)
    yield from _verification_verdicts(state, target)


def _stranded_verdicts(state: State, target: Target) -> Iterator[Verdict]:
    deployed = candidates.deployed_version(state, target)
    if deployed is not None and target.record.job is None and target_states.is_stranded(state, target):
        failed = rollbacks.failed(state, target)
        why = (
            f"for the rollback to {failed.tag} failed: an operator's retry tries that again, or "
            if failed is not None
            else "for nothing that ran before it is left to go back to: "
        )
        message = f"{rejecting.sentence(deployed)}; it still runs here, {why}a newer version replaces it"
        yield None, GateResult(None, "rejection", decisions.denied(Reason.REJECTED, message))


def _paused_verdicts(state: State, target: Target) -> Iterator[Verdict]:
    """What failed, and is not tried again before somebody lets it go on."""
    version = targets.paused_retry(state, target)
    if version is None or target.record.job is not None:
        return
    last = evidence.of_job(state.jobs[target.record.attempts[-1]])
    message = f"{last}; it is paused, the next attempt is made when it is ready again"
    yield version, GateResult(None, "retry", decisions.pending(Reason.AWAITING_RETRY, message))


def _ordered_verdicts(state: State, target: Target, now: Instant) -> Iterator[Verdict]:
    """What a rollback, a redeploy or the next attempt of one waits for: a freeze, a time, a slot."""
    record = target.record
    version = state.version(record.rollback_to or record.deployed)
    last = state.jobs.get(record.attempts[-1]) if record.attempts else None
    is_retried = record.retry_at is not None and last is not None and last.kind in ("redeploy", "rollback")
    if record.job is not None or version is None:
        return
    is_redeployed = record.ordered == "redeploy" or (
        is_retried and last is not None and last.kind == "redeploy"
    )
    if record.rollback_to is None and not is_redeployed:
        return
    yield version, gates.frozen(state, target, now)
    if is_retried and record.retry_at is not None:
        yield from ((version, one) for one in _retry_verdicts(target, record.retry_at, now))
    for table in holds.tables_for(state, (target,)):
        yield version, explain_slots.of_table(state, table, target)


def _changed_values_verdicts(state: State, target: Target, now: Instant) -> Iterator[Verdict]:
    """What a new release of the version that runs waits for; only if nothing newer comes before it."""
    record = target.record
    deployed = state.version(record.deployed)
    if deployed is None or any(True for _ in target_states.ahead_of(state, target)):
        return
    if record.job is not None or not target_states.has_changed_values(state, target):
        return
    for one in targets.verdicts_of_same_version(state, target, now):
        yield deployed, one
    for table in holds.tables_for(state, (target,)):
        yield deployed, explain_slots.of_table(state, table, target)


def failed_sentence(state: State, target: Target, version_id: str | None) -> str:
    rollback = rollbacks.tried_last(state, target)
    if rollback is not None and rollback.version == version_id:
        return explain_rollbacks.failed_sentence(state, target, rollback)
    at, fault = target.record.failed_at, target.record.fault
    version, tag = state.version(version_id), state.tag(version_id)
    back = state.version(target.record.rollback_to)
    when = f" at {instants.show_to_the_second(at)}" if at is not None else ""
    cause = f" ({fault.cause})" if fault is not None and fault.tag == tag else ""
    if back is not None:
        return f"{tag} failed{when}{cause}; it goes back to {back.tag}"
    if version is not None and version.object.status == "rejected":
        return f"{tag} failed{when}{cause}; it is rejected and not tried again: a rollback or a newer version moves this"
    return (
        f"{tag} failed{when}{cause}; it is tried again when an operator retries it or a newer version comes"
    )


def _verification_verdicts(state: State, target: Target) -> Iterator[Verdict]:
    """What is measured of the version that runs, while it is not known to be good."""
    record = target.record
    job = state.jobs.get(record.attempts[-1]) if record.attempts else None
    if job is None or job.verification not in ("running", "failed"):
        return
    for rule in target.rules.of("verification"):
        left = [p for p in job.metrics if p.rule == rule.id and p.status == job.verification]
        if not left:
            continue
        names = ", ".join(progress.metric for progress in left)
        due = min((p.due_at for p in left if p.due_at is not None), default=None)
        if job.verification == "failed":
            verdict = decisions.denied(
                Reason.VERIFICATION_FAILED, f"verification of {job.tag} failed: {evidence.of_metrics(left)}"
            )
        else:
            verdict = decisions.pending(
                Reason.AWAITING_VERIFICATION, f"{job.tag} is being verified: {names}", requeue_at=due
            )
        yield state.version(job.version), GateResult(rule, rule.kind, verdict)


def _retry_verdicts(target: Target, retry_at: Instant, now: Instant) -> Iterator[GateResult]:
    for rule in target.rules.of("retry"):
        if now < retry_at:
            verdict = decisions.pending(
                Reason.AWAITING_RETRY,
                f"the next attempt is made at {instants.show_to_the_second(retry_at)}",
                requeue_at=retry_at,
            )
        else:
            verdict = decisions.allowed("the next attempt is due", satisfied_at=retry_at)
        yield GateResult(rule, "retry", verdict)


def _verdicts_in_bracket(state: State, target: Target, site: Site, now: Instant) -> Iterator[Verdict]:
    shown: set[str] = set()
    if not site.is_home_of(target):
        yield from _kept_verdicts(state, target, site, now)
    for group in site.groups():
        member = group.member(target.deployment.name)
        locked = state.version(member.version) if member is not None else None
        if member is None or _is_over(group, member):
            continue
        if locked is None and group.status != "failed" and member.deployment in locking.missing_hooks(group):
            yield None, bracket_verdict(state, target, site, group, now)
        if locked is None:
            continue
        if member.state != "succeeded":
            shown.add(locked.id)
        yield locked, bracket_verdict(state, target, site, group, now)
        for one in _verdicts_of_member(state, target, site, group, member, now):
            yield locked, one
    fresh = collecting.fresh_versions(state, site).get(target.deployment.name, [])
    for version in fresh[:CANDIDATES_AT_MOST]:
        if version.id not in shown:
            for one in gates.of_version(state, target, version, now):
                yield version, one
            yield version, of_window(state, site, now)
    if target.deployment.name in shape.of_site(site).hooks and not shown:
        ahead = next(candidates.newest_first(target), None)
        if ahead is not None and ahead.id != target.record.deployed:
            for one in gates.of_version(state, target, ahead, now):
                yield ahead, one
            yield ahead, of_window(state, site, now) if site.collecting else _no_cycle(site)
    if not shown:
        yield from _unhooked_verdicts(state, target, site, now)
    yield from explain_rollbacks.verdicts_of(state, target)
    yield from _given_up_verdicts(state, target, site, now)
    yield from _rolled_back_verdicts(state, target)
    yield from _verification_verdicts(state, target)


def _is_over(group: Group, member: Member) -> bool:
    """Its part in the group is done without its lock; a failed group says so to everyone."""
    return member.state == "dropped" or (member.state == "rolledBack" and group.status != "failed")


def _unhooked_verdicts(state: State, target: Target, site: Site, now: Instant) -> Iterator[Verdict]:
    """Changed values, and what was ordered, run in a cycle of their own, which no hook may be missing from."""
    record = target.record
    is_ordered = record.rollback_to is not None or record.ordered is not None
    if not is_ordered and not target_states.has_changed_values(state, target):
        return
    _, missing, _ = locking.hook_locks(state, site, now, Blockers())
    if missing:
        verdict = _missing_verdict(state, site, missing, _missing_sentence(missing), now)
        yield candidates.deployed_version(state, target), GateResult(site.rule, "deploymentBracket", verdict)


def _missing_sentence(hooks: list[str]) -> str:
    return f"waits for an allowed version of the hook {', '.join(hooks)}"


def _missing_verdict(
    state: State, site: Site, hooks: list[str], said: str, now: Instant, group: Group | None = None
) -> decisions.Verdict:
    """A hook without a version is waited for. Only a person can bring one, unless a version of it waits for something
    else: a time, another environment."""
    started = group is not None and group.started_at is not None
    return decisions.pending(
        Reason.AWAITING_DEPENDENCY,
        said,
        missing_hooks=hooks,
        by_person=any(not _may_come_by_itself(state, site.members[name], now) for name in hooks),
        group=group.id if group is not None and started else None,
    )


def _may_come_by_itself(state: State, hook: Target, now: Instant) -> bool:
    """Whether one of the hook's versions waits for no person."""
    watermark = candidates.watermark_of(state, hook)
    return any(
        all(
            one.is_allowed or not remedies.needs_person(one)
            for one in gates.of_version(state, hook, version, now)
        )
        for version in candidates.newest_first(hook)
        if watermark is None or version.order >= watermark
    )


def _given_up_verdicts(state: State, target: Target, site: Site, now: Instant) -> Iterator[Verdict]:
    given_up = target.record.given_up
    if not given_up or not site.is_home_of(target):
        return
    fresh = collecting.fresh_versions(state, site).get(target.deployment.name, [])
    for version in collecting.lockable_versions(state, target):
        if version.id in given_up and version not in fresh:
            for one in gates.of_version(state, target, version, now):
                yield version, one
            message = given_up_sentence(target, version, given_up[version.id])
            verdict = decisions.pending(Reason.CYCLE_FAILED, message, given_up=given_up[version.id].group)
            yield version, GateResult(site.rule, "deploymentBracket", verdict)


def given_up_sentence(target: Target, version: VersionNode, given_up: GivenUp) -> str:
    """Which group, what ended it, and what would try it again."""
    return (
        f"{target.deployment.name} {version.tag} has not run: group {given_up.group} {_how_it_ended(given_up)} "
        f"at {instants.show_to_the_second(given_up.at)}; it is tried again when an operator retries it, or by the "
        "next group that a newer version of the bracket opens"
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


def _kept_verdicts(state: State, target: Target, site: Site, now: Instant) -> Iterator[Verdict]:
    """Its rules have let it go, but it stays until the cycle that it is a member of has ended."""
    group = site.executing
    if group is None:
        return
    waiting: list[VersionNode | None] = list(
        itertools.islice(target_states.ahead_of(state, target), CANDIDATES_AT_MOST)
    )
    if not waiting and target_states.has_changed_values(state, target):
        waiting = [candidates.deployed_version(state, target)]
    for version in waiting:
        message = f"waits for the end of group {group.id}, which is {_how_it_is(group, now)}"
        yield (
            version,
            GateResult(site.rule, "deploymentBracket", decisions.pending(Reason.AWAITING_CYCLE, message)),
        )


def _how_it_is(group: Group, now: Instant) -> str:
    if group.status != "failed":
        return group.status
    since = instants.show_to_the_second(group.failed_at or now)
    return f"failed since {since} ({group.reason}) until an operator retries, skips a member, or aborts"


def _rolled_back_verdicts(state: State, target: Target) -> Iterator[Verdict]:
    version = target_states.rolled_back_version(state, target)
    is_back = not target_states.is_going_back(state, target) and rollbacks.tried_last(state, target) is None
    if version is None or not is_back:
        return
    why = target.record.rolled_back[version.id]
    cause = f": {why}" if why != "rolledBack" else ""
    message = f"{version.tag} was rolled back here{cause}; it is not tried again by itself, an operator's retry does it"
    yield (
        version,
        GateResult(
            next(iter(target.rules.of("rollback")), None),
            "rollback",
            decisions.denied(Reason.ROLLED_BACK, message),
        ),
    )


def _verdicts_of_member(
    state: State, target: Target, site: Site, group: Group, member: Member, now: Instant
) -> Iterator[GateResult]:
    if group.started_at is None:
        yield from readiness.verdicts_of(state, site, group, now)
        for table in readiness.tables_of(state, site, group):
            yield explain_slots.of_table(state, table, target)
    if member.state in ("waiting", "retrying"):
        if not running.went_back(state, member):
            yield from ordering.verdicts_of(state, site, group, member, now)
        if group.started_at is not None:
            yield gates.frozen(state, target, now)
        if member.retry_at is not None:
            yield from _retry_verdicts(target, member.retry_at, now)


def _no_cycle(site: Site) -> GateResult:
    verdict = decisions.pending(
        Reason.AWAITING_CYCLE,
        "runs with the next cycle here; a new version of a hook alone opens no window, one of another member does",
    )
    return GateResult(site.rule, "deploymentBracket", verdict)


def of_window(state: State, site: Site, now: Instant) -> GateResult:
    group = site.collecting
    if group is None:
        verdict = decisions.pending(
            Reason.COLLECTING, "no collection window is open yet: no new version has passed its gates"
        )
        return GateResult(site.rule, "deploymentBracket", verdict)
    fresh = collecting.fresh_versions(state, site)
    close_at = collecting.close_time(site, group, fresh)
    if now < close_at:
        opened = instants.show_to_the_second(group.collection_started_at)
        verdict = decisions.pending(
            Reason.COLLECTING,
            f"collection window open since {opened}, {_when_it_closes(site, group, fresh, close_at, now)}",
            requeue_at=close_at if now >= group.collection_ends_at else group.collection_ends_at,
        )
    else:
        verdict = _held_open(state, site, fresh, now)
    return GateResult(site.rule, "deploymentBracket", verdict)


def _when_it_closes(
    site: Site, group: Group, fresh: collecting.Fresh, close_at: Instant, now: Instant
) -> str:
    """`wait_for_all` closes as soon as everyone has a new version; `require_all` not before the window's end."""
    spec = site.rule.spec
    closes = f"closes at {instants.show_to_the_second(close_at)}"
    missing = ", ".join(collecting.without_new_version(site, fresh))
    waits_for_all = spec.readiness_mode == "wait_for_all"
    if not missing or not (waits_for_all or spec.unchanged_member_strategy == "require_all"):
        return closes
    if waits_for_all or now >= group.collection_ends_at:
        return f"{closes} or as soon as every one of {missing} has a new version"
    ends = instants.show_to_the_second(group.collection_ends_at)
    return (
        f"closes at {ends} if every one of {missing} has a new version by then, "
        f"else as soon as they have, at {instants.show_to_the_second(close_at)} at the latest"
    )


def _held_open(state: State, site: Site, fresh: collecting.Fresh, now: Instant) -> decisions.Verdict:
    _, missing, _ = locking.hook_locks(state, site, now, Blockers())
    stays = "collection window stays open"
    if missing:
        said = f"{stays}: there is no allowed version of {', '.join(missing)}"
        return _missing_verdict(state, site, missing, said, now)
    waiting = ", ".join(f"{name} {versions[0].tag}" for name, versions in sorted(fresh.items()))
    said = f"{stays} until the gates of a new version allow it: {waiting}"
    return decisions.pending(Reason.COLLECTING, said)


def bracket_verdict(state: State, target: Target, site: Site, group: Group, now: Instant) -> GateResult:
    member = group.member(target.deployment.name) or group.members[0]
    version = state.tag(member.version)
    locked_since = member.locked_at or group.locked_at
    locked_at = instants.show_to_the_second(locked_since or now)
    missing = locking.missing_hooks(group)
    if missing:
        verdict = _missing_verdict(state, site, missing, _missing_sentence(missing), now, group)
    elif group.status == "queued":
        other = state.executing_at.get(site.location)
        ahead = other.executing if other is not None else None
        what = (
            f"group {ahead.id} is {ahead.status} on {group.resource}"
            if ahead is not None
            else "another group"
        )
        said = f"{version} is locked since {locked_at}; queued: {what}"
        if ahead is not None and ahead.status == "failed":
            verdict = decisions.pending(Reason.AWAITING_CYCLE, said, failed_group=ahead.id)
        else:
            verdict = decisions.pending(Reason.AWAITING_CYCLE, said)
    elif group.status == "failed":
        failed = ", ".join(m.deployment for m in group.members if m.state == "failed")
        stuck = "is stuck, it " if group.stuck else ""
        verdict = decisions.pending(
            Reason.CYCLE_FAILED,
            f"the group {stuck}failed at {instants.show_to_the_second(group.failed_at or now)} ({group.reason}); "
            f"nothing further starts until an operator retries, skips {failed or 'a member'}, or aborts",
        )
    elif group is site.executing and target_states.is_going_back(state, target):
        verdict = decisions.pending(Reason.AWAITING_CYCLE, _back_sentence(state, target, site, group))
    else:
        verdict = decisions.allowed(
            f"{version} is locked in group {group.id} since {locked_at}", satisfied_at=locked_since
        )
    return GateResult(site.rule, "deploymentBracket", verdict)


def _back_sentence(state: State, target: Target, site: Site, group: Group) -> str:
    left = [m for m in group_rollbacks.affected(state, site, group) if m.state != "rolledBack"]
    own = next(member for member in left if member.deployment == target.deployment.name)
    after = ordering.downstream_first(state, site, group, [member.deployment for member in left])
    behind = ", ".join(after[own.deployment])
    turn = f" after {behind}" if behind else ""
    if running.goes_back_again(state, own):
        turn += f" ({evidence.of_job(state.jobs[own.attempts[-1]])})"
    return (
        f"group {group.id} is rolled back ({group.reason}); "
        f"{own.deployment} goes back to {state.tag(own.previous)}{turn}"
    )


def with_cycle(target: Target, one: GateResult) -> GateResult:
    """A ring of dependencies that could not be seen when the policy came is said here."""
    if one.kind != "deploymentDependency" or one.is_allowed or one.rule is None:
        return one
    ring = dependencies.cycle_through(one.rule, target)
    if ring is None:
        return one
    message = f"{one.verdict.message}; the rules form a cycle: {' -> '.join(ring)}"
    return GateResult(one.rule, one.kind, msgspec.structs.replace(one.verdict, words=message), one.wakes)
