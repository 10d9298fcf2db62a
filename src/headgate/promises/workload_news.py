"""What a set that is not done waits for, as news of objects."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.cluster.cache import ObjectCache
from headgate.cluster.controller import Plan
from headgate.kernel.objects import Key, Object
from headgate.promises import requests
from headgate.promises.requests import MadeUpNews
from headgate.workload import model
from headgate.workload.checks import claims

_REPORTING = ("Pod", model.CLIQUE_KIND, model.SCALING_GROUP_KIND)
"""Kinds whose status a set goes by."""


def waits(request: Key, plan: Plan, cache: ObjectCache) -> Iterator[MadeUpNews]:
    item = cache.get(request)
    if item is None or not any(True for _ in plan.waiting()):
        return
    yield MadeUpNews("set", item, requests.edited)
    for part in cache.parts_of(request):
        if part.kind in _REPORTING:
            yield MadeUpNews(f"status of a {part.kind}", part, requests.reporting)
        if part.deleted_at is None:
            yield MadeUpNews(f"end of a {part.kind}", part, requests.leaving)
    for key in claims.templates_of_cluster(item):
        yield MadeUpNews("claim template", Object(f"{key.group}/v1", key.kind, key.namespace, key.name))
