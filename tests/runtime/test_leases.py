"""Several workers on one database: one decides, another takes over, and nothing is decided twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from headgate.fleet.model.changes import JobReported
from headgate.runtime.worker import Worker, WorkerSettings
from headgate.store import Store

from . import rollout
from .fleet import APPROVAL, ONE_NODE, approve, policy, version
from .stage import HOME, PATIENCE, Held, eventually, picture, workspace
from .workspace_engines import assert_same, stands_by_log, stands_by_rows

Started = Callable[..., Worker]


@pytest.fixture
def started(opened: Callable[[str], Store], shared_url: str) -> Iterator[Started]:
    """Workers, each with a store of its own as in a process of its own."""
    workers: list[Worker] = []

    def start(holder: str, lease_seconds: float = 5.0) -> Worker:
        store = opened(shared_url)
        store.add_workspace(workspace(HOME))
        workers.append(rollout.worker(store, holder, lease_seconds=lease_seconds))
        workers[-1].start()
        return workers[-1]

    yield start
    for worker in workers:
        worker.stop()


@pytest.fixture
def watched(opened: Callable[[str], Store], shared_url: str) -> Store:
    """The same database, for looking."""
    store = opened(shared_url)
    store.add_workspace(workspace(HOME))
    return store


def holder(store: Store, name: str = HOME) -> str | None:
    return next(
        (lease.holder for lease, end in store.leases() if lease.name == f"engine/{name}" and end > 0), None
    )


def live(worker: Worker) -> list[str]:
    return worker.ask(HOME, picture).result(PATIENCE).jobs


def test_one_decides_and_the_other_follows(started: Started, watched: Store) -> None:
    one = started("one")
    eventually(lambda: holder(watched) == "one")
    other = started("other")
    rollout.submit(other, HOME, *ONE_NODE, version("api", "v1"))
    eventually(lambda: live(other) == ["api/prod/a v1"])
    assert live(one) == live(other)
    assert holder(watched) == "one"


def test_another_takes_over_at_once_when_the_one_who_decides_stops(started: Started, watched: Store) -> None:
    """Long before the lease would have run out, and before anybody would have asked for it again."""
    one = started("one", 600.0)
    eventually(lambda: holder(watched) == "one")
    other = started("other", 600.0)
    rollout.submit(one, HOME, *ONE_NODE, policy("rules", APPROVAL), version("api", "v1"))
    assert live(other) == []
    one.stop()
    eventually(lambda: holder(watched) == "other")
    rollout.submit(other, HOME, approve("v1"))
    assert live(other) == ["api/prod/a v1"]


def test_nothing_of_one_that_was_silent_past_its_lease_gets_in(
    started: Started, watched: Store, caplog: pytest.LogCaptureFixture
) -> None:
    one = started("one", 1.0)
    eventually(lambda: holder(watched) == "one")
    other = started("other", 1.0)
    rollout.submit(one, HOME, *ONE_NODE, policy("rules", APPROVAL))
    with Held(one):
        eventually(lambda: holder(watched) == "other")
        late = one.submit(HOME, lambda context: context.apply(version("api", "v1")), rollout.ANA)
        rollout.submit(other, HOME, version("api", "v2"), approve("v2"))
        assert live(other) == ["api/prod/a v2"]
    late.result(PATIENCE)
    assert "one lost the lease" in caplog.text

    accepted = [entry for entry in watched.log_after(HOME, 0, 1_000) if entry.kind == "change"]
    assert b"v1" in accepted[-1].payload
    eventually(lambda: watched.load(HOME).consumed == watched.head(HOME))
    assert live(one) == live(other) == ["api/prod/a v2"]
    assert_same(stands_by_rows(watched), stands_by_log(watched))


def test_what_is_submitted_to_a_former_leader_is_decided_by_the_new_one(
    started: Started, watched: Store
) -> None:
    one = started("one", 1.0)
    eventually(lambda: holder(watched) == "one")
    other = started("other", 1.0)
    rollout.submit(one, HOME, *ONE_NODE)
    with Held(one):
        eventually(lambda: holder(watched) == "other")
        late = one.submit(HOME, lambda context: context.apply(version("api", "v1")), rollout.ANA)
    late.result(PATIENCE)
    eventually(lambda: live(one) == ["api/prod/a v1"])
    assert live(other) == live(one)


def test_a_worker_that_may_not_decide_takes_no_lease(
    opened: Callable[[str], Store], shared_url: str, watched: Store
) -> None:
    worker = Worker(opened(shared_url), WorkerSettings("api-only", decides=False, poll_seconds=0.05))
    worker.start()
    try:
        rollout.submit(worker, HOME, *ONE_NODE, version("api", "v1"))
        assert live(worker) == []
        assert holder(watched) is None
    finally:
        worker.stop()


@pytest.mark.parametrize("count", [2, 4])
def test_workers_that_share_four_workspaces_decide_everything_once(
    count: int, started: Started, opened: Callable[[str], Store], shared_url: str, watched: Store
) -> None:
    """Two hundred targets; meanwhile the worker that holds most leases stops, and another begins."""
    names = ["north", "east", "south", "west"]
    for name in names:
        watched.add_workspace(workspace(name))
    workers = [started(f"worker-{number}", 1.0) for number in range(count)]
    with rollout.Agent(opened(shared_url), list(workers)) as agent:
        for number, name in enumerate(names):
            rollout.submit(workers[number % count], name, *rollout.fleet(50))
        eventually(lambda: any(rollout.count_done(watched, name) > 10 for name in names))
        first = workers[0]
        agent.workers = [*workers[1:], started("latecomer", 1.0)]
        first.stop()
        for name in names:
            rollout.finish(watched, name, 50)
    for name in names:
        rollout.assert_rolled_out_once(watched, name, 50)
        eventually(lambda name=name: watched.load(name).consumed == watched.head(name))  # type: ignore[misc]
    assert len(agent.claimed) == 200


def test_a_report_to_two_workers_at_once_ends_the_job_once(started: Started, watched: Store) -> None:
    one, other = started("one"), started("other")
    rollout.submit(one, HOME, *ONE_NODE, version("api", "v1"))
    eventually(lambda: len(live(one)) == 1)
    (job,) = [row["id"] for row in watched.jobs_before(HOME, None, 10, {})]
    reports = [
        worker.report(HOME, JobReported(str(job), status))
        for worker, status in ((one, "successful"), (other, "failure"))
    ]
    for report in reports:
        report.result(PATIENCE)
    log = watched.log_after(HOME, 0, 1_000)
    assert len([entry for entry in log if b"JobReported" in entry.payload]) == 1
