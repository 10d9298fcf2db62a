"""What belongs to the service itself: workspaces, systems, tokens, the audit log."""

from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server, until
from headgate.api.http.authentication import Authenticator
from headgate.api.http.metrics import Metrics
from headgate.runtime.worker import Worker, WorkerSettings
from headgate.store import UnavailableError, Workspace
from headgate.store.sql.opening import open_store
from headgate.store.sql.transaction import SqlTransaction


def test_a_workspace_is_created_found_and_deleted(client: Client) -> None:
    created = client.post("/v1/workspaces", {"name": "shop", "description": "Team shop"})
    assert (created.status, created.json["description"]) == (201, "Team shop")
    assert client.get("/v1/workspaces/shop").json == created.json
    assert client.get(f"/v1/workspaces/{created.json['id']}").json == created.json
    assert [one["name"] for one in client.items("/v1/workspaces")] == ["default", "shop"]
    assert client.post("/v1/workspaces", {"name": "shop"}).status == 409
    assert client.put("/v1/resources/node-1", {}, workspace="shop").status == 201
    assert client.delete("/v1/workspaces/shop").status == 204
    assert client.get("/v1/workspaces/shop").status == 404
    assert client.delete("/v1/workspaces/shop").status == 404


def test_a_workspace_is_created_once_with_the_same_key(client: Client) -> None:
    key = {"Idempotency-Key": "w1"}
    first = client.post("/v1/workspaces", {"name": "shop"}, key)
    again = client.post("/v1/workspaces", {"name": "shop"}, key)
    assert (again.status, again.body) == (201, first.body)


@pytest.mark.parametrize("name", ["", " a", "a/b", "*", 3, "x" * 300])
def test_a_workspace_needs_a_proper_name(client: Client, name: Any) -> None:
    response = client.post("/v1/workspaces", {"name": name})
    assert [error["path"] for error in response.json["errors"]] == ["name"]


def test_a_token_sees_its_own_workspaces_only(client: Client, server: Server) -> None:
    client.post("/v1/workspaces", {"name": "shop"})
    shopper = server.client("sam:admin@shop")
    assert [one["name"] for one in shopper.items("/v1/workspaces")] == ["shop"]
    assert shopper.get("/v1/workspaces/default").status == 404
    assert shopper.post("/v1/workspaces", {"name": "more"}).status == 403
    assert shopper.delete("/v1/workspaces/shop").status == 403


def test_systems_are_listed_when_they_are_named_or_described(client: Client) -> None:
    fleet.put(client, "deployments", "api", systems=["shop"])
    described = client.put("/v1/systems/bank", {"description": "Money", "metadata": {"tier": "1"}})
    assert described.status == 201
    assert [system["name"] for system in client.items("/v1/systems")] == ["bank", "shop"]
    assert client.get("/v1/systems/shop").json["createdAt"] is None
    assert client.get(f"/v1/systems/{described.json['id']}").json == described.json
    assert client.get("/v1/systems/none").status == 404
    assert [s["name"] for s in client.items("/v1/systems", cel="system.metadata.tier == '1'")] == ["bank"]


def test_a_system_is_changed_and_keeps_its_creation(client: Client, server: Server) -> None:
    first = client.put("/v1/systems/bank", {"description": "Money"})
    server.clock.advance("1h")
    second = client.put("/v1/systems/bank", {"name": "bank"}, {"If-Match": first.headers["etag"]})
    assert (second.status, second.json["createdAt"], second.json["updatedAt"]) == (
        200,
        "2026-03-01T09:00:00Z",
        "2026-03-01T10:00:00Z",
    )
    assert client.put("/v1/systems/bank", {}, {"If-Match": first.headers["etag"]}).status == 412
    assert client.put("/v1/systems/bank", {"name": "other"}).status == 422


def test_a_system_in_use_is_not_deleted(client: Client) -> None:
    fleet.put(client, "environments", "prod", systems=["shop"])
    client.put("/v1/systems/shop", {})
    refused = client.delete("/v1/systems/shop")
    assert (refused.status, refused.json["detail"]) == (409, "environment prod names the system shop")
    client.put("/v1/systems/bank", {})
    key = {"Idempotency-Key": "s1"}
    assert client.delete("/v1/systems/bank", key).status == 204
    assert client.delete("/v1/systems/bank", key).status == 204
    assert client.delete("/v1/systems/bank").status == 404


def test_the_secret_of_a_token_is_shown_once_and_works(client: Client, server: Server) -> None:
    created = client.post(
        "/v1/tokens", {"name": "ci", "role": "deployer", "expiresAt": "2026-04-01T00:00:00Z"}
    )
    listed = client.items("/v1/tokens")
    assert (created.status, created.json["workspace"]) == (201, "default")
    assert listed == [{key: value for key, value in created.json.items() if key != "secret"}]
    principal = _authenticated(server, created.json["secret"])
    assert (principal.user, principal.allows("version:write", "default")) == ("ci", True)
    assert created.json["secret"].encode() not in client.get("/v1/audit").body


def _authenticated(server: Server, secret: str) -> Any:
    import asyncio

    return asyncio.run(Authenticator(server.store, server.clock)(f"Bearer {secret}"))


def test_a_token_is_deleted_by_name_or_id(client: Client) -> None:
    client.post("/v1/tokens", {"name": "ci", "role": "viewer"})
    bot = client.post("/v1/tokens", {"name": "bot", "permissions": ["job:run"], "agents": ["runner"]}).json
    assert client.post("/v1/tokens", {"name": "ci", "role": "viewer"}).status == 409
    assert client.delete("/v1/tokens/ci").status == 204
    assert client.delete(f"/v1/tokens/{bot['id']}").status == 204
    assert client.delete("/v1/tokens/ci").status == 404
    assert client.items("/v1/tokens") == []


def test_nobody_gives_away_more_than_they_have(server: Server) -> None:
    clerk = server.client("cla:read+token:write@default")
    assert clerk.post("/v1/tokens", {"name": "a", "role": "viewer"}).status == 201
    refused = clerk.post("/v1/tokens", {"name": "b", "role": "admin"})
    assert (refused.status, "policy:write" in refused.json["detail"]) == (403, True)
    assert clerk.post("/v1/tokens", {"name": "b", "role": "viewer", "allWorkspaces": True}).status == 403
    bound = server.client("bot:token:write+job:run@default/runner")
    assert bound.post("/v1/tokens", {"name": "c", "permissions": ["job:run"]}).status == 403
    assert (
        bound.post("/v1/tokens", {"name": "c", "permissions": ["job:run"], "agents": ["runner"]}).status
        == 201
    )


def test_tokens_of_other_workspaces_are_not_there(client: Client, server: Server) -> None:
    client.post("/v1/workspaces", {"name": "shop"})
    foreign = client.post("/v1/tokens", {"name": "ci", "role": "viewer"}, workspace="shop").json
    everywhere = client.post("/v1/tokens", {"name": "root", "role": "admin", "allWorkspaces": True}).json
    local = server.client("add:admin@default")
    assert local.items("/v1/tokens") == []
    assert local.delete(f"/v1/tokens/{foreign['id']}").status == 404
    assert local.delete(f"/v1/tokens/{everywhere['id']}").status == 404


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"name": "x"}, "role"),
        ({"name": "x", "role": "king"}, "role"),
        ({"name": "x", "permissions": ["fly"]}, "permissions[0]"),
        ({"name": "x", "role": "viewer", "expiresAt": "2026-02-01T00:00:00Z"}, "expiresAt"),
        ({"role": "viewer"}, "name"),
    ],
)
def test_a_token_with_a_flaw_names_it(client: Client, body: dict[str, Any], path: str) -> None:
    assert [error["path"] for error in client.post("/v1/tokens", body).json["errors"]] == [path]


def test_everybody_may_ask_who_they_are(server: Server) -> None:
    assert server.client("bot:job:run@default").get("/v1/whoami").json == {
        "user": "bot",
        "workspaces": {"default": ["job:run"]},
    }


def test_the_audit_log_tells_who_changed_what(client: Client, server: Server) -> None:
    fleet.put(client, "resources", "node-1", kind="Node")
    server.client("ben:operator@default").put("/v1/resources/node-1", {"kind": "Server"})
    client.put("/v1/systems/bank", {})
    client.post("/v1/tokens", {"name": "ci", "role": "viewer"})
    entries = client.items("/v1/audit")
    assert [(entry["user"], entry["kind"], entry["name"]) for entry in entries] == [
        ("ana", "Token", "ci"),
        ("ana", "System", "bank"),
        ("ben", "Resource", "node-1"),
        ("ana", "Resource", "node-1"),
    ]
    change = entries[2]
    assert (change["before"]["spec"]["kind"], change["after"]["spec"]["kind"]) == ("Node", "Server")
    assert change["requestId"]


def test_the_audit_log_is_searched_and_paged(client: Client, server: Server) -> None:
    for number in range(3):
        fleet.put(client, "resources", f"node-{number}")
    server.client("ben:operator@default").put("/v1/signals/s", {"value": 1})
    assert len(client.items("/v1/audit", kind="Resource")) == 3
    assert len(client.items("/v1/audit", kind="Resource", name="node-1")) == 1
    assert [entry["kind"] for entry in client.items("/v1/audit", user="ben")] == ["Signal"]
    assert len(client.items("/v1/audit", cel="entry.user == 'ana'")) == 3
    first = client.get("/v1/audit", limit=3).json
    second = client.get("/v1/audit", limit=3, cursor=first["next"]).json
    assert [entry["seq"] for entry in (*first["items"], *second["items"])] == [4, 3, 2, 1]


def test_the_audit_log_needs_the_permission(server: Server) -> None:
    assert server.client("dee:deployer@default").get("/v1/audit").status == 403
    assert server.client("opa:operator@default").get("/v1/audit").status == 200


def test_a_workspace_and_its_key_are_stored_together_or_not_at_all(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that dies in between would have made a workspace that the same request is then refused for."""
    client, headers = server.client(), {"Idempotency-Key": "once"}

    def dies(*_: object) -> None:
        raise UnavailableError("the line went dead")

    with monkeypatch.context() as patch:
        patch.setattr(SqlTransaction, "remember", dies)
        assert client.post("/v1/workspaces", {"name": "team"}, headers).status == 503
    assert client.get("/v1/workspaces/team").status == 404
    made = client.post("/v1/workspaces", {"name": "team"}, headers)
    assert made.status == 201
    assert client.post("/v1/workspaces", {"name": "team"}, headers).json == made.json
    assert client.post("/v1/workspaces", {"name": "team"}).status == 409


def test_figures_of_a_removed_workspace_go_with_it() -> None:
    store, metrics = open_store("memory:"), Metrics()
    store.migrate()
    store.add_workspace(Workspace("00000000-0000-0000-0000-000000000001", "team", "", 0))
    worker = Worker(store, WorkerSettings("test", poll_seconds=0.02), meter=metrics)
    worker.health.wrong("clock", "a day ahead", "team")
    worker.start()
    try:
        until(lambda: b'workspace="team"' in metrics.render())
        store.remove_workspace("team")
        until(lambda: b'workspace="team"' not in metrics.render())
        assert worker.health.troubles() == []
    finally:
        worker.stop()
        store.close()


def test_whoever_changes_something_may_say_why(client: Client) -> None:
    fleet.make(client, nodes=1)
    client.put("/v1/signals/full", {"value": True}, reason="the cluster is full")
    client.delete("/v1/signals/full", reason="there is room again")
    made = client.post("/v1/tokens", {"name": "ci", "role": "viewer"}, reason="for the pipeline")
    client.delete(f"/v1/tokens/{made.json['id']}", reason="nobody uses it")
    found = {(one["kind"], one["action"]): one for one in client.items("/v1/audit")}
    assert found["Signal", "delete"]["reason"] == "there is room again"
    assert found["Signal", "delete"]["after"] is None
    assert {one["reason"] for one in found.values() if one["kind"] in ("Signal", "Token")} == {
        "the cluster is full",
        "there is room again",
        "for the pipeline",
        "nobody uses it",
    }
