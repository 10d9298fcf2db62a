"""Every verdict that keeps a target where it is, candidate by candidate, in the words that people read."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from headgate.fleet import candidates, dependencies, gates, holds, targets, variables
from headgate.fleet.brackets import collecting, locking, ordering, readiness, shape
from headgate.fleet.records import Group, Member
from headgate.fleet.rules import resource_concurrency
from headgate.fleet.slots import SlotTable
from headgate.fleet.state import Judged, State
from headgate.fleet.targets import Hindrance
from headgate.fleet.units import Place, Target, VersionNode
from headgate.kernel import instants, verdicts
from headgate.kernel.instants import Instant

CANDIDATES_AT_MOST = 20

Verdict = tuple[VersionNode | None, Judged]


def of_target(state: State, target: Target, now: Instant) -> Iterator[Verdict]:
    conflict = targets.denied_by_two_brackets(target)
    if conflict is not None:
        yield None, conflict
        return
    if target.place is not None:
        yield from _verdicts_in_bracket(state, target, target.place, now)
        return
    for version, _ in zip(ahead_of(state, target, now), range(CANDIDATES_AT_MOST)):
        for one in targets.verdicts_of(state, target, version, now):
            yield version, one
        for table in holds.tables_for(state, (target,)):
            yield version, concurrency_verdict(state, table, target)
        if target.record.retry_at is not None:
            yield from ((version, one) for one in _retry_verdicts(target, target.record.retry_at, now))
        elif version.id in target.record.failures:
            yield version, Judged(None, "retry", verdicts.denied(failed_sentence(target, version.tag)))
    yield from _changed_values_verdicts(state, target, now)
    yield from _verification_verdicts(state, target)


def _changed_values_verdicts(state: State, target: Target, now: Instant) -> Iterator[Verdict]:
    """What a new release of the version that runs waits for; only if nothing newer comes before it."""
    record = target.record
    deployed = state.version(record.deployed)
    if deployed is None or any(True for _ in ahead_of(state, target, now)):
        return
    if record.job is not None or record.deployed_variables == variables.resolve(state, target):
        return
    for one in targets.verdicts_of_same_version(state, target, now):
        yield deployed, one
    for table in holds.tables_for(state, (target,)):
        yield deployed, concurrency_verdict(state, table, target)


def failed_sentence(target: Target, tag: str) -> str:
    at = target.record.failed_at
    when = f" at {instants.show_clock(at)}" if at is not None else ""
    return f"{tag} failed{when}; it is tried again when an operator retries it or a newer version comes"


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
            verdict = verdicts.denied(f"verification of {job.tag} failed: {names}")
        else:
            verdict = verdicts.pending(f"{job.tag} is being verified: {names}", next_evaluation_time=due)
        yield state.version(job.version), Judged(rule, rule.kind, verdict)


def _retry_verdicts(target: Target, retry_at: Instant, now: Instant) -> Iterator[Judged]:
    for rule in target.rules.of("retry"):
        if now < retry_at:
            verdict = verdicts.pending(
                f"the next attempt is made at {instants.show_clock(retry_at)}", next_evaluation_time=retry_at
            )
        else:
            verdict = verdicts.allowed("the next attempt is due", satisfied_at=retry_at)
        yield Judged(rule, "retry", verdict)


def ahead_of(state: State, target: Target, now: Instant) -> Iterator[VersionNode]:
    """Candidates that would replace what runs."""
    for version in targets.contenders(state, target, now):
        if version.id == target.record.deployed:
            return
        yield version


def concurrency_verdict(state: State, table: SlotTable, target: Target) -> Judged:
    resource = target.resource.name
    sentence = resource_concurrency.sentence(
        [(name, _what_holds(state, table, name)) for name in sorted(table.holders)],
        len(table.group),
        table.limit,
    )
    if resource in table.holders:
        since = instants.show_clock(table.held_since(resource) or 0)
        verdict = verdicts.allowed(
            f"{resource} holds a slot since {since}", satisfied_at=table.held_since(resource)
        )
    elif table.free > 0:
        verdict = verdicts.allowed(sentence)
    else:
        verdict = verdicts.pending(sentence)
    return Judged(table.rule, "resourceConcurrency", verdict)


def _what_holds(state: State, table: SlotTable, resource: str) -> str:
    """What the holder is doing: `executing kubelet-upgrade`, or `failed, held since 09:16`."""
    parts: list[str] = []
    for holder, since in sorted(table.holders[resource].items()):
        group = state.groups.get(holder)
        if group is None:
            target = state.targets.get(holder)
            retrying = target is not None and target.record.retry_at is not None
            name = target.deployment.name if target is not None else holder
            parts.append(f"{'retrying' if retrying else 'running'} {name}")
        elif group.status == "failed":
            parts.append(f"failed, held since {instants.show_clock(group.failed_at or since)}")
        else:
            running = [m.deployment for m in group.members if m.state in ("running", "rollingBack")]
            parts.append(f"executing {', '.join(running) or 'nothing at the moment'}")
    return "; ".join(parts)


def _verdicts_in_bracket(state: State, target: Target, place: Place, now: Instant) -> Iterator[Verdict]:
    shown: set[str] = set()
    for group in place.groups():
        member = group.member(target.deployment.name)
        locked = state.version(member.version) if member is not None else None
        if member is None or locked is None or member.state == "dropped":
            continue
        shown.add(locked.id)
        yield locked, bracket_verdict(state, target, place, group, now)
        for one in _verdicts_of_member(state, target, place, group, member, now):
            yield locked, one
    fresh = collecting.fresh_versions(state, place, now).get(target.deployment.name, [])
    for version in fresh[:CANDIDATES_AT_MOST]:
        if version.id not in shown:
            for one in gates.of_version(state, target, version, now):
                yield version, one
            yield version, of_window(state, place, now)
    if target.deployment.name in shape.of_place(place).hooks and not shown:
        ahead = next(candidates.newest_first(state, target, now), None)
        if ahead is not None and ahead.id != target.record.deployed:
            for one in gates.of_version(state, target, ahead, now):
                yield ahead, one
            yield ahead, of_window(state, place, now) if place.collecting else _no_cycle(place)
    yield from _verification_verdicts(state, target)


def _verdicts_of_member(
    state: State, target: Target, place: Place, group: Group, member: Member, now: Instant
) -> Iterator[Judged]:
    if group.started_at is None:
        yield from readiness.verdicts_of(state, place, group, now)
        for table in readiness.tables_of(state, place, group):
            yield concurrency_verdict(state, table, target)
    if member.state in ("waiting", "retrying"):
        yield from ordering.verdicts_of(state, place, group, member, now)
        if group.started_at is not None:
            yield gates.frozen(state, target, now)
        if member.retry_at is not None:
            yield from _retry_verdicts(target, member.retry_at, now)


def _no_cycle(place: Place) -> Judged:
    verdict = verdicts.pending(
        "runs with the next cycle here; a new version of a hook alone opens no window, one of another member does"
    )
    return Judged(place.rule, "deploymentBracket", verdict)


def of_window(state: State, place: Place, now: Instant) -> Judged:
    group = place.collecting
    if group is None:
        verdict = verdicts.pending("no collection window is open yet: no new version has passed its gates")
        return Judged(place.rule, "deploymentBracket", verdict)
    fresh = collecting.fresh_versions(state, place, now)
    close_at = collecting.close_time(place, group, fresh)
    if now < close_at:
        missing = collecting.without_new_version(place, fresh) if _waits_for_everyone(place) else []
        wanted = f" or as soon as {', '.join(missing)} has a new version" if missing else ""
        verdict = verdicts.pending(
            f"collection window open since {instants.show_to_the_second(group.collection_started_at)}, "
            f"closes at {instants.show_to_the_second(close_at)}{wanted}",
            next_evaluation_time=close_at,
        )
    else:
        verdict = verdicts.pending(_held_open(state, place, fresh, now))
    return Judged(place.rule, "deploymentBracket", verdict)


def _waits_for_everyone(place: Place) -> bool:
    spec = place.rule.spec
    return bool(spec.readiness_mode == "wait_for_all" or spec.unchanged_member_strategy == "require_all")


def _held_open(state: State, place: Place, fresh: collecting.Fresh, now: Instant) -> str:
    _, missing, _ = locking.hook_locks(state, place, now, Hindrance())
    if missing:
        return f"collection window stays open: there is no allowed version of {', '.join(missing)}"
    waiting = ", ".join(f"{name} {versions[0].tag}" for name, versions in sorted(fresh.items()))
    return f"collection window stays open until the gates of a new version allow it: {waiting}"


def bracket_verdict(state: State, target: Target, place: Place, group: Group, now: Instant) -> Judged:
    version = state.tag((group.member(target.deployment.name) or group.members[0]).version)
    locked_at = instants.show_clock(group.locked_at or now)
    missing = locking.missing_hooks(group)
    if missing:
        verdict = verdicts.pending(f"waits for an allowed version of the hook {', '.join(missing)}")
    elif group.status == "queued":
        other = state.sites.get(place.site)
        ahead = other.executing if other is not None else None
        what = (
            f"group {ahead.id} is {ahead.status} on {group.resource}"
            if ahead is not None
            else "another group"
        )
        verdict = verdicts.pending(f"{version} is locked since {locked_at}; queued: {what}")
    elif group.status == "failed":
        failed = ", ".join(m.deployment for m in group.members if m.state == "failed")
        stuck = "is stuck, it " if group.stuck else ""
        verdict = verdicts.pending(
            f"the group {stuck}failed at {instants.show_clock(group.failed_at or now)} ({group.reason}); "
            f"nothing further starts until an operator retries, skips {failed or 'a member'}, or aborts"
        )
    else:
        verdict = verdicts.allowed(
            f"{version} is locked in group {group.id} since {locked_at}", satisfied_at=group.locked_at
        )
    return Judged(place.rule, "deploymentBracket", verdict)


def with_cycle(target: Target, one: Judged) -> Judged:
    """A ring of dependencies that could not be seen when the policy came is said here."""
    if one.kind != "deploymentDependency" or one.is_allowed or one.rule is None:
        return one
    ring = dependencies.cycle_through(one.rule, target)
    if ring is None:
        return one
    message = f"{one.verdict.message}; the rules form a cycle: {' -> '.join(ring)}"
    return Judged(one.rule, one.kind, msgspec.structs.replace(one.verdict, message=message), one.reasons)
