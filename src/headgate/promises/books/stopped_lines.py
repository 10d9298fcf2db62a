"""Rollouts that failures have stopped, counted by the promises themselves.

A lower bound: a failure counts only where it is certain that no further attempt follows, so that whoever starts against
this book starts against the rule. It may know less than the engine, never more.
"""

from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.promises.books.mirror import Mirror, TargetKey


class StoppedLines:
    """Of each rule with `stopAfterFailures` and each version: on which targets it has failed."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._failed: dict[str, dict[str, set[str]]] = {}
        """Names of targets by version and rule."""

    def changed(self, change: changes.Change) -> None:
        """Whoever resumes a line, or takes away what it is about, begins a new count."""
        match change:
            case changes.ResumeBudget():
                rule = self._mirror.rule(change.policy, change.rule)
                self._forget(rule.id if rule is not None else None)
            case changes.Delete() | changes.Put(object=model.Policy()):
                self._forget(None)
            case _:
                pass

    def _forget(self, rule: str | None) -> None:
        for lines in self._failed.values():
            lines.pop(rule or "", None)
        if rule is None:
            self._failed.clear()

    def job_ended(self, job: records.Job) -> None:
        if job.status != "failure" or job.kind in ("rollback", "variable") or self._may_be_followed(job):
            return
        for rule in self._rules(TargetKey.of_job(job)):
            self._failed.setdefault(job.version, {}).setdefault(rule.id, set()).add(job.target)

    def _may_be_followed(self, job: records.Job) -> bool:
        """By another attempt, or in a cycle that others join by a version that takes its place."""
        over = self._mirror.rules_over(job.deployment, job.environment, job.resource)
        return any(
            rule.kind == "retry"
            or (rule.kind == "deploymentBracket" and rule.spec.overlap_strategy == "merge")
            for _, rule in over
        )

    def against(self, target: TargetKey, version: str) -> list[model.Rule]:
        """Rules whose line of the version is stopped, for targets on which it has not failed itself."""
        lines = self._failed.get(version)
        if not lines:
            return []
        return [
            rule
            for rule in self._rules(target)
            if len(failed := lines.get(rule.id, set())) >= rule.spec.stop_after_failures
            and target.name not in failed
        ]

    def _rules(self, target: TargetKey) -> list[model.Rule]:
        return [
            rule
            for _, rule in self._mirror.rules_over(*target)
            if rule.kind == "gradualRollout" and rule.spec.stop_after_failures is not None
        ]
