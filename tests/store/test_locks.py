"""The lock of a workspace: whoever appends is alone, in this process and in others."""

import concurrent.futures
import threading
from concurrent.futures import ThreadPoolExecutor

from headgate.store import Store

from .values import HOME, append, payloads, workspace

WRITERS = 6
ENTRIES_EACH = 15
A_MOMENT_SECONDS = 0.2


def test_a_second_transaction_waits_for_the_first(store: Store) -> None:
    assert _second_waits(store, store)


def test_a_second_process_waits_for_the_first(two_stores: tuple[Store, Store]) -> None:
    assert _second_waits(*two_stores)


def _second_waits(one: Store, other: Store) -> bool:
    """The second sees what the first appended, because it began after it."""
    begun = threading.Event()
    heads: list[int] = []

    def second() -> None:
        with other.begin(HOME) as transaction:
            heads.append(transaction.head)
            begun.set()

    with ThreadPoolExecutor(1) as threads:
        with one.begin(HOME) as transaction:
            running = threads.submit(second)
            was_let_in = begun.wait(A_MOMENT_SECONDS)
            append(transaction, b"1")
        running.result(timeout=30)
    return heads == [1] and not was_let_in


def test_readers_do_not_wait_and_see_nothing_half_done(two_stores: tuple[Store, Store]) -> None:
    for reader in two_stores:
        before = payloads(reader)
        with ThreadPoolExecutor(1) as threads, two_stores[0].begin(HOME) as transaction:
            append(transaction, b"1")
            assert threads.submit(payloads, reader).result(timeout=30) == before
        assert payloads(reader) == [*before, b"1"]


def test_a_workspace_is_not_removed_under_a_transaction(store: Store) -> None:
    with ThreadPoolExecutor(1) as threads:
        with store.begin(HOME) as transaction:
            append(transaction, b"1")
            removal = threads.submit(store.remove_workspace, HOME)
            concurrent.futures.wait([removal], A_MOMENT_SECONDS)
            assert not removal.done()
        assert removal.result(timeout=30)
    store.add_workspace(workspace(HOME))
    assert payloads(store) == []


def test_workspaces_that_are_written_at_once_do_not_mix(store: Store) -> None:
    names = [f"workspace-{number}" for number in range(WRITERS)]
    for name in names:
        store.add_workspace(workspace(name))

    def write(name: str) -> None:
        for number in range(ENTRIES_EACH):
            with store.begin(name) as transaction:
                append(transaction, b'"%s %d"' % (name.encode(), number))

    with ThreadPoolExecutor(WRITERS) as threads:
        list(threads.map(write, names))
    for name in names:
        assert payloads(store, name) == [
            b'"%s %d"' % (name.encode(), number) for number in range(ENTRIES_EACH)
        ]


def test_entries_of_many_threads_have_one_order(store: Store) -> None:
    _write_from_all([store] * WRITERS)
    _check_order(store)


def test_entries_of_many_processes_have_one_order(two_stores: tuple[Store, Store]) -> None:
    _write_from_all([*two_stores] * (WRITERS // 2))
    for one in two_stores:
        _check_order(one)


def _write_from_all(stores: list[Store]) -> None:
    def write(writer: int) -> None:
        for number in range(ENTRIES_EACH):
            with stores[writer].begin(HOME) as transaction:
                append(transaction, b"[%d,%d]" % (writer, number))

    with ThreadPoolExecutor(len(stores)) as threads:
        list(threads.map(write, range(len(stores))))


def _check_order(store: Store) -> None:
    log = store.log_after(HOME, 0, 1_000_000)
    assert [one.seq for one in log] == list(range(1, WRITERS * ENTRIES_EACH + 1))
    for writer in range(WRITERS):
        mine = [one.payload for one in log if one.payload.startswith(b"[%d," % writer)]
        assert mine == [b"[%d,%d]" % (writer, number) for number in range(ENTRIES_EACH)]
