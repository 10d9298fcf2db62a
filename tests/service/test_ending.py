"""A server that is asked to end while some are not answered yet, and will not be in time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

import postgres

from . import waiting
from .client import Client
from .server import Server

HEAD = "{line} HTTP/1.1\r\nHost: headgate\r\nAuthorization: Bearer {token}\r\n{more}\r\n\r\n"
CLAIM = json.dumps({"waitSeconds": 30})
RESOURCE = json.dumps({"name": "node-1", "kind": "Node"})


@contextlib.contextmanager
def _nobody_writes_to_sqlite(file: Path) -> Iterator[None]:
    """As somebody's transaction that takes long."""
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextlib.contextmanager
def _nobody_writes_to_postgres(url: str) -> Iterator[None]:
    with asyncio.Runner() as runner:
        other = runner.run(asyncpg.connect(url))
        runner.run(other.execute("BEGIN; LOCK TABLE resource IN EXCLUSIVE MODE"))
        yield
        runner.run(other.close())


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> Iterator[str | None]:
    if request.param == "sqlite":
        yield None
        return
    with postgres.fresh_database(request.getfixturevalue("postgres_server_url")) as url:
        yield url


def _ask(client: Client, line: str, more: str, body: str = "") -> socket.socket:
    """Without waiting for the answer."""
    link = client.raw()
    link.sendall((HEAD.format(line=line, token=client.token, more=more) + body).encode())
    return link


def _json(body: str, length: int | None = None) -> str:
    return f"Content-Type: application/json\r\nContent-Length: {length or len(body)}"


def test_it_ends_well_with_one_line_and_does_what_it_was_given(database: str | None, tmp_path: Path) -> None:
    server = Server(tmp_path, "--lease", "60", *(() if database is None else ("--database", database)))
    server.start()
    client = server.admin("default")
    client.expect(201, "PUT", "/v1/job-agents/edge", {"type": "pull"})
    lock = (
        _nobody_writes_to_sqlite(tmp_path / "data" / "headgate.db")
        if database is None
        else _nobody_writes_to_postgres(database)
    )
    with contextlib.ExitStack() as links:
        with lock:
            for link in (
                _ask(client, "POST /v1/job-agents/edge/claim", _json(CLAIM), CLAIM),
                _ask(client, "GET /v1/events", "Accept: text/event-stream"),
                _ask(client, "POST /v1/resources", _json(RESOURCE), RESOURCE),
                _ask(client, "POST /v1/resources", _json("{", 100), "{"),
            ):
                links.enter_context(link)
            for _ in range(3):
                server.anybody().expect(200, "GET", "/healthz")
            ending = threading.Thread(target=server.stop)
            ending.start()
            waiting.until(lambda: "not answered" in server.log.read_text())
        ending.join()
    assert server.exit_code == 0
    [line] = server.log.read_text().splitlines()
    found = re.search("WARNING headgate: ended while ([0-9]+) requests were not answered yet$", line)
    assert found is not None
    assert int(found[1]) >= 2, "the write that waits and the body that does not come"
    server.start()
    assert client.get("/v1/resources/node-1")["name"] == "node-1"
    server.stop()
