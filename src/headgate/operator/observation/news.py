"""That something of a set or a graph has changed, as a cluster tells it: a reason to look again, and nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress

import msgspec

from headgate.cluster.port import ObjectChange
from headgate.graph.reconcile import labels as graph_labels
from headgate.kernel.objects import Object
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery, UnknownKindError
from headgate.kubernetes.reflector import Reflector
from headgate.kubernetes.resources import ApiResource
from headgate.operator.crds import graphs as kinds
from headgate.operator.observation import listing
from headgate.operator.running import graph_kinds, workloads
from headgate.workload import labels


class HeardOf(msgspec.Struct, frozen=True):
    """Objects of a kind: in a namespace or all of them, by labels or by fields."""

    resource: ApiResource
    namespace: str = ""
    labels: str = ""
    fields: str = ""


class News:
    """Heard of all at once: what came before the last wait is one piece of news."""

    def __init__(self) -> None:
        self._came = asyncio.Event()
        self._reflectors: list[Reflector] = []

    @property
    def trouble(self) -> str | None:
        """Why not everything is heard at present."""
        return next((each.problem for each in self._reflectors if each.problem is not None), None)

    def observe(self, change: ObjectChange) -> None:
        self._came.set()

    def replaced(self, group: str, kind: str, items: Iterable[Object]) -> None:
        self._came.set()

    async def wait(self, longest_seconds: float) -> None:
        """Until there is some, or the time is over: what depends on the clock changes without any."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._came.wait(), longest_seconds)
        self._came.clear()

    def follow(self, client: Client, heard: HeardOf) -> Reflector:
        reflector = Reflector(
            client,
            heard.resource,
            self,
            namespace=heard.namespace,
            labels=heard.labels,
            fields=heard.fields,
        )
        self._reflectors.append(reflector)
        return reflector


@asynccontextmanager
async def following(client: Client, heard: Sequence[HeardOf]) -> AsyncIterator[News]:
    news = News()
    tasks = [asyncio.create_task(news.follow(client, each).run()) for each in heard]
    try:
        yield news
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def of_set(discovery: Discovery, namespace: str, name: str) -> list[HeardOf]:
    """The set, and what carries its mark."""
    marks = ",".join(f"{key}={value}" for key, value in labels.of_set(name).items())
    heard: list[HeardOf] = []
    for number, (api_version, kind, _) in enumerate(workloads.WATCHED):
        resource = await listing.own_kind(discovery, api_version, kind)
        is_set = number == 0
        fields = f"metadata.name={name}" if is_set else ""
        heard.append(HeardOf(resource, namespace, "" if is_set else marks, fields))
    return heard


async def of_graph(discovery: Discovery, definition: Object) -> list[HeardOf]:
    """The definition, its instances wherever they are, and their objects."""
    heard: list[HeardOf] = []
    for kind in (kinds.DEFINITION, kinds.GRAPH_REVISION):
        resource = await listing.own_kind(discovery, kind.api_version, kind.kind)
        heard.append(HeardOf(resource))
    own = graph_kinds.instance_kind(definition.spec)
    for each in dict.fromkeys((own, *graph_kinds.spoken_of(definition.spec))):
        try:
            resource = await discovery.find(*each)
        except UnknownKindError:
            continue
        heard.append(HeardOf(resource, labels="" if each == own else graph_labels.INSTANCE_ID))
    return heard
