"""Pull agents: each job to one caller, lost claims offered again, and not for ever."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from api.machinery import Response
from api.routes import fleet
from api.routes.server import Client, Server, until
from headgate.api.http.calls import ClientConnection
from headgate.api.routes import claims
from headgate.store.port import UnavailableError


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
    assert claimed["claim"]["until"] == "2026-03-01T09:01:00Z"
    assert claimed["job"]["resource"] == "node-1"
    assert claimed["config"] == {"image": "v1"}
    assert claimed["agent"] == {"name": "runner", "type": "pull"}


def test_a_job_is_in_progress_from_the_first_word_of_whoever_claimed_it(
    agent: Client, client: Client
) -> None:
    claimed = _claim(agent, holder="machine-1")[0]
    job = client.items("/v1/jobs")[0]
    assert (job["status"], job["message"]) == ("queued", "handed to machine-1")
    _beat(agent, claimed)
    job = client.items("/v1/jobs")[0]
    assert (job["status"], job["startedAt"]) == ("inProgress", "2026-03-01T09:00:00Z")


def test_a_claimed_job_is_not_handed_out_again(agent: Client) -> None:
    assert len(_claim(agent, limit=10)) == 1
    assert _claim(agent, limit=10) == []


def test_a_claim_needs_no_body(agent: Client) -> None:
    assert len(agent.post("/v1/job-agents/runner/claim").json["jobs"]) == 1


def test_a_heartbeat_keeps_the_claim(agent: Client, server: Server) -> None:
    claimed = _claim(agent)[0]
    server.clock.advance("50s")
    beat = _beat(agent, claimed)
    assert beat.json == {"cancelled": False, "until": "2026-03-01T09:01:50Z"}
    server.clock.advance("50s")
    assert _claim(agent) == []


def test_a_heartbeat_renews_the_lease_that_was_asked_for(agent: Client, server: Server) -> None:
    claimed = _claim(agent, leaseSeconds=300)[0]
    server.clock.advance("100s")
    beat = _beat(agent, claimed)
    assert beat.json["until"] == "2026-03-01T09:06:40Z"


def test_a_lost_claim_is_offered_again_and_its_first_holder_is_told(agent: Client, server: Server) -> None:
    first = _claim(agent)[0]
    _lose(server)
    second = _claim(agent)[0]
    job = first["job"]["id"]
    lost, kept = first["claim"]["token"], second["claim"]["token"]
    assert _beat(agent, first).status == 409
    assert agent.post(f"/v1/jobs/{job}/report", {"token": lost, "status": "successful"}).status == 409
    assert agent.post(f"/v1/jobs/{job}/report", {"token": kept, "status": "successful"}).status == 200


def test_the_token_of_a_claim_is_not_to_be_guessed(agent: Client, client: Client, server: Server) -> None:
    """Also not by whoever had the job before."""
    first = _claim(agent)[0]
    _lose(server)
    second = _claim(agent)[0]
    tokens = [claimed["claim"]["token"] for claimed in (first, second)]
    assert all(0 < token <= 2**53 for token in tokens)
    near = {token + step for token in (*tokens, 0) for step in range(-3, 4)} - {tokens[1]}
    for guessed in near:
        said = {"token": guessed, "status": "successful"}
        assert agent.post(f"/v1/jobs/{first['job']['id']}/report", said).status == 409
        assert agent.post(f"/v1/jobs/{first['job']['id']}/heartbeat", {"token": guessed}).status == 409
    assert client.items("/v1/jobs")[0]["status"] == "queued"


def test_a_claim_that_ran_out_but_that_nobody_took_can_still_report(agent: Client, server: Server) -> None:
    claimed = _claim(agent)[0]
    _lose(server)
    path = f"/v1/jobs/{claimed['job']['id']}/report"
    said = {"token": claimed["claim"]["token"], "status": "successful"}
    assert agent.post(path, said).json["status"] == "successful"


def _beat(agent: Client, claimed: Any) -> Response:
    return agent.post(f"/v1/jobs/{claimed['job']['id']}/heartbeat", {"token": claimed["claim"]["token"]})


def test_a_job_whose_claims_are_lost_each_time_fails(agent: Client, client: Client, server: Server) -> None:
    for _ in range(3):
        _beat(agent, _claim(agent, holder="machine-1")[0])
        _lose(server)
    assert _claim(agent) == []
    job = client.items("/v1/jobs")[0]
    assert job["status"] == "failure"
    assert job["message"] == (
        "claimed 3 times and lost each time; machine-1 was last heard of at 2026-03-01T09:02:02Z"
    )


def test_the_agent_says_how_often_a_job_is_offered(client: Client, server: Server) -> None:
    fleet.make(client, nodes=1)
    fleet.put(client, "job-agents", "runner", type="pull", config={"maxAttempts": 1})
    fleet.publish(client, "v1")
    fleet.jobs(client)
    _beat(client, _claim(client)[0])
    _lose(server)
    assert _claim(client) == []
    assert client.items("/v1/jobs")[0]["status"] == "failure"


def test_claims_that_nobody_received_never_fail_a_job(agent: Client, client: Client, server: Server) -> None:
    for _ in range(5):
        assert len(_claim(agent)) == 1
        _lose(server)
    _beat(agent, _claim(agent)[0])
    assert client.items("/v1/jobs")[0]["status"] == "inProgress"


def test_a_lost_agent_is_told_by_the_job_and_by_an_event_without_anybody_asking(
    agent: Client, client: Client, server: Server
) -> None:
    _beat(agent, _claim(agent, holder="machine-1")[0])
    _lose(server)
    job = until(lambda: next((job for job in client.items("/v1/jobs") if job["status"] == "queued"), None))
    said = "machine-1 was last heard of at 2026-03-01T09:00:00Z; offered again, 1 of 3 attempts are used up"
    assert job["message"] == said
    events = server.store.events_after("default", 0, 1_000)
    lost = [event.message for event in events if event.type == "agent.lost"]
    assert lost == [f"agent machine-1 is lost with api/prod/node-1 v1: {said}"]


def test_an_agent_that_comes_back_before_another_one_took_the_job_goes_on(
    agent: Client, client: Client, server: Server
) -> None:
    claimed = _claim(agent, holder="machine-1")[0]
    _beat(agent, claimed)
    _lose(server)
    until(lambda: client.items("/v1/jobs")[0]["status"] == "queued" or None)
    assert _beat(agent, claimed).status == 200
    assert client.items("/v1/jobs")[0]["status"] == "inProgress"
    assert _claim(agent) == []


def test_a_claim_that_could_not_be_written_down_is_given_back(
    agent: Client, client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise UnavailableError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(claims, "_report_all", broken)
        assert agent.post("/v1/job-agents/runner/claim", {}).status == 503
    order = server.store.dispatch("default", client.items("/v1/jobs")[0]["id"])
    assert order is not None
    assert (order.claims, order.claimed_by) == (0, None)
    assert len(_claim(agent)) == 1


@pytest.mark.parametrize("status", ["inProgress", "successful", "failure"])
def test_a_report_without_the_token_of_its_claim_is_refused(
    agent: Client, client: Client, status: str
) -> None:
    claimed = _claim(agent)[0]
    answer = agent.post(f"/v1/jobs/{claimed['job']['id']}/report", {"status": status})
    assert answer.status == 409
    assert "needs `token`" in answer.json["detail"]
    assert client.items("/v1/jobs")[0]["status"] == "queued"


def test_before_anybody_claimed_a_job_no_token_is_good(agent: Client, client: Client) -> None:
    job = client.items("/v1/jobs")[0]["id"]
    for token in (0, 1, -1):
        answer = agent.post(f"/v1/jobs/{job}/report", {"token": token, "status": "successful"})
        assert answer.status == 409, token
        assert agent.post(f"/v1/jobs/{job}/heartbeat", {"token": token}).status == 409


def test_a_deployer_does_not_report_for_whoever_claimed_the_job(
    agent: Client, client: Client, server: Server
) -> None:
    claimed = _claim(agent, holder="machine-1")[0]
    deployer = server.client("dee:deployer@default")
    answer = deployer.patch(f"/v1/jobs/{claimed['job']['id']}", {"status": "successful"})
    assert answer.status == 409
    assert "machine-1 has claimed" in answer.json["detail"]
    assert fleet.finish(client, claimed["job"])["status"] == "successful"


def test_a_client_that_hangs_up_while_it_waits_is_given_nothing(client: Client, server: Server) -> None:
    fleet.make(client, nodes=1)

    async def scene() -> None:
        answers: list[Any] = []
        hung_up = asyncio.Event()
        incoming = [{"type": "http.request", "body": b'{"waitSeconds": 20}', "more_body": False}]

        async def receive() -> Any:
            if incoming:
                return incoming.pop()
            await hung_up.wait()
            return {"type": "http.disconnect"}

        async def collect(message: Any) -> None:
            answers.append(message)

        headers = [
            (b"authorization", f"Bearer {client.who}".encode()),
            (b"content-type", b"application/json"),
        ]
        path = "/v1/job-agents/runner/claim"
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "headers": headers,
        }
        waiting = asyncio.create_task(client.app(scope, receive, collect))
        await asyncio.sleep(0.1)
        hung_up.set()
        await client.sending("POST", "/v1/deployments/api/versions", {"tag": "v1"})
        await waiting
        assert answers == []

    asyncio.run(scene())
    job = fleet.jobs(client)[0]
    order = server.store.dispatch("default", job["id"])
    assert order is not None
    assert (job["status"], order.claims, order.claimed_by) == ("pending", 0, None)


def test_a_claim_that_was_made_for_one_who_hung_up_is_given_back_and_does_not_count(
    client: Client, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks between the store's answer and ours."""
    fleet.make(client, nodes=1)
    fleet.publish(client, "v1")
    job = fleet.jobs(client)[0]["id"]
    looks = iter([False, True])
    with monkeypatch.context() as patched:
        patched.setattr(ClientConnection, "is_cut", property(lambda _: next(looks, True)))
        with pytest.raises(ValueError, match="not enough values"):
            client.post("/v1/job-agents/runner/claim", {})
    order = server.store.dispatch("default", job)
    assert order is not None
    assert (order.claims, order.claimed_by, order.claimed_until) == (0, None, None)
    assert client.post(f"/v1/jobs/{job}/heartbeat", {"token": order.token}).status == 409
    assert _claim(client)[0]["claim"]["token"] != order.token


def test_reports_are_idempotent(agent: Client) -> None:
    claimed = _claim(agent)[0]
    path = f"/v1/jobs/{claimed['job']['id']}/report"
    body = {
        "token": claimed["claim"]["token"],
        "status": "successful",
        "message": "ok",
        "externalId": "x",
        "links": {"a": "https://b"},
    }
    first = agent.post(path, body)
    assert first.json["status"] == "successful"
    assert agent.post(path, body).json == first.json
    assert agent.post(path, {"status": "successful"}).json == first.json


def test_another_end_than_the_one_that_was_taken_comes_too_late(agent: Client, client: Client) -> None:
    claimed = _claim(agent)[0]
    path = f"/v1/jobs/{claimed['job']['id']}/report"
    agent.post(path, {"token": claimed["claim"]["token"], "status": "successful"})
    answer = agent.post(path, {"token": claimed["claim"]["token"], "status": "failure"})
    assert answer.status == 409
    assert "has ended as successful" in answer.json["detail"]
    assert client.items("/v1/jobs")[0]["status"] == "successful"


def test_a_very_long_message_is_cut_and_the_end_is_taken(agent: Client) -> None:
    claimed = _claim(agent)[0]
    body = {"token": claimed["claim"]["token"], "status": "failure", "message": "x" * 1_000_000}
    answer = agent.post(f"/v1/jobs/{claimed['job']['id']}/report", body)
    assert (answer.json["status"], len(answer.json["message"])) == ("failure", 2_000)


def test_a_heartbeat_of_a_job_that_has_ended_loses_the_claim(agent: Client, client: Client) -> None:
    claimed = _claim(agent)[0]
    fleet.finish(client, claimed["job"])
    response = agent.post(f"/v1/jobs/{claimed['job']['id']}/heartbeat", {"token": claimed["claim"]["token"]})
    assert response.status == 409


def test_a_cancelled_job_is_told_to_its_holder_and_is_over_with_the_report(
    agent: Client, client: Client, server: Server
) -> None:
    claimed = _claim(agent)[0]
    job = claimed["job"]["id"]
    client.delete("/v1/resources/node-1")
    beat = until(
        lambda: _cancelled(agent.post(f"/v1/jobs/{job}/heartbeat", {"token": claimed["claim"]["token"]}))
    )
    assert beat.status == 200
    assert (
        agent.post(
            f"/v1/jobs/{job}/report", {"token": claimed["claim"]["token"], "status": "cancelled"}
        ).status
        == 200
    )
    assert server.store.dispatch("default", job) is None


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


def _reject(client: Client) -> None:
    assert client.post("/v1/deployments/api/versions/v1/reject", {"reason": "leaks memory"}).status == 200


def test_a_job_whose_version_is_marked_before_an_agent_comes_is_not_handed_out(
    agent: Client, client: Client
) -> None:
    _reject(client)
    job = client.items("/v1/jobs")[0]
    assert (job["status"], job["startedAt"]) == ("cancelled", None)
    assert job["message"].startswith("v1 was rejected by ")
    assert job["message"].endswith(": leaks memory")
    assert _claim(agent) == []
    assert client.get("/v1/release-targets/api%2Fprod%2Fnode-1").json["state"] == "noVersion"


def test_a_job_that_was_handed_out_goes_on_when_its_version_is_marked(agent: Client, client: Client) -> None:
    claimed = _claim(agent)[0]
    _reject(client)
    assert _beat(agent, claimed).json["cancelled"] is False
    assert client.items("/v1/jobs")[0]["status"] == "inProgress"


def test_a_job_that_is_offered_again_ends_when_its_version_is_marked(
    agent: Client, client: Client, server: Server
) -> None:
    claimed = _claim(agent, holder="machine-1")[0]
    _beat(agent, claimed)
    _lose(server)
    until(lambda: client.items("/v1/jobs")[0]["status"] == "queued" or None)
    _reject(client)
    assert client.items("/v1/jobs")[0]["status"] == "cancelled"
    assert _claim(agent) == []
    assert _beat(agent, claimed).json["cancelled"] is True


def test_a_job_that_is_taken_back_while_it_is_claimed_is_not_handed_out(
    agent: Client, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark comes between the claim in the store and the word to the engine."""
    found = claims._claim

    async def slow(call: Any, name: str, wanted: Any) -> list[Any]:
        orders = await found(call, name, wanted)
        await asyncio.to_thread(_reject, client)
        return orders

    monkeypatch.setattr(claims, "_claim", slow)
    assert _claim(agent) == []
    assert client.items("/v1/jobs")[0]["status"] == "cancelled"
