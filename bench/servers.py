"""Real servers for the benchmarks: PostgreSQL from the system's binaries, Headgate as a process."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from headgate.fleet.engine import manifests
from headgate.fleet.model import changes


@contextlib.contextmanager
def postgres() -> Iterator[str | None]:
    """`HEADGATE_TEST_POSTGRES` if it is set; else one of its own, or None where there are no binaries."""
    given = os.environ.get("HEADGATE_TEST_POSTGRES")
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if given is not None or not binaries:
        yield given
        return
    folder = Path(tempfile.mkdtemp(prefix="headgate-bench-"))
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    tools = binaries[-1].parent
    data = folder / "data"
    quiet: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder, **identity}
    subprocess.run([tools / "initdb", "-D", data, "-A", "trust", "-U", "headgate"], **quiet)
    options = f"-k {folder} -c listen_addresses=''"
    subprocess.run(
        [tools / "pg_ctl", "-D", data, "-o", options, "-w", "-l", folder / "log", "start"], **quiet
    )
    try:
        yield f"postgresql://headgate@/postgres?host={folder}"
    finally:
        subprocess.run([tools / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"], **quiet)
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        local = json.loads((folder / "local.json").read_text())
        self.address = urlsplit(local["url"]).netloc
        self._token = local["token"]
        self._process = process
        self._connection = http.client.HTTPConnection(self.address)

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.address, timeout=600)

    def put_bytes(self, path: str, content: bytes) -> None:
        link = self.connection()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        link.request("PUT", path, content, headers)
        answer = link.getresponse()
        said = answer.read()
        link.close()
        if answer.status >= 400:
            raise RuntimeError(f"PUT {path}: {answer.status} {said[:500]!r}")

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        connection: http.client.HTTPConnection | None = None,
    ) -> Any:
        content = self.fetch(method, path, body, connection or self._connection)
        return json.loads(content) if content else None

    def fetch(self, method: str, path: str, body: object, link: http.client.HTTPConnection) -> bytes:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        link.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = link.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:500]!r}")
        return content

    def apply(self, given: Sequence[changes.Put]) -> None:
        documents = [manifests.describe(change.object) for change in given]
        self.call("POST", "/v1/apply", {"manifests": documents})

    def put_scoped_deployment(self, name: str, resource: str) -> None:
        body = {"name": name, "resourceSelector": f"resource.name == '{resource}'", "jobAgent": "puller"}
        self.call("POST", "/v1/deployments", body)

    def publish_until_offered(self, deployment: str, tag: str, agent: str) -> float:
        """Seconds between the accepted publish and the claim of a polling agent that gets its job."""
        offered: list[tuple[float, dict[str, Any]]] = []
        asking = threading.Event()

        def poll() -> None:
            link = http.client.HTTPConnection(self.address)
            asking.set()
            found = self.call("POST", f"/v1/job-agents/{agent}/claim", {"waitSeconds": 10, "limit": 1}, link)
            offered.append((time.perf_counter(), found["jobs"][0]))
            link.close()

        agent_thread = threading.Thread(target=poll)
        agent_thread.start()
        asking.wait()
        time.sleep(0.01)
        self.call("POST", f"/v1/deployments/{quote(deployment)}/versions", {"tag": tag})
        accepted = time.perf_counter()
        agent_thread.join()
        at, job = offered[0]
        report = {"token": job["claim"]["token"], "status": "successful"}
        self.call("POST", f"/v1/jobs/{job['job']['id']}/report", report)
        return max(0.0, at - accepted)

    def pages_per_second(self, path: str, limit: int, seconds: float = 3.0) -> float:
        begin = time.perf_counter()
        count = 0
        while time.perf_counter() - begin < seconds:
            self.fetch("GET", f"{path}?limit={limit}", None, self._connection)
            count += 1
        return count / (time.perf_counter() - begin)

    def memory_mib(self) -> float:
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024


@contextlib.contextmanager
def up(folder: Path, database: str | None = None) -> Iterator[Server]:
    """`headgate up` in an empty folder, on SQLite unless it is given another database."""
    command = [sys.executable, "-m", "headgate", "up", "--data", str(folder), "--port", "0"]
    if database is not None:
        command += ["--database", database]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        first = process.stdout.readline()
        assert first.startswith("Headgate is at"), first
        yield Server(process, folder)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
