"""Why something is where it is: one tree for all levels, from what was rolled out down to a pod.

Each level builds the part that it knows, and is handed what explains the objects below it: none knows another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from headgate.kernel import instants
from headgate.kernel.decisions import Outcome
from headgate.kernel.instants import Instant
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
SETTLED = frozenset({"done", "upToDate", "ready", "available"})
"""States in which nothing is waited for."""


class ExplanationLine(msgspec.Struct, frozen=True):
    """One thing that was asked about the subject, and the answer. `origin` is who asks: a rule, a gate."""

    kind: str
    verdict: Outcome
    message: str
    origin: str = ""
    requeue_at: Instant | None = None

    def document(self) -> dict[str, Any]:
        return {
            "type": self.kind,
            "origin": self.origin,
            "verdict": self.verdict,
            "message": self.message,
            "nextEvaluationTime": None if self.requeue_at is None else instants.show(self.requeue_at),
        }


class PartFacts(msgspec.Struct, frozen=True):
    """What the subject is in its set or graph, for whoever draws the tree instead of reading it.

    `revision` is None where parts of it may be at several, or none is known; `depends_on` names nodes of the same graph.
    """

    kind: PartKind
    revision: int | None = None
    role: Role = "regular"
    depends_on: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "revision": self.revision,
            "role": self.role,
            "dependsOn": list(self.depends_on),
        }


class ExplanationTree(msgspec.Struct, frozen=True):
    subject: str
    level: Level
    state: str
    message: str = ""
    lines: tuple[ExplanationLine, ...] = ()
    children: tuple[ExplanationTree, ...] = ()
    part: PartFacts | None = None
    """Of sets and graphs, and what they are made of."""

    @property
    def is_settled(self) -> bool:
        return self.state in SETTLED

    def walk(self) -> Iterator[ExplanationTree]:
        yield self
        for child in self.children:
            yield from child.walk()

    def document(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "level": self.level,
            "state": self.state,
            "message": self.message,
            "part": None if self.part is None else self.part.document(),
            "lines": [line.document() for line in self.lines],
            "children": [child.document() for child in self.children],
        }


Below = Callable[[Object], ExplanationTree | None]
"""What explains an object on the level below; None where no level knows more about it than its status."""
