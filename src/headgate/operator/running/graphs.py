"""The controller of graphs on a real cluster. Its kinds come and go with the definitions that speak of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from headgate.cluster.cache import ObjectCache
from headgate.graph.controller import GraphController, GraphPlan
from headgate.graph.reconcile import accepted_graphs, contents, labels, revisions, served_kinds
from headgate.kernel.decisions import Reason
from headgate.kernel.objects import Key, Object
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery, UnknownKindError
from headgate.kubernetes.reflector import Reflector
from headgate.kubernetes.schemas import ClusterSchemas
from headgate.operator.crds import graphs as kinds
from headgate.operator.running import ending, graph_kinds
from headgate.operator.running.events import EventRecorder, ObjectEvent
from headgate.operator.running.graph_kinds import CRD_GROUP, CRD_KIND, KindName, LearntKinds
from headgate.operator.running.loop import ControllerLoop
from headgate.operator.running.signals import ClusterSignals
from headgate.operator.running.watches import Watches

MANAGER = "headgate-graphs"
WATCHED: tuple[tuple[str, str], ...] = (
    (kinds.DEFINITION.api_version, kinds.DEFINITION.kind),
    (kinds.GRAPH_REVISION.api_version, kinds.GRAPH_REVISION.kind),
    (kinds.REVISION.api_version, kinds.REVISION.kind),
    (f"{CRD_GROUP}/v1", CRD_KIND),
)
"""What is watched whatever the definitions say."""
_SOON_SECONDS = 0.5
_FIRST_RETRY_SECONDS = 2.0
_LONGEST_RETRY_SECONDS = 60.0


class LiveGraphController(GraphController):
    """Knows beside the plans what its objects look like once the server has filled in and rewritten what was applied:
    a quantity of `1000m` that comes back as `1` is no drift."""

    def __init__(
        self,
        source: LearntKinds,
        recorder: EventRecorder,
        crd_changed: Callable[[Object], None],
        graph_changed: Callable[[], None],
        signals: Callable[[], Mapping[str, object]],
    ) -> None:
        super().__init__(lambda _: signals(), source)
        self._graph_changed = graph_changed
        self._recorder = recorder
        self._crd_changed = crd_changed
        self._renditions: dict[str, Object] = {}

    def applied(self, before: Object | None, item: Object) -> None:
        """`item` is as it was answered."""
        content = item.annotations.get(labels.CONTENT)
        if content is None:
            return
        self._renditions[item.uid] = item
        self.planner_cache.keep_in_force(item, content)
        if before is not None and before.resource_version == item.resource_version:
            # It was as it should be, in the server's own notation. Nobody tells of a write that changed nothing, so
            # its instance is looked at again: it waited for this.
            for key in self.concerned.instance_with(item):
                self._enqueue(key)
            if item.kind == CRD_KIND and labels.DEFINITION_NAME in item.labels:
                self._enqueue(accepted_graphs.request_for(item.labels[labels.DEFINITION_NAME]))
        if item.kind != CRD_KIND and before is not None and not _was_ours(before):
            message = f"{item.kind} {item.name} was there already, was nobody's, and belongs to it now"
            for key in self.concerned.instance_with(item):
                instance = self._cache.get(key)
                if instance is not None:
                    self._recorder.tell(ObjectEvent(instance, "Warning", Reason.TAKEN_OVER, message))

    def requests(
        self, item: Object, before: Object | None, *, is_gone: bool, is_own_status: bool
    ) -> Iterable[Key]:
        if item.kind == CRD_KIND and item.group == CRD_GROUP:
            self._crd_changed(item)
        elif item.kind in (kinds.DEFINITION.kind, kinds.GRAPH_REVISION.kind) and not is_own_status:
            self._graph_changed()
        rendition = self._renditions.get(item.uid)
        if rendition is not None:
            if is_gone:
                del self._renditions[item.uid]
            elif _is_same(rendition, item):
                self.planner_cache.keep_in_force(item, item.annotations[labels.CONTENT])
        yield from super().requests(item, before, is_gone=is_gone, is_own_status=is_own_status)
        if is_gone and item.kind == revisions.KIND and labels.DEFINITION_NAME in item.labels:
            # It may have been the last one of an older graph revision.
            yield accepted_graphs.request_for(item.labels[labels.DEFINITION_NAME])


def _was_ours(before: Object) -> bool:
    """Whose it says it is anybody may write; that it was written into is noted beside it."""
    return labels.INSTANCE_ID in before.labels and labels.CONTENT in before.annotations


def _is_same(rendition: Object, item: Object) -> bool:
    return (
        item.spec == rendition.spec
        and item.other == rendition.other
        and item.labels.items() >= rendition.labels.items()
        and item.annotations.items() >= contents.own_annotations(item, rendition.annotations).items()
    )


class GraphPreparation:
    """Sees to it that a definition is planned with the schemas of its kinds, and when all of their objects are known."""

    def __init__(
        self,
        client: Client,
        discovery: Discovery,
        watches: Watches,
        recorder: EventRecorder,
        signals_namespace: str,
    ) -> None:
        self.signals = ClusterSignals(client, signals_namespace, self._signals_changed)
        self._discovery = discovery
        self._watches = watches
        self._recorder = recorder
        self._learnt = LearntKinds(ClusterSchemas(client, discovery))
        self.controller = LiveGraphController(
            self._learnt,
            recorder,
            self._crd_changed,
            lambda: self._heard.clear(),
            lambda: self.signals.values,
        )
        self._loop: ControllerLoop[GraphPlan] | None = None
        self._waiting: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._misses: dict[str, int] = {}
        self._definition_of: dict[tuple[str, str], str] = {}
        self._crd_generations: dict[str, int] = {}
        self._heard: set[str] = set()
        """The definitions of which all is heard, as long as neither they nor any kind changes."""
        self._is_discovery_old = False

    def drive(self, loop: ControllerLoop[GraphPlan]) -> None:
        self._loop = loop

    async def close(self) -> None:
        await ending.end(self._waiting.values())

    async def prepare(self, request: Key) -> bool:
        cache = self._cache()
        if accepted_graphs.is_definition(request):
            await self._stop_unused(cache)
            definition = cache.get(request)
            return definition is None or await self._is_heard(definition, cache)
        name = self._definition_of.get((request.group, request.kind), "")
        definition = cache.get(accepted_graphs.request_for(name))
        return definition is None or await self._is_heard(definition, cache)

    async def _is_heard(self, definition: Object, cache: ObjectCache) -> bool:
        """Whether all is known that its graphs speak of. If not, it is asked for again in time."""
        if definition.name in self._heard:
            return True
        if self._is_discovery_old:
            self._is_discovery_old = False
            await self._discovery.refresh()
        wanted = _wanted(definition, cache)
        is_news, is_unpublished = await self._learnt.learn(wanted)
        if is_news:
            self.controller.planner_cache.compiled.clear()
        if is_unpublished:
            self._ask(definition, _SOON_SECONDS)
            return False
        own = graph_kinds.instance_kind(definition.spec)
        self._definition_of[own[0].rpartition("/")[0], own[1]] = definition.name
        unheard, is_missing = await self._watch({**wanted, own: None})
        if is_missing:
            misses = self._misses[definition.name] = self._misses.get(definition.name, 0) + 1
            self._ask(definition, min(_FIRST_RETRY_SECONDS * 2**misses, _LONGEST_RETRY_SECONDS))
        else:
            self._misses.pop(definition.name, None)
        for reflector in unheard:
            self._wait_for(reflector, definition)
        if not unheard and not is_missing:
            self._heard.add(definition.name)
        if definition.deleted_at is None:
            return not unheard
        # Whether it may go depends on its instances alone. None are known of a kind that is not heard of yet.
        is_served = self._watches.of_kind(own[1]) or not _has_kind(definition, cache)
        return bool(is_served) and not any(each.resource.kind == own[1] for each in unheard)

    async def _watch(self, wanted: dict[KindName, None]) -> tuple[list[Reflector], bool]:
        """Those of which not all was heard yet, and whether some are not served at all."""
        unheard: list[Reflector] = []
        is_missing = False
        for api_version, kind in wanted:
            try:
                resource = await self._discovery.find(api_version, kind)
            except UnknownKindError:
                is_missing = True
                continue
            reflector = self._watches.start(resource)
            if not reflector.listed.is_set():
                unheard.append(reflector)
        return unheard, is_missing

    def _wait_for(self, reflector: Reflector, definition: Object) -> None:
        if reflector.problem is not None:
            message = f"its objects cannot be looked after: {reflector.problem}"
            self._recorder.tell(ObjectEvent(definition, "Warning", Reason.KIND_NOT_HEARD, message))
        key = (reflector.resource.group, reflector.resource.kind)
        if key not in self._waiting:
            self._waiting[key] = asyncio.create_task(self._listed(reflector, key))
        self._ask(definition, _LONGEST_RETRY_SECONDS)

    async def _listed(self, reflector: Reflector, key: tuple[str, str]) -> None:
        try:
            await reflector.listed.wait()
        finally:
            self._waiting.pop(key, None)
        cache = self._cache()
        for definition in cache.of_kind(kinds.DEFINITION.group, kinds.DEFINITION.kind):
            wanted = (*_wanted(definition, cache), graph_kinds.instance_kind(definition.spec))
            if key in {(api_version.rpartition("/")[0], kind) for api_version, kind in wanted}:
                self._ask(definition)

    async def _stop_unused(self, cache: ObjectCache) -> None:
        used = {(api_version.rpartition("/")[0], kind) for api_version, kind in WATCHED}
        for definition in cache.of_kind(kinds.DEFINITION.group, kinds.DEFINITION.kind):
            wanted = (*_wanted(definition, cache), graph_kinds.instance_kind(definition.spec))
            used |= {(api_version.rpartition("/")[0], kind) for api_version, kind in wanted}
        for group, kind in self._watches.kinds():
            if (group, kind) in used or self._is_any_left(group, kind, cache):
                continue
            self._heard.clear()
            await self._watches.stop(group, kind)
            if self._loop is not None:
                self._loop.runner.cache.replace(group, kind, ())

    def _is_any_left(self, group: str, kind: str, cache: ObjectCache) -> bool:
        """Something of an instance, or an instance that has not gone yet."""
        is_brought = (group, kind) in served_kinds.by_definition(cache)
        return any(
            self.controller.concerned.is_part(item) or (is_brought and labels.FINALIZER in item.finalizers)
            for item in cache.of_kind(group, kind)
        )

    def _crd_changed(self, item: Object) -> None:
        """Called for everything that is heard of a kind's definition: whether it is served may have changed."""
        names = item.spec.get("names") or {}
        before = self._crd_generations.get(item.name)
        self._crd_generations[item.name] = item.generation
        self._is_discovery_old = True
        self._heard.clear()
        if before is not None and before != item.generation:
            self._learnt.forget(str(item.spec.get("group")), str(names.get("kind")))

    def _signals_changed(self) -> None:
        """Any gate may read any signal."""
        if self._loop is None:
            return
        self.controller.enqueue_everything()
        for definition in self._cache().of_kind(kinds.DEFINITION.group, kinds.DEFINITION.kind):
            self._ask(definition)

    def _ask(self, definition: Object, in_seconds: float = 0.0) -> None:
        if self._loop is not None:
            self._loop.ask(definition.key, in_seconds)

    def _cache(self) -> ObjectCache:
        assert self._loop is not None
        return self._loop.runner.cache


def _wanted(definition: Object, cache: ObjectCache) -> dict[KindName, None]:
    return graph_kinds.of_definition(
        definition, iter(cache.of_kind("internal.kro.run", revisions.GRAPH_KIND))
    )


def _has_kind(definition: Object, cache: ObjectCache) -> bool:
    """Whether the cluster has the kind that the definition brought, be it served already or not."""
    return any(
        item.labels.get(labels.DEFINITION_NAME) == definition.name
        for item in cache.of_kind(CRD_GROUP, CRD_KIND)
    )
