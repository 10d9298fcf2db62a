"""What jobs print: handed in by whoever has the claim, read by everybody who may read, and followed as it comes."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from . import fleet, waiting
from .client import Client
from .conftest import new_workspace
from .server import Server

SECRET = "a secret of the puller"


@pytest.fixture
def admin(served: Server) -> Client:
    client = new_workspace(served)
    client.apply(
        fleet.manifest("JobAgent", "puller", config={"env": {"API_TOKEN": SECRET}}),
        fleet.manifest("Environment", "prod", resourceSelector="true"),
        fleet.resource("node-1"),
        fleet.manifest("Deployment", "api", resourceSelector="true", jobAgent="puller"),
    )
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    return client


def claimed(client: Client) -> tuple[str, int]:
    asked = {"waitSeconds": 30, "leaseSeconds": 3600}
    [job] = client.expect(200, "POST", "/v1/job-agents/puller/claim", asked, seconds=60).json["jobs"]
    return f"/v1/jobs/{job['job']['id']}", job["claim"]["token"]


def texts(client: Client, job: str, **query: object) -> list[str]:
    return [item["text"] for item in client.get(f"{job}/log", **query)["items"]]


def test_lines_are_read_back_from_any_offset(admin: Client) -> None:
    job, token = claimed(admin)
    assert admin.get(f"{job}/log") == {"items": [], "nextOffset": 0, "hasEnded": False, "isFull": False}
    added = admin.expect(200, "POST", f"{job}/log", {"token": token, "lines": ["one", "two"]}).json
    assert added == {"nextOffset": 2, "isFull": False}
    admin.expect(200, "POST", f"{job}/log", {"token": token, "lines": ["two", "three"], "offset": 1})
    assert texts(admin, job) == ["one", "two", "three"]
    page = admin.get(f"{job}/log", offset=1, limit=1)
    assert ([item["line"] for item in page["items"]], page["nextOffset"]) == ([1], 2)
    admin.expect(200, "POST", f"{job}/report", {"token": token, "status": "successful"})
    assert not admin.get(f"{job}/log", limit=1)["hasEnded"]
    assert admin.get(f"{job}/log")["hasEnded"]
    refused = admin.expect(409, "POST", f"{job}/log", {"token": token, "lines": ["late"]})
    assert "is successful" in refused.sentences


def test_a_secret_of_the_job_is_not_shown_to_anybody(admin: Client) -> None:
    job, token = claimed(admin)
    admin.expect(200, "POST", f"{job}/log", {"token": token, "lines": [f"login with {SECRET}!"]})
    assert texts(admin, job) == ["login with ***!"]


def test_only_with_the_claim_may_lines_be_added(admin: Client) -> None:
    job, token = claimed(admin)
    given = {"token": token, "lines": ["x"]}
    for role in ("viewer", "deployer", "approver", "operator"):
        someone = admin.token_with(f"log-{role}", role=role)
        someone.expect(403, "POST", f"{job}/log", given)
        someone.expect(200, "GET", f"{job}/log")
    others = admin.token_with("another-agent", permissions=["job:run"], agents=["another"])
    others.expect(403, "POST", f"{job}/log", given)
    assert "offered again" in admin.expect(409, "POST", f"{job}/log", {**given, "token": 1}).sentences
    own = admin.token_with("the-agent", permissions=["job:run"], agents=["puller"])
    own.expect(200, "POST", f"{job}/log", given)
    own.expect(403, "GET", f"{job}/log")
    assert texts(admin, job) == ["x"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"lines": ["x"]}, "token"),
        ({"token": 1, "lines": []}, "lines"),
        ({"token": 1, "lines": "x"}, "lines"),
        ({"token": 1, "lines": [1]}, "lines[0]"),
        ({"token": 1, "lines": ["x"], "offset": -1}, "offset"),
        ({"token": 1, "lines": ["x"] * 1001}, "1000"),
        ({"token": 1, "lines": ["x" * 4000] * 100}, "allowed are 262,144 in one request"),
    ],
)
def test_what_is_wrong_is_said(admin: Client, body: dict[str, Any], sentence: str) -> None:
    job, _ = claimed(admin)
    refused = admin.expect(422, "POST", f"{job}/log", body)
    assert sentence in json.dumps(refused.json)


def test_a_job_that_is_not_there_has_no_log(admin: Client) -> None:
    for method, body in (("GET", None), ("POST", {"token": 1, "lines": ["x"]})):
        admin.expect(404, method, "/v1/jobs/no-such-job/log", body)
    admin.expect(404, "GET", "/v1/jobs/no-such-job/log", follow="true")


@contextmanager
def following(
    client: Client, job: str, last_event_id: int | None = None
) -> Iterator[Iterator[dict[str, Any]]]:
    connection = http.client.HTTPConnection(urlsplit(client.address).netloc, timeout=60)
    headers = {"Authorization": f"Bearer {client.token}"}
    if last_event_id is not None:
        headers["Last-Event-ID"] = str(last_event_id)
    connection.request("GET", f"{job}/log?follow=true&workspace={client.workspace}", headers=headers)
    answer = connection.getresponse()
    assert answer.headers.get_content_type() == "text/event-stream"
    lines = iter(answer.readline, b"")
    try:
        yield (json.loads(line[6:]) for line in lines if line.startswith(b"data: "))
    finally:
        connection.close()


def test_whoever_follows_hears_each_line_once_until_the_end(admin: Client) -> None:
    job, token = claimed(admin)
    heard: list[str] = []
    with following(admin, job) as pages:
        for number in range(3):
            admin.expect(200, "POST", f"{job}/log", {"token": token, "lines": [str(number)]})
            heard += [item["text"] for item in next(pages)["items"]]
    admin.expect(200, "POST", f"{job}/log", {"token": token, "lines": ["last"]})
    with following(admin, job, last_event_id=3) as pages:
        heard += [item["text"] for item in next(pages)["items"]]
        admin.expect(200, "POST", f"{job}/report", {"token": token, "status": "successful"})
        assert [page["hasEnded"] for page in pages] == [True]
    assert heard == ["0", "1", "2", "last"]


def test_the_exec_agent_prints_while_the_command_runs(served: Server, tmp_path: Path) -> None:
    client, gate = new_workspace(served), tmp_path / "gate"
    command = f'echo "on $HEADGATE_RESOURCE"; while ! [ -e {gate} ]; do sleep 0.05; done; echo gone'
    client.apply(
        fleet.manifest("JobAgent", "local", type="exec", config={"command": command}),
        fleet.manifest("Environment", "prod", resourceSelector="true"),
        fleet.resource("node-1"),
        fleet.manifest("Deployment", "api", resourceSelector="true", jobAgent="local"),
    )
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    waiting.until(lambda: bool(fleet.jobs(client, "api")))
    job = f"/v1/jobs/{fleet.jobs(client, 'api')[0]['id']}"
    with following(client, job) as pages:
        assert [item["text"] for item in next(pages)["items"]] == ["on node-1"]
        gate.touch()
        rest = list(pages)
    assert [item["text"] for page in rest for item in page["items"]] == ["gone"]
    assert rest[-1]["hasEnded"]
