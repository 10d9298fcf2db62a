"""`graph`: an instance of a ResourceGraphDefinition is applied from a template; the job ends when all of it is
propagated and ready.

Of an instance that is held, what is not yet propagated waits: a graph has no way back but its spec of before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec

from headgate.agents import applied_objects
from headgate.agents.applied_objects import AppliedObject, InstanceTemplate
from headgate.agents.cluster_rollouts import PROGRESS_SECONDS, RolloutAgent, RolloutProgress
from headgate.agents.clusters import ReachedCluster
from headgate.agents.port import Assignment, TimeoutSeconds
from headgate.graph.compile import definition, loops
from headgate.graph.reconcile import conditions, labels
from headgate.kernel.problems import Problem, Rejected
from headgate.kubernetes.resources import ApiResource, Document

_PATH = "config.instanceTemplate"


class GraphConfig(msgspec.Struct, frozen=True, rename="camel"):
    instance_template: dict[str, Any]
    kube_context: str | None = None
    progress_deadline_seconds: Annotated[int, msgspec.Meta(ge=1)] = PROGRESS_SECONDS
    timeout_seconds: TimeoutSeconds | None = None


class GraphAgent(RolloutAgent):
    type = "graph"

    async def _wanted(self, assignment: Assignment) -> AppliedObject:
        config = assignment.config(GraphConfig)
        template = applied_objects.instance_template(config.instance_template, _PATH)
        cluster = await self._cluster(config.kube_context, assignment)
        resource = await cluster.discovery.find(template.api_version, template.kind)
        if "uid" not in assignment.state:
            await _check_is_defined(cluster, resource, template)
        return AppliedObject.of(cluster, resource, template, assignment, _PATH)

    async def _progress(self, wanted: AppliedObject, live: Document) -> RolloutProgress:
        return progress_of(live)

    def _hold(self, wanted: AppliedObject, live: Document) -> tuple[Mapping[str, str], str] | None:
        if progress_of(live).state == "done":
            return None
        comment = "it is paused: what is not yet propagated waits for the next job"
        return {labels.PROPAGATION: labels.PAUSED}, comment

    def _progress_seconds(self, assignment: Assignment) -> int:
        return assignment.config(GraphConfig).progress_deadline_seconds


async def _check_is_defined(
    cluster: ReachedCluster, resource: ApiResource, template: InstanceTemplate
) -> None:
    """Other kinds have no propagation to follow, and whoever writes an agent is to say what it is. Raises Rejected."""
    kinds = await cluster.discovery.find(definition.API_VERSION, definition.KIND)
    known = await cluster.client.list(kinds)
    defined = {loops.defined_kind(one.get("spec") or {}) for one in known.items}
    if (resource.group, resource.kind) not in defined:
        message = f'is "{template.kind}" of "{template.api_version}"; allowed is the kind of a {definition.KIND} of the cluster'
        raise Rejected((Problem(f"{_PATH}.kind", message),))


def progress_of(instance: Document) -> RolloutProgress:
    """By its status alone, in the sentences that its conditions have."""
    status: Mapping[str, Any] = instance.get("status") or {}
    own: Mapping[str, Any] = status.get(conditions.OWN) or {}
    if own.get("observedGeneration") != instance["metadata"]["generation"]:
        return RolloutProgress("moving", "waiting for the operator to take it up")
    if own.get("isReady") and own.get("isPropagated"):
        return RolloutProgress("done", f"all of it is at revision {own.get('revision')} and ready")
    comment = "; ".join(_waiting(status, own))
    marks = instance["metadata"].get("annotations") or {}
    if labels.is_paused(marks) or labels.is_suspended(marks):
        return RolloutProgress(
            "held", f"{comment}; its propagation is paused by somebody, who has to resume it"
        )
    return RolloutProgress("moving", comment, comment)


def _waiting(status: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[str]:
    """A definition may have conditions of its own in the place of those that are known here."""
    messages = {
        str(one.get("type")): str(one.get("message") or "")
        for one in status.get("conditions") or ()
        if one.get("status") != "True"
    }
    if not own.get("isPropagated"):
        yield messages.get(conditions.RESOURCES_PROPAGATED) or "not all of it is propagated"
    if not own.get("isReady"):
        unresolved = messages.get(conditions.GRAPH_RESOLVED)
        yield unresolved or messages.get(conditions.RESOURCES_READY) or "not all of it is ready"
