"""What a target waits for that its bracket rule has let go, while the cycle that it is a member of goes on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from headgate.fleet.engine import target_states
from headgate.fleet.model.records import Group, Member
from headgate.fleet.state import candidates, variables
from headgate.fleet.state.state import GateResult, JudgedVersion, State
from headgate.fleet.state.units import Site, Target, VersionNode
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant


def verdicts_of(state: State, target: Target, site: Site, now: Instant) -> Iterator[JudgedVersion]:
    """Its rules have let it go, but it stays until the cycle that it is a member of has ended. What that cycle brings it
    does not wait for the end of it."""
    group = site.executing
    if group is None:
        return
    for version in _after_the_cycle(state, target, group):
        message = f"waits for the end of group {group.id}, which is {_how_it_is(group, now)}"
        yield (
            version,
            GateResult(site.rule, site.rule.kind, decisions.pending(Reason.AWAITING_CYCLE, message)),
        )


def _after_the_cycle(state: State, target: Target, group: Group) -> list[VersionNode | None]:
    """What the target is to run when the group that keeps it has ended."""
    record = target.record
    if record.rollback_to is not None:
        return [state.version(record.rollback_to)]
    if record.ordered == "redeploy":
        return [candidates.deployed_version(state, target)]
    member = _under_way(group, target)
    ahead = list(itertools.islice(target_states.ahead_of(state, target), target_states.CANDIDATES_AT_MOST))
    if ahead:
        brought = (member.version, member.next_version) if member is not None else ()
        return [version for version in ahead if version.id not in brought]
    is_of_values = target_states.has_changed_values(state, target)
    if is_of_values and (member is None or not _runs_with_them(state, target)):
        return [candidates.deployed_version(state, target)]
    return []


def _under_way(group: Group, target: Target) -> Member | None:
    """The target's part in the group, if it runs or is to run: not while the group is ended or put back, but for
    post-hooks."""
    member = group.member(target.deployment.name)
    if member is None or member.state not in target_states.STILL_TO_RUN:
        return None
    goes_on = group.phase == "forward" or member.role == "postHook" or member.state == "running"
    return member if goes_on else None


def _runs_with_them(state: State, target: Target) -> bool:
    """A job has the values of the moment in which it started."""
    job = state.jobs.get(target.record.job or "")
    return job is None or variables.are_same(job.variables, variables.resolve(state, target))


def _how_it_is(group: Group, now: Instant) -> str:
    if group.status != "failed":
        return group.status
    since = instants.show_to_the_second(group.failed_at or now)
    return f"failed since {since} ({group.reason}) until an operator retries, skips a member, or aborts"
