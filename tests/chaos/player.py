"""A process that is meant to be killed: a worker on a store, agents beside it, and somebody who asks for the steps.

It kills itself at a point that its fuse chooses: before or after a commit, between the work and its report.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, get_args

import msgspec

from chaos import rollout
from chaos.notebook import Notebook, now
from headgate.fleet.model.changes import JobReported
from headgate.runtime import holders
from headgate.runtime.commands import ENGINE, Caller, CommandContext, Idempotency, Reply
from headgate.runtime.worker import Worker, WorkerSettings
from headgate.store import Dispatch, Lease, Store, Transaction, UnavailableError
from headgate.store.sql.opening import open_store

AGENTS = 3
CLAIM_SECONDS = 1.0
LONGEST_WORK_SECONDS = 0.01
POLL_SECONDS = 0.05
_HOME = rollout.WORKSPACE.name


Point = Literal["committing", "committed", "claimed", "began", "ended", "reported", "answered"]
POINTS: tuple[Point, ...] = get_args(Point)
"""Where a process may die. `answered` is a step that was taken, of which nobody knows yet."""


class Part(msgspec.Struct, frozen=True):
    """What a process does. It dies when it comes to the point `dies_at` for the nth time; at None it lives on."""

    url: str
    notes: str
    seed: int
    dies_at: Point | None = None
    nth: int = 1
    asks: bool = True
    works: bool = True
    decides: bool = True
    lease_seconds: float = 1.0
    pause_seconds: float = 0.2
    """The longest time between two steps."""
    nodes: int = rollout.NODES
    more: int = 0
    """How many versions follow those that the rollout has anyhow."""
    dies_after_seconds: float | None = None
    """At this moment, wherever it is."""
    is_known_to_end: bool = False
    """Its leases tell whose they are, so that the next one need not wait for their end."""


class Fuse:
    def __init__(self, part: Part) -> None:
        self._point = part.dies_at
        self._left = part.nth
        self._lock = threading.Lock()
        if part.dies_after_seconds is not None:
            threading.Thread(target=self._wait, args=(part.dies_after_seconds,), daemon=True).start()

    def _wait(self, seconds: float) -> None:
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGKILL)

    def burn(self, point: Point) -> None:
        if point != self._point:
            return
        with self._lock:
            self._left -= 1
            if self._left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)


def play(part: Part) -> None:
    fuse = Fuse(part)
    store = open_store(part.url)
    store.migrate()
    store.add_workspace(rollout.WORKSPACE)
    _wire(store, fuse)
    chance = random.Random(part.seed)
    holder = holders.this_process() if part.is_known_to_end else name_of(os.getpid())
    settings = WorkerSettings(
        holder, decides=part.decides, lease_seconds=part.lease_seconds, poll_seconds=POLL_SECONDS
    )
    worker = Worker(store, settings)
    worker.start()
    notebook = Notebook(Path(part.notes))
    is_over = threading.Event()
    agents = [
        threading.Thread(
            target=_Agent(store, worker, notebook, fuse, chance.random(), f"{holder}-{number}").run,
            args=(is_over,),
            daemon=True,
        )
        for number in range(AGENTS if part.works else 0)
    ]
    for agent in agents:
        agent.start()
    if part.asks:
        _ask_for_all(worker, notebook, fuse, chance, part)
    while not _is_done(store, worker, notebook):
        time.sleep(0.02)
    is_over.set()
    for agent in agents:
        agent.join()
    worker.stop()
    store.close()


def name_of(process: int) -> str:
    return f"player-{process}"


def _wire(store: Store, fuse: Fuse) -> None:
    begin = store.begin

    @contextmanager
    def fragile(workspace: str, lease: Lease | None = None) -> Iterator[Transaction]:
        with begin(workspace, lease) as transaction:
            yield transaction
            fuse.burn("committing")
        fuse.burn("committed")

    store.begin = fragile  # type: ignore[method-assign]


def _ask_for_all(worker: Worker, notebook: Notebook, fuse: Fuse, chance: random.Random, part: Part) -> None:
    done = notebook.acknowledged()
    for step in rollout.steps(part.nodes, part.more):
        if step.key not in done:
            notebook.write("asking", step=step.key)
            _ask(worker, step)
            fuse.burn("answered")
            notebook.write("acknowledged", step=step.key)
            time.sleep(chance.uniform(0, part.pause_seconds))


def _ask(worker: Worker, step: rollout.Step) -> None:
    def command(context: CommandContext) -> Reply:
        step.command(context)
        return Reply(200, b"{}")

    while True:
        asked = worker.submit(
            _HOME, command, Caller("chaos"), idempotency=Idempotency(step.key, step.key), alone=True
        )
        try:
            asked.result()
            return
        except UnavailableError:
            time.sleep(0.02)


def _is_done(store: Store, worker: Worker, notebook: Notebook) -> bool:
    """All is acknowledged, decided, and where it should be."""
    if len(notebook.acknowledged()) < len(rollout.steps()):
        return False
    try:
        is_converged = worker.ask(_HOME, lambda view: view.engine.is_converged(view.now)).result()
        newest = store.log_after(_HOME, store.head(_HOME) - 1, 1)
    except UnavailableError:
        return False
    return is_converged and newest[-1].kind == "decided"


class _Agent:
    """Starts are idempotent by job: what counts is whether a job was worked on, and by how many at once."""

    def __init__(
        self, store: Store, worker: Worker, notebook: Notebook, fuse: Fuse, seed: float, name: str
    ) -> None:
        self._store = store
        self._worker = worker
        self._notebook = notebook
        self._fuse = fuse
        self._chance = random.Random(seed)
        self._name = name

    def run(self, is_over: threading.Event) -> None:
        while not is_over.is_set():
            try:
                orders = self._store.claim_dispatches(
                    types=["pull"], holder=self._name, now=now(), seconds=CLAIM_SECONDS, limit=1
                )
                if orders:
                    self._fuse.burn("claimed")
                for order in orders:
                    self._work(order)
                if not orders:
                    is_over.wait(0.02)
            except UnavailableError:
                is_over.wait(0.02)

    def _work(self, order: Dispatch) -> None:
        run = str(uuid.uuid4())
        job = msgspec.json.decode(order.document)["job"]
        target = f"{job['deployment']}/{job['environment']}/{job['resource']}"
        self._notebook.write("began", job=order.job, run=run, target=target)
        self._fuse.burn("began")
        time.sleep(self._chance.uniform(0, LONGEST_WORK_SECONDS))
        if not self._store.renew_dispatch(order, now() + round(CLAIM_SECONDS * 1e6)):
            return
        self._notebook.write("ended", job=order.job, run=run, target=target)
        self._fuse.burn("ended")
        status = rollout.outcome(order.job, self._chance)
        is_taken = self._report(order.job, status)
        self._notebook.write("reported" if is_taken else "late", job=order.job, status=status)
        self._fuse.burn("reported")

    def _report(self, job_id: str, status: str) -> bool:
        """Whether the answer says that the job ended so, as the API's answer does.

        On a busy machine a claim can run out while the report waits for its turn: then another agent works on the job
        too, and may come to another end. The first report counts; the second is answered with the job as it is.
        """

        def command(context: CommandContext) -> str:
            job = context.job(job_id)
            context.apply(JobReported(job_id, status))
            return job.status if job is not None else "put away"

        return self._worker.submit(_HOME, command, ENGINE).result() == status
