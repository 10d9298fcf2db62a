"""`kubernetes-node`: a node is cordoned, drained or uncordoned.

Pods leave by the eviction API, so that disruption budgets are honoured; what a budget does not allow now is asked again
until it does, or until the job's time is over. A drain that does not succeed gives its cordon back: nobody else would.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from headgate.agents import node_holds, node_pods
from headgate.agents.clusters import ClusterAgent, ReachedCluster, check_is_of
from headgate.agents.node_holds import NODES, Hold
from headgate.agents.port import Assignment, JobProgress, TimeoutSeconds, shortened
from headgate.kernel import conditions
from headgate.kernel.problems import Problem, Rejected
from headgate.kubernetes.errors import (
    ApiError,
    ConflictError,
    EvictionRefusedError,
    NotFoundError,
)
from headgate.kubernetes.resources import PODS, Document

MOST_EVICTIONS_AT_ONCE = 8
_LONGEST_REASON = 300
_NODE_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


class KubernetesNodeConfig(msgspec.Struct, frozen=True, rename="camel"):
    verb: Literal["drain", "uncordon", "cordon"]
    kube_context: str | None = None
    node: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    allowed_nodes: str = ""
    pod_selector: str = ""
    delete_empty_dir_data: bool = False
    force: bool = False
    grace_period_seconds: Annotated[int, msgspec.Meta(ge=0)] | None = None
    timeout_seconds: TimeoutSeconds | None = None


class Blocked(msgspec.Struct, frozen=True, order=True):
    """A pod that has not left, and why."""

    pod: str
    reason: str

    def __str__(self) -> str:
        return f"{self.pod}: {self.reason}"


class KubernetesNodeAgent(ClusterAgent):
    type = "kubernetes-node"

    async def _look(self, assignment: Assignment) -> JobProgress:
        config = assignment.config(KubernetesNodeConfig)
        cluster = await self._cluster(config, assignment)
        name = _node_name(config, assignment)
        if "node" not in assignment.state:
            await _check_allowed(cluster, name, config)
        match config.verb:
            case "uncordon":
                return await _uncordon(cluster, name, assignment)
            case "cordon":
                return await _cordon(cluster, name, assignment)
            case "drain":
                return await self._drain(cluster, name, config, assignment)

    async def _end(self, assignment: Assignment) -> str | None:
        config = assignment.config(KubernetesNodeConfig)
        if config.verb == "uncordon":
            return None
        cluster = await self._cluster(config, assignment)
        return await _given_back(cluster, _node_name(config, assignment), assignment)

    async def _cluster(self, config: KubernetesNodeConfig, assignment: Assignment) -> ReachedCluster:
        cluster = await self._clusters.named(config.kube_context)
        await check_is_of(cluster, assignment.document.resource)
        return cluster

    async def _drain(
        self, cluster: ReachedCluster, name: str, config: KubernetesNodeConfig, assignment: Assignment
    ) -> JobProgress:
        state = assignment.state
        node = await _node_named(cluster, name)
        problem = _problem(node, name, state)
        if problem is not None:
            return await _failed(cluster, name, assignment, problem)
        assert node is not None
        pods = await _pods(cluster, name, config, state)
        refusal = node_pods.refusal(pods)
        if refusal is not None:
            return await _failed(cluster, name, assignment, f"{name} is not drained: {refusal}")
        is_first = "pods" not in state
        if is_first:
            is_ours = await node_holds.take(cluster.client, node, Hold.of(assignment))
            uids = sorted(node_pods.uid_of(pod) for pod in pods.leaving)
            await assignment.keep(node=node["metadata"]["uid"], isOurs=is_ours, pods=uids)
        elif newcomers := {node_pods.uid_of(pod) for pod in pods.leaving} - set(state["pods"]):
            await assignment.keep(pods=sorted({*state["pods"], *newcomers}))
        total = len(assignment.state["pods"])
        if not pods.leaving and not is_first:
            return JobProgress("successful", _drained(name, total, pods, assignment), name)
        blocked = await _evicted(cluster, pods, config, is_ready=_is_ready(node))
        return self._going_on(name, total, blocked, assignment)

    def _going_on(self, name: str, total: int, blocked: list[Blocked], assignment: Assignment) -> JobProgress:
        message = f"{total - len(blocked)} of {total} pods evicted" if total else "it is cordoned"
        if blocked:
            more = f" and {len(blocked) - 1} more" if len(blocked) > 1 else ""
            message += f", waiting for {blocked[0]}{more}"
        wait = self._pace.seconds(assignment.job.id, message)
        return JobProgress("inProgress", shortened(message), name, requeue_seconds=wait)


def _node_name(config: KubernetesNodeConfig, assignment: Assignment) -> str:
    """What the agent says, else what discovery said of the resource, else the resource's name."""
    resource = assignment.document.resource.get("config")
    discovered = resource.get("node") if isinstance(resource, Mapping) else None
    name = config.node or discovered or assignment.job.resource
    if not isinstance(name, str) or not _NODE_NAME.fullmatch(name):
        message = f'is "{str(name)[:80]}"; allowed is the name of a node, or a resource that has it'
        raise Rejected((Problem("config.node", message),))
    return name


async def _check_allowed(cluster: ReachedCluster, name: str, config: KubernetesNodeConfig) -> None:
    """Whoever may write resources says which node a job is about; which nodes it may be, the agent's owner. A node that
    is gone is nobody's to refuse. Raises Rejected, ApiError."""
    if not config.allowed_nodes:
        return
    allowed = await cluster.client.list(NODES, labels=config.allowed_nodes, fields=f"metadata.name={name}")
    if not allowed.items and await _node_named(cluster, name) is not None:
        message = (
            f'is "{config.allowed_nodes[:200]}", and the node {name} has other labels; it is not touched'
        )
        raise Rejected((Problem("config.allowedNodes", message),))


async def _node_named(cluster: ReachedCluster, name: str) -> Document | None:
    try:
        return await cluster.client.get(NODES, name)
    except NotFoundError:
        return None


def _problem(node: Document | None, name: str, state: Mapping[str, object]) -> str | None:
    """Why this node cannot be drained, or no longer. What works on it next would find nothing, or the wrong thing."""
    known = state.get("node")
    if node is None:
        return f"the node {name} is gone" if known else f"there is no node {name}"
    if known not in (None, node["metadata"]["uid"]):
        return f"the node {name} is gone, and another one has its name"
    if known is not None and not node_holds.is_cordoned(node):
        return f"the node {name} was uncordoned by somebody while it was drained"
    return None


async def _failed(cluster: ReachedCluster, name: str, assignment: Assignment, reason: str) -> JobProgress:
    left = await _given_back(cluster, name, assignment)
    return JobProgress("failure", shortened(f"{reason}; {left}" if left else reason), name)


async def _given_back(cluster: ReachedCluster, name: str, assignment: Assignment) -> str | None:
    """What this job cordoned and did not finish; the sentence says how the node is left."""
    freed, others = await node_holds.give_back(cluster.client, name, lambda hold: hold == Hold.of(assignment))
    if freed == "uncordoned":
        return f"{name} is uncordoned again"
    if freed == "held":
        return f"{name} stays cordoned for {_listed(others)}"
    if freed == "foreign" and assignment.state.get("isOurs") is False:
        return f"{name} stays cordoned, as it was before"
    return None


def _listed(holds: tuple[Hold, ...]) -> str:
    return ", ".join(str(hold) for hold in holds)


async def _pods(
    cluster: ReachedCluster, name: str, config: KubernetesNodeConfig, state: Mapping[str, object]
) -> node_pods.NodePods:
    pods = await cluster.client.list(PODS, fields=f"spec.nodeName={name}", labels=config.pod_selector)
    known = state.get("pods")
    return node_pods.sort(
        pods.items,
        force=config.force,
        delete_empty_dir_data=config.delete_empty_dir_data,
        known=frozenset(known) if isinstance(known, list) else None,
    )


async def _evicted(
    cluster: ReachedCluster, pods: node_pods.NodePods, config: KubernetesNodeConfig, *, is_ready: bool
) -> list[Blocked]:
    """Asks for all that are not on their way; those that have not left, the ones that are refused first."""
    turns = asyncio.Semaphore(MOST_EVICTIONS_AT_ONCE)
    terminating = "terminating" if is_ready else "terminating on a node that is not ready"

    async def evict(pod: Document) -> str | None:
        if node_pods.is_terminating(pod):
            return terminating
        async with turns:
            return await _refusal(cluster, pod, config) or terminating

    reasons = await asyncio.gather(*(evict(pod) for pod in pods.leaving))
    blocked = [
        Blocked(node_pods.name_of(pod), reason)
        for pod, reason in zip(pods.leaving, reasons, strict=True)
        if reason
    ]
    return sorted(blocked, key=lambda blocked_pod: (blocked_pod.reason == terminating, blocked_pod))


async def _refusal(cluster: ReachedCluster, pod: Document, config: KubernetesNodeConfig) -> str | None:
    """Whatever is refused for one pod holds up the others no longer than itself."""
    metadata = pod["metadata"]
    try:
        await cluster.client.evict(
            metadata["name"],
            metadata["namespace"],
            uid=metadata["uid"],
            grace_seconds=config.grace_period_seconds,
        )
    except EvictionRefusedError as error:
        return f"disruption budget {error.budget}" if error.budget else "a disruption budget"
    except (NotFoundError, ConflictError):
        return None
    except ApiError as error:
        return error.message[:_LONGEST_REASON]
    return None


def _is_ready(node: Document) -> bool:
    return conditions.is_true(node.get("status") or {}, "Ready")


def _drained(name: str, total: int, pods: node_pods.NodePods, assignment: Assignment) -> str:
    outcome = f"{name} is drained: {total} pods evicted"
    if pods.staying:
        outcome += f", {pods.staying} left that a drain does not move"
    if not assignment.state.get("isOurs"):
        outcome += "; it was cordoned before by somebody else, who has to uncordon it"
    return outcome


async def _cordon(cluster: ReachedCluster, name: str, assignment: Assignment) -> JobProgress:
    node = await _node_named(cluster, name)
    if node is None:
        return JobProgress("failure", f"there is no node {name}", name)
    if await node_holds.take(cluster.client, node, Hold.of(assignment)):
        return JobProgress("successful", f"{name} is cordoned", name)
    return JobProgress("successful", f"{name} was cordoned before by somebody else", name)


async def _uncordon(cluster: ReachedCluster, name: str, assignment: Assignment) -> JobProgress:
    """A node that is gone needs nothing any more. What others cordoned stays so, and is said."""
    own = Hold.of(assignment)
    freed, others = await node_holds.give_back(cluster.client, name, own.is_of_the_same_cycle)
    outcomes = {
        "uncordoned": f"{name} is uncordoned",
        "held": f"{name} stays cordoned for {_listed(others)}",
        "schedulable": f"{name} is schedulable",
        "foreign": f"{name} stays cordoned: this cycle had not cordoned it",
        "gone": f"there is no node {name} any more, so nothing to uncordon",
    }
    return JobProgress("successful", shortened(outcomes[freed]), name)
