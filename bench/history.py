"""How it was: the state of a fleet at random past moments, on each database."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Iterator

from bench import servers, service
from headgate.api.routes import history
from headgate.fleet.model import changes
from headgate.kernel.identifiers import NamedIds
from headgate.runtime.commands import CommandContext
from headgate.runtime.historian import Historian
from headgate.runtime.worker import Worker, WorkerSettings, wall_clock
from headgate.store import Store, Workspace
from headgate.store.sql.opening import open_store

SIZES = ((1_000, 10_000), (10_000, 100_000))
"""Targets, and changes that are recorded of them."""
QUESTIONS = 60
AT_ONCE = 200
TARGET_SECONDS = 1.0


def run() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder, servers.postgres() as postgres:
        for targets, count in SIZES:
            yield from _measured("SQLite", f"sqlite:///{folder}/history-{targets}.db", targets, count)
            if postgres is not None:
                yield from _measured("PostgreSQL", postgres, targets, count)


def _measured(name: str, url: str, targets: int, count: int) -> Iterator[str]:
    store = open_store(url)
    store.migrate()
    home = f"fleet-{targets}"
    workspace = Workspace(NamedIds("bench").new("workspace", home), home, "", wall_clock())
    store.add_workspace(workspace)
    try:
        _grow(store, home, targets, count)
        begin = time.monotonic()
        Historian(store, workspace).read_on(float("inf"))
        read = time.monotonic() - begin
        entries = store.head(home)
        yield f"history: {name}, {entries:,} entries of {targets:,} targets read once in {read:.1f} s"
        taken = sorted(_ask(store, home))
        p95 = taken[int(len(taken) * 0.95)]
        yield (
            f"history: {name}, a random moment of {count:,} changes of {targets:,} targets: "
            f"{statistics.median(taken):.2f} s, p95 {p95:.2f} s (target {TARGET_SECONDS:g})"
        )
    finally:
        store.close()


def _grow(store: Store, home: str, targets: int, count: int) -> None:
    """Version after version goes over the fleet, each job reported as it begins and as it ends."""
    worker = Worker(store, WorkerSettings("bench"))
    worker.start()
    _submit(worker, home, service.fleet(targets))
    done, number = 0, 0
    while done < count:
        number += 1
        done += _submit(worker, home, [service.publication(f"v{number}")])
        while done < count and (live := _live(worker, home)):
            for first in range(0, len(live), AT_ONCE):
                some = live[first : first + AT_ONCE]
                done += _submit(worker, home, [changes.JobReported(job, "inProgress") for job in some])
                done += _submit(worker, home, [changes.JobReported(job, "successful") for job in some])
    worker.stop()


def _submit(worker: Worker, home: str, given: list[changes.Change]) -> int:
    def command(context: CommandContext) -> None:
        for change in given:
            context.apply(change)

    worker.submit(home, command, service.ME).result(600)
    return len(given)


def _live(worker: Worker, home: str) -> list[str]:
    return worker.ask(
        home, lambda view: [job.id for job in view.engine.jobs.values() if job.completed_at is None]
    ).result(600)


def _ask(store: Store, home: str) -> Iterator[float]:
    span = store.history_span(home)
    assert span is not None
    chance = random.Random(7)
    for _ in range(QUESTIONS):
        at = chance.randint(span[0], span[1].until_at)
        begin = time.monotonic()
        pieces = store.history_until(home, at)
        assert history.document(pieces, at, span[0], {})
        yield time.monotonic() - begin
