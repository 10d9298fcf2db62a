"""Versions and values that were locked and do not run: given up by their group, not forgotten.

They open no window of their own, because somebody or something has decided against them once; the next group that
anything else opens locks them again, and so does an operator's retry.
"""

from __future__ import annotations

from typing import Literal

from headgate.fleet.model.records import GivenUp, GivenUpRollback, GivenUpValues, Group, Member
from headgate.fleet.state import candidates, repairs, variables
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site, Target
from headgate.kernel.instants import Instant

How = Literal["aborted", "skipped", "rolledBack", "left"]


def note(state: State, site: Site, group: Group, member: Member, how: How, reason: str, now: Instant) -> None:
    """What the member had locked and will not run: its version, its values or its way back, and the version that was to
    follow."""
    if member.kind == "variable":
        _note_values(state, site, group, member.deployment, how, reason, now)
    target = site.members.get(member.deployment)
    if member.kind == "rollback" and member.version is not None and target is not None:
        target.record.given_up_rollback = GivenUpRollback(group.id, how, reason, now, member.version)
        repairs.call_off(state, target)
        state.target_changed(target)
    if member.role == "member" and member.kind == "deploy" and member.version is not None:
        note_version(state, site, group, member.deployment, member.version, how, reason, now)
    note_next(state, site, group, member, how, reason, now)


def note_next(
    state: State, site: Site, group: Group, member: Member, how: How, reason: str, now: Instant
) -> None:
    """Of a member that runs, only the version that was to follow is given up."""
    if member.next_version is not None:
        note_version(state, site, group, member.deployment, member.next_version, how, reason, now)
    member.next_version = member.next_locked_at = None


def note_version(
    state: State,
    site: Site,
    group: Group,
    deployment: str,
    version_id: str,
    how: How,
    reason: str,
    now: Instant,
) -> None:
    """Only what is newer than what runs is missed: anything else is where it should be."""
    target = site.members.get(deployment)
    version = state.version(version_id)
    if target is None or version is None:
        return
    runs = candidates.deployed_version(state, target)
    if runs is not None and runs.sort_key >= version.sort_key and not runs.goes_back:
        return
    target.record.given_up[version_id] = GivenUp(group.id, how, reason, now)
    state.target_changed(target)


def _note_values(
    state: State, site: Site, group: Group, deployment: str, how: How, reason: str, now: Instant
) -> None:
    """Whatever ended the group would end the next one as well, and a cycle for these values would follow the other."""
    target = site.members.get(deployment)
    if target is None:
        return
    resolved = variables.resolve(state, target)
    if not variables.are_same(resolved, target.record.deployed_variables):
        target.record.given_up_values = GivenUpValues(group.id, how, reason, now, resolved)
        state.target_changed(target)


def values_of(state: State, target: Target) -> GivenUpValues | None:
    """Those that the target should have and that a group gave up, as long as nobody has given it other ones."""
    given_up = target.record.given_up_values
    if given_up is None or not variables.are_same(given_up.variables, variables.resolve(state, target)):
        return None
    return given_up


def forget_other_values(state: State, target: Target) -> None:
    """Somebody has given it others: whoever gives it these again asks for them anew."""
    if values_of(state, target) is None:
        values_taken_up(state, target)


def values_taken_up(state: State, target: Target) -> None:
    """They are locked again, or nobody asks for them."""
    if target.record.given_up_values is not None:
        target.record.given_up_values = None
        state.target_changed(target)


def taken_up(state: State, site: Site, deployment: str, version_id: str) -> None:
    """It is locked again."""
    target = site.members[deployment]
    if target.record.given_up.pop(version_id, None) is not None:
        state.target_changed(target)
