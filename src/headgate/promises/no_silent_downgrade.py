"""Keeps its own book of what runs on every target, and looks at each job that would put something older there.

Going back needs a cause that names this target: a person's order for it, what runs being marked as bad, or a failure here
(in a bracket: in this group) for which a rollback rule fired that bound the target then, or of a version that was marked
as bad; and it goes where that cause leads, which is to the last version before that was good here.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from headgate.fleet.model import changes, records
from headgate.fleet.model import objects as model
from headgate.fleet.rules import rollback
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.promises.base import Broken, FleetPromise
from headgate.promises.books.mirror import Mirror, matches

Order = tuple[Instant, int]
"""When a version was created, and as which one it arrived."""
KEPT = instants.hours(90 * 24)
"""How long an environment that was deleted is known."""


class VersionRun(msgspec.Struct, frozen=True):
    """A version that came to run on a target: by a job, or (None) because somebody said so."""

    version: str
    tag: str
    job: str | None
    group: str | None


class FailedRelease(msgspec.Struct, frozen=True):
    """A release that failed on a target, and whether a rollback rule that bound it fired."""

    job: records.Job
    has_fired: bool
    may_be_retried: bool
    """Then the rule fires, if at all, when no attempt is left."""


class BracketCycle(msgspec.Struct):
    """A group as it started: it goes on by these rules even if they change."""

    strategy: str
    rules: dict[str, list[model.Rule]]
    """Rollback rules, by deployment."""
    failures: list[FailedRelease] = []


class NoSilentDowngrade(FleetPromise):
    name = "NoSilentDowngrade"
    sentence = "nothing is put on a version older than what it runs but by a rollback rule, a rejected version or a person"

    def __init__(self, mirror: Mirror, broken: Broken) -> None:
        super().__init__(mirror, broken)
        self._orders: dict[str, Order] = {}
        self._tags: dict[str, tuple[str, str]] = {}
        """Deployment and tag of each version."""
        self._runs: dict[str, list[VersionRun]] = {}
        self._failures: dict[str, FailedRelease] = {}
        """What failed last; of a rollback that fails and is tried again, what it goes back from."""
        self._in_vain: dict[str, records.Job] = {}
        """Rollbacks that were the last thing tried on their target, and failed."""
        self._cycles: dict[str, BracketCycle] = {}
        self._ordered: dict[str, set[str | None]] = {}
        """Targets that a person sends back, each with the tags it is sent to, as far as they are named: of those that are
        ordered together some may be passed over, and then an order from before holds."""
        self._adopted: dict[str, set[str]] = {}
        """Versions of which one ran when targets were adopted together: which, is not known."""
        self._gone: dict[str, Instant] = {}
        """Environments that were deleted, and when."""

    def changed(self, change: changes.Change, now: Instant) -> None:
        match change:
            case changes.Put(object=model.Version() as version):
                self._orders.setdefault(version.id, (version.created_at or now, len(self._orders)))
                self._tags[version.id] = (version.deployment, version.tag)
            case changes.Delete(kind="Version"):
                self._forget_versions_that_are_gone()
            case changes.TargetAction():
                self._order(change.target, change)
            case changes.TargetsAction():
                for target in self._targets_of(change):
                    self._order(target, change)
            case changes.Measured():
                job = self.mirror.jobs.get(change.job)
                if job is not None and job.verification == "failed" and job.status == "successful":
                    self._note_failure(job)
            case changes.Put(object=model.Environment() as environment):
                gone_at = self._gone.pop(environment.name, None)
                if gone_at is not None and gone_at + KEPT <= now:
                    self._forget(1, environment.name)
            case changes.Delete(kind="Environment"):
                self._gone[change.name] = now
            case changes.Delete(kind="Deployment"):
                self._forget(0, change.name)
            case changes.Delete(kind="Resource"):
                self._forget(2, change.name)
            case _:
                pass

    def _forget_versions_that_are_gone(self) -> None:
        """What is made again under its tag is newer than it was; what runs is not judged by a version that is gone."""
        for version, (deployment, tag) in list(self._tags.items()):
            if self.mirror.version(deployment, tag) is None:
                self._orders.pop(version, None)
                del self._tags[version]

    def _targets_of(self, change: changes.TargetsAction) -> Iterator[str]:
        deployment = self.mirror.name_in("Deployment", change.deployment) or ""
        environment = self.mirror.name_in("Environment", change.environment) or ""
        for resource in change.resources or self.mirror.resources:
            if matches(change.selector, self.mirror.bindings(deployment, environment, resource)):
                yield f"{deployment}/{environment}/{resource}"

    def _order(self, target: str, change: changes.TargetAction | changes.TargetsAction) -> None:
        """A retry sends nobody back whose rollback has not failed. Of those that are adopted together some may be passed
        over: then nothing is known."""
        if change.action in ("rollback", "redeploy"):
            is_sure = isinstance(change, changes.TargetAction)
            self._ordered[target] = {change.to} | (set() if is_sure else self._ordered.get(target, set()))
        elif change.action == "retry":
            self._order_again(target, change.to)
        elif change.action == "adopt":
            self._failures.pop(target, None)
            self._in_vain.pop(target, None)
            before = {run.version for run in self._runs.pop(target, ())}
            deployment = target.partition("/")[0]
            version = self.mirror.version(*self.mirror.version_named(deployment, change.to or ""))
            if isinstance(change, changes.TargetAction) and version is not None:
                self._adopted.pop(target, None)
                self._runs[target] = [VersionRun(version.id, version.tag, None, None)]
            elif version is not None:
                self._adopted.setdefault(target, set()).update(before, (version.id,))

    def _order_again(self, target: str, to: str | None) -> None:
        job = self._in_vain.get(target)
        if job is None:
            return
        named = self.mirror.version(*self.mirror.version_named(job.deployment, to or job.tag))
        if named is None or named.id == job.version:
            self._ordered[target] = {job.tag}

    def _forget(self, part: int, name: str) -> None:
        """What is made again under an old name is a new target; but an environment that comes back in time knows what ran
        there."""
        for book in (self._runs, self._failures, self._in_vain, self._ordered, self._adopted):
            for target in [target for target in book if target.split("/")[part] == name]:
                del book[target]

    def job_changed(self, job: records.Job, old_status: str, now: Instant) -> None:
        if job.status in model.JOB_LIVE or self._is_taken_back(job):
            return
        self._in_vain.pop(job.target, None)
        if self._ends_order(job):
            self._ordered.pop(job.target, None)
        if job.status == "successful":
            self._failures.pop(job.target, None)
            self._runs.setdefault(job.target, []).append(VersionRun(job.version, job.tag, job.id, job.group))
        if job.status != "successful" or job.verification == "failed":
            self._note_failure(job)

    def _ends_order(self, job: records.Job) -> bool:
        """To go back is ordered until it is done. What was sent forward has come, whatever follows from how it ends there."""
        if job.kind == "rollback":
            return job.status == "successful"
        orders = self._ordered.get(job.target, set())
        wanted = [version.id for to in orders if (version := self._wanted(job, to)) is not None]
        return job.kind == "redeploy" or job.version in wanted

    def _wanted(self, job: records.Job, to: str | None) -> model.Version | None:
        return None if to is None else self.mirror.version(*self.mirror.version_named(job.deployment, to))

    def _is_taken_back(self, job: records.Job) -> bool:
        """It never began, because its version was marked as bad: whatever was the cause of it still is one."""
        version = self.mirror.version(job.deployment, job.tag)
        is_marked = version is not None and version.status == "rejected"
        return job.status == "cancelled" and job.started_at is None and is_marked

    def _note_failure(self, job: records.Job) -> None:
        rules = self._rules(job)
        kinds = {rule.kind for rule in rules}
        cycle = self._cycles.get(job.group or "")
        if cycle is not None:
            rules = [*rules, *cycle.rules.get(job.deployment, ())]
        failure = FailedRelease(job, _fires(rules, job), "retry" in kinds)
        if job.kind == "rollback":
            self._in_vain[job.target] = job
            self._failures.setdefault(job.target, failure)
        else:
            self._failures[job.target] = failure
        if cycle is not None:
            cycle.failures.append(failure)

    def _rules(self, job: records.Job) -> list[model.Rule]:
        return [rule for _, rule in self.mirror.rules_over(job.deployment, job.environment, job.resource)]

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None:
        self._note_cycle(job)
        fact = self._problem(job)
        if fact is not None:
            runs = self._runs[job.target][-1].tag
            self.broken(
                now, f"{job.target} runs {runs} and was put on {job.tag}, which is older ({job.kind}): {fact}"
            )

    def _note_cycle(self, job: records.Job) -> None:
        group = self.mirror.groups.get(job.group or "")
        if group is None or group.id in self._cycles:
            return
        rules: dict[str, list[model.Rule]] = {}
        for member in group.members:
            over = self.mirror.rules_over(member.deployment, group.environment, group.resource)
            rules[member.deployment] = [rule for _, rule in over if rule.kind == "rollback"]
        bracket = self.mirror.rule(None, group.rule)
        self._cycles[group.id] = BracketCycle(
            bracket.spec.rollback_strategy if bracket is not None else "", rules
        )

    def _problem(self, job: records.Job) -> str | None:
        """What is wrong about the job if it goes back; None if nothing is."""
        history = self._runs.get(job.target)
        if not history or not self._is_older(job.version, history[-1].version):
            return None
        what_runs = self.mirror.version(job.deployment, history[-1].tag)
        if what_runs is None or what_runs.goes_back:
            return None
        if job.kind == "hook" and what_runs.status == "rejected":
            return None
        if job.kind != "rollback":
            return "nobody has asked for that"
        if job.target in self._ordered:
            problems = [self._problem_of_order(job, to) for to in self._ordered[job.target]]
            return None if None in problems else problems[0]
        failure = self._cause(job)
        if failure is None:
            return "no rollback rule of it has fired for a failure there"
        return self._problem_of_rollback(job, failure)

    def _is_older(self, version: str, than: str) -> bool:
        order, other = self._orders.get(version), self._orders.get(than)
        return order is not None and other is not None and order < other

    def _problem_of_order(self, job: records.Job, to: str | None) -> str | None:
        """Where the version that was named has gone bad meanwhile, back goes further."""
        wanted = self._wanted(job, to)
        if wanted is None or wanted.status == "rejected" or wanted.id == job.version:
            return None
        return f"a person has sent it to {wanted.tag}"

    def _cause(self, job: records.Job) -> FailedRelease | None:
        cycle = self._cycles.get(job.group or "")
        if cycle is None or not cycle.failures:
            failures = [failure for name, failure in self._failures.items() if name == job.target]
        elif cycle.strategy == "halt_and_notify":
            return None
        else:
            failures = [
                failure
                for failure in cycle.failures
                if cycle.strategy != "individual" or failure.job.deployment == job.deployment
            ]
        return next((failure for failure in failures if self._has_fired(failure)), None)

    def _has_fired(self, failure: FailedRelease) -> bool:
        """Also by whoever has marked what failed as bad, to go back. An attempt that was still ahead may be off because its
        rule is gone: then the rules of now decide."""
        version = self.mirror.version(failure.job.deployment, failure.job.tag)
        if version is not None and version.goes_back:
            return True
        return failure.has_fired or (failure.may_be_retried and _fires(self._rules(failure.job), failure.job))

    def _problem_of_rollback(self, job: records.Job, failure: FailedRelease) -> str | None:
        for run in reversed(self._runs[job.target]):
            is_undone = (
                run.group == job.group if job.group is not None else run.version == failure.job.version
            )
            if not is_undone and self._is_good(run, job):
                return None if run.version == job.version else f"what ran before and was good is {run.tag}"
        if job.version in self._adopted.get(job.target, ()):
            return None
        return "nothing that ran there before was good"

    def _is_good(self, run: VersionRun, job: records.Job) -> bool:
        version = self.mirror.version(job.deployment, run.tag)
        if version is None or version.status == "rejected":
            return False
        done = self.mirror.jobs.get(run.job or "")
        return done is None or done.kind == "rollback" or done.verification in ("none", "passed")


def _fires(rules: Sequence[model.Rule], job: records.Job) -> bool:
    return any(
        rule.kind == "rollback" and rollback.fires(rule.spec, job.status, job.verification == "failed")
        for rule in rules
    )
