"""One server for all tests of a process, and a workspace for each test: what one does is not seen by another."""

from collections.abc import Iterator
from itertools import count

import pytest

import postgres

from . import fleet
from .client import Client
from .server import Server

_numbers = count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = Server(tmp_path_factory.mktemp("service"))
    found.start()
    yield found
    found.stop()
    assert "Traceback" not in found.log.read_text(), found.log.read_text()


def new_workspace(server: Server) -> Client:
    name = f"workspace-{next(_numbers)}"
    server.admin().expect(201, "POST", "/v1/workspaces", {"name": name})
    return server.admin(name)


@pytest.fixture
def client(server: Server) -> Client:
    """An admin, whose workspace is empty."""
    return new_workspace(server)


@pytest.fixture
def busy(client: Client) -> Client:
    """An admin, whose workspace has something of every kind."""
    fleet.fill(client)
    return client


@pytest.fixture(scope="session")
def shared(server: Server) -> Client:
    """As `busy`, for those who only look."""
    found = new_workspace(server)
    fleet.fill(found)
    return found


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """On each database."""
    if request.param == "sqlite":
        yield request.getfixturevalue("server")
        return
    with postgres.fresh_database(request.getfixturevalue("postgres_server_url")) as url:
        server = Server(tmp_path_factory.mktemp("on-postgres"), "--database", url)
        server.start()
        yield server
        server.stop()
        assert "Traceback" not in server.log.read_text(), server.log.read_text()
