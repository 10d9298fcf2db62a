"""The output document of a run: its keys, its order and its bytes are fixed for tools outside this project."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from headgate.fleet.engine import explain, views
from headgate.fleet.model import records
from headgate.fleet.state.state import Notice
from headgate.kernel import rendering
from headgate.kernel.budgets import BudgetPeak
from headgate.kernel.decisions import Outcome
from headgate.kernel.documents import Moment
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem
from headgate.kernel.rendering import Document
from headgate.promises.watch import Violation
from headgate.simulate.model.group_steps import GroupProgress
from headgate.simulate.model.usage import Usage

_NEVER = 2**62
_OF_A_JOB = (
    "id", "deployment", "environment", "resource", "version", "attempt", "status", "createdAt", "startedAt",
    "completedAt", "group", "kind",
)  # fmt: skip
_OF_A_MEMBER = ("deployment", "role", "version", "lockedAt", "state")
_OF_A_GROUP = (
    "id", "policy", "environment", "resource", "status", "mergedInto", "collectionStartedAt", "collectionEndsAt",
    "lockedAt", "startedAt", "completedAt", "members", "history",
)  # fmt: skip


class ExplainedLine(msgspec.Struct, frozen=True, rename="camel"):
    policy: str | None
    rule: str | None
    type: str
    version: str | None
    verdict: Outcome
    message: str
    next_evaluation_time: Moment | None = None


class Explained(msgspec.Struct, frozen=True):
    at: Instant
    target: str
    state: str
    rules: tuple[ExplainedLine | explain.RuleLine, ...] = ()
    message: str = ""
    changes: str = ""
    is_blocked: bool = False
    commands: tuple[str, ...] = ()
    """What a person can do."""
    tree: ExplanationTree | None = None
    """The same, and what is known on the levels below."""

    def full_document(self) -> Document:
        """With what people read first, which the output document leaves to the rules."""
        return {**_explained(self), "message": self.message, "changes": self.changes}


class RefusedStep(msgspec.Struct, frozen=True):
    at: Moment
    step: str
    errors: tuple[Problem, ...]


class Warned(msgspec.Struct, frozen=True):
    at: Moment
    target: str
    version: str
    message: str


class SnapshotTaken(msgspec.Struct, frozen=True):
    at: Moment
    objects: tuple[Document, ...]


class ExpectationResult(msgspec.Struct, frozen=True):
    """One expectation after the run; `message` is empty when it passed."""

    name: str
    passed: bool
    message: str = ""


class WaitingAtEnd(msgspec.Struct, frozen=True):
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
    group_steps: list[GroupProgress] = []
    """What became of the groups, in the order in which it did."""
    explanations: list[Explained] = []
    snapshots: list[SnapshotTaken] = []
    rejected: list[RefusedStep] = []
    warnings: list[Warned] = []
    notices: list[tuple[Instant, Notice]] = []
    violations: list[Violation] = []
    expectations: list[ExpectationResult] = []
    waiting: list[WaitingAtEnd] = []
    played: list[Played] = []
    pods: list[Document] = []
    objects: list[Document] = []
    conditions: list[Document] = []
    workload_budgets: list[BudgetPeak] = []
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
            "start": rendering.render(self.start),
            "end": rendering.render(self.end),
            "converged": self.converged,
            "jobs": [views.of_job(job, *_OF_A_JOB) for job in self.ordered_jobs()],
            "groups": [self._group(group) for group in self.ordered_groups()],
            "budgets": self._budgets(),
            "pods": self.pods,
            "objects": self.objects,
            "conditions": self.conditions,
            "explanations": [_explained(item) for item in _by_time(self.explanations, "target")],
            "snapshots": _written(_by_time(self.snapshots)),
            "rejected": _written(_by_time(self.rejected)),
            "warnings": _written(_by_time(self.warnings, "target", "version")),
            "events": [
                {"at": rendering.render(at), "type": one.type, "name": one.name, "message": one.message}
                for at, one in sorted(self.notices, key=lambda noted: noted[0])
            ],
            "violations": _written(_by_time(self.violations, "promise")),
            "expectations": _written(self.expectations),
        }

    def _budgets(self) -> list[Document]:
        peaks: list[BudgetPeak] = [*self.ordered_usage(), *self.workload_budgets]
        if self.workload_budgets:
            peaks.sort(key=lambda peak: _time_key(peak.peak_at))
        return [rendering.built(BudgetPeak, peak) for peak in peaks]

    def to_json(self) -> str:
        return json.dumps(self.document(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"

    def _group(self, group: records.Group) -> Document:
        members = sorted(group.members, key=lambda member: (_time_key(member.locked_at), member.deployment))
        member_views = (views.of_member(member, self.tags, *_OF_A_MEMBER) for member in members)
        return views.of_group(group, member_views, *_OF_A_GROUP)


def _explained(item: Explained) -> Document:
    rules = [rendering.built(ExplainedLine, line) for line in item.rules]
    tree = item.tree.document() if item.tree is not None else None
    return {
        "at": rendering.render(item.at), "target": item.target, "state": item.state, "rules": rules, "tree": tree
    }  # fmt: skip


def _time_key(instant: Instant | None) -> int:
    return _NEVER if instant is None else instant


def _written(items: Iterable[Any]) -> list[Document]:
    return [rendering.built(type(item), item) for item in items]


def _by_time(items: Iterable[Any], *names: str) -> list[Any]:
    """Stable: what is equal in all of this stays in the order in which it happened."""
    return sorted(items, key=lambda item: (item.at, *(getattr(item, name) for name in names)))
