"""Pull agents that wait for work on a real connection: those who hang up, and a server that ends."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from pathlib import Path

from headgate.api.http import access
from headgate.api.routes import claims

from . import waiting
from .client import Answer, Client
from .conftest import new_workspace
from .server import Server


def _set_up(client: Client) -> None:
    client.expect(201, "POST", "/v1/job-agents", {"name": "edge", "type": "pull"})
    client.expect(201, "POST", "/v1/environments", {"name": "prod", "resourceSelector": "true"})
    client.expect(201, "POST", "/v1/resources", {"name": "node-1", "kind": "Node"})
    client.expect(
        201, "POST", "/v1/deployments", {"name": "api", "resourceSelector": "true", "jobAgent": "edge"}
    )


def _ask(client: Client) -> socket.socket:
    body = json.dumps({"waitSeconds": 30}).encode()
    link = client.raw()
    link.sendall(
        f"POST /v1/job-agents/edge/claim?workspace={client.workspace} HTTP/1.1\r\nHost: headgate\r\n"
        f"Authorization: Bearer {client.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )
    return link


def test_those_who_hung_up_are_given_nothing_and_use_up_no_attempt(client: Client) -> None:
    _set_up(client)
    for _ in range(3):
        _ask(client).close()
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    claimed = client.expect(200, "POST", "/v1/job-agents/edge/claim", {"waitSeconds": 20}).json["jobs"]
    job, token = claimed[0]["job"]["id"], claimed[0]["claim"]["token"]
    assert client.get(f"/v1/jobs/{job}")["status"] == "queued"
    done = {"token": token, "status": "successful"}
    assert client.expect(200, "POST", f"/v1/jobs/{job}/report", done).json["status"] == "successful"


def test_one_token_has_few_requests_open_that_wait_for_jobs(client: Client) -> None:
    _set_up(client)
    greedy = client.token_with("greedy", permissions=["read", "job:run"])
    answers: list[Answer] = []

    def is_refused() -> bool:
        answers.append(greedy.call("POST", "/v1/job-agents/edge/claim", {"waitSeconds": 0}))
        return answers[-1].status == 429

    with contextlib.ExitStack() as links:
        for _ in range(access.WAITS_EACH):
            links.enter_context(_ask(greedy))
        waiting.until(is_refused, 25)
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert (
            f"greedy has {access.WAITS_EACH} requests that wait for jobs open already"
            in answers[-1].sentences
        )
        modest = client.token_with("modest", permissions=["read", "job:run"])
        assert modest.expect(200, "POST", "/v1/job-agents/edge/claim", {}).json["jobs"] == []


def test_a_token_of_another_workspace_with_the_same_name_is_somebody_else(
    client: Client, server: Server
) -> None:
    """Whoever may make tokens in a workspace of their own keeps no agent of another one from its jobs."""
    other = new_workspace(server)
    for workspace in (client, other):
        _set_up(workspace)
    greedy, modest = (
        one.token_with("edge", permissions=["read", "job:run"], agents=["edge"]) for one in (client, other)
    )
    with contextlib.ExitStack() as links:
        for _ in range(access.WAITS_EACH):
            links.enter_context(_ask(greedy))
        waiting.until(
            lambda: greedy.call("POST", "/v1/job-agents/edge/claim", {"waitSeconds": 0}).status == 429, 25
        )
        assert modest.expect(200, "POST", "/v1/job-agents/edge/claim", {}).json["jobs"] == []


def test_one_token_holds_a_bounded_number_of_jobs(client: Client) -> None:
    _set_up(client)
    many = [{"name": f"r{number}"} for number in range(claims.CLAIMS_EACH + 50)]
    client.expect(200, "PUT", "/v1/resources/set", {"provider": "p", "resources": many}, seconds=120)
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"}, seconds=120)
    greedy = client.token_with("greedy", permissions=["read", "job:run"])
    held: list[str] = []
    while True:
        wanted = {"limit": 100, "leaseSeconds": 3600, "holder": f"machine {len(held)}", "waitSeconds": 10}
        answer = greedy.call("POST", "/v1/job-agents/edge/claim", wanted, seconds=60)
        if answer.status != 200:
            break
        held += [job["job"]["id"] for job in answer.json["jobs"]]
        assert answer.json["jobs"]
    assert len(held) == claims.CLAIMS_EACH
    assert answer.status == 429
    assert int(answer.headers["retry-after"]) >= 1
    assert "greedy holds 1,000 jobs" in answer.sentences
    modest = client.token_with("modest", permissions=["read", "job:run"])
    others = modest.expect(200, "POST", "/v1/job-agents/edge/claim", {"limit": 100, "waitSeconds": 10}).json[
        "jobs"
    ]
    assert len(others) == 51


def test_a_server_that_ends_answers_those_who_wait_and_says_nothing_of_an_error(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    client = server.admin("default")
    _set_up(client)
    answers: list[Answer] = []

    def wait() -> None:
        answers.append(client.call("POST", "/v1/job-agents/edge/claim", {"waitSeconds": 30}, seconds=40))

    waiter = threading.Thread(target=wait)
    waiter.start()
    waiting.until(lambda: _is_connected(server))
    assert server.stop() < 9
    waiter.join()
    assert [(answer.status, answer.json) for answer in answers] == [(200, {"jobs": []})]
    assert server.log.read_text() == ""


def _is_connected(server: Server) -> bool:
    """Somebody other than those who ask and go, whose connections are gone a moment later."""
    lines = Path(f"/proc/{server.process_id}/net/tcp").read_text().splitlines()[1:]
    local = f":{server.port:04X}"
    return any(line.split()[1].endswith(local) and line.split()[3] == "01" for line in lines)
