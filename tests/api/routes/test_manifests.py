"""Apply, diff, export, plan."""

from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server


def _manifest(kind: str, name: str, /, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


FLEET = [
    _manifest("Version", "v1", deployment="api"),
    _manifest("Freeze", "stop", reason="not yet"),
    _manifest("Policy", "careful", rules=[{"approval": {}}]),
    _manifest("Resource", "node-1", kind="Node"),
    _manifest("Deployment", "api", resourceSelector="true", jobAgent="runner"),
    _manifest("Environment", "prod", resourceSelector="true"),
    _manifest("JobAgent", "runner", type="pull"),
]


def _apply(client: Client, *manifests: Any, **options: Any) -> Any:
    return client.post("/v1/apply", {"manifests": list(manifests), **options})


def test_manifests_are_applied_in_an_order_that_works_and_answered_in_their_own(client: Client) -> None:
    response = _apply(client, *FLEET)
    assert [{key: one[key] for key in ("kind", "name", "action")} for one in response.json["results"]] == [
        {"kind": "Version", "name": "api/v1", "action": "created"},
        {"kind": "Freeze", "name": "stop", "action": "created"},
        {"kind": "Policy", "name": "careful", "action": "created"},
        {"kind": "Resource", "name": "node-1", "action": "created"},
        {"kind": "Deployment", "name": "api", "action": "created"},
        {"kind": "Environment", "name": "prod", "action": "created"},
        {"kind": "JobAgent", "name": "runner", "action": "created"},
    ]


def test_applying_twice_changes_nothing(client: Client, server: Server) -> None:
    _apply(client, *FLEET)
    head = server.store.head("default")
    actions = {result["action"] for result in _apply(client, *FLEET).json["results"]}
    assert actions == {"unchanged"}
    assert server.store.head("default") == head


def test_only_what_changed_is_configured(client: Client) -> None:
    _apply(client, *FLEET)
    results = _apply(client, _manifest("Resource", "node-1", kind="Server"), FLEET[4]).json["results"]
    assert [result["action"] for result in results] == ["configured", "unchanged"]
    assert client.get("/v1/resources/node-1").json["kind"] == "Server"


def test_all_problems_are_named_with_the_place_of_their_manifest(client: Client) -> None:
    response = _apply(
        client,
        _manifest("Resource", "node-1", kind=3),
        _manifest("Pod", "x"),
        {"rules": [{"approval": {"minApprovals": -1}}], "name": "p"},
        "text",
        _manifest("Resource", "node-2"),
        _manifest("Resource", "node-2"),
    )
    assert response.status == 422
    assert [error["path"] for error in response.json["errors"]] == [
        "manifests[0].spec.kind",
        "manifests[1].kind",
        "manifests[2].rules[0].approval.minApprovals",
        "manifests[3]",
        "manifests[5]",
    ]
    assert client.items("/v1/resources") == []


def test_a_version_needs_its_deployment_by_name_or_id(client: Client) -> None:
    _apply(client, *FLEET)
    id_ = client.get("/v1/deployments/api").json["id"]
    assert _apply(client, _manifest("Version", "v2", deployment=id_)).status == 200
    assert client.get("/v1/versions/api%2Fv2").status == 200


def test_what_the_engine_refuses_undoes_everything(client: Client) -> None:
    fleet.put(client, "resources", "owner", identifier="i-1")
    response = _apply(client, _manifest("Resource", "a"), _manifest("Resource", "b", identifier="i-1"))
    assert [error["path"] for error in response.json["errors"]] == ["manifests[1].spec.identifier"]
    assert [item["name"] for item in client.items("/v1/resources")] == ["owner"]


def test_a_version_of_no_deployment_is_refused_with_everything_else(client: Client) -> None:
    response = _apply(client, _manifest("Resource", "node-1"), _manifest("Version", "v1", deployment="web"))
    assert [error["path"] for error in response.json["errors"]] == ["manifests[1].spec.deployment"]
    assert client.items("/v1/resources") == []


@pytest.mark.parametrize("api_version", ["grove.io/v1alpha1", "kro.run/v1alpha1"])
def test_objects_of_clusters_are_applied_to_clusters(client: Client, api_version: str) -> None:
    foreign = {"apiVersion": api_version, "kind": "PodCliqueSet", "metadata": {"name": "llm"}, "spec": {}}
    response = _apply(client, foreign)
    assert response.json["errors"][0]["message"] == (
        f"is {api_version}; a PodCliqueSet is applied to a cluster, not here"
    )


def test_a_manifest_of_another_workspace_is_refused(client: Client) -> None:
    manifest = _manifest("Resource", "node-1")
    manifest["metadata"]["workspace"] = "other"
    response = _apply(client, manifest)
    assert [error["path"] for error in response.json["errors"]] == ["manifests[0].metadata.workspace"]


def test_objects_of_a_workspace_belong_to_it(client: Client) -> None:
    client.post("/v1/workspaces", {"name": "other"})
    client.post("/v1/apply", {"manifests": [_manifest("Resource", "node-1")]}, workspace="other")
    manifest = client.get("/v1/export", workspace="other").json["manifests"][0]
    assert manifest["metadata"]["workspace"] == "other"
    again = client.post("/v1/apply", {"manifests": [manifest]}, workspace="other")
    assert again.json["results"][0]["action"] == "unchanged"


def test_yaml_is_taken_as_people_write_it(client: Client) -> None:
    text = b"""
apiVersion: headgate.dev/v1
kind: Resource
metadata: {name: node-1}
spec: {kind: Node}
---
apiVersion: headgate.dev/v1
kind: Resource
metadata: {name: node-2}
---
"""
    response = client.post("/v1/apply", text, {"Content-Type": "application/yaml"})
    assert [result["name"] for result in response.json["results"]] == ["node-1", "node-2"]


@pytest.mark.parametrize(("text", "status"), [(b"a: [", 422), (b"\xff", 400), (b"kind: Resource", 422)])
def test_yaml_that_cannot_be_read_is_refused(client: Client, text: bytes, status: int) -> None:
    assert client.post("/v1/apply", text, {"Content-Type": "application/yaml"}).status == status


def test_each_kind_needs_its_permission(server: Server, client: Client) -> None:
    _apply(client, *FLEET)
    deployer = server.client("dee:deployer@default")
    assert _apply(deployer, _manifest("Resource", "node-2")).status == 200
    refused = _apply(deployer, _manifest("Resource", "node-3"), _manifest("Policy", "p", rules=[]))
    assert (refused.status, "policy:write" in refused.json["detail"]) == (403, True)
    scoped = _manifest("Version", "v2", deployment="api", targetSelector="true")
    assert "version:scope" in _apply(deployer, scoped).json["detail"]
    assert _apply(server.client("vic:viewer@default"), _manifest("Resource", "node-3")).status == 403


def test_a_dry_run_says_what_would_be_done_and_does_nothing(client: Client, server: Server) -> None:
    _apply(client, *FLEET)
    head = server.store.head("default")
    response = _apply(client, FLEET[3], _manifest("Resource", "node-2"), dryRun=True)
    assert [result["action"] for result in response.json["results"]] == ["unchanged", "created"]
    refused = _apply(client, _manifest("Version", "v1", deployment="web"), dryRun=True)
    assert [error["path"] for error in refused.json["errors"]] == ["manifests[0].spec.deployment"]
    assert server.store.head("default") == head


def test_an_id_that_is_not_the_objects_own_is_refused(client: Client) -> None:
    own = client.put("/v1/resources/node-1", {}).json["id"]
    wrong, stolen = _manifest("Resource", "node-1"), _manifest("Resource", "node-2")
    wrong["metadata"]["id"] = "5f0c8f1e-6f2b-4c55-9a57-0d6ad0e3a001"
    stolen["metadata"]["id"] = own
    assert _apply(client, wrong).json["errors"][0]["path"] == "manifests[0].metadata.id"
    assert _apply(client, stolen).json["errors"][0]["path"] == "manifests[0].metadata.id"


def test_rules_keep_their_ids_when_a_policy_is_applied_again(client: Client) -> None:
    _apply(client, *FLEET)
    before = client.get("/v1/policies/careful").json["rules"]
    _apply(client, _manifest("Policy", "careful", rules=[{"approval": {}}], priority=5))
    assert client.get("/v1/policies/careful").json["rules"] == before


def test_a_difference_is_said_field_by_field(client: Client) -> None:
    _apply(client, *FLEET)
    manifests = [_manifest("Resource", "node-1", kind="Server"), _manifest("Resource", "node-2")]
    first, second = client.post("/v1/diff", {"manifests": manifests}).json["differences"]
    assert (first["action"], first["fields"]) == (
        "configured",
        [{"path": "spec.kind", "before": "Node", "after": "Server"}],
    )
    assert (second["action"], second["before"], second["after"]["metadata"]["name"]) == (
        "created",
        None,
        "node-2",
    )
    assert client.get("/v1/resources/node-1").json["kind"] == "Node"


def test_what_is_exported_can_be_applied_elsewhere(client: Client) -> None:
    _apply(client, *FLEET)
    manifests = client.get("/v1/export").json["manifests"]
    assert len(manifests) == len(FLEET)
    assert {result["action"] for result in _apply(client, *manifests).json["results"]} == {"unchanged"}
    client.post("/v1/workspaces", {"name": "other"})
    elsewhere = client.post("/v1/apply", {"manifests": manifests}, workspace="other")
    assert {result["action"] for result in elsewhere.json["results"]} == {"created"}


def test_a_plan_shows_the_future_and_stores_nothing(client: Client, server: Server) -> None:
    fleet.make(client, nodes=3)
    slots = {"groupSelector": "true", "limitType": "count", "limitValue": 1}
    fleet.put(client, "policies", "slowly", rules=[{"resourceConcurrency": slots}])
    head = server.store.head("default")
    plan = client.post("/v1/plan", {"version": {"deployment": "api", "tag": "v1"}}).json
    assert [one["action"] for one in plan["differences"]] == ["created"]
    assert (len(plan["jobs"]), plan["converged"], plan["end"]) == (3, True, "2026-03-01T09:03:00Z")
    assert server.store.head("default") == head


def test_what_was_planned_is_what_happens(client: Client) -> None:
    fleet.make(client, nodes=8)
    rollout = {"gradualRollout": {"rolloutType": "linear", "timeScaleInterval": 600}}
    fleet.put(client, "policies", "gradual", rules=[rollout])
    plan = client.post("/v1/plan", {"version": {"deployment": "api", "tag": "v1"}}).json
    first_planned = [job["resource"] for job in plan["jobs"] if job["createdAt"] == plan["start"]]
    version = fleet.publish(client, "v1")
    assert version["id"] == plan["differences"][0]["after"]["metadata"]["id"]
    assert [job["resource"] for job in fleet.jobs(client)] == first_planned


def test_a_plan_of_manifests_may_be_cut(client: Client) -> None:
    fleet.make(client, nodes=3)
    slots = {"groupSelector": "true", "limitType": "count", "limitValue": 1}
    manifests = [
        _manifest("Policy", "slowly", rules=[{"resourceConcurrency": slots}]),
        _manifest("Version", "v1", deployment="api"),
    ]
    plan = client.post("/v1/plan", {"manifests": manifests, "until": "90s"}).json
    assert (len(plan["jobs"]), plan["finish"]["wasCut"]) == (2, True)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"until": "soon"}, "until"),
        ({"version": {"tag": "v1"}}, "version.deployment"),
        ({"manifests": [{}]}, "manifests[0].apiVersion"),
    ],
)
def test_a_plan_with_a_flaw_names_it(client: Client, body: dict[str, Any], path: str) -> None:
    response = client.post("/v1/plan", body)
    assert (response.status, response.json["errors"][0]["path"]) == (422, path)


def test_a_plan_that_would_be_refused_says_so(client: Client) -> None:
    fleet.make(client, nodes=1)
    plan = client.post("/v1/plan", {"version": {"deployment": "web", "tag": "v1"}}).json
    assert plan["rejected"][0]["errors"][0]["path"] == "spec.deployment"


def test_a_tag_that_is_there_cannot_be_planned_again(client: Client) -> None:
    fleet.make(client, nodes=1)
    fleet.publish(client, "v1")
    plan = client.post("/v1/plan", {"version": {"deployment": "api", "tag": "v1"}}).json
    assert plan["rejected"][0]["errors"][0]["path"] == "spec.tag"


def test_too_many_plans_at_once_are_turned_away(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.api.rehearsing.MOST_WAITING", 0)
    response = client.post("/v1/plan", {})
    assert (response.status, response.headers["retry-after"]) == (503, "2")


def test_an_empty_plan_tells_what_goes_on_by_itself(client: Client) -> None:
    fleet.make(client, nodes=1)
    assert client.post("/v1/plan", {}).json["jobs"] == []
