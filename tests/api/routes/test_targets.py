from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server, segment, until

ONE = "/v1/release-targets/api%2Fprod%2Fnode-1"


@pytest.fixture(autouse=True)
def made(client: Client) -> None:
    fleet.make(client)


def test_targets_show_where_they_are(client: Client) -> None:
    fleet.publish(client, "v1")
    job = fleet.jobs(client, resource="node-1")[0]
    fleet.finish(client, job)
    other = fleet.jobs(client, resource="node-2")[0]
    unasked = {"desired": None, "message": None, "nextEvaluationTime": None}
    assert client.items("/v1/release-targets") == [
        {
            **unasked,
            "name": "api/prod/node-1",
            "deployment": "api",
            "environment": "prod",
            "resource": "node-1",
            "state": "upToDate",
            "current": "v1",
            "job": None,
        },
        {
            **unasked,
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
    # What a selector reads, a filter reads too.
    assert names(cel="environment.name == 'qa' && resource.name == 'node-2' && deployment.name == 'api'") == [
        "api/qa/node-2"
    ]


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
    reasons = [(line["verdict"], line["reason"]) for line in explanation["tree"]["lines"]]
    assert reasons == [(line["verdict"], line["reason"]) for line in explanation["rules"]]
    assert ("pending", "AwaitingApproval") in reasons


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


def test_a_list_gives_reasons_where_they_are_asked_for(client: Client) -> None:
    fleet.put(client, "resources", "node-1")
    fleet.put(client, "environments", "prod", resourceSelector="true")
    fleet.put(client, "deployments", "api", resourceSelector="true")
    fleet.put(client, "policies", "votes", rules=[{"approval": {"minApprovals": 1}}])
    client.post("/v1/deployments/api/versions", {"tag": "v1"})
    bare = client.items("/v1/release-targets")[0]
    assert (bare["desired"], bare["message"], bare["nextEvaluationTime"]) == (None, None, None)
    told = client.items("/v1/release-targets", reasons="true")[0]
    assert told["message"] == client.get("/v1/release-targets/api/prod/node-1").json["message"]
    assert "waits for 1 approval" in told["message"]


def test_a_deployment_is_explained_by_reason(client: Client, server: Server) -> None:
    fleet.make(client, nodes=7)
    fleet.put(client, "environments", "qa", resourceSelector="resource.name == 'node-1'")
    fleet.put(client, "policies", "careful", selector="environment.name == 'prod'", rules=[{"approval": {}}])
    fleet.publish(client, "v1")
    fleet.finish(client, fleet.jobs(client, 1)[0])
    found = client.get("/v1/deployments/api/explain").json
    assert (found["deployment"], found["targets"]) == ("api", 8)
    waiting, done = found["reasons"]
    assert (waiting["state"], waiting["count"], waiting["blocked"], waiting["type"]) == (
        "waiting",
        7,
        7,
        "approval",
    )
    assert waiting["targets"] == [f"api/prod/node-{number}" for number in range(1, 6)]
    assert waiting["actions"][0]["command"] == "headgate approve api v1 -e prod"
    assert waiting["actions"][0]["roles"] == ["approver", "admin"]
    assert (done["state"], done["count"], done["environment"]) == ("upToDate", 1, "qa")
    narrowed = client.get("/v1/deployments/api/explain", environment="qa").json
    assert [group["environment"] for group in narrowed["reasons"]] == ["qa"]
    assert client.get("/v1/deployments/nothing/explain").status == 404
    assert found["withoutTargets"] == []


def test_a_deployment_without_targets_says_why(client: Client, server: Server) -> None:
    """Whichever of the selectors it is, and not only that there is none."""
    fleet.put(client, "environments", "empty")
    fleet.put(client, "environments", "nowhere", resourceSelector="resource.name == 'moon'")
    fleet.put(client, "environments", "apart", resourceSelector="true", systems=["other"])

    def why(name: str, **query: str) -> list[str]:
        found: list[str] = client.get(f"/v1/deployments/{name}/explain", **query).json["withoutTargets"]
        return found

    fleet.put(client, "deployments", "idle")
    assert why("idle") == [
        "the deployment has no resourceSelector, and so no resource: `resourceSelector: 'true'` takes all"
    ]
    fleet.put(client, "deployments", "lost", resourceSelector="resource.name == 'mars'")
    assert why("lost") == [
        "the deployment has a resourceSelector that matches no resource: resource.name == 'mars'"
    ]
    assert why("api", environment="empty")[0].startswith("environment empty has no resourceSelector")
    assert why("api", environment="nowhere")[0].endswith("matches no resource: resource.name == 'moon'")
    assert why("api", environment="apart") == [
        "environment apart is of other systems (other) than the deployment (default)"
    ]
    assert why("api") == []


def test_explain_begins_with_what_changes_it_and_ends_with_what_one_can_do(client: Client) -> None:
    fleet.publish(client, "v1")
    fleet.finish(
        client,
        fleet.jobs(client, 1, resource="node-1")[0],
        "failure",
        message="disk full",
        links={"log": "https://ci.example/1"},
    )
    found = client.get("/v1/release-targets/api%2Fprod%2Fnode-1/explain").json
    assert (found["state"], found["blocked"]) == ("failed", True)
    assert found["changes"] == "when a person decides: see what you can do"
    assert "disk full" in found["message"]
    job = found["job"]
    assert (job["status"], job["attempt"], job["agent"], job["message"]) == (
        "failure",
        1,
        "runner",
        "disk full",
    )
    assert job["links"] == {"log": "https://ci.example/1"}
    assert [(action["command"], action["roles"]) for action in found["actions"]] == [
        ("headgate retry api/prod/node-1", ["operator", "admin"]),
        ("headgate reject-version api v1 --reason ...", ["operator", "admin"]),
    ]


def test_what_failed_on_many_is_tried_again_with_one_command(client: Client) -> None:
    fleet.publish(client, "v1")
    for name in ("node-1", "node-2"):
        fleet.finish(client, fleet.jobs(client, 1, resource=name)[0], "failure")
    groups = client.get("/v1/deployments/api/explain", environment="prod").json["reasons"]
    failed = next(group for group in groups if group["state"] == "failed")
    assert failed["count"] == 2
    assert [action["command"] for action in failed["actions"]][:2] == [
        "headgate retry api -e prod",
        "headgate retry api/prod/node-1",
    ]


def test_what_is_marked_as_bad_is_not_offered_to_be_marked_again(client: Client) -> None:
    fleet.publish(client, "v1")
    fleet.finish(client, fleet.jobs(client, 1, resource="node-1")[0], "failure")
    assert client.post("/v1/deployments/api/versions/v1/reject", {"reason": "leaks"}).status == 200
    found = client.get("/v1/release-targets/api%2Fprod%2Fnode-1/explain").json
    assert not [action for action in found["actions"] if "reject-version" in action["command"]]


def test_after_a_bad_version_failed_the_way_back_is_offered_and_no_retry(client: Client) -> None:
    fleet.publish(client, "v1")
    fleet.finish(client, fleet.jobs(client, 1, resource="node-1")[0])
    fleet.publish(client, "v2", createdAt="2999-01-01T00:00:00Z")
    second = fleet.jobs(client, resource="node-1", cel="job.version == 'v2'")[0]
    fleet.finish(client, second, "failure")
    assert client.post("/v1/deployments/api/versions/v2/reject", {"reason": "leaks"}).status == 200
    found = client.get("/v1/release-targets/api%2Fprod%2Fnode-1/explain").json
    assert found["state"] == "failed"
    assert "it is rejected and not tried again" in found["message"]
    assert [action["command"] for action in found["actions"]] == ["headgate rollback api/prod/node-1"]
    assert client.post(f"{ONE}/retry").status == 409
    assert client.post(f"{ONE}/rollback").status == 200


def test_the_one_that_changes_first_speaks_for_those_that_wait_for_the_same(client: Client) -> None:
    fleet.make(client, nodes=7)
    slowly = {"gradualRollout": {"rolloutType": "linear", "timeScaleInterval": 60}}
    fleet.put(client, "policies", "careful", rules=[slowly])
    fleet.publish(client, "v1")
    waiting = next(
        group for group in client.get("/v1/deployments/api/explain").json["reasons"] if group["count"] == 6
    )
    alone = [
        client.get(f"/v1/release-targets/{segment(f'api/prod/node-{number}')}/explain").json
        for number in range(1, 8)
    ]
    first = min(
        (one for one in alone if one["state"] == "waiting"), key=lambda one: str(one["nextEvaluationTime"])
    )
    assert (waiting["changes"], waiting["message"]) == (first["changes"], first["message"])
    assert (waiting["targets"][0], len(waiting["targets"])) == (first["target"], 5)


def test_who_queues_behind_a_failed_cycle_waits_for_a_person(client: Client) -> None:
    fleet.make(client, nodes=1)
    bracket = {"deploymentSelector": "true", "readinessMode": "immediate"}
    fleet.put(client, "policies", "cycle", rules=[{"deploymentBracket": bracket}])
    fleet.put(client, "deployments", "web", resourceSelector="true")
    fleet.publish(client, "v1")
    fleet.finish(client, fleet.jobs(client, resource="node-1")[0], "failure")
    client.post("/v1/deployments/web/versions", {"tag": "v1"})
    failed = client.items("/v1/groups", status="failed")[0]["id"]
    found = until(lambda: _explained_as_blocked(client, "web/prod/node-1"))
    assert (found["state"], found["changes"]) == ("waiting", "when a person decides: see what you can do")
    assert f"group {failed} is failed" in found["message"]
    assert [action["command"] for action in found["actions"]] == [
        f"headgate retry --group {failed}",
        f"headgate skip-member {failed} api",
        f"headgate abort {failed}",
    ]


def _explained_as_blocked(client: Client, target: str) -> Any:
    found = client.get(f"/v1/release-targets/{target.replace('/', '%2F')}/explain").json
    return found if found["blocked"] else None


def test_what_is_paused_names_the_command_that_lets_it_go_on_and_who_may(client: Client) -> None:
    fleet.publish(client, "v1")
    fleet.finish(client, fleet.jobs(client, 1, resource="node-1")[0])
    fleet.publish(client, "v2", status="paused")
    found = client.get("/v1/release-targets/api%2Fprod%2Fnode-1/explain").json
    assert found["message"] == "runs v1, v2 is paused"
    assert found["changes"] == "when v2 is ready again or a newer version is published"
    assert [(action["command"], action["roles"]) for action in found["actions"]] == [
        ("headgate unpause-version api v2", ["deployer", "operator", "admin"])
    ]
    assert client.patch("/v1/deployments/api/versions/v2", {"status": "ready"}).status == 200
    assert fleet.jobs(client, resource="node-1", cel="job.version == 'v2'")


def test_what_is_paused_in_mid_cycle_waits_for_a_person_and_names_the_command(client: Client) -> None:
    """Also a version that runs there already: a post-hook that is paused keeps its resource prepared."""
    fleet.put(client, "deployments", "web", resourceSelector="true", jobAgent="runner")
    bracket = {"deploymentSelector": "true", "readinessMode": "immediate"}
    hooks = {"preHookSelector": "false", "postHookSelector": "deployment.name == 'web'"}
    fleet.put(client, "policies", "together", rules=[{"deploymentBracket": {**bracket, **hooks}}])
    fleet.publish(client, "u1", "web")
    fleet.publish(client, "v1")
    fleet.finish(client, fleet.jobs(client, resource="node-1", cel="job.version == 'v1'")[0])
    fleet.finish(client, fleet.jobs(client, resource="node-1", deployment="web")[0])
    fleet.publish(client, "v2")
    job = fleet.jobs(client, resource="node-1", cel="job.version == 'v2'")[0]
    assert client.patch("/v1/deployments/web/versions/u1", {"status": "paused"}).status == 200
    fleet.finish(client, job)
    found = until(lambda: _explained_as_blocked(client, "web/prod/node-1"))
    assert (found["state"], found["message"]) == ("waiting", "u1: u1 is paused")
    assert found["changes"] == "when a person decides: see what you can do"
    assert [action["command"] for action in found["actions"]] == ["headgate unpause-version web u1"]


def test_between_attempts_the_way_on_and_the_way_back_are_offered(client: Client) -> None:
    fleet.put(client, "policies", "patient", rules=[{"retry": {"maxRetries": 3, "backoffSeconds": 3600}}])
    fleet.publish(client, "v1")
    fleet.finish(client, fleet.jobs(client, 1, resource="node-1")[0])
    fleet.publish(client, "v2")
    fleet.finish(client, fleet.jobs(client, resource="node-1", cel="job.version == 'v2'")[0], "failure")
    client.patch("/v1/deployments/api/versions/v2", {"status": "paused"})
    found = client.get("/v1/release-targets/api%2Fprod%2Fnode-1/explain").json
    assert found["state"] == "waiting"
    assert [(action["command"], action["effect"]) for action in found["actions"]] == [
        ("headgate unpause-version api v2", "makes it ready again: it starts when its gates allow"),
        ("headgate rollback api/prod/node-1", "gives up the next attempt and goes back to v1"),
    ]


def outlooks(client: Client) -> dict[str, Any]:
    return {one["action"]: one for one in client.get(ONE).json["orders"]}


def test_a_target_says_what_can_be_ordered_and_why_the_rest_cannot(client: Client) -> None:
    found = outlooks(client)
    assert found["retry"]["refusal"] == "api/prod/node-1 has nothing that failed or was put back"
    assert found["redeploy"]["refusal"] == "api/prod/node-1 has nothing deployed to deploy again"
    assert found["rollback"]["refusal"] == "api/prod/node-1 has no previous version to go back to"
    fleet.publish(client, "v1")
    assert "has a live job" in outlooks(client)["redeploy"]["refusal"]
    fleet.finish(client, fleet.jobs(client, resource="node-1")[0])
    found = until(lambda: (one := outlooks(client))["redeploy"]["refusal"] is None and one)
    assert found["redeploy"]["to"] == "v1"
    fleet.publish(client, "v2")
    job = until(lambda: fleet.jobs(client, resource="node-1", cel="job.version == 'v2'"))[0]
    fleet.finish(client, job)
    found = until(lambda: (one := outlooks(client))["rollback"]["refusal"] is None and one)
    assert (found["rollback"]["to"], found["rollback"]["versions"]) == ("v1", ["v1"])


@pytest.mark.parametrize("action", ["retry", "redeploy", "rollback"])
def test_what_a_target_says_of_an_order_is_what_the_order_is_answered(client: Client, action: str) -> None:
    said = outlooks(client)[action]["refusal"]
    answer = client.post(f"{ONE}/{action}", {"reason": "to see"})
    assert (answer.status, answer.json["detail"]) == (409, said)


def test_a_gate_says_why_it_is_not_skipped(client: Client) -> None:
    window = {
        "deploymentSelector": "true",
        "readinessMode": "collection_window",
        "readinessWindowSeconds": 60,
    }
    rules = [
        {"name": "yes", "approval": {"minApprovals": 1}},
        {"name": "together", "deploymentBracket": window},
    ]
    fleet.put(client, "policies", "careful", selector="true", rules=rules)
    fleet.publish(client, "v1")
    lines = client.get(f"{ONE}/explain").json["rules"]
    assert {one["rule"]: one["skipRefusal"] for one in lines if one["verdict"] != "allowed"} == {
        "yes": None,
        "together": "a cycle is not skipped: retry it, go on without a member, or abort it",
    }


def test_what_is_offered_is_quoted_for_a_shell(client: Client, server: Server) -> None:
    """And a name is never taken for an option."""
    fleet.put(client, "job-agents", "runner", type="pull")
    fleet.put(client, "environments", "prod $HOME", resourceSelector="true")
    fleet.put(client, "deployments", "-d", resourceSelector="true", jobAgent="runner")
    fleet.put(client, "resources", "$(touch x)", kind="Node")
    fleet.put(client, "policies", "careful", rules=[{"name": "it's", "approval": {}}])
    fleet.publish(client, "v1", "-d")
    told = client.get("/v1/release-targets/" + segment("-d/prod $HOME/$(touch x)") + "/explain").json
    commands = [action["command"] for action in told["actions"]]
    assert commands == [
        "headgate approve -e 'prod $HOME' -- -d v1",
        "headgate skip 'it'\\''s' --policy careful --deployment -d --tag v1 --environment 'prod $HOME' "
        "--resource '$(touch x)' --reason ...",
    ]
