"""The webhooks of a replica: it serves them whether it leads or not, and judges beside what the cluster has just said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from headgate.graph.compile import definition, loops, names
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.kubernetes import objects
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError, NotFoundError
from headgate.kubernetes.resources import ApiResource
from headgate.operator.admission import Surroundings
from headgate.operator.certificates import Certificates
from headgate.operator.crds import graphs, workloads
from headgate.operator.crds.kinds import CustomKind
from headgate.operator.running.meter import OperatorMeter
from headgate.operator.webhook_server import WebhookServer
from headgate.operator.webhook_upkeep import WebhookUpkeep
from headgate.workload import model

_log = logging.getLogger(__name__)
_RETRY_SECONDS = 1.0
_CRDS = ApiResource(
    "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", is_namespaced=False
)


class ListedObjects:
    """The objects that a review has to be judged beside."""

    def __init__(self, items: Sequence[Object] = ()) -> None:
        self._items = items

    def get(self, key: Key) -> Object | None:
        return next((item for item in self._items if item.key == key), None)

    def of_kind(self, group: str, kind: str) -> Iterable[Object]:
        return [item for item in self._items if (item.group, item.kind) == (group, kind)]


class AdmissionFacts:
    """Asks the cluster for what a review needs, and no more. Reviews of our kinds are rare, and a cache would lag."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def around(self, review: object) -> Surroundings:
        """Of a review as it came: what is wrong with it is for others to say. Raises ApiError."""
        request = _map(_map(review).get("request"))
        kind, operation = _map(request.get("kind")).get("kind"), request.get("operation")
        items: list[Object] = []
        if kind == model.KIND and operation == "CREATE":
            items = await self._all(_resource(workloads.SET), str(request.get("namespace") or ""))
        elif kind == definition.KIND:
            items = await self._all(_resource(graphs.DEFINITION), "")
            for key in ("object", "oldObject"):
                items += await self._kind_of(_map(_map(request.get(key)).get("spec")), operation == "DELETE")
        return Surroundings(ListedObjects(items))

    async def _all(self, resource: ApiResource, namespace: str) -> list[Object]:
        page = await self._client.list(resource, namespace)
        return [objects.read(document, resource) for document in page.items]

    async def _kind_of(self, spec: Mapping[str, Any], with_instances: bool) -> list[Object]:
        """The kind that a definition brings, if it is there, and its instances."""
        group, kind = loops.defined_kind(spec)
        plural = names.plural_of(kind)
        if not kind:
            return []
        try:
            crd = objects.read(await self._client.get(_CRDS, f"{plural}.{group}"), _CRDS)
            version = str(_map(spec.get("schema")).get("apiVersion") or "")
            instances = ApiResource(group, version, kind, plural)
            return [crd, *(await self._all(instances, "") if with_instances else ())]
        except NotFoundError:
            return []


def _resource(kind: CustomKind) -> ApiResource:
    version = kind.api_version.partition("/")[2]
    return ApiResource(kind.group, version, kind.kind, kind.plural, is_namespaced=kind.is_namespaced)


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


class ServedWebhooks:
    def __init__(
        self, client: Client, namespace: str, clock: Callable[[], Instant], meter: OperatorMeter
    ) -> None:
        self._meter = meter
        self._facts = AdmissionFacts(client)
        self._upkeep = WebhookUpkeep(client, namespace, clock)
        self.port: int | None = None

    def problems(self) -> list[str]:
        return [] if self.port is not None else ["the webhooks are not served yet"]

    async def run(self, host: str, port: int) -> None:
        """Until it is cancelled."""
        held = await self._first_certificates()
        server = WebhookServer(self._facts.around, held, self._meter.reviewed)
        self.port = await server.start(host, port)
        try:
            await self._upkeep.keep(server.use, held)
        finally:
            self.port = None
            await server.stop()

    async def _first_certificates(self) -> Certificates:
        while True:
            try:
                return await self._upkeep.settled()
            except ApiError as error:
                _log.warning("the webhooks have no certificates yet: %s", error)
                await asyncio.sleep(_RETRY_SECONDS)
