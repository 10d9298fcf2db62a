"""Lists in pages, while things come and go."""

import base64
import json
import random
import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from . import fleet, operations
from .client import Client

BODIES = {**operations.NEEDED, "freezes": {"reason": "r", "selector": "false"}}


def walked(client: Client, path: str, limit: int, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    for _ in range(1_000):
        page = client.get(path, limit=limit, cursor=cursor, **query)
        assert len(page["items"]) <= limit
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            return found
    raise AssertionError("the list has no end")


@pytest.mark.parametrize("collection", operations.COLLECTIONS)
@pytest.mark.parametrize("sort", ["name", "-name", "createdAt", "-createdAt"])
def test_what_stays_is_found_once_while_others_come_and_go(
    client: Client, collection: str, sort: str
) -> None:
    body = BODIES[collection]
    chance = random.Random(f"{collection} {sort}")
    steady = [f"steady-{number}" for number in range(12)]
    passing = [f"{chance.choice('az')}-passing-{number}" for number in range(4)]
    for name in chance.sample([*steady, *passing], 16):
        client.expect(201, "POST", f"/v1/{collection}", {"name": name, **body})
    is_over = threading.Event()
    numbers = count()

    def disturb() -> None:
        while not is_over.is_set():
            name = f"{chance.choice('amz')}-new-{next(numbers)}"
            client.call("POST", f"/v1/{collection}", {"name": name, **body})
            if passing:
                client.call("DELETE", f"/v1/{collection}/{passing.pop()}")
            client.call("DELETE", f"/v1/{collection}/{name}")

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for limit in (1, 2, 3):
            names = [one["name"] for one in walked(client, f"/v1/{collection}", limit, sort=sort)]
            assert sorted(name for name in names if name in steady) == sorted(steady), sort
            assert len(names) == len(set(names))
            if sort.endswith("name"):
                assert names == sorted(names, reverse=sort.startswith("-"))
    finally:
        is_over.set()
        thread.join()


def lists(client: Client) -> Iterator[tuple[str, list[str]]]:
    for path, method, described in operations.described(client).values():
        parameters = {one["name"]: one for one in described["parameters"]}
        if method == "GET" and "cursor" in parameters and "{" not in path:
            sorts = parameters.get("sort", {"schema": {"enum": [""]}})["schema"]["enum"]
            yield path, sorts


def test_every_list_is_the_same_in_pages_of_any_size_and_backwards(shared: Client) -> None:
    for path, sorts in lists(shared):
        for sort in sorts:
            if path == "/v1/workspaces":
                continue  # other tests make and remove some
            whole = shown(shared.get(path, limit=1000, sort=sort or None)["items"])
            for limit in (1, 3):
                assert shown(walked(shared, path, limit, sort=sort or None)) == whole, f"{path} {sort}"
            if sort.startswith("-") and sort[1:] in sorts:
                backwards = shown(shared.get(path, limit=1000, sort=sort[1:])["items"])
                assert backwards[::-1] == whole, f"{path} {sort}"


def shown(items: list[dict[str, Any]]) -> list[Any]:
    """What an item is, without how it is: a job may be tried again meanwhile."""
    return [[item.get(key) for key in ("id", "seq", "name", "versionId", "ruleId", "user")] for item in items]


GARBAGE = [
    "x", "", "====", "a" * 5_000, "null", "W10", "eyJhIjoxfQ",
    base64.urlsafe_b64encode(b"[" * 3_000).decode(),
    base64.urlsafe_b64encode(json.dumps(["name"]).encode()).decode(),
    base64.urlsafe_b64encode(json.dumps(["name", None]).encode()).decode(),
    base64.urlsafe_b64encode(json.dumps(["name", 1, 2, 3]).encode()).decode(),
    base64.urlsafe_b64encode(json.dumps(["createdAt", 2**80, "x"]).encode()).decode(),
    base64.urlsafe_b64encode(json.dumps(["-createdAt", "x", 1]).encode()).decode(),
    "é", "\u0000",
]  # fmt: skip


def test_a_cursor_that_nobody_gave_is_refused_by_every_list(shared: Client) -> None:
    for path, _ in lists(shared):
        where = {"workspace": None} if path == "/v1/workspaces" else {}
        for cursor in GARBAGE:
            answer = shared.call("GET", path, cursor=cursor, **where)
            assert answer.status == 400, f"{path} {cursor[:40]!r}: {answer!r}"


def test_a_cursor_that_was_made_up_well_finds_nothing_or_is_refused(shared: Client) -> None:
    for path, sorts in lists(shared):
        where = {"workspace": None} if path == "/v1/workspaces" else {}
        for sort in sorts:
            keys = (
                [["\ud800"], [""], ["\uffff"]]
                if sort.endswith("name")
                else [[-1, "x"], [2**61, ""], [0, "\ud800"], [0, "not-an-id"]]
            )
            for key in keys:
                text = json.dumps([sort, *key]).encode()
                cursor = base64.urlsafe_b64encode(text).decode().rstrip("=")
                answer = shared.call("GET", path, cursor=cursor, sort=sort or None, **where)
                assert answer.status in (200, 400), f"{path} {text!r}: {answer!r}"


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "x", "", "1.5", "1e2", "9" * 30, "٣"])
def test_a_limit_that_is_none_is_refused_by_every_list(shared: Client, limit: str) -> None:
    for path, _ in lists(shared):
        where = {"workspace": None} if path == "/v1/workspaces" else {}
        assert shared.call("GET", path, limit=limit, **where).status == 400, path


def test_filters_and_pages_go_together(client: Client) -> None:
    names = [f"node-{number:02}" for number in range(30)]
    client.apply(*(fleet.resource(name, kind="Even" if int(name[-2:]) % 2 == 0 else "Odd") for name in names))
    for limit in (1, 2, 7):
        for sort in ("name", "-name"):
            found = walked(
                client,
                "/v1/resources",
                limit,
                sort=sort,
                cel="resource.kind == 'Even' AND NOT (resource.name == 'node-02')",
            )
            assert [one["name"] for one in found] == sorted(
                [name for name in names[::2] if name != "node-02"], reverse=sort == "-name"
            )


@pytest.mark.parametrize("sort", ["", "nothing", "name,createdAt", "--name", "NAME", "-", "__class__"])
def test_an_order_that_there_is_none_of_is_refused(shared: Client, sort: str) -> None:
    answer = shared.call("GET", "/v1/resources", sort=sort)
    assert answer.status == 400
    assert "allowed are" in answer.sentences
