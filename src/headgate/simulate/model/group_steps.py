"""What a group was when it became what: written down then, because the group goes on and takes its record with it."""

from collections.abc import Iterable, Iterator

import msgspec

from headgate.fleet.model import records
from headgate.kernel.instants import Instant


class GroupProgress(msgspec.Struct, frozen=True):
    """`locked` is deployment and version of whatever runs in the group."""

    at: Instant
    group: str
    policy: str
    environment: str
    resource: str
    status: str
    window_ends_at: Instant
    locked: tuple[tuple[str, str], ...] = ()
    reason: str = ""


def newest(group: records.Group, now: Instant) -> GroupProgress:
    return _step(group, now, group.status)


def looking_back(groups: Iterable[records.Group]) -> Iterator[GroupProgress]:
    """Of groups that nobody watched, as far as their records still say it: not what was locked later."""
    for group in groups:
        for transition in group.history:
            yield _step(group, transition.at, transition.status)


def _step(group: records.Group, at: Instant, status: str) -> GroupProgress:
    return GroupProgress(
        at,
        group.id,
        group.policy,
        group.environment,
        group.resource,
        status,
        group.collection_ends_at,
        tuple(_locked(group, at)) if status == "ready" else (),
        group.reason if status in ("failed", "aborted") else "",
    )


def _locked(group: records.Group, at: Instant) -> Iterator[tuple[str, str]]:
    for member in sorted(group.members, key=lambda member: member.deployment):
        is_later = member.locked_at is not None and member.locked_at > at
        if member.version is not None and member.state != "unchanged" and not is_later:
            yield member.deployment, member.version
