from __future__ import annotations

import pytest

from api.routes import fleet
from api.routes.server import Client, Server


@pytest.fixture(autouse=True)
def published(client: Client) -> None:
    fleet.make(client)
    fleet.publish(client, "v1")


def test_a_job_tells_what_it_runs_where(client: Client) -> None:
    job = fleet.jobs(client, resource="node-1")[0]
    version = client.get("/v1/versions/api%2Fv1").json
    assert job == {
        "id": job["id"],
        "target": "api/prod/node-1",
        "deployment": "api",
        "environment": "prod",
        "resource": "node-1",
        "version": "v1",
        "versionId": version["id"],
        "attempt": 1,
        "status": "pending",
        "createdAt": "2026-03-01T09:00:00Z",
        "startedAt": None,
        "completedAt": None,
        "group": None,
        "kind": "deploy",
        "agent": "runner",
        "message": None,
        "reason": job["reason"],
        "externalId": None,
        "links": {},
        "verification": "none",
        "verifiedAt": None,
        "metrics": [],
    }
    assert client.get(f"/v1/jobs/{job['id']}").json == job


def test_jobs_are_found_by_what_they_are_about(client: Client) -> None:
    fleet.jobs(client, 2)
    node = client.get("/v1/resources/node-2").json["id"]
    assert [job["resource"] for job in client.items("/v1/jobs", resource=node)] == ["node-2"]
    assert len(client.items("/v1/jobs", deployment="api", environment="prod", agent="runner")) == 2
    assert client.items("/v1/jobs", status="successful") == []
    assert client.items("/v1/jobs", deployment="web") == []
    assert client.items("/v1/jobs", group="nonsense") == []
    assert len(client.items("/v1/jobs", cel="job.resource.endsWith('2')")) == 1


def test_pages_of_jobs_do_not_overlap(client: Client) -> None:
    fleet.jobs(client, 2)
    first = client.get("/v1/jobs", limit=1).json
    second = client.get("/v1/jobs", limit=1, cursor=first["next"]).json
    assert {job["resource"] for job in (*first["items"], *second["items"])} == {"node-1", "node-2"}
    assert second["next"] is None


def test_a_report_moves_the_job_on(client: Client, server: Server) -> None:
    job = fleet.jobs(client)[0]
    fleet.finish(client, job, "inProgress", externalId="run-7", links={"log": "https://example.com/7"})
    server.clock.advance("2m")
    done = fleet.finish(client, job, message="done")
    assert (done["status"], done["startedAt"], done["completedAt"]) == (
        "successful",
        "2026-03-01T09:00:00Z",
        "2026-03-01T09:02:00Z",
    )
    assert (done["externalId"], done["links"], done["message"]) == (
        "run-7",
        {"log": "https://example.com/7"},
        "done",
    )
    assert client.get(f"/v1/jobs/{job['id']}").json == done


def test_what_arrives_after_the_end_changes_nothing(client: Client) -> None:
    job = fleet.jobs(client)[0]
    done = fleet.finish(client, job)
    assert fleet.finish(client, job, "failure", message="late") == done


def test_a_report_on_a_job_that_the_engine_has_put_away_answers_it_as_it_is(
    client: Client, server: Server
) -> None:
    old = fleet.jobs(client, resource="node-1")[0]
    done = fleet.finish(client, old)
    server.clock.advance("1s")
    fleet.publish(client, "v2")
    fleet.finish(client, fleet.jobs(client, 2, resource="node-1")[0])
    assert fleet.finish(client, old, "failure") == done


def test_a_report_with_flaws_names_them_all(client: Client) -> None:
    job = fleet.jobs(client)[0]
    response = client.patch(f"/v1/jobs/{job['id']}", {"status": "done", "links": {"a": 1}, "colour": 1})
    assert {error["path"] for error in response.json["errors"]} == {"status", "links.a", "colour"}


def test_a_job_that_is_not_there_is_not_found(client: Client) -> None:
    for path in ("nonsense", "5f0c8f1e-6f2b-4c55-9a57-0d6ad0e3a001"):
        assert client.get(f"/v1/jobs/{path}").status == 404
        assert client.patch(f"/v1/jobs/{path}", {"status": "failure"}).status == 404


def test_a_token_for_some_agents_reports_their_jobs_only(client: Client, server: Server) -> None:
    job = fleet.jobs(client)[0]
    path = f"/v1/jobs/{job['id']}"
    assert server.client("bot:job:report@default/other").patch(path, {"status": "failure"}).status == 403
    assert server.client("bot:job:report@default/runner").patch(path, {"status": "failure"}).status == 200


def test_reports_need_the_permission(client: Client, server: Server) -> None:
    job = fleet.jobs(client)[0]
    response = server.client("vic:viewer@default").patch(f"/v1/jobs/{job['id']}", {"status": "failure"})
    assert response.status == 403


def test_a_report_for_a_job_that_only_this_process_misses_is_taken_and_never_lost(
    server: Server, client: Client
) -> None:
    """It is loaded anew first: an unknown job is not one that has ended."""
    job = fleet.jobs(client)[0]
    server.worker.ask("default", lambda view: view.engine.state.jobs.clear()).result(60)
    answer = client.patch(f"/v1/jobs/{job['id']}", {"status": "successful"})
    assert (answer.status, answer.json["status"]) == (200, "successful")
    assert client.get(f"/v1/jobs/{job['id']}").json["status"] == "successful"
    assert server.worker.health.counts() == {("divergence", "default"): 1}
