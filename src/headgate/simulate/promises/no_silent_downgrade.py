"""Keeps its own book of what runs on every target, and looks at each job that would put something older there."""

from collections.abc import Sequence
from typing import Any

from headgate.fleet import changes, model, records
from headgate.kernel.instants import Instant
from headgate.simulate.mirror import Mirror
from headgate.simulate.promises.base import Broken, Promise

Order = tuple[Instant, str]


class NoSilentDowngrade(Promise):
    name = "NoSilentDowngrade"
    sentence = "nothing is put on a version older than what it runs but by a rollback rule, a rejected version or a person"

    def __init__(self, mirror: Mirror, broken: Broken) -> None:
        super().__init__(mirror, broken)
        self._orders: dict[str, Order] = {}
        self._runs: dict[str, records.Job] = {}
        self._has_rollback_rule = False
        self._ordered_by_a_person: set[str] = set()

    def changed(self, change: changes.Change, now: Instant) -> None:
        match change:
            case changes.Put(object=model.Version() as version):
                self._orders.setdefault(version.id, (version.created_at or now, version.id))
            case changes.Put(object=model.Policy() as policy):
                self._has_rollback_rule |= any(rule.kind == "rollback" for rule in policy.rules)
            case changes.TargetAction() if change.action != "retry":
                self._ordered(change.target)
            case changes.TargetsAction() if change.action != "retry":
                self._ordered(f"{change.deployment}/{change.environment}/")
            case changes.Delete():
                self._forget(change.kind, change.name)
            case _:
                pass

    def _ordered(self, whom: str) -> None:
        """A target, or with a slash at its end all of a deployment in an environment; a retry sends nobody back."""
        self._ordered_by_a_person.add(whom)
        self._runs = {name: job for name, job in self._runs.items() if not _concerns(whom, name)}

    def _forget(self, kind: str, name: str) -> None:
        """What is made again under an old name is a new target."""
        part = {"Deployment": 0, "Environment": 1, "Resource": 2}.get(kind)
        if part is not None:
            self._runs = {
                target: job for target, job in self._runs.items() if target.split("/")[part] != name
            }

    def job_changed(self, job: records.Job, old_status: str, now: Instant) -> None:
        if job.status == "successful":
            self._runs[job.target] = job

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        runs = self._runs.get(job.target)
        if runs is None or not self._is_older(job.version, runs.version) or self._may_go_back(job, runs):
            return
        self.broken(
            now, f"{job.target} runs {runs.tag} and was put on {job.tag}, which is older ({job.kind})"
        )

    def _is_older(self, version: str, than: str) -> bool:
        one, other = self._orders.get(version), self._orders.get(than)
        return one is not None and other is not None and one < other

    def _may_go_back(self, job: records.Job, runs: records.Job) -> bool:
        what_runs = self.mirror.version(runs.deployment, runs.tag)
        if what_runs is None or what_runs.goes_back:
            return True
        if job.kind != "rollback":
            return False
        return self._has_rollback_rule or any(_concerns(one, job.target) for one in self._ordered_by_a_person)


def _concerns(whom: str, target: str) -> bool:
    return target.startswith(whom) if whom.endswith("/") else target == whom
