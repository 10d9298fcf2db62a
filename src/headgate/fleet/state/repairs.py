"""What has failed on a target and is to be made good there: until that is done, nothing has succeeded since."""

from __future__ import annotations

from headgate.fleet.model.records import MEMBER_UNDER_WAY, Member
from headgate.fleet.state import successes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target


def ahead(state: State, target: Target) -> str | None:
    """What is still to make good the attempt that failed there last. An order for that ends the failure, not what it has
    left on the resource: who comes after waits until it is carried out."""
    record = target.record
    last = state.last_attempt(record.attempts)
    if last is None or last.status == "successful":
        return None
    member = _member_under_way(target)
    back = member.version if member is not None and member.kind == "rollback" else record.rollback_to
    if back is not None:
        return f"to go back to {state.tag(back)}"
    if member is not None or record.ordered is not None:
        return "to be tried again"
    return "given up for now" if last.version in record.given_up else None


def _member_under_way(target: Target) -> Member | None:
    site = target.site
    for group in (site.executing, site.waiting) if site is not None else ():
        member = group.member(target.deployment.name) if group is not None else None
        if member is not None and member.state in MEMBER_UNDER_WAY:
            return member
    return None


def call_off(state: State, target: Target) -> None:
    """The way back is off that an order or a group was to go: the failure that it had ended is not forgotten with it."""
    record = target.record
    last = state.last_attempt(record.attempts)
    if last is None or last.status == "successful" or record.failed_at is not None:
        return
    record.failed_at = last.completed_at if last.completed_at is not None else last.created_at
    record.failed_version = last.version
    record.rolled_back.pop(last.version, None)


def stay(state: State, target: Target) -> None:
    """A way back from what was good is off, and nothing has come of it: what runs was not put back, and has succeeded as it had
    before."""
    record = target.record
    deployed = record.deployed
    if deployed is None or deployed not in record.rolled_back or record.failed_at is not None:
        return
    del record.rolled_back[deployed]
    if record.verification == "running":
        state.verified.setdefault(deployed, {})[target.name] = None
    since = record.finished_at if record.finished_at is not None else record.deployed_at
    if since is not None and (record.is_proven or record.verification == "running"):
        successes.noted(state, target, deployed, since)
