"""API server, engine and job agents as processes of their own: what each may reach and read is said to each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from . import waiting
from .client import Answer, Client
from .listener import Listener
from .test_callbacks import call_back, now, signature

SECRET = "a-secret-of-the-tests"
ENVIRONMENT = {"TEAM_SECRET": SECRET}


class Processes:
    """`headgate api`, `engine` and `agent serve` on one database; options are given to each by its name."""

    def __init__(self, folder: Path, database: str) -> None:
        self._folder = folder
        self._database = database
        self.address = ""
        self.token = ""

    @contextmanager
    def running(self, **options: tuple[str, ...]) -> Iterator[Client]:
        with ExitStack() as started:
            api = started.enter_context(self._process("api", "--port", "0", *options.get("api", ())))
            assert api.stdout is not None
            self.address = api.stdout.readline().split()[3]
            self.token = self.token or api.stdout.readline().split()[-1]
            started.enter_context(self._process("engine", *options.get("engine", ())))
            started.enter_context(self._process("agent", "serve", *options.get("agent", ())))
            yield Client(self.address, self.token, None)

    @contextmanager
    def _process(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        name = arguments[0]
        command = [sys.executable, "-m", "headgate", *arguments]
        command += ["--database", self._database, "--data", str(self._folder / name), "--lease", "2"]
        with (self._folder / f"{name}.log").open("a") as errors:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ, **ENVIRONMENT}
            )
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=60)


def roll_out(client: Client, listener: Listener, tag: str = "v1") -> dict[str, Any]:
    """A job of an agent that calls this machine and names a variable; as it is when it has been tried."""
    config = {"url": f"{listener.address}/hook", "secretEnv": "TEAM_SECRET"}
    client.call("PUT", "/v1/job-agents/hook", {"type": "http", "config": config})
    client.call("PUT", "/v1/environments/prod", {"resourceSelector": "true"})
    client.call("PUT", "/v1/resources/node-1", {"kind": "Node"})
    client.call("PUT", "/v1/deployments/web", {"resourceSelector": "true", "jobAgent": "hook"})
    client.expect(201, "POST", "/v1/deployments/web/versions", {"tag": tag})
    found: list[dict[str, Any]] = []

    def tried() -> bool:
        jobs = [job for job in client.get("/v1/jobs")["items"] if job["version"] == tag]
        found[:] = [job for job in jobs if job["status"] not in ("pending", "queued") or listener.requests]
        return bool(found)

    waiting.until(tried, 60)
    return found[0]


def called_back(client: Client, job: str) -> Answer:
    body = json.dumps({"status": "successful"}).encode()
    timestamp = now()
    return call_back(client, job, body, timestamp, signature(timestamp, job, body, SECRET))


def test_without_options_agents_reach_public_addresses_and_read_their_own_variables(
    tmp_path: Path, postgres_url: str
) -> None:
    listener = Listener()
    try:
        with Processes(tmp_path, postgres_url).running() as client:
            job = roll_out(client, listener)
            assert job["status"] == "invalidIntegration", job
            assert "--allow-env" in job["message"] or "--allow-address" in job["message"]
    finally:
        listener.close()
    assert listener.requests == []


def test_the_options_of_the_agents_process_are_not_those_of_the_api(
    tmp_path: Path, postgres_url: str
) -> None:
    """The agent may read the secret and sends the order; the API server may not, and so believes no callback."""
    listener = Listener()
    processes = Processes(tmp_path, postgres_url)
    agent = ("--allow-address", "loopback", "--allow-env", "TEAM_SECRET")
    try:
        with processes.running(agent=agent) as client:
            job = roll_out(client, listener)
            assert listener.requests, job
            assert SECRET not in listener.requests[0].everything
            refused = called_back(client, job["id"])
            assert refused.status == 401, refused
            assert "TEAM_SECRET" not in refused.sentences
            assert client.get(f"/v1/jobs/{job['id']}")["status"] != "successful"
        with processes.running(agent=agent, api=("--allow-env", "TEAM_*")) as client:
            assert called_back(client, job["id"]).status == 200
            waiting.until(lambda: client.get(f"/v1/jobs/{job['id']}")["status"] == "successful", 60)
    finally:
        listener.close()


def test_the_options_of_the_api_are_not_those_of_the_agents_process(
    tmp_path: Path, postgres_url: str
) -> None:
    listener = Listener()
    generous = ("--allow-address", "any", "--allow-env", "TEAM_SECRET")
    try:
        with Processes(tmp_path, postgres_url).running(api=generous, engine=generous) as client:
            job = roll_out(client, listener)
            assert job["status"] == "invalidIntegration", job
    finally:
        listener.close()
    assert listener.requests == []
