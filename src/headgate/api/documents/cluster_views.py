"""Answers about what connected clusters hold."""

from __future__ import annotations

from typing import Literal

import msgspec

from headgate.kernel.documents import Moment
from headgate.kernel.explanations import ExplanationTree
from headgate.operator.observation.summaries import GraphNode, GraphSummary, SetSummary


class ConnectedClusterView(msgspec.Struct, rename="camel"):
    """A cluster that job agents of the workspace apply sets and graphs to. `message` is why it says nothing now."""

    name: str
    job_agents: list[str]
    is_answering: bool
    message: str


class WorkloadView(SetSummary, frozen=True, rename="camel"):
    """A PodCliqueSet as its status has it. `target` and `version` are of the job that applied it, null where somebody else
    did."""

    id: str
    cluster: str
    namespace: str
    name: str
    target: str | None
    version: str | None
    created_at: Moment


class PodCounts(msgspec.Struct, frozen=True, rename="camel"):
    updated: int
    total: int


class WorkloadDetail(WorkloadView, frozen=True, rename="camel"):
    """`tree` goes down to the pods, with the revision and role of each; `pods` are those that are updated and available,
    and how many there are to be. `isCut` where the tree is too large to be shown whole."""

    pods: PodCounts
    tree: ExplanationTree
    is_cut: bool


class GraphView(GraphSummary, frozen=True, rename="camel"):
    """A ResourceGraphDefinition, or an instance of one, as its status has it. `definition` is the name of the one that it
    is or belongs to, `instanceKind` the kind of instances."""

    id: str
    cluster: str
    kind: Literal["definition", "instance"]
    instance_kind: str
    definition: str
    namespace: str | None
    name: str
    target: str | None
    version: str | None
    created_at: Moment


class GraphDetail(GraphView, frozen=True, rename="camel"):
    """`nodes` are those of the definition, whose ids the children of an instance's tree go by; `instances`, of a
    definition, are those that it lets through in waves, in their order; the first 1,000."""

    nodes: list[GraphNode]
    instances: list[GraphView]
    tree: ExplanationTree
    is_cut: bool


class OrderedView(msgspec.Struct, frozen=True, rename="camel"):
    """`isChanged` is false where it was so before; `state` is how it was when it was ordered."""

    id: str
    action: str
    is_changed: bool
    state: str
    message: str
