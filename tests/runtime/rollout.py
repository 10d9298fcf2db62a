"""A rollout with real clocks: workers that share a database, and an agent that takes its orders from it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from headgate.fleet.model.changes import Change, JobReported
from headgate.runtime.worker import Worker, WorkerSettings, wall_clock
from headgate.store import Store, UnavailableError

from .fleet import agent, deployment, environment, policy, resource, version
from .stage import ANA, PATIENCE, command, eventually

LIMIT = 5


def worker(store: Store, holder: str, *, lease_seconds: float = 5.0) -> Worker:
    return Worker(store, WorkerSettings(holder, lease_seconds=lease_seconds, poll_seconds=0.05))


def fleet(count: int, selector: str = "true") -> list[Change]:
    """So many targets, of which no more than `LIMIT` may be worked on at once."""
    concurrency = {"groupSelector": "true", "limitType": "count", "limitValue": LIMIT}
    return [
        agent(),
        environment(resourceSelector=selector),
        deployment("api"),
        policy("limit", {"resourceConcurrency": concurrency}),
        *(resource(f"node-{number:03}") for number in range(count)),
        version("api", "v1"),
    ]


def submit(one: Worker, workspace: str, *changes: Change) -> None:
    one.submit(workspace, command(*changes), ANA, alone=True).result(PATIENCE)


def persistently(action: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Again after every outage."""
    end = time.monotonic() + seconds
    while True:
        try:
            return action()
        except UnavailableError:
            assert time.monotonic() < end, "the store did not come back"
            time.sleep(0.02)


class Agent:
    """Claims orders from a store of its own and reports each of them done, to any of the workers."""

    def __init__(self, store: Store, workers: list[Worker]) -> None:
        self._store = store
        self.workers = workers
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.claimed: set[tuple[str, str]] = set()

    def __enter__(self) -> Agent:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._is_over.is_set():
            try:
                self._turn()
            except UnavailableError:
                time.sleep(0.02)

    def _turn(self) -> None:
        found = self._store.claim_dispatches(holder="agent", now=wall_clock(), seconds=60, limit=50)
        if not found:
            self._is_over.wait(0.005)
        waiting = [(order.workspace, order.job) for order in found]
        self.claimed |= set(waiting)
        while waiting and not self._is_over.is_set():
            waiting = self._unheard(waiting)

    def _unheard(self, jobs: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Reports all of them at once, spread over the workers; those that could not be told."""
        told = [
            (name, job, self.workers[number % len(self.workers)].report(name, JobReported(job, "successful")))
            for number, (name, job) in enumerate(jobs)
        ]
        left = [
            (name, job)
            for name, job, report in told
            if isinstance(report.exception(PATIENCE), UnavailableError)
        ]
        if left:
            time.sleep(0.02)
        return left


def jobs(store: Store, workspace: str) -> list[Any]:
    found = store.jobs_before(workspace, None, 100_000, {})
    return [msgspec.json.decode(row["document"]) | {"status": row["status"]} for row in found]  # type: ignore[arg-type]


def count_done(store: Store, workspace: str) -> int:
    return len(store.jobs_before(workspace, None, 100_000, {"status": "successful"}))


def finish(store: Store, workspace: str, count: int) -> None:
    """Waits until so many jobs are done, also through outages. A rollout that stands is given up, not one that is slow."""
    done = 0

    def has_moved() -> bool:
        nonlocal done
        before, done = done, persistently(lambda: count_done(store, workspace))
        return done > before

    while done < count:
        eventually(has_moved)
    assert done == count


def most_at_once(store: Store, workspace: str) -> int:
    """How many jobs were live together, by what was stored of them. One that ends at the moment another begins has
    made room for it."""
    moments: list[tuple[int, int]] = []
    for job in jobs(store, workspace):
        moments.append((job["created_at"], 1))
        if "completed_at" in job:
            moments.append((job["completed_at"], -1))
    live = most = 0
    for _, step in sorted(moments):
        live += step
        most = max(most, live)
    return most


def assert_rolled_out_once(store: Store, workspace: str, count: int) -> None:
    """Every target has its one job, the limit held, and log and decisions are one order without a gap."""
    found = jobs(store, workspace)
    assert sorted(job["resource"] for job in found) == [f"node-{number:03}" for number in range(count)]
    assert {job["status"] for job in found} == {"successful"}
    assert most_at_once(store, workspace) <= LIMIT
    log = store.log_after(workspace, 0, 1_000_000)
    assert [entry.seq for entry in log] == list(range(1, len(log) + 1))
    assert [entry.at for entry in log] == sorted(entry.at for entry in log)
    marks = [msgspec.json.decode(entry.payload)["sequence"] for entry in log if entry.kind == "decided"]
    assert marks == sorted(marks)
    reports = [entry.payload for entry in log if b"JobReported" in entry.payload]
    assert len(reports) == len(set(reports)) == count
