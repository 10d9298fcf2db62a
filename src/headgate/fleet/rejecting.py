"""Versions that are marked as bad: by a person, or by a rollback rule that has seen enough of them fail."""

from __future__ import annotations

import msgspec

from headgate.fleet import catalog, model, references
from headgate.fleet.changes import RejectVersion
from headgate.fleet.state import State
from headgate.fleet.units import VersionNode
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected


def by_person(state: State, change: RejectVersion, now: Instant) -> None:
    node = references.version(state, change.deployment, change.tag)
    if not change.reason.strip():
        raise Rejected((Problem("reason", "must say why; it is shown to everyone who asks"),))
    rejection = model.Rejection(change.reason, change.user or "an operator", now, change.rollback)
    reject(state, node, rejection, now)


def sentence(version: VersionNode) -> str:
    rejection = version.object.rejection
    because = f" by {rejection.by}: {rejection.reason}" if rejection is not None else ""
    return f"{version.tag} was rejected{because}"


def reject(state: State, node: VersionNode, rejection: model.Rejection, now: Instant) -> None:
    """Whoever has to do with it looks again: candidates, locks that have not started, attempts that were ahead."""
    rejected = msgspec.structs.replace(node.object, status="rejected", rejection=rejection, updated_at=now)
    catalog.put_version(state, rejected)
    state.judge_anew(node.id)
    state.journal.changed("Version", references.name_of(rejected))
    state.observer.on_version_rejected(rejected)
