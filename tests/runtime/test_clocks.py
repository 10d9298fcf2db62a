"""A clock that is wrong stops what it would spoil, says so, and nothing else; and what it has spoiled can be repaired."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from headgate.fleet.model.changes import Delete, JobReported
from headgate.kernel import instants
from headgate.kernel.problems import Rejected
from headgate.runtime.clocks import ClockError, ClockWatch
from headgate.runtime.commands import CommandContext
from headgate.runtime.items import WorkItem
from headgate.runtime.worker import Worker, WorkerSettings
from headgate.runtime.workspace_engine import WorkspaceEngine
from headgate.store import Store
from headgate.store.sql.opening import open_store

from .fleet import BRACKET, ONE_NODE, TWO_NODES, cycle, policy, put, version
from .stage import ANA, HOME, Clock, Stage, eventually, workspace
from .workspace_engines import (
    LEASE_SECONDS,
    apply,
    assert_same,
    engine_of,
    follower,
    leader,
    stands,
    stands_by_log,
    stands_by_rows,
)

DAY = 86_400.0


def watched(store: Store, clock: Clock, steady: Clock) -> WorkspaceEngine:
    workspace_engine = WorkspaceEngine(
        store, workspace(HOME), clock, "leader", watch=ClockWatch(clock, steady)
    )
    workspace_engine.hold_lease(LEASE_SECONDS)
    return workspace_engine


def test_a_clock_that_is_a_day_ahead_for_three_seconds_leaves_nothing_behind(
    prepared: Callable[[str], Store],
) -> None:
    store, clock, steady = prepared("memory:"), Clock(), Clock()
    workspace_engine = watched(store, clock, steady)
    for change in ONE_NODE:
        apply(workspace_engine, change)
    head = store.head(HOME)
    clock.advance(DAY)
    with pytest.raises(ClockError, match="jumped 86400 s ahead"):
        apply(workspace_engine, version("api", "v1"))
    assert workspace_engine.health.is_wrong("clock", HOME)
    assert store.head(HOME) == head, "nothing was written at a moment that has not come"
    for each in (clock, steady):
        each.advance(3)
    clock.advance(-DAY)
    apply(workspace_engine, version("api", "v1"))
    assert not workspace_engine.health.is_wrong("clock", HOME)
    (job,) = engine_of(workspace_engine).jobs.values()
    assert job.created_at == clock.now


def test_a_clock_that_stays_ahead_is_believed_after_a_minute(prepared: Callable[[str], Store]) -> None:
    """It was wrong before: machines are set right in one step when they come up."""
    store, clock, steady = prepared("memory:"), Clock(), Clock()
    workspace_engine = watched(store, clock, steady)
    apply(workspace_engine, *ONE_NODE)
    clock.advance(DAY)
    with pytest.raises(ClockError):
        apply(workspace_engine, version("api", "v1"))
    for each in (clock, steady):
        each.advance(60)
    apply(workspace_engine, version("api", "v1"))


@pytest.mark.parametrize(("seconds", "side"), [(3_600, "ahead of"), (-3_600, "behind")])
def test_a_clock_that_differs_from_the_databases_is_not_believed(seconds: float, side: str) -> None:
    clock = Clock()
    watch = ClockWatch(clock, Clock())
    watch.compare(clock.now - instants.seconds(seconds))
    assert watch.doubt() == f"the clock of this machine is 3600 s {side} that of the database"
    watch.compare(clock.now - instants.seconds(2))
    assert watch.doubt() is None


def test_a_clock_that_drifts_slowly_is_believed() -> None:
    clock, steady = Clock(), Clock()
    watch = ClockWatch(clock, steady)
    for _ in range(100):
        clock.advance(61)
        steady.advance(60)
        assert watch.doubt() is None


def ahead(store: Store) -> tuple[WorkspaceEngine, Clock]:
    """A fleet whose bracket was begun by a process whose clock was a day ahead, kept by one whose clock is right."""
    clock = Clock()
    wrong = leader(store, clock, "wrong")
    for change in (*TWO_NODES, policy("soak", SOAK), version("api", "v1")):
        apply(wrong, change)
        clock.advance(1)
    clock.advance(DAY)
    for job in sorted(engine_of(wrong).jobs):
        apply(wrong, JobReported(job, "successful"))
        clock.advance(1)
    wrong.release_lease()
    clock.advance(60 - DAY)
    return leader(store, clock, "right"), clock


SOAK: dict[str, Any] = {"versionCooldown": {"intervalSeconds": 600}}


def test_a_workspace_that_is_ahead_is_not_written_to_and_says_so(prepared: Callable[[str], Store]) -> None:
    store = prepared("memory:")
    workspace_engine, _ = ahead(store)
    head = store.head(HOME)
    with pytest.raises(ClockError, match="ahead of the clock of this machine"):
        apply(workspace_engine, version("api", "v2"))
    workspace_engine.serve([])
    assert store.head(HOME) == head
    (trouble,) = workspace_engine.health.troubles()
    assert (trouble.check, trouble.workspace) == ("clock", HOME)
    asked = WorkItem(HOME, question=lambda view: view.warning)
    workspace_engine.answer([asked])
    assert "86" in asked.future.result(0), "questions are answered, with a warning"


def repair(workspace_engine: WorkspaceEngine) -> tuple[int, int]:
    def command(context: CommandContext) -> tuple[int, int]:
        return context.take_time_back()

    item = WorkItem(HOME, command=command, caller=ANA, alone=True)
    workspace_engine.serve([item])
    found: tuple[int, int] = item.future.result(0)
    return found


@pytest.mark.parametrize("repairer", ["leader", "follower"])
def test_time_is_taken_back_and_everything_goes_on(repairer: str, prepared: Callable[[str], Store]) -> None:
    store = prepared("memory:")
    workspace_engine, clock = ahead(store)
    other = follower(store, clock)
    engine_of(other)
    was, now = repair(workspace_engine if repairer == "leader" else other)
    assert was - now > instants.seconds(DAY - 120)
    assert 0 <= now - clock.now < 1_000, "a moment for each that was ahead"
    clock.advance(1)
    workspace_engine.serve([])
    for one in (workspace_engine, other, follower(store, clock, "latecomer")):
        assert_same(stands(one), stands_by_rows(store))
        assert one.health.counts().get(("divergence", HOME), 0) == 0
    records = [target.record for target in engine_of(workspace_engine).state.targets.values()]
    assert all(record.deployed_at is not None and record.deployed_at <= clock.now for record in records)
    apply(workspace_engine, version("api", "v2"))
    assert not workspace_engine.health.is_wrong("clock", HOME)
    clock.advance(600)
    workspace_engine.serve([])
    assert sorted(
        job.tag for job in engine_of(workspace_engine).jobs.values() if job.completed_at is None
    ) == [
        "v2",
        "v2",
    ]
    assert_same(stands_by_log(store), stands_by_rows(store))
    (entry,) = (one for one in store.audit_before(HOME, None, 100) if one.action == "repairClock")
    assert entry.user == "ana"


def test_a_freeze_with_an_end_freezes_again_once_time_is_back(prepared: Callable[[str], Store]) -> None:
    """People write moments by the real clock; those are left as they are."""
    store = prepared("memory:")
    workspace_engine, clock = ahead(store)
    repair(workspace_engine)
    clock.advance(1)
    until = instants.show(clock.now + instants.hours(1))
    apply(workspace_engine, put("Freeze", "stop", reason="an incident", expiresAt=until))
    apply(workspace_engine, Delete("Policy", "soak"))
    apply(workspace_engine, version("api", "v2"))
    assert [job for job in engine_of(workspace_engine).jobs.values() if job.completed_at is None] == []
    clock.advance(3_601)
    workspace_engine.serve([])
    assert len([job for job in engine_of(workspace_engine).jobs.values() if job.completed_at is None]) == 2


def test_what_is_due_keeps_the_time_that_was_left(prepared: Callable[[str], Store]) -> None:
    store, clock = prepared("memory:"), Clock()
    wrong = leader(store, clock, "wrong")
    clock.advance(DAY)
    bracket = {
        **BRACKET["deploymentBracket"],
        "readinessMode": "collection_window",
        "readinessWindowSeconds": 600,
    }
    for change in (*cycle({"deploymentBracket": bracket}), version("kubelet", "v1")):
        apply(wrong, change)
    (group,) = engine_of(wrong).groups.values()
    left = group.collection_ends_at - clock.now
    assert left > 0
    wrong.release_lease()
    clock.advance(-DAY)
    right = leader(store, clock, "right")
    _, now = repair(right)
    (group,) = engine_of(right).groups.values()
    assert group.collection_ends_at - now == left
    assert group.collection_started_at <= group.created_at <= now


def test_there_is_nothing_to_repair_where_nothing_is_ahead(stage: Stage) -> None:
    stage.each(*ONE_NODE)
    with pytest.raises(Rejected, match="nothing to repair"):
        stage.worker.submit(HOME, lambda context: context.take_time_back(), ANA, alone=True).result(60)


def test_numbers_that_people_wrote_are_no_moments(prepared: Callable[[str], Store]) -> None:
    store, clock = prepared("memory:"), Clock()
    wrong = leader(store, clock, "wrong")
    clock.advance(DAY)
    far = clock.now + 7
    for change in (*ONE_NODE, put("VariableSet", "extra", variables={"stamp": far}), version("api", "v1")):
        apply(wrong, change)
    wrong.release_lease()
    clock.advance(-DAY)
    right = leader(store, clock, "right")
    repair(right)
    (job,) = engine_of(right).jobs.values()
    assert dict(job.variables) == {"stamp": far}
    assert msgspec.json.encode(job.variables).count(str(far).encode()) == 1


def test_a_process_whose_clock_jumps_says_so_without_anybody_writing(
    prepared: Callable[[str], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headgate.runtime.worker._METERING_SECONDS", 0.0)
    store, clock, steady = prepared("memory:"), Clock(), Clock()
    clock.now = steady.now = store.clock()
    worker = Worker(
        store, WorkerSettings("one", poll_seconds=0.01), clock=clock, watch=ClockWatch(clock, steady)
    )
    worker.start()
    try:
        eventually(lambda: not worker.health.troubles())
        clock.advance(DAY)
        eventually(lambda: worker.health.is_wrong("clock"))
        clock.advance(-DAY)
        eventually(lambda: not worker.health.is_wrong("clock"))
    finally:
        worker.stop()


def test_a_jump_ends_no_claim_and_no_lease_before_it_is_believed() -> None:
    wall, steady = Clock(), Clock()
    watch = ClockWatch(wall, steady)
    store = open_store("memory:", clock=watch.now)
    store.migrate()
    lease = store.take_lease("engine/home", "one", 15)
    assert lease is not None
    before = watch.now()
    wall.advance(DAY)
    for each in (wall, steady):
        each.advance(3)
    assert watch.now() == before + instants.seconds(3)
    assert store.take_lease("engine/home", "two", 15) is None, "the first has it for 12 seconds more"
    watch.compare(store.clock())
    assert "jumped" in (watch.doubt() or "")
    for each in (wall, steady):
        each.advance(120)
    assert watch.doubt() is None
    assert watch.now() == wall.now
    store.close()


def test_a_job_that_is_claimed_is_not_lost_by_a_jump(
    prepared: Callable[[str], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, clock, steady = prepared("memory:"), Clock(), Clock()
    clock.now = steady.now = store.clock()
    watch = ClockWatch(clock, steady)
    asked: list[int] = []
    monkeypatch.setattr("headgate.runtime.claims.end_lost", lambda _, now: asked.append(now) or [])
    worker = Worker(store, WorkerSettings("one", poll_seconds=0.01), clock=clock, watch=watch)
    begin = clock.now
    clock.advance(DAY)
    worker.start()
    try:
        eventually(lambda: len(asked) > 2)
    finally:
        worker.stop()
    assert set(asked) == {begin}
