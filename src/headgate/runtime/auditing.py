"""Who changed what, from what, to what."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from headgate.fleet.engine import manifests, target_states
from headgate.fleet.model import changes, hiding, kinds
from headgate.fleet.model.changes import Change
from headgate.fleet.state.state import Notice, State
from headgate.kernel.instants import Instant
from headgate.runtime.commands import Caller
from headgate.store.port import AuditEntry

_LARGEST_BYTES = 64 * 1024
"""Of a document that is kept as it is."""
_LONGEST_PART_BYTES = 2 * 1024
_DEEPEST = 3
_encode = msgspec.json.Encoder(order="deterministic").encode
REASON = "reason"
"""Where the document after a change says why it was made."""


UNAUDITED = (changes.JobReported, changes.Measured)
"""Reports of agents and measurements are part of the job's own history."""


def document_of(state: State, change: Change) -> bytes | None:
    """The object that the change is about, as it stands; None where there is none."""
    kind, name = change.subject
    document: object | None = None
    if isinstance(change, changes.Vote):
        document = _votes(state, change)
    elif kind == "Skip":
        document = state.skips.get(name)
    elif kind in kinds.BY_NAME:
        thing = state.get(kinds.BY_NAME[kind], name)
        document = None if thing is None else hiding.without_secrets(kind, manifests.describe(thing))
    return None if document is None else msgspec.json.encode(document)


def _votes(state: State, change: changes.Vote) -> object | None:
    deployment = state.deployments.get(change.deployment)
    version = deployment.version(change.tag) if deployment is not None else None
    if version is None:
        return None
    vote = state.approvals.get((version.id, change.environment), {}).get(change.user)
    return None if vote is None else {"user": vote.user, "status": vote.status, "reason": vote.reason}


def entry(
    change: Change, caller: Caller, now: Instant, before: bytes | None, after: bytes | None
) -> AuditEntry:
    kind, name = change.subject
    if kind in ("Group", "ReleaseTarget", "Rule") or (after is None and not _is_deletion(change)):
        after = msgspec.json.encode(change)
    if before is not None and len(before) > _LARGEST_BYTES:
        before = _abridged(before)
    if after is not None and len(after) > _LARGEST_BYTES:
        after = _abridged(after)
    if caller.reason is not None:
        after = with_reason(after, caller.reason)
    return AuditEntry(now, caller.user, change.action, kind, name, before, after, caller.request_id)


def with_reason(after: bytes | None, reason: str | None) -> bytes | None:
    """The reason of an order stands in what it came to; so does that of a change which has no field for it, beside the
    fields of the object; one that has a reason of its own, such as a freeze, keeps that. Of a deletion it is all there is."""
    if reason is None:
        return after
    fields = {} if after is None else msgspec.json.decode(after)
    return msgspec.json.encode({REASON: reason, **fields})


def of_notice(notice: Notice, caller: Caller, now: Instant) -> AuditEntry | None:
    """What the engine decided by itself, against a version or what people said of one: it stands beside what they decided."""
    if notice.type == "budget.stopped":
        action = "stop"
    elif notice.type in ("approval.ended", "skip.ended"):
        action = "end"
    elif notice.type == "rollback.started" and not _is_ordered(notice):
        action = "rollback"
    else:
        return None
    after = msgspec.json.encode({"message": notice.message, **notice.data})
    if len(after) > _LARGEST_BYTES:
        after = _abridged(after)
    return AuditEntry(now, caller.user, action, notice.kind, notice.name, None, after, caller.request_id)


def _is_ordered(notice: Notice) -> bool:
    """A person's order has its own entry."""
    return str(notice.data.get("cause", "")).startswith(target_states.ORDERED_BY)


def _is_deletion(change: Change) -> bool:
    return isinstance(change, changes.Delete | changes.DeleteSkip) or (
        isinstance(change, changes.Vote) and change.status == "withdrawn"
    )


def _abridged(document: bytes) -> bytes:
    """Each change of a large object would be kept twice more: parts that are long are named by their size and digest."""
    value = msgspec.json.decode(document)
    found = _encode(_without_long_parts(value))
    return found if len(found) <= _LARGEST_BYTES else _encode(_digest(_encode(value)))


def _without_long_parts(value: Any, depth: int = 0) -> Any:
    """Down to the members of a field of its spec."""
    encoded = _encode(value)
    if len(encoded) <= _LONGEST_PART_BYTES:
        return value
    if isinstance(value, dict) and depth < _DEEPEST:
        return {key: _without_long_parts(item, depth + 1) for key, item in value.items()}
    return _digest(encoded)


def _digest(encoded: bytes) -> dict[str, object]:
    """Two of them are equal if what they stand for is."""
    return {"bytes": len(encoded), "sha256": hashlib.sha256(encoded).hexdigest()}
