"""Fetching objects of a kind: one by name, or all that filters leave."""

from collections.abc import Iterator
from typing import Any

from headgate.cli import failures
from headgate.cli.client import PAGE_SIZE, ApiClient, path
from headgate.cli.kinds import Collection
from headgate.cli.progress import ProgressNote

Query = dict[str, object]


def query(
    kind: Collection, cel: str | None, filters: dict[str, str], sort: str | None, limit: int | None
) -> Query:
    """Refused here if the kind has no such filter: the sentence can say which ones it has."""
    for name in filters:
        if name not in kind.filters:
            allowed = f"allowed are {', '.join(kind.filters)}" if kind.filters else "there is none"
            raise failures.misused(f'--filter: is "{name}"; {allowed} for {kind.collection}')
    parameters: Query = {"cel": cel, "sort": sort, "limit": limit, **filters}
    return {key: value for key, value in parameters.items() if value is not None}


def fetch(client: ApiClient, kind: Collection, names: tuple[str, ...], query: Query) -> list[dict[str, Any]]:
    if not names:
        query = dict(query)
        deployment = query.pop("deployment", None) if kind.collection == "versions" else None
        place = path("deployments", str(deployment), "versions") if deployment else path(kind.collection)
        return _all(client.pages(place, query, scoped=kind.is_scoped, cursor_name=kind.cursor_name), kind)
    if kind.has_one:
        return [client.get(path(kind.collection, name), scoped=kind.is_scoped) for name in names]
    return [_item_named(client, kind, name) for name in names]


def _all(pages: Iterator[dict[str, Any]], kind: Collection) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    with ProgressNote(f"listing {kind.collection}") as progress:
        for item in pages:
            items.append(item)
            if len(items) % PAGE_SIZE == 0:
                progress.say(f"{len(items)} {kind.collection} so far")
    return items


def _item_named(client: ApiClient, kind: Collection, name: str) -> dict[str, Any]:
    for item in client.pages(path(kind.collection), scoped=kind.is_scoped):
        if name in (kind.identity(item), item.get("id")):
            return item
    raise failures.CommandFailure(f"there is no {kind.singular} {name}")


def deployments_named(deployments: list[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Of a status: all of them if none is named."""
    known = {one["name"] for one in deployments}
    for name in names:
        if name not in known:
            there_are = ", ".join(sorted(known)) or "none"
            raise failures.CommandFailure(f'DEPLOYMENT: is "{name}"; with targets there are {there_are}')
    return [one for one in deployments if not names or one["name"] in names]
