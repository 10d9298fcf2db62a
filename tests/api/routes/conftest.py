from collections.abc import Iterator

import pytest

from api.routes.server import Client, Server


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def client(server: Server) -> Client:
    """An administrator of all workspaces."""
    return server.client()
