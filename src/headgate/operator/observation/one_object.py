"""One object of a cluster, whichever level it is of, with what it is made of and why it is where it is."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from headgate.graph.reconcile.accepted_graphs import is_definition
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.kubernetes import objects
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery
from headgate.kubernetes.resources import ApiResource, Document
from headgate.operator.observation import graphs, sets
from headgate.workload.plan import family


class SeenObject(msgspec.Struct, frozen=True):
    """`pods` are those of a set that are updated, and how many it is to have."""

    tree: ExplanationTree
    pods: tuple[int, int] = (0, 0)


async def observe(
    client: Client, discovery: Discovery, resource: ApiResource, document: Document, now: Instant
) -> SeenObject | None:
    """None if it is neither a set nor an instance, or on its way out. Raises ApiError."""
    return await observe_read(client, discovery, resource, objects.read(document, resource), now)


async def observe_read(
    client: Client,
    discovery: Discovery,
    resource: ApiResource,
    item: Object,
    now: Instant,
    shows: Callable[[Object], bool] = lambda _: True,
) -> SeenObject | None:
    """The same of one that is read already; it may be a definition too, of which those instances are told that `shows`
    lets through."""
    if family.is_set(item):
        seen = await sets.observe_one(client, discovery, item)
        return SeenObject(seen.explain(item, now), seen.pods(item, now))
    definition: Object | None = item
    if not is_definition(item.key):
        known = await graphs.definitions(client, discovery)
        definition = graphs.definition_of(resource.group, resource.kind, known)
    if definition is None:
        return None
    graphs_seen = await graphs.observe(client, discovery, [definition], shows)
    tree = graphs_seen.explain(item.key, now)
    return None if tree is None else SeenObject(tree)
