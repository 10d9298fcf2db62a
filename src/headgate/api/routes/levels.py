"""Workloads and graphs live in clusters: those that job agents of the workspace are connected to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from headgate.api import cluster_questions, recording
from headgate.api.clusters.connected_clusters import Answered, ClusterConnection, HeldObject
from headgate.api.documents import bodies, cluster_views
from headgate.api.http import lists, pages, refusals, replies
from headgate.api.http.calls import Answer, Parameter, Refusal, Request, Route
from headgate.api.http.schemas import PageSchema
from headgate.graph.reconcile import labels
from headgate.graph.reconcile import operate as graph_orders
from headgate.graph.reconcile.accepted_graphs import is_definition
from headgate.kernel import documents, rendering
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.objects import Object
from headgate.kernel.problems import Rejected
from headgate.kubernetes.errors import ConflictError, InvalidError
from headgate.operator.observation import summaries
from headgate.operator.observation.graphs import definition_of
from headgate.operator.observation.one_object import SeenObject
from headgate.workload.plan import operate as set_orders
from headgate.workload.plan.operate import Edit, SetOrder

MOST_PARTS = 20_000
"""Of a tree that is answered."""
MOST_INSTANCES = 1_000
LevelOrder = Literal[SetOrder, "partition"]
_SAID: dict[LevelOrder, str] = {
    "pause": "is paused: nothing more moves until it is resumed",
    "resume": "is not paused any more",
    "abort": "is aborted: what is not yet moved keeps its revision until the template changes",
    "partition": "has another partition",
}
ClusterRow = tuple[str, int, dict[str, Any]]


async def list_clusters(call: Request) -> Answer:
    async def rows() -> list[ClusterRow]:
        connections = await cluster_questions.connections(call)
        answers = await cluster_questions.asked(call).reached(connections) if connections else []
        return [_cluster_row(answer) for answer in answers]

    return await lists.answer(call, lists.of_rows("cluster", rows))


def _cluster_row(answer: Answered) -> ClusterRow:
    connection = answer.connection
    document = rendering.built(
        cluster_views.ConnectedClusterView,
        connection,
        job_agents=list(connection.job_agents),
        is_answering=not answer.message,
        message=answer.message,
    )
    return connection.name, 0, document


async def list_workloads(call: Request) -> Answer:
    return await _listed(call, "workload")


async def list_graphs(call: Request) -> Answer:
    return await _listed(call, "graph")


async def _listed(call: Request, variable: Literal["workload", "graph"]) -> Answer:
    """Clusters are asked once for a page, however often rows are filtered."""
    known: list[ClusterRow] | None = None

    async def rows() -> list[ClusterRow]:
        nonlocal known
        if known is None:
            known = await _rows(call, variable)
        return known

    return await lists.answer(call, lists.of_rows(variable, rows))


async def _rows(call: Request, variable: Literal["workload", "graph"]) -> list[ClusterRow]:
    connections = await cluster_questions.connections(call)
    if not connections:
        return []
    clusters = cluster_questions.asked(call)
    answers = await (clusters.sets if variable == "workload" else clusters.graphs)(connections)
    wanted = call.query.get("cluster")
    viewer = cluster_questions.viewer(call)
    cluster_rows: list[ClusterRow] = []
    for answer in answers:
        if wanted in (None, answer.connection.name):
            definitions = [held.item for held in answer.items if is_definition(held.item.key)]
            held_objects = [held for held in answer.items if viewer.sees(held)]
            documents = [
                _workload(held) if variable == "workload" else _graph(held, definitions)
                for held in held_objects
            ]
            cluster_rows += [
                (each["id"], held.item.created_at, each) for each, held in zip(documents, held_objects)
            ]
    return cluster_rows


def _workload(held: HeldObject) -> dict[str, Any]:
    item = held.item
    return rendering.built(
        cluster_views.WorkloadView,
        summaries.of_set(item),
        id=cluster_questions.id_of_set(held),
        cluster=held.cluster,
        namespace=item.namespace,
        name=item.name,
        target=held.target,
        version=held.version,
        created_at=item.created_at,
    )


def _graph(held: HeldObject, definitions: Sequence[Object]) -> dict[str, Any]:
    item = held.item
    is_top = is_definition(item.key)
    definition = item if is_top else definition_of(held.resource.group, held.resource.kind, definitions)
    named = definition.name if definition is not None else item.labels.get(labels.DEFINITION_NAME, "")
    return rendering.built(
        cluster_views.GraphView,
        summaries.of_definition(item) if is_top else summaries.of_instance(item),
        id=cluster_questions.id_of_graph(held),
        cluster=held.cluster,
        kind="definition" if is_top else "instance",
        instance_kind=summaries.instance_kind(item) if is_top else item.kind,
        definition=named,
        namespace=item.namespace or None,
        name=item.name,
        target=held.target,
        version=held.version,
        created_at=item.created_at,
    )


async def get_workload(call: Request) -> Answer:
    connection, held = await cluster_questions.find_set(call)
    seen = await _seen(call, connection, held)
    tree, is_cut = _tree(seen.tree)
    updated, total = seen.pods
    counts = {"updated": updated, "total": total}
    return Answer(200, {**_workload(held), "pods": counts, "tree": tree, "isCut": is_cut})


async def get_graph(call: Request) -> Answer:
    connection, held = await cluster_questions.find_graph(call)
    is_top = is_definition(held.item.key)
    definition = held if is_top else await _definition(call, connection, held)
    seen = await _seen(call, connection, held)
    instances: list[HeldObject] = []
    if is_top:
        clusters = cluster_questions.asked(call)
        instances = await cluster_questions.answered(call, clusters.instances_of(connection, held))
        instances.sort(key=lambda each: (each.item.created_at, each.item.namespace, each.item.name))
    viewer = cluster_questions.viewer(call)
    known = [definition.item] if definition is not None else []
    tree, is_cut = _tree(seen.tree)
    document = {
        **_graph(held, known),
        "nodes": [
            rendering.built(summaries.GraphNode, node) for item in known for node in summaries.nodes_of(item)
        ],
        "instances": [_graph(each, known) for each in instances if viewer.sees(each)][:MOST_INSTANCES],
        "tree": tree,
        "isCut": is_cut,
    }
    return Answer(200, document)


async def _definition(call: Request, connection: ClusterConnection, held: HeldObject) -> HeldObject | None:
    """As its instances say: an instance that no definition looks after has none."""
    name = held.item.labels.get(labels.DEFINITION_NAME)
    if not name:
        return None
    clusters = cluster_questions.asked(call)
    asking = clusters.find(connection, cluster_questions.DEFINITIONS, "", name)
    return await cluster_questions.answered(call, asking)


async def _seen(call: Request, connection: ClusterConnection, held: HeldObject) -> SeenObject:
    viewer = cluster_questions.viewer(call)
    asking = cluster_questions.asked(call).explain(connection, held, viewer)
    seen_object = await cluster_questions.answered(call, asking)
    if seen_object is None:
        raise refusals.not_found("graph", cluster_questions.id_of_graph(held))
    return seen_object


def _tree(tree: ExplanationTree) -> tuple[dict[str, Any], bool]:
    """Down to the level above which there are not too many parts."""
    level, count, depth = [tree], 1, 0
    while level:
        level = [child for part in level for child in part.children]
        count += len(level)
        if count > MOST_PARTS:
            return _until(tree, depth).document(), True
        depth += 1
    return tree.document(), False


def _until(tree: ExplanationTree, depth: int) -> ExplanationTree:
    below = tuple(_until(child, depth - 1) for child in tree.children[:MOST_PARTS]) if depth else ()
    return msgspec.structs.replace(tree, children=below)


async def order_set(action: LevelOrder, call: Request) -> Answer:
    given = call.body if call.body is not None else {}
    edit_for: Callable[[str], Edit]
    if action == "partition":
        asked = documents.read(bodies.PartitionInput, given)
        partitioned = partial(set_orders.partition, first=asked.partition)
        reason, edit_for = asked.reason, lambda _: partitioned
    else:
        reason = documents.read(bodies.ClusterOrderInput, given).reason
        edit_for = partial(set_orders.edit_for, action)
    connection, held = await cluster_questions.find_set(call)
    state = summaries.of_set(held.item).state
    refusal = set_orders.refusal(action, f"PodCliqueSet {held.item.name}", state)
    if refusal is not None:
        raise refusals.conflict("There is no update", refusal)
    id_ = cluster_questions.id_of_set(held)
    order = _Ordered("workload", id_, connection, held, state, reason)
    return await _ordered(call, action, edit_for(state), order)


async def order_graph(action: LevelOrder, call: Request) -> Answer:
    reason = documents.read(bodies.ClusterOrderInput, call.body if call.body is not None else {}).reason
    connection, held = await cluster_questions.find_graph(call)
    is_top = is_definition(held.item.key)
    if not is_top and held.item.labels.get(labels.DEFINITION_NAME) is None:
        raise refusals.not_found("graph", call.path["graph"])
    state = (summaries.of_definition if is_top else summaries.of_instance)(held.item).state
    edit = graph_orders.pause if action == "pause" else graph_orders.resume
    id_ = cluster_questions.id_of_graph(held)
    return await _ordered(call, action, edit, _Ordered("graph", id_, connection, held, state, reason))


class _Ordered(msgspec.Struct, frozen=True):
    kind: str
    id: str
    connection: ClusterConnection
    held: HeldObject
    state: str
    reason: str | None


async def _ordered(call: Request, action: LevelOrder, edit: Edit, order: _Ordered) -> Answer:
    """It is in the audit log before it is done: what a cluster was told is never found there alone. Ordered again it
    changes nothing, so a key is remembered with the answer only when it is done."""
    workspace = call.workspace
    after = msgspec.json.encode({"action": action, "stateBefore": order.state, "reason": order.reason})
    entry = recording.entry(call, "ordered", order.kind, order.id, None, after)
    known = await asyncio.to_thread(
        recording.once, call, workspace, lambda _: (replies.NOTHING, entry), keeps_reply=False
    )
    if known != replies.NOTHING:
        return replies.answer(known)
    clusters = cluster_questions.asked(call)
    try:
        is_changed = await cluster_questions.answered(
            call, clusters.order(order.connection, order.held, edit)
        )
    except ConflictError as error:
        raise refusals.conflict("It has changed", error.message[: cluster_questions.LONGEST_ANSWER]) from None
    except InvalidError as error:
        if error.problems:
            raise Rejected(error.problems) from None
        message = error.message[: cluster_questions.LONGEST_ANSWER]
        raise Refusal(422, "The cluster refuses", message) from None
    before = "" if is_changed else "; it was so before"
    document = cluster_views.OrderedView(
        order.id,
        action,
        is_changed,
        order.state,
        f"{order.held.item.kind} {order.held.item.name} {_SAID[action]}{before}",
    )
    reply = replies.reply(200, rendering.built(cluster_views.OrderedView, document))
    return replies.answer(await asyncio.to_thread(recording.once, call, workspace, lambda _: (reply, None)))


_CLUSTER = Parameter("cluster", {"type": "string"}, "Of this cluster only.")
_SEEN_BY = (
    "What a job of the workspace applied is shown to everybody who may read, with the target and version of that job. "
    "What came to the cluster otherwise is shown to those who may act on targets, and what another workspace's job "
    "applied to nobody here. A cluster that does not answer within a few seconds is left out; `GET /v1/clusters` says "
    "which, and why."
)


def _order_route(kind: str, action: LevelOrder, summary: str, body: Any = bodies.ClusterOrderInput) -> Route:
    handler = order_set if kind == "workload" else order_graph
    return Route(
        "POST", f"/v1/{kind}s/{{{kind}}}/{action}", f"{action}{kind.title()}", summary,
        partial(handler, action), "target:act", f"{kind}s", {200: cluster_views.OrderedView},
        body=body, body_required=action == "partition", mutates=True, problems=(409, 422, 502),
    )  # fmt: skip


ROUTES: tuple[Route, ...] = (
    Route(
        "GET", "/v1/clusters", "listClusters", "List connected clusters",
        list_clusters, "read", "clusters", {200: PageSchema(cluster_views.ConnectedClusterView)},
        query=pages.parameters("cluster", ("name", "-name")), problems=(422,), lane="clusters",
        description="Those that job agents of the types `graph` and `workload` are connected to.",
    ),
    Route(
        "GET", "/v1/workloads", "listWorkloads", "List PodCliqueSets of connected clusters",
        list_workloads, "read", "workloads", {200: PageSchema(cluster_views.WorkloadView)},
        query=(_CLUSTER, *pages.parameters("workload")), problems=(422,), lane="clusters",
        description=_SEEN_BY,
    ),
    Route(
        "GET", "/v1/workloads/{workload}", "getWorkload", "Show a PodCliqueSet down to its pods",
        get_workload, "read", "workloads", {200: cluster_views.WorkloadDetail},
        problems=(502,), lane="clusters",
    ),
    _order_route("workload", "pause", "Take nothing more down for the update of a PodCliqueSet"),
    _order_route("workload", "resume", "Go on with the update of a PodCliqueSet after a pause"),
    _order_route("workload", "abort", "Give up the update of a PodCliqueSet"),
    _order_route("workload", "partition", "Say which replicas of a PodCliqueSet are updated", bodies.PartitionInput),
    Route(
        "GET", "/v1/graphs", "listGraphs", "List graph definitions of connected clusters, and their instances",
        list_graphs, "read", "graphs", {200: PageSchema(cluster_views.GraphView)},
        query=(_CLUSTER, *pages.parameters("graph")), problems=(422,), lane="clusters",
        description=_SEEN_BY,
    ),
    Route(
        "GET", "/v1/graphs/{graph}", "getGraph", "Show a graph definition with its instances, or an instance down to its objects",
        get_graph, "read", "graphs", {200: cluster_views.GraphDetail},
        problems=(502,), lane="clusters",
    ),
    _order_route("graph", "pause", "Propagate nothing more in an instance, or in all of a definition"),
    _order_route("graph", "resume", "Go on with a propagation after a pause"),
)  # fmt: skip
