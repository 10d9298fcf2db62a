"""The controller of workloads on a real cluster: which kinds it hears of, and who writes."""

from __future__ import annotations

import functools

from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Object
from headgate.kubernetes import objects
from headgate.kubernetes.resources import ApiResource, Document
from headgate.operator.crds import workloads as kinds
from headgate.workload import labels, model, pods
from headgate.workload.expand import autoscalers, revisions
from headgate.workload.plan import planner
from headgate.workload.plan.controller import WorkloadController
from headgate.workload.plan.planner import WorkloadPlan

MANAGER = "headgate-workloads"
WATCHED: tuple[tuple[str, str, str], ...] = (
    (kinds.SET.api_version, kinds.SET.kind, ""),
    (kinds.SCALING_GROUP.api_version, kinds.SCALING_GROUP.kind, ""),
    (kinds.CLIQUE.api_version, kinds.CLIQUE.kind, ""),
    (kinds.GANG.api_version, kinds.GANG.kind, ""),
    (revisions.API_VERSION, revisions.KIND, f"{labels.MANAGED_BY}={labels.MANAGER}"),
    (autoscalers.API_VERSION, autoscalers.KIND, f"{labels.MANAGED_BY}={labels.MANAGER}"),
    ("v1", "Service", f"{labels.MANAGED_BY}={labels.MANAGER}"),
    ("v1", "Pod", f"{labels.MANAGED_BY}={labels.MANAGER}"),
)
"""By apiVersion, kind and label selector, owners before what they own. Of kinds that everybody has, only what carries
the mark of a set is listed: a pod that loses the mark is not the set's any more, as with other controllers."""

WATCHED_WHERE_SERVED: tuple[tuple[str, str, str], ...] = (
    (model.CLAIM_API_VERSION, model.CLAIM_KIND, f"{labels.MANAGED_BY}={labels.MANAGER}"),
    (model.CLAIM_API_VERSION, model.CLAIM_TEMPLATE_KIND, ""),
)
"""What only sets that share devices need, and not every cluster has. Templates are everybody's."""


def read(document: Document, resource: ApiResource) -> Object:
    """As planners need it: of pods, of which there are most, very little."""
    return pods.read_alone(objects.read(document, resource))


def controller() -> WorkloadController[WorkloadPlan]:
    """What binds pods on a real cluster binds one after another, unless a set names a scheduler of its own."""
    plan = functools.partial(planner.plan, is_bound_pod_by_pod=True)
    return WorkloadController(plan, NamedIds("workloads"))
