"""Two ways to have an effect twice: a report that counts again when it is repeated, a release that runs again."""

from collections.abc import Sequence
from typing import Any

from headgate.fleet.model import changes, records
from headgate.kernel.instants import Instant
from headgate.promises.base import Broken, FleetPromise
from headgate.promises.books.mirror import Mirror

Release = tuple[str, str]
"""A version with its resolved variables."""


class NoDoubleEffect(FleetPromise):
    name = "NoDoubleEffect"
    sentence = "starting a job twice has the effect of once"

    def __init__(self, mirror: Mirror, broken: Broken) -> None:
        super().__init__(mirror, broken)
        self._ids: set[str] = set()
        self._deployed: dict[str, tuple[Release, Instant]] = {}

    def changed(self, change: changes.Change, now: Instant) -> None:
        """A person may ask for the same again."""
        if isinstance(change, changes.TargetAction):
            self._deployed.pop(change.target, None)
        elif isinstance(change, changes.TargetsAction):
            self._forget("Deployment", change.deployment)
        elif isinstance(change, changes.GroupAction):
            self._deployed.clear()
        elif isinstance(change, changes.Delete):
            self._forget(change.kind, change.name)

    def _forget(self, kind: str, name: str) -> None:
        """What is made again under an old name is a new target."""
        part = {"Deployment": 0, "Environment": 1, "Resource": 2}.get(kind)
        if part is not None:
            self._deployed = {
                target: release
                for target, release in self._deployed.items()
                if target.split("/")[part] != name
            }

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        if job.id in self._ids:
            self.broken(now, f"{job.target} {job.tag} was started twice under the id {job.id}")
        self._ids.add(job.id)
        if job.kind == "deploy" and self._runs_already(job):
            self.broken(now, f"{job.target} {job.tag} runs already and was started again")

    def _runs_already(self, job: records.Job) -> bool:
        """A group judges what is unchanged when it starts: what came to run after that is run again."""
        release, since = self._deployed.get(job.target, (None, 0))
        if release != _release(job):
            return False
        group = self.mirror.groups.get(job.group) if job.group is not None else None
        return group is None or group.started_at is None or group.started_at > since

    def job_changed(self, job: records.Job, old_status: str, now: Instant) -> None:
        if job.status == "successful":
            self._deployed[job.target] = _release(job), now
        elif job.status not in ("pending", "queued", "inProgress", "actionRequired"):
            self._deployed.pop(job.target, None)

    def repeated(self, job: records.Job, was_changed: bool, now: Instant) -> None:
        if was_changed:
            self.broken(now, f"the second report for {job.target} {job.tag} changed it to {job.status}")


def _release(job: records.Job) -> Release:
    return job.version, repr(job.variables)
