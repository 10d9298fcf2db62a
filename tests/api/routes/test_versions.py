from __future__ import annotations

from collections.abc import Callable

import pytest

from api.routes import fleet
from api.routes.server import Client, Server, segment


@pytest.fixture(autouse=True)
def deployment(client: Client) -> None:
    fleet.put(client, "deployments", "api")


def test_a_version_is_published_under_its_tag(client: Client) -> None:
    version = fleet.publish(client, "v1", config={"image": "api:v1"})
    assert (version["name"], version["deployment"], version["tag"]) == ("api/v1", "api", "v1")
    assert version["status"] == "ready"
    assert version["publishedAt"] == version["createdAt"] == "2026-03-01T09:00:00Z"


def test_a_version_is_found_by_id_by_tag_and_by_deployment_and_tag(client: Client) -> None:
    version = fleet.publish(client, "release/1")
    for path in (
        f"/v1/versions/{version['id']}",
        f"/v1/versions/{segment('api/release/1')}",
        f"/v1/deployments/api/versions/{segment('release/1')}",
        f"/v1/deployments/api/versions/{version['id']}",
    ):
        assert client.get(path).json == fleet.plain(version)


def test_a_tag_is_published_once(client: Client) -> None:
    fleet.publish(client, "v1")
    response = client.post("/v1/deployments/api/versions", {"tag": "v1"})
    assert (response.status, response.json["detail"]) == (409, "api has a version 'v1' already")


def test_a_version_of_no_deployment_is_not_found(client: Client) -> None:
    assert client.post("/v1/deployments/web/versions", {"tag": "v1"}).status == 404
    assert client.get("/v1/deployments/web/versions").status == 404
    assert client.get("/v1/versions/api%2Fv9").status == 404
    assert client.get("/v1/versions/v9").status == 404


def test_the_body_may_repeat_the_deployment_but_not_name_another(client: Client) -> None:
    id_ = client.get("/v1/deployments/api").json["id"]
    assert client.post(f"/v1/deployments/{id_}/versions", {"tag": "v1", "deployment": id_}).status == 201
    response = client.post("/v1/deployments/api/versions", {"tag": "v2", "deployment": "web"})
    assert [error["path"] for error in response.json["errors"]] == ["deployment"]


def test_newest_versions_come_first(client: Client, server: Server) -> None:
    fleet.put(client, "deployments", "web")
    for tag in ("v1", "v2", "v3"):
        fleet.publish(client, tag)
        server.clock.advance("1m")
    fleet.publish(client, "w1", "web")
    of_one = [item["tag"] for item in client.items("/v1/deployments/api/versions")]
    of_all = [item["tag"] for item in client.items("/v1/versions")]
    by_name = [item["tag"] for item in client.items("/v1/versions", sort="name")]
    assert (of_one, of_all, by_name) == (
        ["v3", "v2", "v1"],
        ["w1", "v3", "v2", "v1"],
        ["v1", "v2", "v3", "w1"],
    )


def test_pages_of_versions_do_not_overlap(client: Client) -> None:
    for number in range(5):
        fleet.publish(client, f"v{number}")
    for path in ("/v1/versions", "/v1/deployments/api/versions"):
        for sort in ("-createdAt", "name"):
            first = client.get(path, limit=3, sort=sort).json
            second = client.get(path, limit=3, sort=sort, cursor=first["next"]).json
            tags = [item["tag"] for item in (*first["items"], *second["items"])]
            assert (len(tags), set(tags)) == (5, {f"v{number}" for number in range(5)})


def test_scoped_versions_can_be_found(client: Client) -> None:
    fleet.publish(client, "v1")
    fleet.publish(client, "v2", targetSelector="resource.name == 'a'")
    found = client.items("/v1/versions", cel="version.targetSelector != null")
    assert [item["tag"] for item in found] == ["v2"]


def test_a_status_is_set_with_a_message(client: Client) -> None:
    fleet.publish(client, "v1", status="building")
    patched = client.patch("/v1/deployments/api/versions/v1", {"status": "rejected", "message": "broken"})
    assert (patched.json["status"], patched.json["message"]) == ("rejected", "broken")
    assert client.patch("/v1/versions/api%2Fv1", {"message": None}).json["message"] is None


def test_a_building_version_is_published_when_it_becomes_ready(client: Client, server: Server) -> None:
    assert fleet.publish(client, "v1", status="building")["publishedAt"] is None
    server.clock.advance("5m")
    ready = client.patch("/v1/versions/api%2Fv1", {"status": "ready"})
    assert ready.json["publishedAt"] == "2026-03-01T09:05:00Z"


def test_an_unknown_status_names_the_allowed_ones(client: Client) -> None:
    fleet.publish(client, "v1")
    response = client.patch("/v1/versions/api%2Fv1", {"status": "redy"})
    assert "did you mean ready?" in response.json["errors"][0]["message"]


def test_deployment_tag_and_id_of_a_version_stay(client: Client) -> None:
    fleet.publish(client, "v1")
    response = client.patch("/v1/versions/api%2Fv1", {"tag": "v2"})
    assert response.json["errors"] == [{"path": "tag", "message": "is \"v2\"; it stays 'v1'"}]


def test_metadata_of_a_version_may_change(client: Client) -> None:
    fleet.publish(client, "v1", metadata={"a": "1"})
    assert client.patch("/v1/versions/api%2Fv1", {"metadata": {"b": "2"}}).json["metadata"] == {
        "a": "1",
        "b": "2",
    }


def test_a_scope_needs_its_own_permission(server: Server, client: Client) -> None:
    deployer = server.client("dee:deployer@default")
    scoped = {"tag": "v1", "targetSelector": "resource.name == 'a'"}
    refused = deployer.post("/v1/deployments/api/versions", scoped)
    assert (refused.status, "version:scope" in refused.json["detail"]) == (403, True)
    assert client.post("/v1/deployments/api/versions", scoped).status == 201
    assert deployer.patch("/v1/versions/api%2Fv1", {"targetSelector": None}).status == 403
    assert deployer.patch("/v1/versions/api%2Fv1", {"status": "paused"}).status == 200


def test_a_version_that_runs_somewhere_cannot_be_deleted(client: Client) -> None:
    fleet.make(client, nodes=1)
    fleet.publish(client, "v1")
    fleet.finish(client, fleet.jobs(client)[0])
    response = client.delete("/v1/deployments/api/versions/v1")
    assert response.status == 409
    assert "v1 runs on api/prod/node-1" in response.json["detail"]


def test_a_version_that_runs_nowhere_can_be_deleted(client: Client) -> None:
    fleet.publish(client, "v1")
    assert client.delete("/v1/deployments/api/versions/v1").status == 204
    assert client.items("/v1/versions") == []


def test_a_failed_tag_that_was_deleted_is_another_version_when_it_comes_again(client: Client) -> None:
    fleet.make(client, nodes=1)
    first = fleet.publish(client, "v1")
    fleet.finish(client, fleet.jobs(client)[0], "failure")
    assert client.delete("/v1/versions/api%2Fv1").status == 204
    assert fleet.publish(client, "v1")["id"] != first["id"]
    assert len(fleet.jobs(client, 2)) == 2


def test_rules_of_a_policy_are_read_one_by_one(client: Client) -> None:
    rules = [{"name": "two", "approval": {"minApprovals": 2}}, {"retry": {"maxRetries": 1}}]
    policy = fleet.put(client, "policies", "careful", rules=rules)
    assert client.items("/v1/policies/careful/rules") == policy["rules"]
    for reference in ("two", "0", policy["rules"][0]["id"].upper()):
        assert client.get(f"/v1/policies/careful/rules/{reference}").json == policy["rules"][0]
    assert client.get("/v1/policies/careful/rules/three").status == 404


def test_a_version_that_is_marked_as_bad_says_by_whom_and_why(client: Client) -> None:
    fleet.publish(client, "v1")
    answer = client.post("/v1/deployments/api/versions/v1/reject", {"reason": "leaks", "rollback": True})
    assert answer.status == 200
    rejection = answer.json["rejection"]
    assert (answer.json["status"], rejection["reason"], rejection["rollback"]) == ("rejected", "leaks", True)
    events = [event for event in client.items("/v1/events") if event["type"] == "version.rejected"]
    assert [event["data"]["reason"] for event in events] == ["leaks"]
    audit = client.items("/v1/audit", kind="Version")
    assert ("reject", "api/v1") in [(entry["action"], entry["name"]) for entry in audit]


def test_a_mark_without_a_reason_is_refused(client: Client) -> None:
    version = fleet.publish(client, "v1")
    refused = client.post(f"/v1/versions/{version['id']}/reject", {"reason": " "})
    assert (refused.status, refused.json["errors"][0]["path"]) == (422, "reason")


def test_a_mark_is_set_and_lifted_by_who_may(client: Client, server: Server) -> None:
    deployer = server.client("dee:deployer@default")
    fleet.publish(client, "v1")
    path = "/v1/deployments/api/versions/v1"
    assert deployer.post(f"{path}/reject", {"reason": "leaks"}).status == 403
    client.post(f"{path}/reject", {"reason": "leaks"})
    refused = deployer.patch(path, {"status": "ready"})
    assert (refused.status, "version:reject" in refused.json["detail"]) == (403, True)
    lifted = client.patch(path, {"status": "ready", "message": "it was the network"})
    assert (lifted.json["status"], lifted.json["rejection"]) == ("ready", None)


def test_a_mark_is_not_lifted_by_publishing_the_version_anew(client: Client, server: Server) -> None:
    deployer = server.client("dee:deployer@default")
    fleet.publish(client, "v1")
    version = {
        "apiVersion": "headgate.dev/v1",
        "kind": "Version",
        "metadata": {"name": "api-v2"},
        "spec": {"deployment": "api", "tag": "v2"},
    }
    deployer.post("/v1/apply", {"manifests": [version], "set": "releases"})
    path = "/v1/deployments/api/versions/v2"
    client.post(f"{path}/reject", {"reason": "leaks"})
    for refused in (
        deployer.delete(path),
        deployer.delete(f"{path}?dryRun=true"),
        deployer.post("/v1/apply", {"manifests": [], "set": "releases", "prune": True}),
    ):
        assert (refused.status, "version:reject" in refused.json["detail"]) == (403, True)
    assert client.get(path).json["rejection"]["reason"] == "leaks"
    assert client.delete(path).status == 204


PATH = "/v1/deployments/api/versions/v1"
MARKED = {
    "apiVersion": "headgate.dev/v1",
    "kind": "Version",
    "metadata": {"name": "api/v1"},
    "spec": {"deployment": "api", "tag": "v1", "status": "rejected", "message": "leaks"},
}


def _by_patch(client: Client) -> int:
    return client.patch(PATH, {"status": "rejected", "message": "leaks"}).status


def _by_a_patch_of_more(client: Client) -> int:
    return client.patch(PATH, {"status": "rejected", "message": "leaks", "metadata": {"a": "b"}}).status


def _by_manifest(client: Client) -> int:
    return client.post("/v1/apply", {"manifests": [MARKED]}).status


@pytest.mark.parametrize("mark", [_by_patch, _by_a_patch_of_more, _by_manifest])
def test_however_a_version_is_rejected_there_is_one_record_and_one_permission(
    client: Client, server: Server, mark: Callable[[Client], int]
) -> None:
    deployer, operator = server.client("dee:deployer@default"), server.client("ola:operator@default")
    fleet.publish(client, "v1")
    assert mark(deployer) == 403
    assert mark(operator) == 200
    rejection = client.get(PATH).json["rejection"]
    assert (rejection["by"], rejection["reason"], rejection["rollback"]) == ("ola", "leaks", True)
    events = [one for one in client.items("/v1/events") if one["type"] == "version.rejected"]
    told = {"deployment": "api", "version": "v1", "user": "ola", "reason": "leaks", "rollback": True}
    assert [one["data"] for one in events] == [told]
    assert mark(deployer) == 200, "nothing changes by it"
    assert deployer.patch(PATH, {"status": "ready"}).status == 403
    assert deployer.patch(PATH, {"status": "paused"}).status == 403
    assert deployer.delete(PATH).status == 403
    assert client.get(PATH).json["rejection"] == rejection
    assert operator.patch(PATH, {"status": "ready"}).json["rejection"] is None


def test_a_mark_is_exported_and_applied_as_it_is(client: Client, server: Server) -> None:
    fleet.publish(client, "v1")
    client.post(f"{PATH}/reject", {"reason": "leaks"})
    kept = client.get(PATH).json["rejection"]
    manifests = client.get("/v1/export").json["manifests"]
    again = client.post("/v1/apply", {"manifests": manifests})
    assert again.status == 200
    assert {one["action"] for one in again.json["results"]} == {"unchanged"}
    version = next(one for one in manifests if one["kind"] == "Version")
    assert client.delete(PATH).status == 204
    server.clock.advance("1h")
    operator = server.client("ola:operator@default")
    assert operator.post("/v1/apply", {"manifests": [version]}).status == 403, "it says whose doing it was"
    assert client.post("/v1/apply", {"manifests": [version]}).status == 200
    assert client.get(PATH).json["rejection"] == kept
    events = [one for one in client.items("/v1/events") if one["type"] == "version.rejected"]
    assert len(events) == 1


def test_the_record_of_a_mark_needs_its_status(client: Client) -> None:
    record = {"reason": "leaks", "by": "ana", "at": "2026-03-01T09:00:00Z"}
    spec = {**MARKED["spec"], "status": "ready", "rejection": record}  # type: ignore[dict-item]
    fleet.publish(client, "v2")
    refused = client.post("/v1/apply", {"manifests": [{**MARKED, "spec": spec}]})
    assert refused.status == 422
    assert refused.json["errors"][0]["path"].endswith("spec.rejection")
