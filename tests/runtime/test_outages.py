"""A database that goes away in the middle of a rollout, and comes back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import postgres
from headgate.runtime.commands import UnknownWorkspaceError
from headgate.runtime.worker import Worker
from headgate.store import DiskFullError, LogEntry, RefusedError, Store, UnavailableError
from headgate.store.sql.transaction import SqlTransaction
from store import test_failing_databases as failing_databases

from . import rollout
from .fleet import ONE_NODE, resource, version
from .stage import ANA, HOME, PATIENCE, Stage, command, eventually, workspace
from .workspace_engines import assert_same, stands_by_log, stands_by_rows

NODES = 60


class Writer:
    """Submits without pause, and notes what was acknowledged and how the rest failed."""

    def __init__(self, workers: list[Worker]) -> None:
        self._workers = workers
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.acknowledged: list[str] = []
        self.failures: list[BaseException] = []

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._is_over.is_set():
            number += 1
            name = f"extra-{number:05}"
            change = resource(name, kind="Extra")
            future = self._workers[number % len(self._workers)].submit(HOME, command(change), ANA)
            error = future.exception(PATIENCE)
            if error is None:
                self.acknowledged.append(name)
            else:
                self.failures.append(error)
                time.sleep(0.01)


def test_a_server_that_crashes_under_load_loses_nothing_that_was_acknowledged(
    private_postgres: postgres.Server, opened: Callable[[str], Store]
) -> None:
    stores = [opened(private_postgres.url) for _ in range(4)]
    watched = stores[0]
    watched.add_workspace(workspace(HOME))
    workers = [rollout.worker(store, f"worker-{number}") for number, store in enumerate(stores[1:3])]
    for worker in workers:
        worker.start()
    try:
        rollout.submit(workers[0], HOME, *rollout.fleet(NODES, selector="resource.kind == 'Node'"))
        with rollout.Agent(stores[3], workers), Writer(workers) as writer:
            eventually(lambda: rollout.count_done(watched, HOME) > 5)
            private_postgres.restart(immediate=True)
            before = len(writer.acknowledged)
            eventually(lambda: len(writer.acknowledged) > before)
            rollout.finish(watched, HOME, NODES)
        eventually(lambda: watched.load(HOME).consumed == watched.head(HOME))
    finally:
        for worker in workers:
            worker.stop()

    assert writer.failures, "the outage was not noticed"
    assert {type(error) for error in writer.failures} == {UnavailableError}
    log = watched.log_after(HOME, 0, 1_000_000)
    stored = b"\n".join(entry.payload for entry in log)
    assert [name for name in writer.acknowledged if name.encode() not in stored] == []
    rollout.assert_rolled_out_once(watched, HOME, NODES)
    assert_same(stands_by_rows(watched), stands_by_log(watched))


def test_without_a_database_the_worker_says_so_and_rests(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tries again a few times a second, not as often as it can."""
    stage.each(*ONE_NODE)
    tries: list[float] = []

    def unreachable(*_: object) -> None:
        tries.append(time.monotonic())
        raise UnavailableError("nobody answers")

    with monkeypatch.context() as patch:
        patch.setattr(stage.store, "begin", unreachable)
        future = stage.worker.submit(HOME, command(version("api", "v1")), ANA)
        assert isinstance(future.exception(PATIENCE), UnavailableError)
        eventually(lambda: len(tries) >= 4)
    assert tries[3] - tries[1] > 0.5
    stage.submit(version("api", "v1"))
    assert stage.picture().jobs == ["api/prod/a v1"]


def test_questions_fail_while_the_database_is_away_and_are_answered_afterwards(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.each(*ONE_NODE)

    def unreachable(*_: object) -> None:
        raise UnavailableError("nobody answers")

    with monkeypatch.context() as patch:
        patch.setattr(stage.store, "head", unreachable)
        future = stage.worker.ask(HOME, lambda view: len(view.engine.state.resources))
        assert isinstance(future.exception(PATIENCE), UnavailableError)
    assert stage.ask(lambda view: len(view.engine.state.resources)) == 1


def test_an_error_that_nobody_foresaw_does_not_stop_the_worker(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.each(*ONE_NODE)

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(stage.store, "head", broken)
        future = stage.worker.ask(HOME, lambda view: None)
        assert isinstance(future.exception(PATIENCE), ZeroDivisionError)
    assert stage.ask(lambda view: len(view.engine.state.resources)) == 1


def test_nothing_waits_for_ever_for_a_worker_that_stops(stage: Stage) -> None:
    """Whatever is handed in while it stops is either done or refused."""
    futures = []
    is_over = threading.Event()

    def hand_in() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            futures.append(stage.worker.submit(HOME, command(resource(f"n{number}")), ANA))
            time.sleep(0.0002)

    thread = threading.Thread(target=hand_in)
    thread.start()
    eventually(lambda: len(futures) > 20)
    stage.worker.stop()
    is_over.set()
    thread.join()
    outcomes = [future.exception(PATIENCE) for future in futures]
    assert {type(error) for error in outcomes} <= {type(None), UnavailableError}
    accepted = sum(error is None for error in outcomes)
    changes = [entry for entry in stage.store.log_after(HOME, 0, 100_000) if entry.kind == "change"]
    assert len(changes) == accepted


def test_a_workspace_that_is_not_there_is_named(stage: Stage) -> None:
    with pytest.raises(UnknownWorkspaceError, match="nowhere"):
        stage.worker.ask("nowhere", lambda view: None).result(PATIENCE)


def test_a_full_disk_is_said_until_something_can_be_written_again(
    prepared: Callable[[str], Store], staged: Callable[[Store], Stage], tmp_path: Path
) -> None:
    stage = staged(prepared(f"sqlite:///{tmp_path / 'headgate.db'}"))
    stage.each(*ONE_NODE)
    failing_databases.fill(stage.store)
    with pytest.raises(DiskFullError):
        stage.each(*(resource(f"n{number}", kind="Extra" * 2_000) for number in range(100)))
    assert [trouble.check for trouble in stage.worker.health.troubles()] == ["disk"]
    assert stage.ask(lambda view: len(view.engine.state.environments)) == 1
    failing_databases.make_room(stage.store)
    stage.submit(version("api", "v1"))
    assert stage.worker.health.troubles() == []


def test_a_database_that_is_back_is_noticed_without_anybody_asking(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.each(*ONE_NODE)

    def unreachable(*_: object) -> None:
        raise UnavailableError("nobody answers")

    monkeypatch.setattr("headgate.runtime.worker._METERING_SECONDS", 0.0)
    with monkeypatch.context() as patch:
        for name in ("begin", "try_to_write"):
            patch.setattr(stage.store, name, unreachable)
        future = stage.worker.submit(HOME, command(version("api", "v1")), ANA)
        assert isinstance(future.exception(PATIENCE), UnavailableError)
        assert stage.worker.health.is_wrong("database")
    eventually(lambda: stage.worker.wake() or not stage.worker.health.is_wrong("database"))


def test_a_worker_that_does_not_come_round_is_said_to_be_stuck(
    prepared: Callable[[str], Store],
) -> None:
    stage = Stage(prepared("memory:"), stuck_seconds=0.01)
    try:
        with stage.held():
            eventually(lambda: stage.worker.health.is_wrong("queue"))
        eventually(lambda: not stage.worker.health.is_wrong("queue"))
    finally:
        stage.worker.stop()


def test_a_change_that_the_database_refuses_does_not_take_its_neighbours_along(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.each(*ONE_NODE)
    append = SqlTransaction.append

    def refuse(self: SqlTransaction, entries: Sequence[LogEntry]) -> None:
        if any(b"unwritable" in entry.payload for entry in entries):
            raise RefusedError("not in this encoding")
        append(self, entries)

    monkeypatch.setattr(SqlTransaction, "append", refuse)
    with stage.held():
        bad = stage.worker.submit(HOME, command(resource("unwritable")), ANA)
        good = stage.worker.submit(HOME, command(resource("b")), ANA)
    assert isinstance(bad.exception(PATIENCE), RefusedError)
    good.result(PATIENCE)
    assert sorted(stage.ask(lambda view: list(view.engine.state.resources))) == ["a", "b"]
