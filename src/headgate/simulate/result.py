"""The output document of a run: its keys, its order and its bytes are fixed for tools outside this project."""

import functools
import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from headgate.fleet import records
from headgate.fleet.state import Notice
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem
from headgate.promises.watch import Violation
from headgate.simulate.group_steps import GroupStep
from headgate.simulate.usage import Usage

Document = dict[str, Any]
_NEVER = 2**62


class RuleLine(msgspec.Struct, frozen=True):
    policy: str | None
    rule: str | None
    type: str
    version: str | None
    verdict: str
    message: str
    next_evaluation_time: Instant | None = None


class Explained(msgspec.Struct, frozen=True):
    at: Instant
    target: str
    state: str
    rules: tuple[RuleLine, ...] = ()
    message: str = ""
    changes: str = ""
    is_blocked: bool = False
    commands: tuple[str, ...] = ()
    """What a person can do."""

    def full_document(self) -> Document:
        """With what people read first, which the output document leaves to the rules."""
        return {**_explained(self), "message": self.message, "changes": self.changes}


class Refused(msgspec.Struct, frozen=True):
    at: Instant
    step: str
    errors: tuple[Problem, ...]


class Warned(msgspec.Struct, frozen=True):
    at: Instant
    target: str
    version: str
    message: str


class Snapshot(msgspec.Struct, frozen=True):
    at: Instant
    objects: tuple[Document, ...]


class Judged(msgspec.Struct, frozen=True):
    """One expectation after the run; `message` is empty when it passed."""

    name: str
    passed: bool
    message: str = ""


class Waiting(msgspec.Struct, frozen=True):
    target: str
    state: str
    reason: str


class Played(msgspec.Struct, frozen=True):
    """A step that was accepted, in words."""

    at: Instant
    what: str
    event: str


class PodLife(msgspec.Struct, frozen=True):
    """One incarnation of a pod for the charts; `ready` are the spans in which it was, the last may be open."""

    row: int
    name: str
    revision: int | None
    created_at: Instant
    scheduled_at: Instant | None
    ready: tuple[tuple[Instant, Instant | None], ...]
    deleted_at: Instant | None
    gone_at: Instant | None


class PodRow(msgspec.Struct, frozen=True):
    """A place that pods follow each other in."""

    replica: int
    group: str
    """The scaling group with the replica in it, such as `prefill 0`; empty for a standalone clique."""
    clique: str
    index: int
    is_surge: bool


class Workload(msgspec.Struct, frozen=True):
    """A set over time: its places in the order of the tree, and the pods that were in them."""

    name: str
    rows: tuple[PodRow, ...]
    pods: tuple[PodLife, ...]
    revisions: int


class GraphRow(msgspec.Struct, frozen=True):
    """One object of a graph over time: each write with its revision, and when it was ready and when not."""

    node: str
    name: str
    writes: tuple[tuple[Instant, int], ...]
    ready: tuple[tuple[Instant, bool], ...]
    deleted_at: Instant | None


class Graph(msgspec.Struct, frozen=True):
    """An instance over time, its nodes in the order of the graph."""

    instance: str
    rows: tuple[GraphRow, ...]
    revisions: int
    edges: Mapping[str, tuple[str, ...]]
    """What each node depends on."""


class Result(msgspec.Struct):
    """Everything a run leaves behind. `tags` names versions by id, `waiting` is what had not converged."""

    scenario: str
    seed: int
    start: Instant
    end: Instant
    converged: bool
    was_cut: bool
    jobs: list[records.Job]
    groups: list[records.Group]
    usage: list[Usage]
    tags: Mapping[str, str]
    group_steps: list[GroupStep] = []
    """What became of the groups, in the order in which it did."""
    explanations: list[Explained] = []
    snapshots: list[Snapshot] = []
    rejected: list[Refused] = []
    warnings: list[Warned] = []
    notices: list[tuple[Instant, Notice]] = []
    violations: list[Violation] = []
    expectations: list[Judged] = []
    waiting: list[Waiting] = []
    played: list[Played] = []
    pods: list[Document] = []
    objects: list[Document] = []
    conditions: list[Document] = []
    workload_budgets: list[Document] = []
    workloads: list[Workload] = []
    graphs: list[Graph] = []
    has_dates: bool = False
    """Whether its moments are told by the calendar, because they are of the real world, or by days of a scenario."""

    def ordered_jobs(self) -> list[records.Job]:
        return sorted(self.jobs, key=lambda job: (job.created_at, job.target, job.attempt, job.id))

    def ordered_groups(self) -> list[records.Group]:
        return sorted(
            self.groups,
            key=lambda group: (
                group.collection_started_at,
                group.policy,
                group.environment,
                group.resource,
                group.created_at,
                group.id,
            ),
        )

    def ordered_usage(self) -> list[Usage]:
        return sorted(self.usage, key=lambda usage: (_time_key(usage.peak_at), usage.policy, usage.rule))

    def document(self) -> Document:
        return {
            "scenario": self.scenario,
            "seed": self.seed,
            "start": instants.show(self.start),
            "end": instants.show(self.end),
            "converged": self.converged,
            "jobs": [_job(job) for job in self.ordered_jobs()],
            "groups": [self._group(group) for group in self.ordered_groups()],
            "budgets": self._budgets(),
            "pods": self.pods,
            "objects": self.objects,
            "conditions": self.conditions,
            "explanations": [_explained(item) for item in _by_time(self.explanations, "target")],
            "snapshots": [
                {"at": instants.show(snapshot.at), "objects": list(snapshot.objects)}
                for snapshot in _by_time(self.snapshots)
            ],
            "rejected": [_refused(item) for item in _by_time(self.rejected)],
            "warnings": [_warned(item) for item in _by_time(self.warnings, "target", "version")],
            "events": [
                {"at": instants.show(at), "type": one.type, "name": one.name, "message": one.message}
                for at, one in sorted(self.notices, key=lambda noted: noted[0])
            ],
            "violations": [
                {"promise": item.promise, "at": instants.show(item.at), "message": item.message}
                for item in _by_time(self.violations, "promise")
            ],
            "expectations": [
                {"name": item.name, "passed": item.passed, "message": item.message}
                for item in self.expectations
            ],
        }

    def _budgets(self) -> list[Document]:
        budgets = [_budget(usage) for usage in self.ordered_usage()]
        if not self.workload_budgets:
            return budgets
        return sorted(
            [*budgets, *self.workload_budgets],
            key=lambda item: (item["peakAt"] is None, item["peakAt"] or ""),
        )

    def to_json(self) -> str:
        return json.dumps(self.document(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    def _group(self, group: records.Group) -> Document:
        members = sorted(group.members, key=lambda member: (_time_key(member.locked_at), member.deployment))
        return {
            "id": group.id,
            "policy": group.policy,
            "environment": group.environment,
            "resource": group.resource,
            "status": group.status,
            "mergedInto": group.merged_into,
            "collectionStartedAt": _shown(group.collection_started_at),
            "collectionEndsAt": _shown(group.collection_ends_at),
            "lockedAt": _time(group.locked_at),
            "startedAt": _time(group.started_at),
            "completedAt": _time(group.completed_at),
            "members": [
                {
                    "deployment": member.deployment,
                    "role": member.role,
                    "version": self.tags.get(member.version, member.version) if member.version else None,
                    "lockedAt": _time(member.locked_at),
                    "state": member.state,
                }
                for member in members
            ],
            "history": [{"at": _shown(step.at), "status": step.status} for step in group.history],
        }


def _job(job: records.Job) -> Document:
    return {
        "id": job.id,
        "deployment": job.deployment,
        "environment": job.environment,
        "resource": job.resource,
        "version": job.tag,
        "attempt": job.attempt,
        "status": job.status,
        "createdAt": _shown(job.created_at),
        "startedAt": _time(job.started_at),
        "completedAt": _time(job.completed_at),
        "group": job.group,
        "kind": job.kind,
    }


def _budget(usage: Usage) -> Document:
    return {
        "policy": usage.policy,
        "rule": usage.rule,
        "kind": "resourceConcurrency",
        "scope": usage.scope,
        "limit": usage.limit,
        "peak": usage.peak,
        "peakAt": _time(usage.peak_at),
    }


def _explained(item: Explained) -> Document:
    return {
        "at": instants.show(item.at),
        "target": item.target,
        "state": item.state,
        "rules": [
            {
                "policy": line.policy,
                "rule": line.rule,
                "type": line.type,
                "version": line.version,
                "verdict": line.verdict,
                "message": line.message,
                "nextEvaluationTime": _time(line.next_evaluation_time),
            }
            for line in item.rules
        ],
    }


def _refused(item: Refused) -> Document:
    return {
        "at": instants.show(item.at),
        "step": item.step,
        "errors": [{"path": problem.path, "message": problem.message} for problem in item.errors],
    }


def _warned(item: Warned) -> Document:
    return {
        "at": instants.show(item.at),
        "target": item.target,
        "version": item.version,
        "message": item.message,
    }


def _time(instant: Instant | None) -> str | None:
    return None if instant is None else _shown(instant)


@functools.lru_cache(maxsize=4096)
def _shown(instant: Instant) -> str:
    """Thousands of jobs share a few moments."""
    return instants.show(instant)


def _time_key(instant: Instant | None) -> int:
    return _NEVER if instant is None else instant


def _by_time(items: Iterable[Any], *names: str) -> list[Any]:
    """Stable: what is equal in all of this stays in the order in which it happened."""
    return sorted(items, key=lambda item: (item.at, *(getattr(item, name) for name in names)))
