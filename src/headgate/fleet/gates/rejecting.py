"""Versions that are marked as bad: by a person, or by a rollback rule that has seen enough of them fail."""

from __future__ import annotations

import msgspec

from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import RejectVersion
from headgate.fleet.state import catalog, references
from headgate.fleet.state.state import State
from headgate.fleet.state.units import VersionNode
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected

SOMEBODY = "an operator"
"""Who is not named."""


def by_person(state: State, change: RejectVersion, now: Instant) -> None:
    """Marked once more, it still goes back where somebody has asked for that: others may be on their way already."""
    node = references.version(state, change.deployment, change.tag)
    if not change.reason.strip():
        raise Rejected((Problem("reason", "must say why; it is shown to everyone who asks"),))
    before = node.object.rejection if node.object.status == "rejected" else None
    goes_back = change.rollback or (before is not None and before.rollback)
    rejection = model.Rejection(change.reason, change.user or SOMEBODY, now, goes_back)
    reject(state, node, rejection, now)


def by_status(state: State, node: VersionNode, message: str | None, user: str, now: Instant) -> None:
    """A status set to rejected is a mark like any other."""
    marked = msgspec.structs.replace(node.object, status="rejected", message=message, updated_at=now)
    put(state, signed(marked, user, now), now)


def signed(version: model.Version, user: str, now: Instant) -> model.Version:
    """Whoever puts a version as rejected has marked it, unless the record of that comes with it; by status it goes back
    where it runs."""
    if version.status != "rejected" or version.rejection is not None:
        return version
    reason = version.message or "its status was set to rejected"
    rejection = model.Rejection(reason, user or SOMEBODY, now, rollback=True)
    return msgspec.structs.replace(version, rejection=rejection)


def sentence(version: VersionNode) -> str:
    rejection = version.object.rejection
    because = f" by {rejection.by}: {rejection.reason}" if rejection is not None else ""
    return f"{version.tag} was rejected{because}"


def reject(state: State, node: VersionNode, rejection: model.Rejection, now: Instant) -> None:
    put(
        state,
        msgspec.structs.replace(node.object, status="rejected", rejection=rejection, updated_at=now),
        now,
    )


def put(state: State, rejected: model.Version, now: Instant) -> None:
    """Whoever has to do with it looks again: candidates, locks that have not started, attempts that were ahead. What was
    marked long ago, and comes from elsewhere, is not told as news."""
    catalog.put_version(state, rejected)
    state.judge_anew(rejected.id)
    state.journal.changed("Version", kinds.name_of(rejected))
    rejection = rejected.rejection
    if rejection is None or rejection.at != now:
        return
    state.observer.on_version_rejected(rejected)
    name = kinds.name_of(rejected)
    state.notify(
        "version.rejected",
        "Version",
        name,
        f"{name} rejected by {rejection.by}: {rejection.reason}",
        deployment=rejected.deployment,
        version=rejected.tag,
        user=rejection.by,
        reason=rejection.reason,
        rollback=rejection.rollback,
    )
