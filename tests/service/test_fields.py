"""The attack suite by field: whatever can be written is in the table of what it reaches, asks for its permission, and
takes hostile values without harm to anybody."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from headgate.api.http import access as guarded

from . import operations, reach
from .client import Client
from .conftest import new_workspace
from .operations import Json, Request
from .server import Server
from .waiting import MOST_SECONDS

MOST_BYTES = 300_000
"""Of a refusal: a thousand problems, none of which repeats what it was given."""


def body_schema(description: Json) -> Json | None:
    body = description.get("requestBody")
    if body is None:
        return None
    found: Json = next(iter(body["content"].values()))["schema"]
    return found


def properties(document: Json, schema: Json) -> dict[str, Json]:
    """Fields of a body, through references and alternatives."""
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    found: dict[str, Json] = dict(schema.get("properties", {}))
    for alternatives in ("anyOf", "oneOf", "allOf"):
        for one in schema.get(alternatives, ()):
            found |= properties(document, one)
    return found


def writable(client: Client) -> dict[str, set[str]]:
    document = client.get("/openapi.json", workspace=None)
    found = {}
    for operation, (_, _, description) in operations.described(client).items():
        schema = body_schema(description)
        if schema is not None:
            found[operation] = set(properties(document, schema))
    return found


def test_every_field_that_can_be_written_says_what_it_reaches(shared: Client) -> None:
    rows = {operation: set(thing.rows) for operation, thing in reach.by_operation().items()}
    fields = writable(shared)
    assert fields.keys() == rows.keys()
    for operation, found in fields.items():
        if "*" not in rows[operation]:
            assert found == rows[operation], operation


def test_the_permission_in_the_table_is_the_one_that_is_asked_for(shared: Client) -> None:
    described = operations.described(shared)
    for operation, thing in reach.by_operation().items():
        assert described[operation][2].get("x-headgate-permission", "") == thing.permission, operation
    by_kind = {thing.operations[0].removeprefix("create"): thing for thing in reach.THINGS}
    asked = {
        (kind, field): permission
        for kind, thing in by_kind.items()
        for field, (permission, _) in thing.rows.items()
        if permission
    }
    assert asked == {(one.kind, one.field): one.permission for one in guarded.GUARDS}


_NINE = "[1, 2, 3, 4, 5, 6, 7, 8, 9]"


def runaway(letters: str) -> str:
    """Nine to the power of its letters steps."""
    if not letters:
        return "true"
    return f"{_NINE}.all({letters[0]}, {runaway(letters[1:])})"


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = {"a": value}
    return value


HOSTILE: dict[str, Any] = {
    "nothing": None,
    "a truth": True,
    "a number below": -1,
    "a number above": 2**63,
    "a huge number": 10**300,
    "an empty text": "",
    "a NUL": "a\x00b",
    "half a pair": "\ud800",
    "written backwards": "a\u202eb",
    "a line more": "a\r\nX-Header: b",
    "a huge text": "x" * 1_000_000,
    "a runaway expression": runaway("abcdefg"),
    "an expression that tries for long": "resource.name.matches('(a+)+$') && " * 50 + "true",
    "a nested expression": "(" * 500 + "true" + ")" * 500,
    "a template": "{{ version.tag }}${{ 7*7 }}$(id)`id`",
    "a path": "../../../etc/passwd",
    "the end of time": "9999-12-31T23:59:59.999999Z",
    "before time": "0001-01-01T00:00:00Z",
    "a deep map": nested(60),
    "a too deep map": nested(120),
    "a wide map": {f"k{number}": number for number in range(5_000)},
    "a long list": [{} for _ in range(5_000)],
    "a list of texts": ["x" * 300] * 100,
    "a prototype": {"__proto__": {"admin": True}, "constructor": 1},
}


def attempts(client: Client) -> Iterator[tuple[Request, Thing]]:
    """One request for each thing that an admin can write."""
    known = operations.known(client)
    by_operation = reach.by_operation()
    seen: set[str] = set()
    for request in operations.changing(known):
        thing = by_operation.get(request.operation)
        if thing is not None and request.method != "DELETE" and thing.operations[0] not in seen:
            seen.add(thing.operations[0])
            yield request, thing
    for operation, body in (("diff", {"manifests": []}), ("plan", {"manifests": []})):
        yield Request(operation, "POST", f"/v1/{operation}", body), by_operation[operation]


Thing = reach.Thing


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_value_in_any_field_harms_nobody(server: Server, busy: Client, name: str) -> None:
    """It is taken as what it is, or refused; the server goes on, and another workspace does not feel it."""
    bystander = new_workspace(server)
    bystander.expect(201, "PUT", "/v1/signals/calm", {"value": 1})
    before = bystander.get("/v1/export")
    for request, thing in attempts(busy):
        for field in thing.rows:
            if field == "*":
                continue
            body = {**(request.body or {}), field: HOSTILE[name]}
            begin = time.monotonic()
            answer = busy.call(request.method, request.path, body)
            spent = time.monotonic() - begin
            place = f"{name} in {field} of {request.operation}: {answer!r}"
            assert answer.status < 500, place
            assert spent < MOST_SECONDS, f"{place} after {spent:.1f} s"
            if answer.status >= 400:
                assert answer.headers["content-type"] == "application/problem+json", place
                assert len(answer.body) < MOST_BYTES, place
    begin = time.monotonic()
    bystander.expect(200, "PUT", "/v1/signals/calm", {"value": 1})
    assert time.monotonic() - begin < MOST_SECONDS
    assert bystander.get("/v1/export")["manifests"][0]["metadata"] == before["manifests"][0]["metadata"]
    assert busy.call("GET", "/v1/export").status == 200
    assert busy.call("GET", "/v1/status").status == 200


@pytest.mark.parametrize("name", ["a runaway expression", "an expression that tries for long"])
def test_an_expression_that_runs_away_keeps_no_one_from_writing(busy: Client, name: str) -> None:
    """Selectors have a budget of steps; what they cannot finish does not match."""
    text = HOSTILE[name]
    for number in range(5):
        body = {"name": f"runs-{number}", "rules": [], "selector": text}
        busy.call("POST", "/v1/policies", body)
        busy.call("POST", "/v1/environments", {"name": f"runs-{number}", "resourceSelector": text})
    begin = time.monotonic()
    busy.expect(200, "PUT", "/v1/resources/spare", {"kind": "Rack", "version": "9"})
    assert time.monotonic() - begin < MOST_SECONDS
