"""From an id in a path to an object of a connected cluster that the caller may see, and refusals where there is none."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from headgate.api import evidence
from headgate.api.clusters.connected_clusters import (
    CLUSTER_WIDE,
    ClusterConnection,
    ConnectedClusters,
    HeldObject,
    SilentClusterError,
    Viewer,
)
from headgate.api.http import problems, refusals, replies
from headgate.api.http.calls import Refusal, Request
from headgate.fleet.engine.queries import lookup
from headgate.operator.crds import graphs as graph_kinds
from headgate.operator.crds import workloads as workload_kinds
from headgate.operator.crds.kinds import CustomKind
from headgate.runtime.commands import EngineView

LONGEST_ANSWER = 500
Result = TypeVar("Result")


def plural_of(kind: CustomKind) -> str:
    return f"{kind.plural}.{kind.group}"


SETS = plural_of(workload_kinds.SET)
DEFINITIONS = plural_of(graph_kinds.DEFINITION)


def asked(call: Request) -> ConnectedClusters:
    clusters = call.service.clusters
    if clusters is None:
        raise problems.unavailable("this process asks no clusters")
    return clusters


def viewer(call: Request) -> Viewer:
    return Viewer(call.workspace, evidence.sees_answers(call))


async def connections(call: Request) -> list[ClusterConnection]:
    def agents(view: EngineView) -> list[ClusterConnection]:
        return asked(call).connections(lookup.job_agents(view.engine))

    return await replies.ask(call, agents) if call.service.clusters is not None else []


def id_of_set(held: HeldObject) -> str:
    return f"{held.cluster}/{held.item.namespace}/{held.item.name}"


def id_of_graph(held: HeldObject) -> str:
    place = held.item.namespace or CLUSTER_WIDE
    return f"{held.cluster}/{held.resource.plural}.{held.resource.group}/{place}/{held.item.name}"


async def find_set(call: Request) -> tuple[ClusterConnection, HeldObject]:
    reference = call.path["workload"]
    cluster, _, rest = reference.rpartition("/")
    cluster, _, namespace = cluster.rpartition("/")
    return await _find(call, "workload", reference, cluster, SETS, namespace, rest)


async def find_graph(call: Request) -> tuple[ClusterConnection, HeldObject]:
    reference = call.path["graph"]
    cluster, resource, namespace, name = ("", "", "", *reference.rsplit("/", 3))[-4:]
    place = "" if namespace == CLUSTER_WIDE else namespace
    return await _find(call, "graph", reference, cluster, resource, place, name)


async def _find(
    call: Request, what: str, reference: str, cluster: str, resource: str, namespace: str, name: str
) -> tuple[ClusterConnection, HeldObject]:
    """What the caller may not see is not there for them."""
    connection = next((each for each in await connections(call) if each.name == cluster), None)
    if connection is None or not name or "." not in resource:
        raise refusals.not_found(what, reference)
    held = await answered(call, asked(call).find(connection, resource, namespace, name))
    if held is None or not viewer(call).sees(held):
        raise refusals.not_found(what, reference)
    return connection, held


async def answered(call: Request, asking: Awaitable[Result]) -> Result:
    """What a cluster said itself is for those who see the answers of other servers."""
    try:
        return await asking
    except SilentClusterError as error:
        quoted = error.detail[:LONGEST_ANSWER] if evidence.sees_answers(call) else ""
        detail = f"{error.message}: {quoted}" if quoted else error.message
        raise Refusal(502, "The cluster does not answer", detail) from None
