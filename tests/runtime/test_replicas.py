"""Whoever takes the log in stands where the log stands; what is in memory never runs away from what is stored."""

from __future__ import annotations

import contextlib
import logging
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.fleet.model.changes import JobReported, SetVersionStatus
from headgate.store import Store
from headgate.store.sql.opening import open_store
from properties import fleets
from properties.effort import examples

from .fleet import (
    APPROVAL,
    ONE_AT_A_TIME,
    ONE_NODE,
    TWO_NODES,
    approve,
    cycle,
    delete,
    policy,
    put,
    resource,
    version,
)
from .histories import History
from .stage import HOME, Clock, Stage, workspace
from .wakeups import Happening, play, report
from .wakeups_by_jobs import HEALTH
from .wakeups_by_objects import V1, A
from .workspace_engines import (
    apply,
    assert_same,
    comparable,
    engine_of,
    follower,
    leader,
    stands,
    stands_by_log,
    stands_by_rows,
)


@examples(25)
@given(document=fleets.scenarios(), seed=st.integers(0, 2**32))
def test_followers_rows_and_the_log_alone_stand_where_the_leader_stands(
    document: dict[str, Any], seed: int
) -> None:
    store = open_store("memory:")
    try:
        store.migrate()
        store.add_workspace(workspace(HOME))
        history = History(store, document, random.Random(seed))
        history.play()
        expected = stands(history.leader)
        for workspace_engine in (*history.workspace_engines, follower(store, history.clock, "latecomer")):
            assert_same(stands(workspace_engine), expected)
        assert_same(stands_by_rows(store), expected)
        assert_same(stands_by_log(store), expected)
    finally:
        store.close()


def test_a_follower_sees_what_the_leader_decided(prepared: Callable[[str], Store], store_url: str) -> None:
    store = prepared(store_url)
    clock = Clock()
    one, other = leader(store, clock), follower(store, clock)
    for change in (*TWO_NODES, version("api", "v1")):
        apply(one, change)
    assert sorted(engine_of(other).jobs) == sorted(engine_of(one).jobs)
    assert_same(stands(other), stands(one))


def test_what_a_follower_takes_is_decided_by_the_leader(
    prepared: Callable[[str], Store], store_url: str
) -> None:
    store = prepared(store_url)
    clock = Clock()
    one, other = leader(store, clock), follower(store, clock)
    for change in (*ONE_NODE, version("api", "v1")):
        apply(other, change)
    assert engine_of(other).jobs == {}
    one.serve([])
    assert len(engine_of(one).jobs) == 1
    assert_same(stands(other), stands(one))
    assert_same(stands_by_rows(store), stands(one))


UNDER_WAY = [
    pytest.param(
        (*cycle(), version("kubelet", "v1"), policy("limit", ONE_AT_A_TIME)),
        id="a-started-group-takes-a-slot-of-a-new-rule",
    ),
    pytest.param(
        (*ONE_NODE, policy("checks", HEALTH), V1, report(A), delete("Policy", "checks")),
        id="the-rule-of-a-running-verification-is-deleted",
    ),
    pytest.param(
        (
            *cycle(),
            put("Freeze", "stop", reason="an incident"),
            version("kubelet", "v1"),
            SetVersionStatus("drain", "v1", "paused"),
        ),
        id="the-version-of-a-hook-is-paused-before-its-group-starts",
    ),
    pytest.param(
        (*cycle(), version("kubelet", "v1"), report("drain/prod/a", "inProgress")),
        id="a-hook-runs",
    ),
]


@pytest.mark.parametrize("happenings", UNDER_WAY)
def test_rows_follow_what_changes_while_it_is_under_way(
    happenings: tuple[Happening, ...], stage: Stage
) -> None:
    for happening in happenings:
        play(stage, happening)
    engine = stage.ask(lambda view: view.engine)
    assert_same(stands_by_rows(stage.store), comparable(engine))


def test_a_question_does_not_swallow_what_is_to_be_decided(prepared: Callable[[str], Store]) -> None:
    """The leader has taken the follower's change in to answer; the decision is still to be made."""
    store = prepared("memory:")
    clock = Clock()
    one, other = leader(store, clock), follower(store, clock)
    for change in (*ONE_NODE, version("api", "v1")):
        apply(other, change)
    assert engine_of(one).jobs == {}
    assert one.next_wake() == 0
    one.serve([])
    assert len(engine_of(one).jobs) == 1
    assert_same(stands_by_rows(store), stands(one))


def test_a_replica_that_stands_beside_the_log_is_loaded_anew(
    prepared: Callable[[str], Store], caplog: pytest.LogCaptureFixture
) -> None:
    store = prepared("memory:")
    clock = Clock()
    one, other = leader(store, clock), follower(store, clock)
    for change in ONE_NODE:
        apply(one, change)
    engine_of(other).state.sequence += 1
    apply(one, version("api", "v1"))
    with caplog.at_level(logging.ERROR):
        assert_same(stands(other), stands(one))
    assert "loaded anew" in caplog.text


def test_a_replica_that_missed_what_was_pruned_is_loaded_anew(
    prepared: Callable[[str], Store], caplog: pytest.LogCaptureFixture
) -> None:
    store = prepared("memory:")
    clock = Clock()
    one, other = leader(store, clock), follower(store, clock)
    apply(one, ONE_NODE[0])
    engine_of(other)
    for change in ONE_NODE[1:]:
        apply(one, change)
    clock.advance(10)
    assert store.prune(HOME, "log", before=clock.now, keep=10**6, limit=1_000) > 0
    apply(one, version("api", "v1"))
    with caplog.at_level(logging.ERROR):
        assert_same(stands(other), stands(one))
    assert other.health.counts() == {}, "it is behind, not wrong"


def test_a_clock_that_is_a_little_behind_does_not_turn_time_back(prepared: Callable[[str], Store]) -> None:
    store = prepared("memory:")
    ahead, behind = Clock(), Clock()
    ahead.advance(9)
    first = leader(store, ahead, "first")
    for change in ONE_NODE:
        apply(first, change)
    first.release_lease()
    second = leader(store, behind, "second")
    apply(second, version("api", "v1"))
    times = [entry.at for entry in store.log_after(HOME, 0, 100)]
    assert times == sorted(times)
    (job,) = engine_of(second).jobs.values()
    assert job.created_at == ahead.now


def test_a_database_that_was_put_back_to_an_older_copy_is_followed(
    prepared: Callable[[str], Store], staged: Callable[[Store], Stage], tmp_path: Path
) -> None:
    file = tmp_path / "headgate.db"
    stage = staged(prepared(f"sqlite:///{file}"))
    stage.each(*ONE_NODE)
    with (
        contextlib.closing(sqlite3.connect(file)) as now,
        contextlib.closing(sqlite3.connect(":memory:")) as copy,
    ):
        now.backup(copy)
        stage.each(resource("b"), put("Signal", "alarm", value=1), version("api", "v1"))
        copy.backup(now)
    assert set(stage.ask(lambda view: view.engine.state.resources)) == {"a"}
    stage.each(version("api", "v2"))
    assert stage.picture().jobs == ["api/prod/a v2"]
    assert_same(stands_by_rows(stage.store), stands_by_log(stage.store))


def test_a_process_that_starts_again_goes_on_where_it_was(
    prepared: Callable[[str], Store], staged: Callable[[Store], Stage], store_url: str
) -> None:
    store = prepared(store_url)
    first = staged(store)
    first.each(*TWO_NODES, policy("rules", APPROVAL), version("api", "v1"))
    first.worker.stop()
    second = staged(store)
    second.submit(approve("v1"))
    assert second.picture().jobs == ["api/prod/a v1", "api/prod/b v1"]


def test_a_log_entry_says_who_and_keeps_what_the_change_was(stage: Stage) -> None:
    stage.each(*ONE_NODE, version("api", "v1"))
    stage.submit(JobReported(stage.job("api/prod/a"), "successful", "done"))
    entries = stage.store.log_after(HOME, 0, 100)
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert {entry.user for entry in entries if entry.kind == "change"} == {"ana"}
    assert [entry.kind for entry in entries[-2:]] == ["change", "decided"]
