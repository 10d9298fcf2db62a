"""Pages, sorting and filters of lists."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server
from headgate.api.http.lists import Listing


def _walk(client: Client, path: str, **query: Any) -> Iterator[list[str]]:
    cursor: dict[str, str] = {}
    while True:
        page = client.get(path, **query, **cursor).json
        yield [item["name"] for item in page["items"]]
        if page["next"] is None:
            return
        cursor = {"cursor": page["next"]}


@pytest.fixture
def nodes(client: Client, server: Server) -> list[str]:
    """Made in another order than that of their names, a second apart."""
    names = [f"node-{number}" for number in (3, 1, 5, 2, 4)]
    for name in names:
        server.clock.advance("1s")
        fleet.put(client, "resources", name, kind="Node", metadata={"odd": str(int(name[-1]) % 2)})
    return names


def test_pages_follow_each_other_by_name(client: Client, nodes: list[str]) -> None:
    assert list(_walk(client, "/v1/resources", limit=2)) == [
        ["node-1", "node-2"],
        ["node-3", "node-4"],
        ["node-5"],
    ]


def test_a_last_page_that_is_full_has_no_next(client: Client, nodes: list[str]) -> None:
    assert list(_walk(client, "/v1/resources", limit=5)) == [sorted(nodes)]


@pytest.mark.parametrize(
    ("sort", "names"),
    [("-name", "54321"), ("createdAt", "31524"), ("-createdAt", "42513")],
)
def test_lists_are_sorted_as_asked(client: Client, nodes: list[str], sort: str, names: str) -> None:
    pages = list(_walk(client, "/v1/resources", limit=2, sort=sort))
    assert [name for page in pages for name in page] == [f"node-{number}" for number in names]
    assert [len(page) for page in pages] == [2, 2, 1]


def test_what_is_inserted_or_deleted_does_not_move_later_pages(client: Client, nodes: list[str]) -> None:
    first = client.get("/v1/resources", limit=2).json
    fleet.put(client, "resources", "aaa")
    client.delete("/v1/resources/node-2")
    second = client.get("/v1/resources", limit=2, cursor=first["next"]).json
    assert [item["name"] for item in second["items"]] == ["node-3", "node-4"]


def test_one_that_came_and_one_that_went_are_noticed(client: Client, nodes: list[str]) -> None:
    client.items("/v1/resources")
    client.delete("/v1/resources/node-4")
    fleet.put(client, "resources", "node-9")
    assert [item["name"] for item in client.items("/v1/resources")] == [
        "node-1", "node-2", "node-3", "node-5", "node-9",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "cursor",
    [
        "%%%",
        "node-1",
        "e30",
        base64.urlsafe_b64encode(b'["name", 3]').decode(),
        base64.urlsafe_b64encode(b'["-name", "node-1"]').decode(),
        base64.urlsafe_b64encode(b'["name"]').decode(),
        base64.urlsafe_b64encode(b"[" * 5000).decode(),
    ],
)
def test_a_cursor_that_is_not_ours_is_refused(client: Client, nodes: list[str], cursor: str) -> None:
    response = client.get("/v1/resources", cursor=cursor)
    assert response.status == 400
    assert response.json["errors"][0]["path"] == "cursor"


def test_a_limit_beyond_what_is_allowed_is_refused(client: Client) -> None:
    assert client.get("/v1/resources", limit=0).status == 400
    assert client.get("/v1/resources", limit=1001).status == 400


def test_a_filter_goes_through_all_pages(client: Client, nodes: list[str]) -> None:
    pages = list(_walk(client, "/v1/resources", limit=2, cel="resource.metadata['odd'] == '1'"))
    assert pages == [["node-1", "node-3"], ["node-5"]]


def test_words_may_join_conditions(client: Client, nodes: list[str]) -> None:
    text = "resource.kind == 'Node' AND NOT (resource.name == 'node-1')"
    assert len(client.items("/v1/resources", cel=text)) == 4


def test_an_object_that_lacks_what_is_read_does_not_match(client: Client, nodes: list[str]) -> None:
    assert client.items("/v1/resources", cel="resource.metadata['colour'] == 'red'") == []


def test_times_can_be_compared(client: Client, nodes: list[str]) -> None:
    text = "resource.createdAt > timestamp('2026-03-01T09:00:03Z')"
    assert [item["name"] for item in client.items("/v1/resources", cel=text)] == ["node-2", "node-4"]


def test_other_kinds_are_bound_by_their_own_names(client: Client) -> None:
    fleet.put(client, "environments", "prod", resourceSelector="true")
    fleet.put(client, "environments", "empty")
    found = client.items("/v1/environments", cel="environment.resourceSelector == null")
    assert [item["name"] for item in found] == ["empty"]
    fleet.put(client, "freezes", "soon", reason="r", expiresAt="2026-03-02T00:00:00Z")
    text = "freeze.expiresAt < timestamp('2026-03-03T00:00:00Z')"
    assert len(client.items("/v1/freezes", cel=text)) == 1


@pytest.mark.parametrize("text", ["resource.kind ==", "pod.name == 'x'", "1 + 1", " "])
def test_a_malformed_filter_is_refused_with_its_place(client: Client, text: str) -> None:
    response = client.get("/v1/resources", cel=text)
    assert (response.status, response.json["errors"][0]["path"]) == (422, "cel")


def test_a_runaway_filter_is_stopped(client: Client, nodes: list[str]) -> None:
    numbers = f"[{', '.join('1' for _ in range(100))}]"
    text = f"{numbers}.all(a, {numbers}.all(b, {numbers}.all(c, a + b + c > 0)))"
    response = client.get("/v1/resources", cel=text)
    assert response.status == 422
    assert "steps" in response.json["errors"][0]["message"]


def test_a_page_that_took_too_long_ends_where_the_search_is(
    client: Client, nodes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate.api.http.lists.LONGEST_SEARCH_SECONDS", 0.0)
    monkeypatch.setattr("headgate.api.routes.fleet_objects.Listing", partial(Listing, step=1))
    pages = list(_walk(client, "/v1/resources", limit=1, cel="resource.name == 'node-5'"))
    assert [page for page in pages if page] == [["node-5"]]
    assert len(pages) > 1
