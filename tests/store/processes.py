"""What other processes do to a store: functions at the top of a module, so that a fresh process finds them."""

import itertools
import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from headgate.store.sql.opening import open_store

from .values import HOME, append, workspace


def write_entries(url: str, writer: int, count: int) -> None:
    store = open_store(url)
    store.migrate()
    store.add_workspace(workspace(HOME))
    for number in range(count):
        with store.begin(HOME) as transaction:
            append(transaction, b"[%d,%d]" % (writer, number))
    store.close()


def write_until_killed(url: str) -> None:
    """Says each entry's number once it is committed."""
    store = open_store(url)
    for _ in itertools.count():
        with store.begin(HOME) as transaction:
            append(transaction, b"{}")
            number = transaction.head
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


def in_processes(count: int, work: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> None:
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as processes:
        running = [processes.submit(work, *some) for some in arguments]
        for one in running:
            one.result(timeout=120)


if __name__ == "__main__":
    write_until_killed(sys.argv[1])
