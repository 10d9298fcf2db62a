"""Stands beside the engine and writes down what it does: for the result, and for the promises."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from headgate.fleet import changes, model, records
from headgate.kernel.instants import Instant
from headgate.simulate import group_steps, promises
from headgate.simulate.mirror import Mirror
from headgate.simulate.usage import Ledger

MOST_VIOLATIONS = 100


class Violation(msgspec.Struct, frozen=True):
    promise: str
    at: Instant
    message: str


class Watch:
    """The engine's observer. The run tells it the time, because the engine's hooks do not carry it.

    Promises keep books from the first change on: `checked` is empty where that was before the watch began.
    """

    def __init__(
        self, mirror: Mirror, now: Instant, checked: Sequence[type[promises.Promise]] = promises.ALL
    ) -> None:
        self.now = now
        self.mirror = mirror
        self.ledger = Ledger(mirror)
        self.jobs = mirror.jobs
        self.groups = mirror.groups
        self.group_steps: list[group_steps.GroupStep] = []
        self.tags: dict[str, str] = {}
        self.violations: list[Violation] = []
        self.job_changes_count = 0
        self._promises = tuple(promise(mirror, self._record) for promise in checked)
        self._change_listeners = self._listeners("changed")
        self._created_listeners = self._listeners("job_created")
        self._job_listeners = self._listeners("job_changed")
        self._group_listeners = self._listeners("group_changed")
        self._decision_listeners = self._listeners("decided")

    def _listeners(self, hook: str) -> tuple[Callable[..., None], ...]:
        """Only promises that look at it are called: this runs for every job."""
        return tuple(
            getattr(promise, hook)
            for promise in self._promises
            if getattr(type(promise), hook) is not getattr(promises.Promise, hook)
        )

    def _record(self, promise: str, at: Instant, message: str) -> None:
        if len(self.violations) < MOST_VIOLATIONS:
            self.violations.append(Violation(promise, at, message))

    def accepted(self, change: changes.Change) -> None:
        self.mirror.apply(change)
        if isinstance(change, changes.Put) and isinstance(change.object, model.Version):
            self.tags[change.object.id] = change.object.tag
        self.ledger.changed(change)
        for listen in self._change_listeners:
            listen(change, self.now)

    def decided(self) -> None:
        self.ledger.decided(self.now)
        for listen in self._decision_listeners:
            listen(self.now)

    def repeated(self, job: records.Job, was_changed: bool) -> None:
        for promise in self._promises:
            promise.repeated(job, was_changed, self.now)

    def reloaded(self, before: bytes, after: bytes) -> None:
        for promise in self._promises:
            promise.reloaded(before, after, self.now)

    def compared(self, survivor: bytes, reloaded: bytes) -> None:
        for promise in self._promises:
            promise.compared(survivor, reloaded, self.now)

    @property
    def is_checking(self) -> bool:
        return bool(self._promises)

    def looked_afresh(self, found: Sequence[str]) -> None:
        for promise in self._promises:
            promise.looked_afresh(found, self.now)

    def ended(self, ending: promises.Ending) -> None:
        for promise in self._promises:
            promise.ended(ending)

    def on_job_created(self, job: records.Job, verdicts: Sequence[Any]) -> None:
        self.jobs[job.id] = job
        for listen in self._created_listeners:
            listen(job, verdicts, self.now)

    def on_job_changed(self, job: records.Job, old_status: str) -> None:
        self.job_changes_count += 1
        self.jobs[job.id] = job
        for listen in self._job_listeners:
            listen(job, old_status, self.now)

    def on_group_changed(self, group: records.Group) -> None:
        self.groups[group.id] = group
        self.group_steps.append(group_steps.newest(group, self.now))
        for listen in self._group_listeners:
            listen(group, self.now)

    def on_slot_taken(self, rule: str, resource: str, holder: str) -> None:
        self.ledger.taken(rule, resource, self.now)

    def on_slot_freed(self, rule: str, resource: str) -> None:
        self.ledger.freed(rule, resource, self.now)

    def on_version_rejected(self, version: model.Version) -> None:
        self.mirror.rejected(version)
