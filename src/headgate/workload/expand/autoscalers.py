"""The HorizontalPodAutoscalers of a set: one for each clique or group of each replica that asks for it."""

from collections.abc import Iterator
from typing import Any

from headgate.kernel.objects import Object
from headgate.workload import labels, model, names
from headgate.workload.expand import expansion as expand
from headgate.workload.model import AutoScaling, PodCliqueSet

API_VERSION = "autoscaling/v2"
KIND = "HorizontalPodAutoscaler"
DEFAULT_METRICS = (
    {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
    },
)
"""What API servers fill in where nothing is said. Said here, it also replaces metrics that a set does not have any
more."""


def of_replica(pcs: PodCliqueSet, pcs_index: int) -> Iterator[Object]:
    for clique in pcs.template.standalone_cliques:
        if clique.auto_scaling is not None:
            target = names.standalone_clique(pcs.name, pcs_index, clique.name)
            yield _autoscaler(pcs, pcs_index, model.CLIQUE_KIND, target, clique.auto_scaling)
    for group in pcs.template.scaling_groups:
        if group.scale_config is not None:
            target = names.scaling_group(pcs.name, pcs_index, group.name)
            yield _autoscaler(pcs, pcs_index, model.SCALING_GROUP_KIND, target, group.scale_config)


def _autoscaler(pcs: PodCliqueSet, pcs_index: int, kind: str, target: str, scaling: AutoScaling) -> Object:
    name = names.autoscaler(target)
    spec: dict[str, Any] = {
        "scaleTargetRef": {"apiVersion": model.API_VERSION, "kind": kind, "name": target},
        "minReplicas": scaling.min_replicas,
        "maxReplicas": scaling.max_replicas,
        "metrics": scaling.metrics or list(DEFAULT_METRICS),
    }
    return Object(
        api_version=API_VERSION,
        kind=KIND,
        namespace=pcs.namespace,
        name=name,
        labels={
            **labels.common(pcs.name, name, "pcs-hpa"),
            labels.PCS_REPLICA_INDEX: str(pcs_index),
        },
        owners=(expand.owned_by_set(pcs),),
        spec=spec,
    )
