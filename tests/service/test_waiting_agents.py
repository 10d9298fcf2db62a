"""Pull agents that wait for work on a real connection: those who hang up, and a server that ends."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

from . import waiting
from .client import Answer, Client
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
