"""Why something is where it is: one tree for all levels, from what was rolled out down to a pod.

Each level builds the part that it knows, and is handed what explains the objects below it: none knows another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Literal

import msgspec

from headgate.kernel import rendering
from headgate.kernel.decisions import Outcome, Reason
from headgate.kernel.documents import Moment
from headgate.kernel.objects import Object

Level = Literal["fleet", "graph", "workload"]
PartKind = Literal[
    "set",
    "replica",
    "group",
    "groupReplica",
    "clique",
    "pod",
    "definition",
    "instance",
    "node",
    "object",
]
Role = Literal["regular", "surge"]


class PartState(StrEnum):
    """How a part of the tree is. Closed: whoever draws the tree has to know each of them, of all levels."""

    # Of several levels.
    WAITING = "waiting"
    FAILED = "failed"
    READY = "ready"
    ABORTED = "aborted"
    # Targets of the fleet.
    UP_TO_DATE = "upToDate"
    VERIFYING = "verifying"
    RUNNING = "running"
    ROLLING_BACK = "rollingBack"
    ROLLED_BACK = "rolledBack"
    FROZEN = "frozen"
    NO_VERSION = "noVersion"
    # Groups and jobs of the fleet.
    COLLECTING = "collecting"
    QUEUED = "queued"
    EXECUTING = "executing"
    COMPLETED = "completed"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    PENDING = "pending"
    IN_PROGRESS = "inProgress"
    ACTION_REQUIRED = "actionRequired"
    SUCCESSFUL = "successful"
    FAILURE = "failure"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    INVALID_JOB_AGENT = "invalidJobAgent"
    INVALID_INTEGRATION = "invalidIntegration"
    EXTERNAL_RUN_NOT_FOUND = "externalRunNotFound"
    TIMED_OUT = "timedOut"
    # Definitions and instances of graphs, in the words of their condition.
    PROPAGATED = Reason.PROPAGATED.value
    PROPAGATING = Reason.PROPAGATING.value
    PROPAGATION_BLOCKED = Reason.PROPAGATION_BLOCKED.value
    EVALUATION_FAILED = Reason.EVALUATION_FAILED.value
    WRITE_REFUSED = Reason.WRITE_REFUSED.value
    # Sets.
    DONE = "done"
    UPDATING = "updating"
    STARTING = "starting"
    PAUSED = "paused"
    OVERDUE = "overdue"
    ON_DELETE = "onDelete"
    DELETING = "deleting"
    # What sets are made of.
    AVAILABLE = "available"
    NOT_AVAILABLE = "not available"
    ON_ITS_WAY_OUT = "on its way out"
    NOT_SCHEDULED = "not scheduled"
    SCHEDULED = "scheduled, not ready"
    TERMINATING = "terminating"
    # Of what a cluster does not say anything.
    UNKNOWN = "unknown"


_SETTLED: Mapping[str, frozenset[str]] = {
    "fleet": frozenset(
        {PartState.UP_TO_DATE, PartState.NO_VERSION, PartState.COMPLETED, PartState.SUCCESSFUL}
    ),
    "graph": frozenset({PartState.READY, PartState.PROPAGATED}),
    "workload": frozenset({PartState.DONE, PartState.AVAILABLE, PartState.READY}),
}
"""By level, because a group of the fleet that is ready still has to run."""


def is_settled(level: str, state: str) -> bool:
    """Whether nothing is waited for. Both may come from a document of another server, which may say more than is known
    here."""
    return state in _SETTLED.get(level, ())


class ExplanationLine(
    msgspec.Struct, frozen=True, rename={"kind": "type", "requeue_at": "nextEvaluationTime"}
):
    """One thing that was asked about the subject, and the answer; `origin` is who asks. `reason` is `Allowed` where it is
    let pass, else what it waits for, in the word that conditions, events and metrics have for it."""

    kind: str
    origin: str
    verdict: Outcome
    reason: Reason
    message: str
    requeue_at: Moment | None = None


class PartFacts(msgspec.Struct, frozen=True, rename="camel"):
    """What the subject is in its set or graph. `revision` is null where parts of it may be at several, or none is known;
    `dependsOn` names nodes of the same graph."""

    kind: PartKind
    revision: int | None = None
    role: Role = "regular"
    depends_on: tuple[str, ...] = ()


class ExplanationTree(msgspec.Struct, frozen=True, rename="camel"):
    """One tree for all levels. Below a job that applied an object of a cluster is what the cluster says of it. `part` is
    null for what is of the fleet, and not of a set or graph; `state` is the phase of each."""

    subject: str
    level: Level
    state: PartState
    message: str = ""
    part: PartFacts | None = None
    lines: tuple[ExplanationLine, ...] = ()
    children: tuple[ExplanationTree, ...] = ()

    def walk(self) -> Iterator[ExplanationTree]:
        yield self
        for child in self.children:
            yield from child.walk()

    def document(self) -> dict[str, Any]:
        """As it is declared. A tree may have twenty thousand parts: all but the moments is written at once."""
        tree: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        _show_moments(tree)
        return tree


def _show_moments(tree: dict[str, Any]) -> None:
    for line in tree["lines"]:
        line["nextEvaluationTime"] = rendering.render_or_none(line["nextEvaluationTime"])
    for child in tree["children"]:
        _show_moments(child)


Below = Callable[[Object], ExplanationTree | None]
"""What explains an object on the level below; None where no level knows more about it than its status."""
