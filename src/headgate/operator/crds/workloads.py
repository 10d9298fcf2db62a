"""The kinds of workloads: sets, what they consist of, and gangs for schedulers."""

import msgspec

from headgate.operator.crds import structural
from headgate.operator.crds.kinds import Column, CustomKind, condition
from headgate.workload import model
from headgate.workload.plan import conditions


class PodReference(msgspec.Struct, frozen=True):
    namespace: str
    name: str


class GangGroup(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    min_replicas: model.Number
    pod_references: tuple[PodReference, ...] = ()
    topology_constraint: object = None


class GangSpec(msgspec.Struct, frozen=True, rename="camel"):
    """What a gang-aware scheduler reads; sets bring it about, nobody writes it by hand."""

    podgroups: tuple[GangGroup, ...] = ()
    topology_constraint: object = None
    topology_constraint_group_configs: object = None
    priority_class_name: str = ""
    reuse_reservation_ref: object = None


def _desired() -> Column:
    return Column("Desired", ".spec.replicas", "integer")


def _count(name: str, field: str) -> Column:
    return Column(name, f".status.{field}", "integer")


SET = CustomKind(
    model.API_VERSION,
    model.KIND,
    "podcliquesets",
    ("pcs",),
    "Groups of pods that serve together, in so many replicas, and how they are updated.",
    structural.of(model.Spec),
    (
        _desired(),
        _count("Updated", "updatedReplicas"),
        _count("Available", "availableReplicas"),
        Column("Reason", condition(conditions.PROGRESSING, "reason")),
        Column("Message", condition(conditions.PROGRESSING, "message"), is_wide=True),
    ),
    ("replicas", "updatedReplicas", "availableReplicas"),
    "hpaPodSelector",
)
SCALING_GROUP = CustomKind(
    model.API_VERSION,
    model.SCALING_GROUP_KIND,
    "podcliquescalinggroups",
    ("pcsg",),
    "Cliques of one replica of a set that are scaled and replaced together.",
    structural.of(model.ScalingGroup, only=("replicas", "minAvailable", "cliqueNames")),
    (
        _desired(),
        _count("Updated", "updatedReplicas"),
        _count("Available", "availableReplicas"),
        Column("Breached", condition(conditions.BREACHED, "status")),
        Column("Message", condition(conditions.BREACHED, "message"), is_wide=True),
    ),
    ("replicas", "scheduledReplicas", "updatedReplicas", "availableReplicas"),
    "selector",
)
CLIQUE = CustomKind(
    model.API_VERSION,
    model.CLIQUE_KIND,
    "podcliques",
    ("pclq",),
    "Pods with one role, of one replica of a set or of a scaling group.",
    structural.of(model.CliqueSpec),
    (
        _desired(),
        _count("Scheduled", "scheduledReplicas"),
        _count("Updated", "updatedReplicas"),
        _count("Ready", "readyReplicas"),
        Column("Breached", condition(conditions.BREACHED, "status")),
        Column("Message", condition(conditions.BREACHED, "message"), is_wide=True),
    ),
    (
        "replicas",
        "readyReplicas",
        "availableReplicas",
        "updatedReplicas",
        "scheduledReplicas",
        "scheduleGatedReplicas",
    ),
    "hpaPodSelector",
)
GANG = CustomKind(
    model.GANG_API_VERSION,
    model.GANG_KIND,
    "podgangs",
    ("pg",),
    "Pods that are scheduled together or not at all.",
    structural.of(GangSpec),
    (Column("Priority", ".spec.priorityClassName"),),
)
KINDS = (SET, SCALING_GROUP, CLIQUE, GANG)
