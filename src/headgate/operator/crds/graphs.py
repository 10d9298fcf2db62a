"""The kinds of graphs: definitions, and the revisions that instances are on."""

from typing import Any

import msgspec

from headgate.graph.compile import definition
from headgate.graph.reconcile import conditions, revisions
from headgate.operator.crds import structural
from headgate.operator.crds.kinds import Column, CustomKind, condition


class RevisedInstance(msgspec.Struct, frozen=True):
    kind: str
    name: str
    uid: str


class RevisionSpec(msgspec.Struct, frozen=True, rename="camel"):
    number: int
    instance: RevisedInstance
    inputs_hash: str


class GraphSnapshot(msgspec.Struct, frozen=True):
    name: str
    spec: dict[str, Any]
    generation: int = 0


class GraphRevisionSpec(msgspec.Struct, frozen=True):
    revision: int
    hash: str
    snapshot: GraphSnapshot


DEFINITION = CustomKind(
    definition.API_VERSION,
    definition.KIND,
    "resourcegraphdefinitions",
    ("rgd",),
    "A kind of its own, and the objects that each instance of it brings about.",
    structural.of(definition.Specification),
    (
        Column("APIVersion", ".spec.schema.apiVersion"),
        Column("Kind", ".spec.schema.kind"),
        Column("State", ".status.state"),
        Column("Ready", condition(conditions.READY, "status")),
        Column("Propagated", condition(conditions.RESOURCES_PROPAGATED, "reason")),
        Column("Message", condition(conditions.RESOURCES_PROPAGATED, "message"), is_wide=True),
        Column("TopologicalOrder", ".status.topologicalOrder", is_wide=True),
    ),
    ("lastIssuedRevision", "lastLandedRevision"),
    is_namespaced=False,
)
REVISION = CustomKind(
    revisions.API_VERSION,
    revisions.KIND,
    "resourcegraphrevisions",
    ("rgr",),
    "One set of inputs of one instance, and what was granted at it.",
    structural.of(RevisionSpec),
    (
        Column("Kind", ".spec.instance.kind"),
        Column("Instance", ".spec.instance.name"),
        Column("Number", ".spec.number", "integer"),
    ),
    # Its number and what it grants are one write: one that grants nothing yet would be of no use to anybody.
    has_status=False,
)
GRAPH_REVISION = CustomKind(
    revisions.GRAPH_API_VERSION,
    revisions.GRAPH_KIND,
    "graphrevisions",
    ("gr",),
    "What a definition said at one time, for instances that were not let further.",
    structural.of(GraphRevisionSpec),
    (
        Column("Definition", ".spec.snapshot.name"),
        Column("Revision", ".spec.revision", "integer"),
    ),
    is_namespaced=False,
)
KINDS = (DEFINITION, REVISION, GRAPH_REVISION)
