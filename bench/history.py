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
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.runtime.commands import CommandContext
from headgate.runtime.historian import Historian
from headgate.runtime.worker import Worker, WorkerSettings, wall_clock
from headgate.store import Store, Workspace, open_store

TARGETS = 10_000
CHANGES = 100_000
QUESTIONS = 60
AT_ONCE = 200
HOME = "default"
TARGET_SECONDS = 1.0


def run() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder, servers.postgres() as postgres:
        yield from _measured("SQLite", f"sqlite:///{folder}/history.db")
        if postgres is not None:
            yield from _measured("PostgreSQL", postgres)


def _measured(name: str, url: str) -> Iterator[str]:
    store = open_store(url)
    store.migrate()
    workspace = Workspace(NamedIds("bench").new("workspace", HOME), HOME, "", wall_clock())
    store.add_workspace(workspace)
    try:
        _grow(store)
        begin = time.monotonic()
        Historian(store, workspace).read_on(float("inf"))
        read = time.monotonic() - begin
        entries = store.head(HOME)
        yield f"history: {name}, {entries:,} entries of {TARGETS:,} targets read once in {read:.0f} s"
        taken = sorted(_ask(store))
        p95 = taken[int(len(taken) * 0.95)]
        yield (
            f"history: {name}, a random moment of {CHANGES:,} changes: {statistics.median(taken):.2f} s, "
            f"p95 {p95:.2f} s (target {TARGET_SECONDS:g})"
        )
    finally:
        store.close()


def _grow(store: Store) -> None:
    """Version after version goes over the fleet, each job reported as it begins and as it ends."""
    worker = Worker(store, WorkerSettings("bench"))
    worker.start()
    _submit(worker, service.fleet(TARGETS))
    done, number = 0, 0
    while done < CHANGES:
        number += 1
        done += _submit(worker, [service.publication(f"v{number}")])
        while done < CHANGES and (live := _live(worker)):
            for first in range(0, len(live), AT_ONCE):
                some = live[first : first + AT_ONCE]
                done += _submit(worker, [changes.JobReported(job, "inProgress") for job in some])
                done += _submit(worker, [changes.JobReported(job, "successful") for job in some])
    worker.stop()


def _submit(worker: Worker, given: list[changes.Change]) -> int:
    def command(context: CommandContext) -> None:
        for change in given:
            context.apply(change)

    worker.submit(HOME, command, service.ME).result(600)
    return len(given)


def _live(worker: Worker) -> list[str]:
    return worker.ask(
        HOME, lambda view: [job.id for job in view.engine.jobs.values() if job.completed_at is None]
    ).result(600)


def _ask(store: Store) -> Iterator[float]:
    span = store.history_span(HOME)
    assert span is not None
    chance = random.Random(7)
    for _ in range(QUESTIONS):
        at = chance.randint(span[0], span[1].until_at)
        begin = time.monotonic()
        pieces = store.history_until(HOME, at)
        assert len(history.document(pieces, at, span[0], {})) > instants.MICROSECONDS_PER_SECOND
        yield time.monotonic() - begin
