"""Definitions and instances of a cluster, with their objects and why they are where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from headgate.cluster.cache import ObjectCache
from headgate.graph.controller import GraphController, GraphPlan
from headgate.graph.reconcile import accepted_graphs, explain_tree, labels
from headgate.graph.reconcile.propagate import InstancePlan
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.kubernetes import objects
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery, UnknownKindError
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import ApiResource
from headgate.kubernetes.schemas import ClusterSchemas
from headgate.operator.crds import graphs as kinds
from headgate.operator.crds import workloads as workload_kinds
from headgate.operator.installation import settings
from headgate.operator.observation import listing, sets
from headgate.operator.observation.sets import SeenSets
from headgate.operator.running import graph_kinds, signals
from headgate.operator.running.graph_kinds import KindName, LearntKinds
from headgate.operator.running.graphs import WATCHED


class SeenGraphs:
    """What the controller of graphs would know at one moment, of some definitions."""

    def __init__(
        self,
        items: Sequence[Object],
        learnt: LearntKinds,
        workloads: SeenSets | None,
        signals: Mapping[str, object],
        shows: Callable[[Object], bool] = lambda _: True,
    ) -> None:
        self._shows = shows
        self._controller = GraphController(lambda _: signals, learnt)
        self._cache = ObjectCache(self._controller.index, items)
        self._workloads = workloads
        self._controller.restarted(self._cache, lambda _: None)
        for item in items:
            # How a server rewrites what was applied is known to whoever applied it alone, so what is marked as written
            # is taken for written.
            if labels.CONTENT in item.annotations:
                self._controller.planner_cache.keep_in_force(item, item.annotations[labels.CONTENT])

    def explain(self, request: Key, now: Instant) -> ExplanationTree | None:
        """None if it is not there, or is a definition on its way out."""
        for definition in self._cache.of_kind(kinds.DEFINITION.group, kinds.DEFINITION.kind):
            self._controller.reconcile(definition.key, now)
        plan = self._controller.plan_of(request, now, self._controller.planner_cache)
        return None if plan is None else self._tree(plan, now)

    def _tree(self, plan: GraphPlan, now: Instant) -> ExplanationTree:
        def below(item: Object) -> ExplanationTree | None:
            """An object may be an instance, of this graph or another, or a set."""
            if labels.FINALIZER not in item.finalizers:
                return None if self._workloads is None else self._workloads.below(item, now)
            plan_below = self._controller.plan_of(item.key, now, self._controller.planner_cache)
            return None if plan_below is None else self._tree(plan_below, now)

        if isinstance(plan, InstancePlan):
            return explain_tree.of_instance(plan, below)
        return explain_tree.of_definition(plan, below, self._shows)


async def definitions(client: Client, discovery: Discovery) -> list[Object]:
    resource = await listing.own_kind(discovery, kinds.DEFINITION.api_version, kinds.DEFINITION.kind)
    return sorted(await listing.all_of(client, resource), key=lambda item: item.name)


def definition_of(group: str, kind: str, among: Sequence[Object]) -> Object | None:
    """The one whose instances are of the kind."""
    for item in among:
        api_version, name = graph_kinds.instance_kind(item.spec)
        if (api_version.rpartition("/")[0], name) == (group, kind):
            return item
    return None


async def resource_of(discovery: Discovery, definition: Object) -> ApiResource:
    """Of its instances. Raises UnknownKindError."""
    return await discovery.find(*graph_kinds.instance_kind(definition.spec))


async def observe(
    client: Client,
    discovery: Discovery,
    chosen: Sequence[Object],
    shows: Callable[[Object], bool] = lambda _: True,
) -> SeenGraphs:
    """In all namespaces: what one instance may do depends on the others, wherever they are. Of a definition only those
    that `shows` lets through are told."""
    names = {item.name for item in chosen}
    items: list[Object] = list(chosen)
    for api_version, kind in WATCHED:
        resource = await listing.own_kind(discovery, api_version, kind)
        if not accepted_graphs.is_definition(Key(resource.group, kind, "", "")):
            items += await listing.all_of(client, resource)
    wanted: dict[KindName, None] = {}
    own: dict[KindName, None] = {}
    for item in chosen:
        graph_revisions = (each for each in items if each.kind == kinds.GRAPH_REVISION.kind)
        wanted |= graph_kinds.of_definition(item, graph_revisions)
        own[graph_kinds.instance_kind(item.spec)] = None
    learnt = LearntKinds(ClusterSchemas(client, discovery))
    await learnt.learn(wanted)
    known = {item.key for item in items}
    for api_version, kind in {**wanted, **own}:
        try:
            resource = await discovery.find(api_version, kind)
        except UnknownKindError:
            continue
        items += [each for each in await listing.all_of(client, resource) if each.key not in known]
    has_sets = (workload_kinds.SET.api_version, workload_kinds.SET.kind) in wanted
    workloads = await sets.observe(client, discovery, "") if has_sets else None
    of_these = [each for each in items if _is_of(each, names)]
    return SeenGraphs(of_these, learnt, workloads, await _signals(client), shows)


async def _signals(client: Client) -> dict[str, object]:
    """As of an operator that is where the manifests put it; not everybody may look there."""
    try:
        config_map = await client.get(signals.CONFIG_MAPS, settings.SIGNALS, settings.NAMESPACE)
    except ApiError:
        return {}
    return signals.read(objects.read(config_map, signals.CONFIG_MAPS))


def _is_of(item: Object, names: set[str]) -> bool:
    return not accepted_graphs.is_definition(item.key) or item.name in names
