"""A decider that sleeps through its lease finds that another has taken over, and writes nothing more."""

import os
import random
import signal
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import msgspec

from headgate.store import Lease, Store
from headgate.store.sql.opening import open_store

from . import killing
from .player import Part, name_of

PAUSES = 2
PATIENCE_SECONDS = 4.0


def test_a_decider_that_was_paused_keeps_every_promise(
    postgres_url: str, notes: Path, broken_promises: Callable[[str], list[str]]
) -> None:
    chance = random.Random(5)
    part = Part(postgres_url, str(notes), 5)
    deciders = [
        killing.start(msgspec.structs.replace(part, asks=False, works=False, seed=seed)) for seed in (6, 7)
    ]
    other = killing.start(msgspec.structs.replace(part, decides=False, pause_seconds=1.0))
    processes = [*deciders, other]
    try:
        assert _pause_holders(postgres_url, deciders, other, chance) > 0
        for process in processes:
            process.join(killing.LIFE_SECONDS)
        assert [process.exitcode for process in processes] == [0, 0, 0]
    finally:
        for process in processes:
            process.kill()
            process.join()
    assert broken_promises(postgres_url) == []


def _pause_holders(url: str, deciders: list[BaseProcess], other: BaseProcess, chance: random.Random) -> int:
    """How often a lease changed hands while its holder slept."""
    by_name = {name_of(process.pid or 0): process for process in deciders}
    store = open_store(url)
    try:
        count = 0
        while count < PAUSES and other.is_alive():
            time.sleep(chance.uniform(0, 0.3))
            lease = _lease(store)
            if lease is not None and lease.holder in by_name:
                count += _sleeps_through(store, by_name[lease.holder], lease)
        return count
    finally:
        store.close()


def _sleeps_through(store: Store, holder: BaseProcess, lease: Lease) -> bool:
    """It may have been stopped in the middle of a transaction, for whose end everybody waits: then not."""
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGSTOP)
    try:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if _lease(store) != lease:
                return True
            time.sleep(0.02)
        return False
    finally:
        os.kill(holder.pid, signal.SIGCONT)


def _lease(store: Store) -> Lease | None:
    try:
        return next((lease for lease, _ in store.leases()), None)
    except Exception:  # the tables may not be there yet
        return None
