"""A bad version, live: five clusters, one at a time, a verification that fails."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from . import waiting
from .client import Client
from .fleet import manifest
from .server import Server

SECONDS = 120


class _Health(BaseHTTPRequestHandler):
    """Anything is well but v2."""

    def do_GET(self) -> None:
        self.send_response(500 if self.path.endswith("/v2") else 200)
        self.end_headers()
        self.wfile.write(b"error rate 7%" if self.path.endswith("/v2") else b"fine")

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def health() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Health)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def clusters(health: str) -> list[dict[str, Any]]:
    verification = {
        "metrics": [
            {
                "name": "health",
                "provider": {"type": "http", "url": health + "/${version.tag}"},
                "successCondition": "result.statusCode == 200",
            }
        ]
    }
    return [
        manifest("JobAgent", "local", type="exec", config={"command": ["true"]}),
        manifest("Environment", "prod", resourceSelector="true"),
        *(manifest("Resource", f"cluster-{number}", kind="Cluster") for number in range(1, 6)),
        manifest("Deployment", "api", resourceSelector="true", jobAgent="local"),
        manifest(
            "Policy",
            "careful",
            rules=[
                {
                    "name": "one at a time",
                    "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 1},
                },
                {"name": "healthy", "verification": verification},
                {"name": "undo", "rollback": {"onVerificationFailure": True}},
                {"name": "none may fail", "failureBudget": {"maxFailed": 0}},
            ],
        ),
    ]


def headgate(server: Server, client: Client, *words: str) -> subprocess.CompletedProcess[str]:
    """As a pipeline would call it."""
    environment = {
        **os.environ,
        "HEADGATE_URL": server.address,
        "HEADGATE_TOKEN": server.token,
        "HEADGATE_WORKSPACE": client.workspace or "",
        "NO_COLOR": "1",
    }
    command = [sys.executable, "-m", "headgate", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)


def counts(client: Client) -> dict[str, int]:
    found: dict[str, int] = client.get("/v1/status")["deployments"][0]["environments"][0]["counts"]
    return {state: count for state, count in found.items() if count}


def test_a_bad_version_hits_one_cluster_and_everybody_can_see_why(
    server: Server, client: Client, health: str
) -> None:
    client.apply(*clusters(health))
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    assert headgate(server, client, "wait", "api").returncode == 0
    assert counts(client) == {"upToDate": 5}

    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v2"})
    watched = headgate(server, client, "watch", "api", "--until", "converged")
    assert watched.returncode == 1, watched.stderr
    assert "only a person can change that" in watched.stderr
    waiting.until(lambda: counts(client) == {"waiting": 4, "rolledBack": 1})

    jobs = client.get("/v1/jobs", cel="job.version == 'v2' || job.kind == 'rollback'")["items"]
    assert [(job["version"], job["kind"]) for job in reversed(jobs)] == [("v2", "deploy"), ("v1", "rollback")]
    hit, back = jobs[1], jobs[0]
    assert f"{hit['target']} rolled back" in watched.stderr
    (measurement,) = hit["metrics"][0]["measurements"]
    assert (measurement["verdict"], measurement["value"]) == ("failed", "500")
    assert measurement["condition"] == "result.statusCode == 200"
    assert "error rate 7%" in measurement["answer"]
    assert "health: result.statusCode == 200 is false (value 500" in back["reason"]

    explained = headgate(server, client, "explain", hit["target"]).stdout
    assert ": rolledBack" in explained
    assert "value 500, health: result.statusCode == 200 is false" in explained
    assert f"headgate retry {hit['target']}" in explained
    grouped = headgate(server, client, "explain", "api", "-e", "prod").stdout
    assert "4 waiting in prod" in grouped
    assert "headgate resume 'none may fail' --policy careful --environment prod" in grouped
    stopped = grouped.partition("4 waiting in prod")[2].partition("\n\n")[0]
    assert "headgate reject-version api v2 --reason ..." in stopped

    events = client.call("GET", "/v1/events?after=0&limit=1000", headers={"Accept": "application/json"}).json
    told = [
        one
        for one in events["items"]
        if one["type"].split(".")[0] in ("verification", "target", "budget", "rollback")
    ]
    assert [one["type"] for one in told[-5:]] == [
        "verification.failed", "target.failed", "budget.stopped", "rollback.started", "rollback.completed",
    ]  # fmt: skip
    assert told[-5]["data"]["metrics"][0]["value"] == "500"

    audit = client.get("/v1/audit", limit=100)["items"]
    (rollback,) = [entry for entry in audit if entry["action"] == "rollback"]
    assert (rollback["user"], rollback["name"]) == ("headgate", hit["target"])
    assert "result.statusCode == 200 is false" in rollback["after"]["cause"]
    assert [entry["user"] for entry in audit if entry["action"] == "stop"] == ["headgate"]
