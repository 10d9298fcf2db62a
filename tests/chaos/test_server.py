"""The whole service, killed at any moment under people and agents who ask again, keeps every promise."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headgate.store.sql.opening import open_store

from . import killing
from .notebook import Notebook, now
from .server import Agent, Caller, Server, ask_for_all, is_everything_up_to_date

AGENTS = 3
KILLS = max(2, killing.LIVES // 2)
MOST_SECONDS = 120.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    folder = tmp_path / "data"
    folder.mkdir()
    found = Server(folder)
    found.start()
    yield found
    found.kill()


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + MOST_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.05)


def test_a_server_that_is_killed_keeps_every_promise(
    server: Server, notes: Path, broken_promises: Callable[[str], list[str]]
) -> None:
    chance = random.Random(8)
    is_over = threading.Event()
    caller, notebook = Caller(server, is_over), Notebook(notes)
    with ThreadPoolExecutor(AGENTS + 1) as threads:
        try:
            asking = threads.submit(ask_for_all, caller, notebook, random.Random(9), 0.5)
            working = [
                threads.submit(Agent(caller, notebook, number).run, is_over) for number in range(AGENTS)
            ]
            for _ in range(KILLS):
                time.sleep(chance.uniform(0, 1.0))
                server.kill()
                server.start()
            asking.result(MOST_SECONDS)
            eventually(lambda: is_everything_up_to_date(caller))
        finally:
            is_over.set()
        for one in working:
            one.result(MOST_SECONDS)
    server.kill()
    assert broken_promises(server.url) == []


def test_a_server_that_is_asked_to_end_hands_over_its_lease(server: Server) -> None:
    store = open_store(server.url)
    try:
        eventually(lambda: bool(store.leases()))
        assert server.stop() == 0
        [ends_at] = [ends_at for lease, ends_at in store.leases() if lease.name == "engine/default"]
        assert ends_at < now()
    finally:
        store.close()
