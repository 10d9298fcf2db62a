"""What happened in a batch, for people: events for those who follow along, and who changed what, from what, to what."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from headgate.fleet.engine import manifests, target_states, views
from headgate.fleet.model import changes, hiding, kinds, records
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Change
from headgate.fleet.state.state import GateResult, Notice, State, Warning
from headgate.kernel import instants, rendering
from headgate.kernel.instants import Instant
from headgate.runtime.commands import Caller
from headgate.store.log import AuditEntry, Event

_encode = msgspec.json.Encoder().encode
_OF_A_JOB = (
    "deployment", "environment", "resource", "version", "status", "attempt", "kind", "group", "message", "reason",
    "agent", "links", "createdAt", "startedAt", "completedAt", "verification",
)  # fmt: skip
_OF_A_GROUP = ("policy", "environment", "resource", "status")

_LARGEST_BYTES = 64 * 1024
"""Of a document that is kept as it is."""
_LONGEST_PART_BYTES = 2 * 1024
_DEEPEST = 3
_canonical = msgspec.json.Encoder(order="deterministic").encode
REASON = "reason"
"""Where the document after a change says why it was made."""
UNAUDITED = (changes.JobReported, changes.Measured)
"""Reports of agents and measurements are part of the job's own history."""


class Recorder:
    """The engine's observer. `is_muted` while entries of another process are taken: that one has told of them."""

    def __init__(self) -> None:
        self.now: Instant = 0
        self.is_muted = False
        self._events: list[Event] = []
        self._ended: list[records.Job] = []

    def take(self) -> tuple[list[Event], list[records.Job]]:
        """What was told since the last time, and the jobs that ended."""
        taken = self._events, self._ended
        self._events, self._ended = [], []
        return taken

    def _add(self, type_: str, kind: str, name: str, message: str, data: object) -> None:
        """A message may quote whatever an agent said; no database takes a NUL in text."""
        text = message.replace("\x00", "\ufffd")
        self._events.append(Event(0, self.now, type_, kind, name, text, _encode(data)))

    def accepted(self, change: Change, user: str) -> None:
        """Reports of agents, and versions that are marked as bad, show in what they change, not by themselves."""
        kind, name = change.subject
        verb = change.verb
        if isinstance(change, UNAUDITED) or (kind, verb) == ("Version", "rejected"):
            return
        by = f" by {user}" if user else ""
        dashed = re.sub("(?<=.)(?=[A-Z])", "-", kind).lower()  # JobAgent to job-agent
        self._add(f"{dashed}.{verb}", kind, name, f"{name} {verb}{by}", {"user": user})

    def rewound(self, user: str, was: Instant) -> None:
        text = f"the time of the workspace was taken back from {instants.show(was)} by {user}"
        self._add("workspace.clock-repaired", "Workspace", "", text, {"user": user})

    def warned(self, warning: Warning) -> None:
        data = {"target": warning.target, "version": warning.version}
        self._add("warning.raised", "ReleaseTarget", warning.target, warning.message, data)

    def noticed(self, notice: Notice) -> None:
        self._add(notice.type, notice.kind, notice.name, notice.message, notice.data)

    def on_job_created(self, job: records.Job, verdicts: tuple[GateResult, ...]) -> None:
        if not self.is_muted:
            self._job("job.created", job)

    def on_job_changed(self, job: records.Job, old_status: str) -> None:
        if self.is_muted:
            return
        self._job(f"job.{job.status}", job)
        if job.status in model.JOB_TERMINAL:
            self._ended.append(job)

    def _job(self, type_: str, job: records.Job) -> None:
        message = f": {job.message}" if job.message else ""
        text = f"{job.target} {job.tag} {type_.removeprefix('job.')}{message}"
        self._add(type_, "Job", job.id, text, views.of_job(job, *_OF_A_JOB))

    def on_group_changed(self, group: records.Group) -> None:
        if self.is_muted:
            return
        text = f"{group.policy} on {group.environment}/{group.resource} {group.status}"
        self._add(
            f"group.{group.status}",
            "Group",
            group.id,
            text,
            rendering.built(views.GroupView, group, *_OF_A_GROUP),
        )

    def on_slot_taken(self, rule: str, resource: str, holder: str) -> None: ...

    def on_slot_freed(self, rule: str, resource: str) -> None: ...

    def on_version_rejected(self, version: model.Version) -> None: ...


def audited_document(state: State, change: Change) -> bytes | None:
    """The object that the change is about, as it stands; None where there is none."""
    kind, name = change.subject
    document: object | None = None
    if isinstance(change, changes.Vote):
        document = _votes(state, change)
    elif kind == "Skip":
        document = state.skips.get(name)
    elif kind in kinds.BY_NAME:
        item = state.get(kinds.BY_NAME[kind], name)
        document = None if item is None else hiding.without_secrets(kind, manifests.describe(item))
    return None if document is None else msgspec.json.encode(document)


def _votes(state: State, change: changes.Vote) -> object | None:
    deployment = state.deployments.get(change.deployment)
    version = deployment.version(change.tag) if deployment is not None else None
    if version is None:
        return None
    vote = state.approvals.get((version.id, change.environment), {}).get(change.user)
    return None if vote is None else {"user": vote.user, "status": vote.status, "reason": vote.reason}


def audit_entry(
    change: Change, caller: Caller, now: Instant, before: bytes | None, after: bytes | None
) -> AuditEntry:
    kind, name = change.subject
    if kind in ("Group", "ReleaseTarget", "Rule") or (after is None and change.verb not in changes.ENDINGS):
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


def audit_of_notice(notice: Notice, caller: Caller, now: Instant) -> AuditEntry | None:
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


def _abridged(document: bytes) -> bytes:
    """Each change of a large object would be kept twice more: parts that are long are named by their size and digest."""
    value = msgspec.json.decode(document)
    shortened = _canonical(_without_long_parts(value))
    return shortened if len(shortened) <= _LARGEST_BYTES else _canonical(_digest(_canonical(value)))


def _without_long_parts(value: Any, depth: int = 0) -> Any:
    """Down to the members of a field of its spec."""
    encoded = _canonical(value)
    if len(encoded) <= _LONGEST_PART_BYTES:
        return value
    if isinstance(value, dict) and depth < _DEEPEST:
        return {key: _without_long_parts(item, depth + 1) for key, item in value.items()}
    return _digest(encoded)


def _digest(encoded: bytes) -> dict[str, object]:
    """Two of them are equal if what they stand for is."""
    return {"bytes": len(encoded), "sha256": hashlib.sha256(encoded).hexdigest()}
