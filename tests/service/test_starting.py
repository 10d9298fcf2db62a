"""What a process does that is started before its database, or beside another one."""

from __future__ import annotations

import http.client
import json
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import postgres

from .server import Server

PATIENCE_SECONDS = 60.0


def _start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "headgate", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _readiness(port: int) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)["detail"]
    except OSError:
        return 0, ""


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.05)


def test_a_process_that_is_started_while_the_database_is_away_waits_for_it(
    private_postgres: postgres.Server, tmp_path: Path
) -> None:
    private_postgres.stop()
    port = _free_port()
    process = _start(
        "up", "--data", str(tmp_path / "data"), "--port", str(port), "--database", private_postgres.url
    )
    try:
        _until(lambda: _readiness(port)[0] == 503)
        assert "PostgreSQL" in _readiness(port)[1]
        private_postgres.start()
        _until(lambda: _readiness(port)[0] == 200)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Headgate is at ")
        assert process.stdout.readline().startswith("Admin token")
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert "database: PostgreSQL" in errors
    assert "Traceback" not in errors


def test_a_database_that_does_not_exist_is_refused_at_once(postgres_server_url: str, tmp_path: Path) -> None:
    url = postgres_server_url.replace("/postgres?", "/nowhere?")
    process = _start("up", "--data", str(tmp_path / "data"), "--port", "0", "--database", url)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 1
    assert "nowhere" in errors


def test_a_second_server_on_the_same_folder_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    first = _start("up", "--data", str(folder), "--port", "0")
    try:
        assert first.stdout is not None
        address = first.stdout.readline().split()[3]
        _until(lambda: (folder / "local.json").exists())
        before = (folder / "local.json").read_bytes()
        second = _start("up", "--data", str(folder), "--port", "0")
        output, errors = second.communicate(timeout=PATIENCE_SECONDS)
        assert (second.returncode, output) == (1, "")
        assert errors == (
            f"headgate: {folder} is served by another process at {address}; "
            "stop that one, or use another --data\n"
        )
        assert (folder / "local.json").read_bytes() == before
    finally:
        first.terminate()
        first.communicate(timeout=PATIENCE_SECONDS)


def test_the_folder_and_what_is_in_it_are_their_owners_alone(tmp_path: Path) -> None:
    """Also where an older version, or somebody else, has made them readable."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    (folder / "headgate.db").touch(0o644)
    process = _start("up", "--data", str(folder), "--port", "0")
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Headgate is at ")
        modes = {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir() if file.is_file()}
        assert (stat.S_IMODE(folder.stat().st_mode), modes) == (0o700, {0o600})
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_SECONDS)


def test_a_server_that_stops_while_agents_and_followers_wait_says_nothing_of_it(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        server.admin().expect(201, "PUT", "/v1/job-agents/runner", {"type": "pull"})
        waiting = [
            _asked(server, "POST", "/v1/job-agents/runner/claim", b'{"waitSeconds": 30}'),
            _asked(server, "GET", "/v1/events", None, {"Accept": "text/event-stream"}),
        ]
        for _ in range(3):
            server.anybody().expect(200, "GET", "/healthz")
    finally:
        server.stop()
    for connection in waiting:
        connection.close()
    assert "Traceback" not in server.log.read_text(), server.log.read_text()


def _asked(
    server: Server, method: str, path: str, body: bytes | None, headers: dict[str, str] | None = None
) -> http.client.HTTPConnection:
    """Without waiting for the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_SECONDS)
    given = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json", **(headers or {})}
    connection.request(method, path, body, given)
    return connection
