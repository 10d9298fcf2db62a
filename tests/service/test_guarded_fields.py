"""Fields that reach further than their object: each asks for its permission in every way in which it can be written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import smallest
from headgate.api.http import access
from headgate.fleet.model import kinds

from . import fleet
from .client import Client, segment

Json = dict[str, Any]
Attempt = tuple[str, str, Json]
LONG_AGO = "2020-01-01T00:00:00Z"
VALUES: dict[str, Any] = {
    "createdAt": LONG_AGO,
    "id": "3f0c9d5e-8a41-4a53-9d0c-52f1f3a4b6c7",
    "targetSelector": "true",
    "jobAgentConfig": {"ref": "main"},
    "variables": {"zone": "elsewhere"},
    "user": "somebody else",
}
_NEEDED: dict[str, Json] = {
    **smallest.OBJECTS,
    "Freeze": {"reason": "why not", "selector": "false"},
}


def attempts(guard: access.Guard) -> Iterator[Attempt]:
    """A new object with the field, and the field in an object that is there."""
    kind, value = kinds.BY_NAME[guard.kind], VALUES[guard.field]
    needed = _NEEDED.get(guard.kind, {})
    if guard.kind == "Version":
        of_deployment = "/v1/deployments/spare/versions"
        yield "POST", of_deployment, {"tag": "v9", guard.field: value}
        made = fleet.manifest("Version", "spare-v9", deployment="spare", tag="v9")
        made["metadata" if guard.field == access.ID else "spec"][guard.field] = value
        yield "POST", "/v1/apply", {"manifests": [made]}
        if guard.field not in (access.CREATED_AT, access.ID):
            yield "PATCH", f"{of_deployment}/v1", {guard.field: value}
            yield "PATCH", f"/v1/versions/{segment('spare/v1')}", {guard.field: value}
            kept = fleet.manifest("Version", "spare-v1", deployment="spare", tag="v1", **{guard.field: value})
            yield "POST", "/v1/apply", {"manifests": [kept]}
        return
    collection = f"/v1/{kind.collection}"
    yield "POST", collection, {"name": "new", **needed, guard.field: value}
    yield "PUT", f"{collection}/new", {**needed, guard.field: value}
    yield (
        "POST",
        "/v1/apply",
        {"manifests": [fleet.manifest(guard.kind, "new", **needed, **{guard.field: value})]},
    )
    if guard.kind == "Resource":
        yield (
            "PUT",
            "/v1/resources/set",
            {"provider": "p", "resources": [{"name": "new", guard.field: value}]},
        )
    if guard.field != access.CREATED_AT:
        yield "PATCH", f"{collection}/spare", {guard.field: value}
        yield "PUT", f"{collection}/spare", {**needed, guard.field: value}


@pytest.mark.parametrize("guard", access.GUARDS, ids=lambda one: f"{one.kind}.{one.field}")
def test_a_guarded_field_needs_its_permission_wherever_it_can_be_written(
    busy: Client, guard: access.Guard
) -> None:
    own = kinds.BY_NAME[guard.kind].permission
    if own == guard.permission:
        return
    caller = busy.token_with("a writer", permissions=["read", own])
    allowed = busy.token_with("an importer", permissions=["read", own, guard.permission])
    before = busy.get("/v1/export")
    for method, path, body in attempts(guard):
        answer = caller.call(method, path, body)
        assert answer.status == 403, f"{method} {path}: {answer!r}"
        assert guard.permission in answer.sentences
        assert guard.field in answer.sentences
    assert busy.get("/v1/export") == before
    method, path, body = next(attempts(guard))
    assert allowed.call(method, path, body).status in (200, 201)


def test_what_is_put_again_as_it_was_needs_no_permission_of_its_fields(busy: Client) -> None:
    caller = busy.token_with("a writer", permissions=["read", "resource:write"])
    resource = caller.get("/v1/resources/node-1")
    assert resource["variables"] == {"zone": 1}
    assert caller.call("PUT", "/v1/resources/node-1", {**resource, "version": "2"}).status == 200
    assert caller.call("PATCH", "/v1/resources/node-1", {"version": "3"}).status == 200


def test_to_take_a_guarded_field_away_is_to_write_it(busy: Client) -> None:
    caller = busy.token_with("a writer", permissions=["read", "resource:write"])
    assert caller.call("PUT", "/v1/resources/node-1", {"kind": "Node"}).status == 403
    assert caller.call("PATCH", "/v1/resources/node-1", {"variables": None}).status == 403
    assert caller.call("PATCH", "/v1/resources/node-1", {"variables": {"zone": True}}).status == 403, (
        "true is not 1"
    )


def test_an_imported_version_is_ordered_by_its_creation_and_published_now(busy: Client) -> None:
    made = busy.expect(
        201, "POST", "/v1/deployments/spare/versions", {"tag": "v0", "createdAt": LONG_AGO}
    ).json
    assert made["createdAt"] == LONG_AGO
    assert made["publishedAt"] > "2026"
    tags = [one["tag"] for one in busy.get("/v1/deployments/spare/versions")["items"]]
    assert tags[-1] == "v0"


@pytest.mark.parametrize("name", ["headgate", "Headgate", "ada@example.com", "ada＠example.com", "ｈeadgate"])
def test_a_token_has_neither_the_engines_name_nor_that_of_a_person(client: Client, name: str) -> None:
    answer = client.call("POST", "/v1/tokens", {"name": name, "role": "viewer"})
    assert answer.status == 422
    assert [one["path"] for one in answer.json["errors"]] == ["name"]


def test_no_two_tokens_that_can_meet_have_one_name(client: Client) -> None:
    """Votes of the two would count as one user's, and so would their deeds."""
    client.token_with("ci", role="viewer")
    for name in ("ci", "CI", "admin", "Admin"):
        answer = client.call("POST", "/v1/tokens", {"name": name, "role": "viewer"})
        assert answer.status == 409, name
    everywhere = client.call("POST", "/v1/tokens", {"name": "ci", "role": "viewer", "allWorkspaces": True})
    assert everywhere.status == 409


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/groups"])
def test_a_status_that_does_not_exist_is_refused_with_those_that_do(shared: Client, path: str) -> None:
    answer = shared.call("GET", path, status="sucessful")
    assert answer.status == 400
    assert "allowed are" in answer.sentences
    assert [one["path"] for one in answer.json["errors"]] == ["status"]
