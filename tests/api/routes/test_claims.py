"""Pull agents: each job to one caller, lost claims offered again, and not for ever."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from api.machinery import Response
from api.routes import fleet
from api.routes.server import Client, Server, until


@pytest.fixture
def agent(client: Client, server: Server) -> Client:
    fleet.make(client, nodes=1)
    fleet.publish(client, "v1", jobAgentConfig={"image": "${version.tag}"})
    fleet.jobs(client)
    return server.client("bot:job:run@default")


def _claim(agent: Client, **body: Any) -> list[Any]:
    response = agent.post("/v1/job-agents/runner/claim", body)
    assert response.status == 200, response.body
    found: list[Any] = response.json["jobs"]
    return found


def _lose(server: Server) -> None:
    server.clock.advance("61s")


def test_a_claim_hands_over_all_that_is_needed(agent: Client, client: Client) -> None:
    claimed = _claim(agent, holder="machine-1")[0]
    assert claimed["claim"] == {"token": 1, "until": "2026-03-01T09:01:00Z"}
    assert claimed["job"]["resource"] == "node-1"
    assert claimed["config"] == {"image": "v1"}
    assert claimed["agent"] == {"name": "runner", "type": "pull"}
    assert client.items("/v1/jobs")[0]["status"] == "inProgress"


def test_a_claimed_job_is_not_handed_out_again(agent: Client) -> None:
    assert len(_claim(agent, limit=10)) == 1
    assert _claim(agent, limit=10) == []


def test_a_claim_needs_no_body(agent: Client) -> None:
    assert len(agent.post("/v1/job-agents/runner/claim").json["jobs"]) == 1


def test_a_heartbeat_keeps_the_claim(agent: Client, server: Server) -> None:
    claimed = _claim(agent)[0]
    path = f"/v1/jobs/{claimed['job']['id']}/heartbeat"
    server.clock.advance("50s")
    beat = agent.post(path, {"token": 1})
    assert beat.json == {"cancelled": False, "until": "2026-03-01T09:01:50Z"}
    server.clock.advance("50s")
    assert _claim(agent) == []


def test_a_heartbeat_renews_the_lease_that_was_asked_for(agent: Client, server: Server) -> None:
    claimed = _claim(agent, leaseSeconds=300)[0]
    server.clock.advance("100s")
    beat = agent.post(f"/v1/jobs/{claimed['job']['id']}/heartbeat", {"token": 1})
    assert beat.json["until"] == "2026-03-01T09:06:40Z"


def test_a_lost_claim_is_offered_again_and_its_first_holder_is_told(agent: Client, server: Server) -> None:
    first = _claim(agent)[0]
    _lose(server)
    second = _claim(agent)[0]
    job = first["job"]["id"]
    assert second["claim"]["token"] == 2
    assert agent.post(f"/v1/jobs/{job}/heartbeat", {"token": 1}).status == 409
    assert agent.post(f"/v1/jobs/{job}/report", {"token": 1, "status": "successful"}).status == 409
    assert agent.post(f"/v1/jobs/{job}/report", {"token": 2, "status": "successful"}).status == 200


def test_a_claim_that_ran_out_but_that_nobody_took_can_still_report(agent: Client, server: Server) -> None:
    claimed = _claim(agent)[0]
    _lose(server)
    path = f"/v1/jobs/{claimed['job']['id']}/report"
    assert agent.post(path, {"token": 1, "status": "successful"}).json["status"] == "successful"


def test_a_job_whose_claims_are_lost_each_time_fails(agent: Client, client: Client, server: Server) -> None:
    for _ in range(3):
        assert len(_claim(agent)) == 1
        _lose(server)
    assert _claim(agent) == []
    job = client.items("/v1/jobs")[0]
    assert (job["status"], job["message"]) == ("failure", "claimed 3 times and lost each time")


def test_the_agent_says_how_often_a_job_is_offered(client: Client, server: Server) -> None:
    fleet.make(client, nodes=1, jobAgentConfig={"maxAttempts": 1})
    fleet.publish(client, "v1")
    fleet.jobs(client)
    assert len(_claim(client)) == 1
    _lose(server)
    assert _claim(client) == []
    assert client.items("/v1/jobs")[0]["status"] == "failure"


def test_reports_are_idempotent(agent: Client) -> None:
    claimed = _claim(agent)[0]
    path = f"/v1/jobs/{claimed['job']['id']}/report"
    body = {"token": 1, "status": "successful", "message": "ok", "externalId": "x", "links": {"a": "b"}}
    first = agent.post(path, body)
    assert first.json["status"] == "successful"
    assert agent.post(path, body).json == first.json
    assert agent.post(path, {"status": "failure"}).json == first.json


def test_a_heartbeat_of_a_job_that_has_ended_loses_the_claim(agent: Client, client: Client) -> None:
    claimed = _claim(agent)[0]
    fleet.finish(client, claimed["job"])
    response = agent.post(f"/v1/jobs/{claimed['job']['id']}/heartbeat", {"token": 1})
    assert response.status == 409


def test_a_cancelled_job_is_told_to_its_holder_and_is_over_with_the_report(
    agent: Client, client: Client, server: Server
) -> None:
    claimed = _claim(agent)[0]
    job = claimed["job"]["id"]
    client.delete("/v1/resources/node-1")
    beat = until(lambda: _cancelled(agent.post(f"/v1/jobs/{job}/heartbeat", {"token": 1})))
    assert beat.status == 200
    assert agent.post(f"/v1/jobs/{job}/report", {"token": 1, "status": "cancelled"}).status == 200
    assert server.store.order("default", job) is None


def _cancelled(response: Response) -> Response | None:
    return response if response.json.get("cancelled") else None


def test_a_claim_can_wait_for_a_job_to_come(client: Client) -> None:
    fleet.make(client, nodes=1)

    async def scene() -> Response:
        waiting = asyncio.create_task(
            client.sending("POST", "/v1/job-agents/runner/claim", {"waitSeconds": 20})
        )
        await client.sending("POST", "/v1/deployments/api/versions", {"tag": "v1"})
        return await waiting

    assert len(asyncio.run(scene()).json["jobs"]) == 1


def test_a_claim_that_waits_in_vain_ends(client: Client) -> None:
    fleet.make(client, nodes=1)
    assert _claim(client, waitSeconds=0.2) == []


@pytest.mark.parametrize(
    ("body", "path"),
    [({"waitSeconds": 31}, "waitSeconds"), ({"limit": 0}, "limit"), ({"leaseSeconds": 1}, "leaseSeconds")],
)
def test_claims_have_bounds(agent: Client, body: dict[str, Any], path: str) -> None:
    response = agent.post("/v1/job-agents/runner/claim", body)
    assert [error["path"] for error in response.json["errors"]] == [path]


def test_only_pull_agents_claim(client: Client) -> None:
    fleet.make(client, agent="exec")
    assert client.post("/v1/job-agents/runner/claim", {}).status == 409
    assert client.post("/v1/job-agents/nobody/claim", {}).status == 404


def test_a_token_for_one_agent_does_not_claim_for_another(agent: Client, server: Server) -> None:
    job = _claim(agent)[0]["job"]["id"]
    other = server.client("bot:job:run@default/other")
    assert other.post("/v1/job-agents/runner/claim", {}).status == 403
    assert other.post(f"/v1/jobs/{job}/heartbeat", {"token": 1}).status == 403
    assert other.post(f"/v1/jobs/{job}/report", {"status": "failure"}).status == 403


def test_claiming_needs_the_permission(agent: Client, server: Server) -> None:
    assert server.client("dee:deployer@default").post("/v1/job-agents/runner/claim", {}).status == 403
