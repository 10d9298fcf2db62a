"""What happened in a batch, as events for those who follow along."""

from __future__ import annotations

import re

import msgspec

from headgate.fleet.engine import views
from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Change
from headgate.fleet.state.state import GateResult, Notice, Warning
from headgate.kernel import instants, rendering
from headgate.kernel.instants import Instant
from headgate.store.port import Event

_encode = msgspec.json.Encoder().encode
_OF_A_JOB = (
    "deployment", "environment", "resource", "version", "status", "attempt", "kind", "group", "message", "reason",
    "agent", "links", "createdAt", "startedAt", "completedAt", "verification",
)  # fmt: skip
_OF_A_GROUP = ("policy", "environment", "resource", "status")


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
        if isinstance(change, changes.JobReported | changes.Measured | changes.RejectVersion):
            return
        if isinstance(change, changes.SetVersionStatus) and change.status == "rejected":
            return
        kind, name = change.subject
        verb = change.verb
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
