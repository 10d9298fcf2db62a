from __future__ import annotations

import pytest

from api.routes import fleet
from api.routes.server import Client, Server, segment

ONE = "/v1/release-targets/api%2Fprod%2Fnode-1"


@pytest.fixture(autouse=True)
def made(client: Client) -> None:
    fleet.make(client)


def test_targets_show_where_they_are(client: Client) -> None:
    fleet.publish(client, "v1")
    job = fleet.jobs(client, resource="node-1")[0]
    fleet.finish(client, job)
    other = fleet.jobs(client, resource="node-2")[0]
    assert client.items("/v1/release-targets") == [
        {
            "name": "api/prod/node-1",
            "deployment": "api",
            "environment": "prod",
            "resource": "node-1",
            "state": "upToDate",
            "current": "v1",
            "job": None,
        },
        {
            "name": "api/prod/node-2",
            "deployment": "api",
            "environment": "prod",
            "resource": "node-2",
            "state": "running",
            "current": None,
            "job": {"id": other["id"], "status": "pending"},
        },
    ]


def test_targets_are_found_by_their_parts_and_by_state(client: Client) -> None:
    fleet.put(client, "environments", "qa", resourceSelector="resource.name == 'node-2'")
    fleet.put(client, "deployments", "api-2", resourceSelector="true")
    node = client.get("/v1/resources/node-2").json["id"]

    def names(**query: str) -> list[str]:
        return [target["name"] for target in client.items("/v1/release-targets", **query)]

    assert names(deployment="api", resource=node) == ["api/prod/node-2", "api/qa/node-2"]
    assert names(environment="qa") == ["api-2/qa/node-2", "api/qa/node-2"]
    assert names(deployment="api") == ["api/prod/node-1", "api/prod/node-2", "api/qa/node-2"]
    assert names(deployment="nothing") == []
    assert len(names(state="noVersion")) == 6
    assert names(state="running") == []
    assert names(cel="target.environment == 'qa' && target.deployment == 'api'") == ["api/qa/node-2"]


def test_pages_of_targets_go_both_ways(client: Client) -> None:
    first = client.get("/v1/release-targets", limit=1, sort="-name").json
    second = client.get("/v1/release-targets", limit=1, sort="-name", cursor=first["next"]).json
    assert [item["resource"] for item in (*first["items"], *second["items"])] == ["node-2", "node-1"]


def test_a_filter_by_state_goes_on_behind_what_it_left_out(client: Client) -> None:
    fleet.publish(client, "v1", targetSelector="resource.name == 'node-2'")
    fleet.jobs(client)
    page = client.get("/v1/release-targets", state="running", limit=1).json
    assert ([item["resource"] for item in page["items"]], page["next"]) == (["node-2"], None)


@pytest.mark.parametrize("path", [ONE, "/v1/release-targets/api/prod/node-1"])
def test_one_target_says_what_is_wanted_and_why_it_is_not_there(client: Client, path: str) -> None:
    fleet.put(client, "policies", "careful", rules=[{"approval": {"minApprovals": 1}}])
    fleet.publish(client, "v1")
    target = client.get(path).json
    assert (target["state"], target["current"], target["desired"]) == ("waiting", None, "v1")
    assert "approval" in target["message"]


@pytest.mark.parametrize("path", [f"{ONE}/explain", "/v1/release-targets/api/prod/node-1/explain"])
def test_an_explanation_has_every_verdict(client: Client, path: str) -> None:
    fleet.put(
        client, "policies", "careful", rules=[{"approval": {}}, {"versionCooldown": {"intervalSeconds": 60}}]
    )
    fleet.publish(client, "v1")
    explanation = client.get(path).json
    verdicts = {line["type"]: line["verdict"] for line in explanation["rules"]}
    assert verdicts["approval"] == "pending"
    assert explanation["target"] == "api/prod/node-1"
    assert explanation["message"].startswith("v1: ")


def test_times_of_an_explanation_are_written_out(client: Client) -> None:
    window = {"rrule": "FREQ=DAILY;BYHOUR=12;BYMINUTE=0;BYSECOND=0", "durationMinutes": 60, "timezone": "UTC"}
    fleet.put(client, "policies", "noon", rules=[{"deploymentWindow": window}])
    fleet.publish(client, "v1")
    explanation = client.get(f"{ONE}/explain").json
    assert explanation["nextEvaluationTime"] == "2026-03-01T12:00:00Z"


def test_a_target_lists_its_own_jobs(client: Client) -> None:
    fleet.publish(client, "v1")
    fleet.jobs(client, 2)
    assert [job["resource"] for job in client.items(f"{ONE}/jobs")] == ["node-1"]


def test_parts_of_a_target_may_be_ids(client: Client) -> None:
    ids = [client.get(path).json["id"] for path in ("/v1/deployments/api", "/v1/environments/prod")]
    assert client.get(f"/v1/release-targets/{ids[0]}/{ids[1]}/node-1").json["name"] == "api/prod/node-1"
    assert client.get(f"/v1/release-targets/{segment('/'.join((*ids, 'node-1')))}").status == 200


@pytest.mark.parametrize("path", ["api%2Fprod%2Fnode-9", "nonsense", "api/prod/node-9", "%2F%2F"])
def test_a_target_that_is_not_there_is_not_found(client: Client, path: str) -> None:
    assert client.get(f"/v1/release-targets/{path}").status == 404
    assert client.get(f"/v1/release-targets/{path}/explain").status == 404
    assert client.post(f"/v1/release-targets/{path}/retry").status == 404


def test_a_failed_target_is_tried_again(client: Client) -> None:
    fleet.publish(client, "v1")
    job = fleet.jobs(client, resource="node-1")[0]
    fleet.finish(client, job, "failure")
    assert client.get(ONE).json["state"] == "failed"
    assert client.post(f"{ONE}/retry").status == 200
    assert len(fleet.jobs(client, 2, resource="node-1")) == 2


def test_a_target_goes_back_and_deploys_again(client: Client, server: Server) -> None:
    for tag in ("v1", "v2"):
        server.clock.advance("1s")
        fleet.publish(client, tag)
        fleet.finish(client, fleet.jobs(client, resource="node-1", cel=f"job.version == '{tag}'")[0])
    assert client.post("/v1/release-targets/api/prod/node-1/redeploy").status == 200
    again = fleet.jobs(client, resource="node-1", cel="job.kind == 'redeploy'")[0]
    fleet.finish(client, again)
    assert client.post(f"{ONE}/rollback").status == 200
    back = fleet.jobs(client, resource="node-1", cel="job.kind == 'rollback'")[0]
    assert back["version"] == "v1"


def test_what_a_target_is_not_in_a_state_for_is_a_conflict(client: Client) -> None:
    response = client.post(f"{ONE}/rollback")
    assert (response.status, "no previous version" in response.json["detail"]) == (409, True)


def test_a_target_that_has_not_failed_is_not_tried_again(client: Client) -> None:
    fleet.publish(client, "v1")
    running = client.post(f"{ONE}/retry")
    fleet.finish(client, fleet.jobs(client, resource="node-1")[0])
    succeeded = client.post(f"{ONE}/retry")
    assert (running.status, succeeded.status) == (409, 409)
    assert "has a live job" in running.json["detail"]
    assert succeeded.json["detail"] == "api/prod/node-1 has nothing that failed or was put back"


def test_what_was_rolled_back_from_may_be_tried_again(client: Client, server: Server) -> None:
    for tag in ("v1", "v2"):
        server.clock.advance("1s")
        fleet.publish(client, tag)
        fleet.finish(client, fleet.jobs(client, resource="node-1", cel=f"job.version == '{tag}'")[0])
    client.post(f"{ONE}/rollback")
    fleet.finish(client, fleet.jobs(client, resource="node-1", cel="job.kind == 'rollback'")[0])
    assert client.post(f"{ONE}/retry").status == 200
    assert len(fleet.jobs(client, 2, resource="node-1", cel="job.version == 'v2'")) == 2


def test_acting_on_a_target_needs_the_permission(server: Server) -> None:
    assert server.client("dee:deployer@default").post(f"{ONE}/retry").status == 403
