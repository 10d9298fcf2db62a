"""The simple kinds: one set of handlers, so one set of tests, and a round trip for each kind."""

from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server

SAMPLES: dict[str, dict[str, Any]] = {
    "resources": {
        "kind": "Node",
        "metadata": {"zone": "a"},
        "config": {"ip": "10.0.0.1"},
        "variables": {"x": 1},
    },
    "environments": {"resourceSelector": "resource.kind == 'Node'", "systems": ["shop"]},
    "deployments": {"jobAgentConfig": {"a": {"b": 1}}, "variables": {"size": 3, "mode": {"default": "fast"}}},
    "policies": {"selector": "true", "rules": [{"approval": {"minApprovals": 2}}], "priority": 3},
    "job-agents": {"type": "http", "config": {"url": "https://example.com"}},
    "freezes": {"reason": "incident", "selector": "true", "expiresAt": "2026-04-01T00:00:00Z"},
    "signals": {"value": {"firing": True}},
    "variables": {"selector": "true", "variables": {"region": "eu"}, "priority": 1},
}
TELLING = {"deployments", "policies", "freezes"}
"""Their deletion says whom it concerned."""


@pytest.mark.parametrize("collection", SAMPLES)
def test_what_was_read_can_be_put_back_and_changes_nothing(client: Client, collection: str) -> None:
    created = client.post(f"/v1/{collection}", {"name": "one", **SAMPLES[collection]})
    read = client.get(f"/v1/{collection}/one")
    put_back = client.put(f"/v1/{collection}/one", read.json)
    assert (created.status, put_back.status) == (201, 200)
    assert fleet.plain(created.json) == read.json
    ignored = {"updatedAt", "setAt", "concerns"} if collection == "signals" else {"concerns"}
    assert {k: v for k, v in put_back.json.items() if k not in ignored} == {
        k: v for k, v in read.json.items() if k not in ignored
    }


@pytest.mark.parametrize("collection", SAMPLES)
def test_every_kind_is_created_once_listed_patched_and_deleted(client: Client, collection: str) -> None:
    path = f"/v1/{collection}/one"
    assert client.put(path, SAMPLES[collection]).status == 201
    assert client.post(f"/v1/{collection}", {"name": "one", **SAMPLES[collection]}).status == 409
    assert [item["name"] for item in client.items(f"/v1/{collection}")] == ["one"]
    patched = client.patch(path, {"metadata": {"team": "blue"}})
    assert patched.json["metadata"]["team"] == "blue"
    assert client.delete(path).status == (200 if collection in TELLING else 204)
    assert client.get(path).status == 404
    assert client.delete(path).status == 404


def test_an_object_is_found_by_id_and_by_name(client: Client) -> None:
    created = fleet.put(client, "resources", "node 1 ü")
    assert client.get("/v1/resources/node%201%20%C3%BC").json == created
    assert client.get(f"/v1/resources/{created['id'].upper()}").json == created


def test_all_fields_are_answered_and_the_workspace_is_not(client: Client) -> None:
    found = fleet.plain(fleet.put(client, "environments", "prod"))
    assert found == {
        "id": found["id"],
        "name": "prod",
        "resourceSelector": None,
        "systems": ["default"],
        "metadata": {},
        "createdAt": "2026-03-01T09:00:00Z",
        "updatedAt": None,
    }


def test_every_problem_is_named_by_the_keys_of_the_flat_document(client: Client) -> None:
    response = client.post("/v1/resources", {"kind": 3, "metadata": {"a": 1}, "colour": "red"})
    assert response.status == 422
    assert {error["path"] for error in response.json["errors"]} == {"name", "kind", "metadata.a", "colour"}


def test_a_body_that_is_no_map_is_invalid(client: Client) -> None:
    response = client.post("/v1/resources", ["node"])
    assert (response.status, response.json["errors"]) == (
        422,
        [{"path": "", "message": "must be a map, not a list"}],
    )


def test_the_path_and_the_body_must_name_the_same_object(client: Client) -> None:
    response = client.put("/v1/resources/node-1", {"name": "node-2"})
    assert response.json["errors"] == [{"path": "name", "message": "is \"node-2\"; the path says 'node-1'"}]


def test_an_unknown_name_gets_a_hint(client: Client) -> None:
    fleet.put(client, "resources", "node-1")
    response = client.get("/v1/resources/nod-1")
    assert response.json["detail"] == "there is no resource 'nod-1'; did you mean node-1?"


def test_nothing_is_put_under_an_id_that_nobody_has(client: Client) -> None:
    assert client.put("/v1/resources/5f0c8f1e-6f2b-4c55-9a57-0d6ad0e3a001", {}).status == 404


def test_an_id_may_be_given_to_a_new_object_only(client: Client) -> None:
    own = "5f0c8f1e-6f2b-4c55-9a57-0d6ad0e3a001"
    other = "5f0c8f1e-6f2b-4c55-9a57-0d6ad0e3a002"
    assert client.put("/v1/resources/node-1", {"id": own}).json["id"] == own
    kept = client.put("/v1/resources/node-1", {"id": other})
    taken = client.put("/v1/resources/node-2", {"id": own})
    assert [error["path"] for error in kept.json["errors"]] == ["id"]
    assert taken.json["errors"][0]["message"] == f"is {own}, which is the id of node-1"


def test_an_etag_guards_put_patch_and_delete(client: Client) -> None:
    etag = client.put("/v1/resources/node-1", {"kind": "Node"}).headers["etag"]
    assert client.get("/v1/resources/node-1").headers["etag"] == etag
    changed = client.put("/v1/resources/node-1", {"kind": "Server"}, {"If-Match": etag})
    assert changed.status == 200
    stale = {"If-Match": etag}
    assert client.put("/v1/resources/node-1", {}, stale).status == 412
    assert client.patch("/v1/resources/node-1", {}, stale).status == 412
    assert client.delete("/v1/resources/node-1", stale).status == 412
    assert client.get("/v1/resources/node-1").json["kind"] == "Server"
    assert (
        client.delete("/v1/resources/node-1", {"If-Match": f'"x", {changed.headers["etag"]}'}).status == 204
    )


def test_a_condition_never_holds_for_what_is_not_there(client: Client) -> None:
    assert client.put("/v1/resources/node-1", {}, {"If-Match": "*"}).status == 412
    assert client.get("/v1/resources/node-1").status == 404


def test_a_put_that_changes_nothing_leaves_no_trace(client: Client, server: Server) -> None:
    client.put("/v1/resources/node-1", {"kind": "Node"})
    before = server.store.head("default")
    client.put("/v1/resources/node-1", {"kind": "Node"})
    assert server.store.head("default") == before


def test_true_is_not_one(client: Client) -> None:
    client.put("/v1/resources/node-1", {"config": {"on": 1}})
    assert client.put("/v1/resources/node-1", {"config": {"on": True}}).json["config"] == {"on": True}


def test_null_in_a_patch_brings_back_the_default(client: Client) -> None:
    fleet.put(client, "environments", "prod", resourceSelector="true", metadata={"a": "1", "b": "2"})
    patched = client.patch("/v1/environments/prod", {"resourceSelector": None, "metadata": {"a": None}})
    assert (patched.json["resourceSelector"], patched.json["metadata"]) == (None, {"b": "2"})


def test_a_patch_that_would_be_invalid_changes_nothing(client: Client) -> None:
    fleet.put(client, "environments", "prod", resourceSelector="true")
    response = client.patch("/v1/environments/prod", {"resourceSelector": "resource.kind =="})
    assert response.status == 422
    assert "line 1, column" in response.json["errors"][0]["message"]
    assert client.get("/v1/environments/prod").json["resourceSelector"] == "true"


def test_a_patch_may_be_sent_as_merge_patch(client: Client) -> None:
    fleet.put(client, "environments", "prod")
    media_type = {"Content-Type": "application/merge-patch+json"}
    assert client.patch("/v1/environments/prod", b'{"systems": ["shop"]}', media_type).json["systems"] == [
        "shop"
    ]


def test_rules_keep_their_ids_when_the_policy_is_put_again_without_them(client: Client) -> None:
    rules = [{"name": "two", "approval": {"minApprovals": 2}}, {"retry": {"maxRetries": 1}}]
    first = fleet.put(client, "policies", "careful", rules=rules)
    again = fleet.put(client, "policies", "careful", rules=rules, description="changed")
    assert [rule["id"] for rule in again["rules"]] == [rule["id"] for rule in first["rules"]]


def test_an_identifier_belongs_to_one_resource(client: Client) -> None:
    fleet.put(client, "resources", "node-1", identifier="i-1")
    response = client.put("/v1/resources/node-2", {"identifier": "i-1"})
    assert [error["path"] for error in response.json["errors"]] == ["identifier"]


def test_who_freezes_is_who_asked(client: Client) -> None:
    assert fleet.put(client, "freezes", "incident", reason="smoke")["user"] == "ana"


def test_the_same_key_gives_the_same_answer_and_acts_once(client: Client, server: Server) -> None:
    key = {"Idempotency-Key": "k1"}
    first = client.post("/v1/resources", {"name": "node-1"}, key)
    head = server.store.head("default")
    again = client.post("/v1/resources", {"name": "node-1"}, key)
    assert (again.status, again.body, again.headers["etag"]) == (201, first.body, first.headers["etag"])
    assert server.store.head("default") == head
    assert client.post("/v1/resources", {"name": "node-2"}, key).status == 422


@pytest.mark.parametrize(
    ("who", "collection", "status"),
    [
        ("vic:viewer@default", "resources", 403),
        ("dee:deployer@default", "resources", 201),
        ("dee:deployer@default", "environments", 403),
        ("dee:deployer@default", "signals", 201),
        ("dee:deployer@default", "freezes", 403),
        ("opa:operator@default", "freezes", 201),
        ("opa:operator@default", "policies", 403),
        ("add:admin@default", "policies", 201),
        ("add:admin@default", "job-agents", 201),
        ("add:admin@other", "resources", 404),
    ],
)
def test_each_kind_needs_its_permission(server: Server, who: str, collection: str, status: int) -> None:
    client = server.client(who)
    response = client.post(f"/v1/{collection}", {"name": "one", **SAMPLES[collection]}, workspace="default")
    assert response.status == status


def test_workspaces_do_not_see_each_other(client: Client) -> None:
    client.post("/v1/workspaces", {"name": "other"})
    client.put("/v1/resources/node-1", {}, workspace="other")
    assert client.get("/v1/resources/node-1").status == 404
    assert client.get("/v1/resources/node-1", workspace="other").status == 200
