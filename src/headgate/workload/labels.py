"""Labels, annotations, gates and environment variables by which the pieces of a set find each other."""

from collections.abc import Iterable, Mapping
from typing import Literal

MANAGED_BY = "app.kubernetes.io/managed-by"
PART_OF = "app.kubernetes.io/part-of"
NAME = "app.kubernetes.io/name"
COMPONENT = "app.kubernetes.io/component"
MANAGER = "grove-operator"

PCS_REPLICA_INDEX = "grove.io/podcliqueset-replica-index"
SCALING_GROUP = "grove.io/podcliquescalinggroup"
SCALING_GROUP_REPLICA_INDEX = "grove.io/podcliquescalinggroup-replica-index"
POD_CLIQUE = "grove.io/podclique"
POD_INDEX = "grove.io/podclique-pod-index"
POD_GANG = "grove.io/podgang"
BASE_POD_GANG = "grove.io/base-podgang"
POD_TEMPLATE_HASH = "grove.io/pod-template-hash"
SCHEDULER_NAME = "grove.io/scheduler-name"
REVISION = "headgate.dev/revision"
"""The hash of the revision that an object was built from."""

LONGEST_VALUE = 63
RESERVED_PREFIX = "grove.io/"
_NOT_MIRRORED = (
    RESERVED_PREFIX,
    "headgate.dev/",
    "kro.run/",
    "internal.kro.run/",
    "applyset.kubernetes.io/",
    "kubectl.kubernetes.io/",
    "argocd.argoproj.io/",
    "meta.helm.sh/",
)

NVLINK_GROUP = "grove.io/mnnvl-group"

SCHEDULING_GATE = "grove.io/podgang-pending-creation"

ENV_SET_NAME = "GROVE_PCS_NAME"
ENV_SET_INDEX = "GROVE_PCS_INDEX"
ENV_CLIQUE_NAME = "GROVE_PCLQ_NAME"
ENV_HEADLESS_SERVICE = "GROVE_HEADLESS_SERVICE"
ENV_POD_INDEX = "GROVE_PCLQ_POD_INDEX"
ENV_SCALING_GROUP_NAME = "GROVE_PCSG_NAME"
ENV_SCALING_GROUP_INDEX = "GROVE_PCSG_INDEX"
ENV_SCALING_GROUP_POD_COUNT = "GROVE_PCSG_TEMPLATE_NUM_PODS"

Component = Literal[
    "pcs-podclique",
    "pcsg-podclique",
    "pcs-podcliquescalinggroup",
    "podgang",
    "pcs-headless-service",
    "pcs-hpa",
    "pod-role",
    "pod-role-binding",
    "pod-service-account",
    "pod-sa-token-secret",
    "resource-claim",
]


def common(pcs: str, name: str, component: Component) -> dict[str, str]:
    return {**of_set(pcs), NAME: name, COMPONENT: component}


def of_set(pcs: str) -> dict[str, str]:
    """What every object of the set carries, and so what selects them all."""
    return {MANAGED_BY: MANAGER, PART_OF: pcs}


def of_replica(pcs: str, pcs_index: int) -> dict[str, str]:
    return {**of_set(pcs), PCS_REPLICA_INDEX: str(pcs_index)}


def selector(marks: Mapping[str, str], index: str, surge: Iterable[int]) -> str:
    """What selects pods for an autoscaler. Surge comes and goes with an update, and must not be counted as load that is
    carried: its indices are left out."""
    terms = [f"{key}={value}" for key, value in marks.items()]
    left_out = ",".join(str(each) for each in sorted(surge))
    return ",".join([*terms, f"{index} notin ({left_out})"] if left_out else terms)


def mirrored(given: Mapping[str, str]) -> dict[str, str]:
    """What a gang takes over from its set: a queue's label, a team's annotation, not this API's own words. Nor the marks of
    whoever manages the set, who would take the gang for something of theirs and show or prune it."""
    return {key: value for key, value in given.items() if not key.startswith(_NOT_MIRRORED)}
