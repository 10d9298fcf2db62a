"""Orders for many targets in one request, where a rollback may go, and taking over what runs."""

from __future__ import annotations

from typing import Any

import pytest

from api.routes import fleet
from api.routes.server import Client, Server

MANY = "/v1/deployments/api"


@pytest.fixture(autouse=True)
def made(client: Client) -> None:
    fleet.make(client, nodes=3)


def deploy(client: Client, server: Server, *tags: str) -> None:
    for tag in tags:
        server.clock.advance("1s")
        fleet.publish(client, tag)
        for job in fleet.jobs(client, 3, cel=f"job.version == '{tag}'"):
            fleet.finish(client, job)


def current(client: Client) -> dict[str, Any]:
    return {item["resource"]: item["current"] for item in client.items("/v1/release-targets")}


def test_a_preview_says_from_where_to_where_and_who_cannot(client: Client, server: Server) -> None:
    deploy(client, server, "v1", "v2")
    client.post("/v1/release-targets/api/prod/node-2/redeploy")
    fleet.jobs(client, resource="node-2", cel="job.kind == 'redeploy'")
    before = client.items("/v1/audit")
    answer = client.post(f"{MANY}/rollback", {"environment": "prod", "dryRun": True})
    assert answer.json == {
        "action": "rollback",
        "deployment": "api",
        "environment": "prod",
        "dryRun": True,
        "count": 2,
        "targets": [
            {"name": "api/prod/node-1", "from": "v2", "to": "v1"},
            {"name": "api/prod/node-3", "from": "v2", "to": "v1"},
        ],
        "refusedCount": 1,
        "refused": [
            {"name": "api/prod/node-2", "reason": "api/prod/node-2 has a live job; wait for it to end"}
        ],
    }
    assert client.items("/v1/audit") == before


def test_an_order_for_many_is_one_entry_of_the_audit_log(client: Client, server: Server) -> None:
    deploy(client, server, "v1", "v2")
    count = len(client.items("/v1/audit", kind="ReleaseTarget"))
    body = {"environment": "prod", "selector": "resource.name != 'node-3'"}
    assert client.post(f"{MANY}/rollback", body).json["count"] == 2
    entries = client.items("/v1/audit", kind="ReleaseTarget")
    assert (len(entries), entries[0]["action"], entries[0]["name"]) == (count + 1, "rollback", "api/prod")
    for job in fleet.jobs(client, 2, cel="job.kind == 'rollback'"):
        fleet.finish(client, job)
    assert current(client) == {"node-1": "v1", "node-2": "v1", "node-3": "v2"}


def test_to_is_any_version_that_ran_there(client: Client, server: Server) -> None:
    deploy(client, server, "v1", "v2", "v3")
    fleet.publish(client, "v4", status="building")
    refused = client.post("/v1/release-targets/api/prod/node-1/rollback", {"to": "v4"})
    assert (refused.status, refused.json["detail"]) == (
        409,
        "api/prod/node-1 has not run v4; allowed are the versions that ran there: v1, v2",
    )
    assert client.post(f"{MANY}/rollback", {"environment": "prod", "to": "v1"}).json["count"] == 3
    assert {job["version"] for job in fleet.jobs(client, 3, cel="job.kind == 'rollback'")} == {"v1"}


def test_where_no_target_can_it_is_a_conflict_that_says_why(client: Client) -> None:
    refused = client.post(f"{MANY}/retry", {"environment": "prod"})
    assert refused.status == 409
    assert refused.json["detail"].startswith(
        "no target can be tried again: api/prod/node-1 has nothing that failed or was put back"
    )


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ({"environment": "prod", "selector": "resource.name == 'x'"}, "selector", "matches none of the 3 release targets"),
        ({"environment": "prod", "selector": "resource.name =="}, "selector", ""),
        ({"environment": "qa"}, "environment", "there is no environment 'qa'"),
        ({"environment": "prod", "to": "v9"}, "tag", "there is no version of api 'v9'"),
        ({}, "environment", "is required"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dry_run", [True, False])
def test_an_order_that_concerns_nobody_is_refused(
    client: Client, body: dict[str, Any], path: str, message: str, dry_run: bool
) -> None:
    answer = client.post(f"{MANY}/redeploy", {**body, "dryRun": dry_run})
    assert (answer.status, answer.json["errors"][0]["path"]) == (422, path)
    assert message in answer.json["errors"][0]["message"]


def test_what_is_adopted_runs_without_a_job(client: Client) -> None:
    fleet.put(client, "freezes", "taking-over", reason="taking over")
    fleet.publish(client, "v1")
    answer = client.post(f"{MANY}/adopt", {"environment": "prod", "version": "v1"})
    assert (answer.status, answer.json["count"]) == (200, 3)
    client.delete("/v1/freezes/taking-over")
    assert current(client) == dict.fromkeys(("node-1", "node-2", "node-3"), "v1")
    assert client.items("/v1/jobs") == []
    explained = client.get("/v1/release-targets/api/prod/node-1/explain").json
    assert explained["message"] == "runs v1 (adopted by ana), nothing newer is in scope"


def test_one_target_is_adopted_and_not_while_its_job_runs(client: Client) -> None:
    fleet.publish(client, "v1")
    job = fleet.jobs(client, resource="node-1")[0]
    one = "/v1/release-targets/api/prod/node-1/adopt"
    refused = client.post(one, {"version": "v1"})
    assert (refused.status, refused.json["detail"]) == (
        409,
        "api/prod/node-1 has a live job; wait for it to end",
    )
    fleet.finish(client, job, "failure")
    assert client.post(one, {"version": "v1"}).json["state"] == "upToDate"
    assert client.post(one, {}).status == 422


def test_adopting_has_a_permission_of_its_own(client: Client, server: Server) -> None:
    fleet.publish(client, "v1")
    body = {"environment": "prod", "version": "v1", "dryRun": True}
    assert server.client("dee:deployer@default").post(f"{MANY}/adopt", body).status == 403
    assert server.client("ops:operator@default").post(f"{MANY}/adopt", body).status == 200


def handed_in(client: Client, **current: str) -> Any:
    resources = [{"name": f"node-{number}", "kind": "Node", "current": current} for number in range(1, 4)]
    return client.put("/v1/resources/set", {"provider": "inventory", "resources": resources})


def test_resources_bring_what_they_run(client: Client) -> None:
    for number in range(1, 4):
        client.delete(f"/v1/resources/node-{number}")
    fleet.publish(client, "v1")
    answer = handed_in(client, api="v1")
    assert answer.json["adopted"] == [f"api/prod/node-{number}" for number in range(1, 4)]
    assert current(client) == dict.fromkeys(("node-1", "node-2", "node-3"), "v1")
    assert client.items("/v1/jobs") == []


def test_an_inventory_that_is_behind_changes_nothing(client: Client, server: Server) -> None:
    deploy(client, server, "v1", "v2")
    assert handed_in(client, api="v1").json["adopted"] == []
    assert current(client) == dict.fromkeys(("node-1", "node-2", "node-3"), "v2")


@pytest.mark.parametrize(
    ("running", "message"),
    [
        ({"web": "v1"}, "there is no deployment 'web'"),
        ({"api": "v9"}, "api has no version 'v9'"),
        ({"elsewhere": "v1"}, "node-1 is no release target of elsewhere"),
    ],
)
def test_what_nobody_can_run_is_refused_with_its_place(
    client: Client, running: dict[str, str], message: str
) -> None:
    fleet.put(client, "deployments", "elsewhere", resourceSelector="false")
    fleet.publish(client, "v1", "elsewhere")
    answer = handed_in(client, **running)
    assert (answer.status, answer.json["errors"][0]) == (
        422,
        {"path": f"resources[0].current.{next(iter(running))}", "message": message},
    )


def test_a_provider_needs_the_permission_to_say_what_runs(client: Client, server: Server) -> None:
    body = {"provider": "p", "resources": [{"name": "node-1", "kind": "Node", "current": {"api": "v1"}}]}
    answer = server.client("dee:deployer@default").put("/v1/resources/set", body)
    assert (answer.status, "target:adopt" in answer.json["detail"]) == (403, True)
