from __future__ import annotations

import json
from typing import Any

import pytest

from api.machinery import Response
from api.routes import fleet
from api.routes.server import Client, Server
from headgate.agents import signing

SECRET = "a secret between the two"


@pytest.fixture
def job(client: Client) -> Any:
    fleet.make(client, nodes=1, agent="http")
    fleet.put(
        client, "job-agents", "runner", type="http", config={"url": "https://example.com", "secret": SECRET}
    )
    fleet.publish(client, "v1")
    return fleet.jobs(client)[0]


def _call_back(server: Server, job: str, body: Any, secret: str = SECRET, **signed: str) -> Response:
    """Without any token."""
    content = json.dumps(body).encode()
    headers = signing.headers(secret, server.clock(), job, content) | signed
    client = server.client("nobody:@")
    return client.post(
        f"/v1/jobs/{job}/callback",
        content,
        {"Content-Type": "application/json", "Authorization": "", **headers},
    )


def test_a_signed_callback_reports_the_job(server: Server, job: Any) -> None:
    response = _call_back(server, job["id"], {"status": "successful", "externalId": "run-7"})
    assert (response.status, response.json["status"], response.json["externalId"]) == (
        200,
        "successful",
        "run-7",
    )


def test_a_callback_that_comes_twice_is_taken_once(server: Server, job: Any) -> None:
    first = _call_back(server, job["id"], {"status": "successful"})
    assert _call_back(server, job["id"], {"status": "failure"}).json == first.json


@pytest.mark.parametrize(
    "signed",
    [
        {"Headgate-Signature": "v1=00"},
        {"Headgate-Signature": ""},
        {"Headgate-Timestamp": "1"},
        {"Headgate-Timestamp": "soon"},
    ],
)
def test_a_callback_with_another_signature_is_refused(
    server: Server, client: Client, job: Any, signed: dict[str, str]
) -> None:
    assert _call_back(server, job["id"], {"status": "successful"}, **signed).status == 401
    assert _call_back(server, job["id"], {"status": "successful"}, secret="guess").status == 401
    assert client.get(f"/v1/jobs/{job['id']}").json["status"] == "pending"


def test_a_callback_is_refused_when_it_is_old(server: Server, job: Any) -> None:
    old = signing.headers(SECRET, server.clock(), job["id"], b'{"status": "successful"}')
    server.clock.advance("10m")
    assert _call_back(server, job["id"], {"status": "successful"}, **old).status == 401


def test_an_unknown_job_is_refused_like_a_wrong_signature(server: Server) -> None:
    response = _call_back(server, "5f0c8f1e-6f2b-4c55-9a57-0d6ad0e3a001", {"status": "successful"})
    assert response.status == 401


def test_jobs_of_other_agents_take_no_callbacks(server: Server, client: Client) -> None:
    fleet.make(client, nodes=1)
    fleet.put(client, "job-agents", "runner", type="pull", config={"secret": SECRET})
    fleet.publish(client, "v1")
    job = fleet.jobs(client)[0]
    assert _call_back(server, job["id"], {"status": "successful"}).status == 401


def test_a_signed_callback_with_flaws_names_them(server: Server, job: Any) -> None:
    response = _call_back(server, job["id"], {"status": "done"})
    assert [error["path"] for error in response.json["errors"]] == ["status"]
