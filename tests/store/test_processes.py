"""Several processes on one database, killed and restarted: nothing that was committed is lost."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import postgres
from headgate.store import Store, UnavailableError
from headgate.store.sql.opening import open_store

from .processes import in_processes, write_entries
from .values import HOME, append, eventually, payloads, workspace

PROCESSES = 2
ENTRIES_EACH = 40


@pytest.fixture(params=["sqlite", "postgres"])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that nobody has opened yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'headgate.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


def test_processes_that_start_at_once_write_one_log(new_url: str, opened: Callable[[str], Store]) -> None:
    in_processes(PROCESSES, write_entries, [(new_url, writer, ENTRIES_EACH) for writer in range(PROCESSES)])
    log = opened(new_url).log_after(HOME, 0, 1_000_000)
    assert [one.seq for one in log] == list(range(1, PROCESSES * ENTRIES_EACH + 1))
    for writer in range(PROCESSES):
        mine = [one.payload for one in log if one.payload.startswith(b"[%d," % writer)]
        assert mine == [b"[%d,%d]" % (writer, number) for number in range(ENTRIES_EACH)]


def test_a_killed_process_loses_nothing_that_was_committed(
    shared_url: str, opened: Callable[[str], Store]
) -> None:
    store = opened(shared_url)
    store.add_workspace(workspace(HOME))
    acknowledged = 0
    for minimum in (1, 7, 23):
        acknowledged = _write_and_kill(shared_url, acknowledged + minimum)
        numbers = [one.seq for one in store.log_after(HOME, 0, 1_000_000)]
        assert numbers == list(range(1, store.head(HOME) + 1))
        assert store.head(HOME) >= acknowledged


def _write_and_kill(url: str, until: int) -> int:
    """The last number that was said; it may have been killed at any point of the next."""
    with subprocess.Popen(
        [sys.executable, "-m", "store.processes", url],
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = next(int(line) for line in process.stdout if int(line) >= until)
        process.kill()
        return max([said, *(int(line) for line in process.stdout if line.endswith("\n"))])


def test_a_killed_process_leaves_the_workspace_unlocked(
    shared_url: str, opened: Callable[[str], Store]
) -> None:
    store = opened(shared_url)
    store.add_workspace(workspace(HOME))
    _write_and_kill(shared_url, 1)
    head = store.head(HOME)
    with store.begin(HOME) as transaction:
        append(transaction, b"{}")
    assert store.head(HOME) >= head + 1


@pytest.fixture
def on_private_postgres(private_postgres: postgres.Server, opened: Callable[[str], Store]) -> Store:
    store = opened(private_postgres.url)
    store.add_workspace(workspace(HOME))
    return store


def test_a_server_that_stopped_is_unavailable_until_it_is_back(
    private_postgres: postgres.Server, on_private_postgres: Store
) -> None:
    store = on_private_postgres
    with store.begin(HOME) as transaction:
        append(transaction, b"1")
    private_postgres.stop(immediate=True)
    with pytest.raises(UnavailableError):
        store.ping()
    with pytest.raises(UnavailableError), store.begin(HOME) as transaction:
        append(transaction, b"2")
    private_postgres.start()
    _write_again(store, b"3")
    assert payloads(store) == [b"1", b"3"]


def test_a_server_that_crashes_in_a_transaction_takes_all_of_it_back(
    private_postgres: postgres.Server, on_private_postgres: Store
) -> None:
    store = on_private_postgres
    with pytest.raises(UnavailableError):
        _write_over_a_crash(store, private_postgres)
    _write_again(store, b"2")
    assert payloads(store) == [b"2"]


def _write_over_a_crash(store: Store, server: postgres.Server) -> None:
    with store.begin(HOME) as transaction:
        append(transaction, b"1")
        server.restart(immediate=True)


def _write_again(store: Store, payload: bytes) -> None:
    """Connections that died with the server are found dead one by one."""

    def written() -> bool:
        try:
            with store.begin(HOME) as transaction:
                append(transaction, payload)
        except UnavailableError:
            return False
        return True

    eventually(written)


def test_hints_arrive_again_after_the_server_was_restarted(
    private_postgres: postgres.Server, on_private_postgres: Store, opened: Callable[[str], Store]
) -> None:
    listener = opened(private_postgres.url)
    listener.wait_for_hint(0.01)
    private_postgres.restart(immediate=True)

    def heard() -> bool:
        try:
            on_private_postgres.hint()
        except UnavailableError:
            return False
        return listener.wait_for_hint(0.05)

    eventually(heard)


def test_a_server_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError):
        open_store(f"postgresql://headgate@/headgate?host={tmp_path}")


def test_a_closed_store_is_unavailable(store: Store) -> None:
    store.close()
    with pytest.raises(UnavailableError):
        store.ping()
    with pytest.raises(UnavailableError), store.begin(HOME):
        raise AssertionError("the block was entered")
    store.close()
