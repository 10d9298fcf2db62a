"""What people decided of a version is of that version alone: no other one gets it by an id, a tag or a name."""

from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server, segment, until

OWN_ID = "3f0c9d5e-8a41-4a53-9d0c-52f1f3a4b6c7"


@pytest.fixture
def ben(server: Server) -> Client:
    return server.client("ben:approver@default")


@pytest.fixture
def dora(server: Server) -> Client:
    return server.client("dora:deployer@default")


@pytest.fixture
def olga(server: Server) -> Client:
    return server.client("olga:operator@default")


@pytest.fixture(autouse=True)
def made(client: Client) -> None:
    fleet.make(client, nodes=1)
    fleet.put(client, "deployments", "web", resourceSelector="true", jobAgent="runner")
    fleet.put(client, "policies", "careful", rules=[{"name": "yes", "approval": {"minApprovals": 1}}])


def _vote(client: Client, tag: str, status: str = "approved") -> None:
    body = {"deployment": "api", "tag": tag, "environment": "prod", "status": status}
    response = client.post("/v1/approvals", body)
    assert response.status == 200, response.body


def _delete(client: Client, tag: str) -> Any:
    return client.delete(f"/v1/deployments/api/versions/{tag}")


def _manifest(tag: str, deployment: str = "api", id_: str | None = None) -> dict[str, Any]:
    metadata = {"name": f"{deployment}-new"} | ({"id": id_} if id_ is not None else {})
    spec = {"deployment": deployment, "tag": tag}
    return {"apiVersion": "headgate.dev/v1", "kind": "Version", "metadata": metadata, "spec": spec}


def _explained(client: Client, deployment: str) -> str:
    found = until(lambda: client.get(f"/v1/release-targets/{deployment}/prod/node-1/explain").json)
    return str(found)


@pytest.mark.parametrize("deployment", ["api", "web"])
def test_votes_and_skips_end_with_their_version(
    client: Client, ben: Client, olga: Client, dora: Client, deployment: str
) -> None:
    id_ = fleet.publish(dora, "v1", status="building")["id"]
    _vote(ben, "v1")
    skip = {"policy": "careful", "rule": "yes", "deployment": "api", "tag": "v1", "reason": "urgent"}
    assert olga.post("/v1/skips", skip).status == 201
    assert _delete(dora, "v1").status == 204
    assert client.items("/v1/skips") == []
    fleet.publish(client, "v2", deployment, id=id_)
    assert client.items("/v1/approvals") == []
    assert "waits for 1 approval" in _explained(client, deployment)
    assert client.items("/v1/jobs") == []


def test_what_ended_is_not_read_again_after_a_restart(
    client: Client, server: Server, ben: Client, olga: Client
) -> None:
    fleet.publish(client, "v1", status="building")
    _vote(ben, "v1")
    skip = {"policy": "careful", "rule": "yes", "deployment": "api", "tag": "v1", "reason": "urgent"}
    assert olga.post("/v1/skips", skip).status == 201
    assert until(lambda: _kept(server) == [1, 1])
    assert _delete(client, "v1").status == 204
    assert until(lambda: _kept(server) == [0, 0])


def _kept(server: Server) -> list[int]:
    tables = server.store.load("default").tables
    return [len(tables[name]) for name in ("user_approval_record", "policy_skip")]


def test_a_tag_that_is_published_anew_is_another_version(client: Client, ben: Client, dora: Client) -> None:
    first = fleet.publish(dora, "v1", status="building")["id"]
    _vote(ben, "v1")
    assert _delete(dora, "v1").status == 204
    assert fleet.publish(dora, "v1", status="building")["id"] != first
    assert client.items("/v1/approvals") == []


def test_an_id_of_ones_own_needs_version_import(client: Client, dora: Client) -> None:
    response = dora.post("/v1/deployments/api/versions", {"tag": "v1", "id": OWN_ID})
    assert response.status == 403
    assert "version:import" in response.json["detail"]
    assert dora.post("/v1/apply", {"manifests": [_manifest("v1", id_=OWN_ID)]}).status == 403
    assert fleet.publish(client, "v1", id=OWN_ID)["id"] == OWN_ID
    assert dora.post("/v1/apply", {"manifests": [_manifest("v1", id_=OWN_ID)]}).status == 200, "as it is"


def test_no_two_versions_have_one_id(client: Client) -> None:
    id_ = fleet.publish(client, "v1")["id"]
    response = client.post("/v1/deployments/web/versions", {"tag": "v2", "id": id_})
    assert (response.status, response.json["errors"][0]["path"]) == (422, "id")
    assert client.post("/v1/apply", {"manifests": [_manifest("v2", "web", id_)]}).status == 422
    both = [_manifest("v3", "web", OWN_ID), {**_manifest("v4", "api", OWN_ID)}]
    assert client.post("/v1/apply", {"manifests": both}).status == 422
    assert [one["tag"] for one in client.items("/v1/versions")] == ["v1"]


def test_a_tag_that_is_the_id_of_another_version_is_refused(
    client: Client, dora: Client, olga: Client
) -> None:
    id_ = fleet.publish(dora, "v1")["id"]
    assert olga.post("/v1/deployments/api/versions/v1/reject", {"reason": "bad"}).status == 200
    for deployment in ("api", "web"):
        for tag in (id_, id_.upper()):
            response = dora.post(f"/v1/deployments/{deployment}/versions", {"tag": tag})
            assert (response.status, response.json["errors"][0]["path"]) == (422, "tag")
            assert "is the id of api/v1" in response.json["errors"][0]["message"]
            response = dora.post("/v1/apply", {"manifests": [_manifest(tag, deployment)]})
            assert (response.status, response.json["errors"][0]["path"]) == (422, "manifests[0].spec.tag")
    kept = client.get("/v1/deployments/api/versions/v1").json
    assert (kept["id"], kept["tag"], kept["status"]) == (id_, "v1", "rejected")
    assert dora.post("/v1/deployments/api/versions", {"tag": "v1"}).status == 409


def test_an_id_that_is_the_tag_of_another_version_is_refused(client: Client) -> None:
    fleet.publish(client, OWN_ID)
    response = client.post("/v1/deployments/api/versions", {"tag": "v1", "id": OWN_ID})
    assert (response.status, response.json["errors"][0]["path"]) == (422, "id")


@pytest.mark.parametrize("change", [str, str.upper])
def test_a_name_that_is_the_id_of_another_object_is_refused(
    client: Client, dora: Client, change: Any
) -> None:
    name = change(client.get("/v1/resources/node-1").json["id"])
    response = dora.post("/v1/resources", {"name": name})
    assert (response.status, response.json["errors"][0]["path"]) == (422, "name")
    assert "is the id of node-1" in response.json["errors"][0]["message"]
    manifest = {"apiVersion": "headgate.dev/v1", "kind": "Resource", "metadata": {"name": name}, "spec": {}}
    response = dora.post("/v1/apply", {"manifests": [manifest]})
    assert (response.status, response.json["errors"][0]["path"]) == (422, "manifests[0].metadata.name")
    response = dora.put("/v1/resources/set", {"provider": "p", "resources": [{"name": name}]})
    assert (response.status, response.json["errors"][0]["path"]) == (422, "resources[0].name")
    assert client.get(f"/v1/resources/{segment(name)}").json["name"] == "node-1"
    for collection in ("environments", "deployments", "policies", "job-agents"):
        held = client.items(f"/v1/{collection}")[0]
        assert client.post(f"/v1/{collection}", {"name": change(held["id"])}).status == 422, collection


def test_a_name_that_only_looks_like_an_id_is_a_name(client: Client) -> None:
    assert client.post("/v1/resources", {"name": OWN_ID}).status == 201
    assert client.get(f"/v1/resources/{OWN_ID}").json["name"] == OWN_ID
    assert client.put(f"/v1/resources/{OWN_ID}", {"kind": "Node"}).status == 200


def test_whoever_deletes_a_vetoed_version_could_have_rejected_it(
    client: Client, ben: Client, dora: Client, olga: Client
) -> None:
    assert dora.post("/v1/apply", {"manifests": [_manifest("v1")], "set": "mine"}).status == 200
    _vote(ben, "v1", "rejected")
    response = _delete(dora, "v1")
    assert response.status == 403
    assert "ben has rejected in prod" in response.json["detail"]
    assert "version:reject" in response.json["detail"]
    assert dora.post("/v1/apply", {"manifests": [], "set": "mine", "prune": True}).status == 403
    assert [vote["status"] for vote in client.items("/v1/approvals")] == ["rejected"]
    assert _delete(olga, "v1").status == 204


def test_a_veto_that_was_withdrawn_guards_no_longer(ben: Client, dora: Client) -> None:
    fleet.publish(dora, "v1")
    _vote(ben, "v1", "rejected")
    assert ben.delete("/v1/approvals/api%2Fv1/prod").status == 200
    assert _delete(dora, "v1").status == 204


def test_the_id_of_a_version_is_found_in_capitals_and_its_tag_is_not(client: Client) -> None:
    made = fleet.publish(client, "v1")
    for path in ("/v1/deployments/api/versions", "/v1/versions"):
        assert client.get(f"{path}/{made['id'].upper()}").json["tag"] == "v1"
    assert client.get("/v1/deployments/api/versions/V1").status == 404
