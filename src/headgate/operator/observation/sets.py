"""PodCliqueSets of a cluster, with what they have and why they are where they are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from headgate.cluster.cache import ObjectCache
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.kubernetes import objects
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery, UnknownKindError
from headgate.kubernetes.errors import NotFoundError
from headgate.operator.observation import listing
from headgate.operator.running import workloads
from headgate.workload import labels, model
from headgate.workload.checks import claims
from headgate.workload.plan import explain, family, pod_counts


class SeenSets:
    """What the controller of workloads would know at one moment."""

    def __init__(self, cache: ObjectCache) -> None:
        self._cache = cache

    def all(self) -> list[Object]:
        sets = self._cache.of_kind(model.GROUP, model.KIND)
        return sorted(sets, key=lambda item: (item.namespace, item.name))

    def find(self, namespace: str, name: str) -> Object | None:
        return self._cache.get(family.request_for(namespace, name))

    def explain(self, item: Object, now: Instant) -> ExplanationTree:
        parts = (*self._cache.parts_of(item.key), *family.claim_templates(item, self._cache.get))
        return explain.explain(item, parts, now, is_bound_pod_by_pod=True)

    def pods(self, item: Object, now: Instant) -> tuple[int, int]:
        """How many are updated and available, of how many."""
        return pod_counts.of_set(item, tuple(self._cache.parts_of(item.key)), now)

    def below(self, item: Object, now: Instant) -> ExplanationTree | None:
        """Of an object that may be a set."""
        return self.explain(item, now) if family.is_set(item) else None


async def observe(client: Client, discovery: Discovery, namespace: str) -> SeenSets:
    """In all namespaces, if none is given."""
    cache = ObjectCache(workloads.controller().index)
    for api_version, kind, selector in workloads.WATCHED:
        resource = await listing.own_kind(discovery, api_version, kind)
        for item in await listing.all_of(client, resource, namespace, selector):
            cache.observe(item)
    sets = cache.of_kind(model.GROUP, model.KIND)
    marks = f"{labels.MANAGED_BY}={labels.MANAGER}"
    for item in await _claims(client, discovery, sets, namespace, marks):
        cache.observe(item)
    return SeenSets(cache)


async def observe_one(client: Client, discovery: Discovery, item: Object) -> SeenSets:
    """One set and what carries its mark."""
    cache = ObjectCache(workloads.controller().index, [item])
    marks = ",".join(f"{key}={value}" for key, value in labels.of_set(item.name).items())
    for api_version, kind, _ in workloads.WATCHED:
        if (api_version, kind) == (item.api_version, item.kind):
            continue
        resource = await listing.own_kind(discovery, api_version, kind)
        for part in await listing.all_of(client, resource, item.namespace, marks):
            cache.observe(part)
    for part in await _claims(client, discovery, [item], item.namespace, marks):
        cache.observe(part)
    return SeenSets(cache)


async def _claims(
    client: Client, discovery: Discovery, sets: Iterable[Object], namespace: str, marks: str
) -> list[Object]:
    """The ResourceClaims of sets, and the templates of the cluster that they refer to. Whoever looks at sets that share no
    devices needs no right to see any, and the cluster need not serve them."""
    sharing = [item for item in sets if claims.shares_devices(item)]
    if not sharing:
        return []
    try:
        resource = await discovery.find(model.CLAIM_API_VERSION, model.CLAIM_KIND)
        templates = await discovery.find(model.CLAIM_API_VERSION, model.CLAIM_TEMPLATE_KIND)
    except UnknownKindError:
        return []
    claim_documents = await listing.all_of(client, resource, namespace, marks)
    for key in dict.fromkeys(key for item in sharing for key in claims.templates_of_cluster(item)):
        with contextlib.suppress(NotFoundError):
            document = await client.get(templates, key.name, key.namespace)
            claim_documents.append(objects.read(document, templates))
    return claim_documents
