"""A replica that decides otherwise than the log says notices, says so, and answers nothing from what it has."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.fleet.model.changes import JobReported
from headgate.kernel import identifiers
from headgate.runtime.health import Health
from headgate.runtime.workspace_engine import WorkspaceEngine
from headgate.store import Store, UnavailableError
from headgate.store.sql.opening import open_store
from headgate.store.sql.transaction import SqlTransaction
from properties import fleets
from properties.effort import examples

from .fleet import ONE_NODE, TWO_NODES, cycle, put, resource, version
from .histories import History
from .stage import HOME, Clock, workspace
from .workspace_engines import (
    LEASE_SECONDS,
    apply,
    assert_same,
    engine_of,
    follower,
    leader,
    stands,
    stands_by_rows,
)


@examples(25)
@given(document=fleets.scenarios(), seed=st.integers(0, 2**32), reloads=st.sampled_from([0.2, 1.0]))
def test_followers_that_are_loaded_in_mid_history_never_part_and_lose_no_report(
    document: dict[str, Any], seed: int, reloads: float
) -> None:
    """After every decision, or after some; every report goes through whichever workspace_engine chance chooses."""
    store = open_store("memory:")
    try:
        store.migrate()
        store.add_workspace(workspace(HOME))
        history = History(store, document, random.Random(seed), reloads=reloads)
        history.play()
        for workspace_engine in history.workspace_engines:
            assert_same(stands(workspace_engine), stands_by_rows(store))
            assert workspace_engine.health.counts() == {}
    finally:
        store.close()


def test_reports_through_followers_of_every_moment_are_all_taken(prepared: Callable[[str], Store]) -> None:
    """One follower is loaded at each mark of a bracket's cycle and stays; each takes the next report."""
    store = prepared("memory:")
    clock = Clock()
    one = leader(store, clock)
    followers: list[WorkspaceEngine] = []

    def followed() -> WorkspaceEngine:
        followers.append(follower(store, clock, f"follower-{len(followers)}"))
        engine_of(followers[-1])
        return followers[-1]

    for change in (*cycle(), resource("b"), version("kubelet", "v1"), version("kubelet", "v2")):
        apply(one, change)
        followed()
    for turn in range(100):
        live = [job for job in engine_of(one).jobs.values() if job.completed_at is None]
        if not live:
            break
        apply(followers[turn % len(followers)], JobReported(live[0].id, "successful"))
        one.serve([])
        row = store.job(HOME, live[0].id)
        assert row is not None
        assert row["status"] == "successful"
        followed()
    assert engine_of(one).unconverged(clock.now) == []
    for workspace_engine in followers:
        assert_same(stands(workspace_engine), stands(one))
        assert workspace_engine.health.counts() == {}


def _parted(store: Store, clock: Clock) -> tuple[WorkspaceEngine, WorkspaceEngine]:
    """The follower will give its jobs another variable: as many ids, other rows."""
    one, other = leader(store, clock), follower(store, clock)
    for change in TWO_NODES:
        apply(one, change)
    engine_of(other).apply(put("VariableSet", "extra", variables={"colour": "red"}), clock.now)
    return one, other


def test_a_decision_that_differs_in_its_rows_alone_is_noticed_and_said(
    prepared: Callable[[str], Store], caplog: pytest.LogCaptureFixture
) -> None:
    store, clock = prepared("memory:"), Clock()
    one, other = _parted(store, clock)
    with caplog.at_level(logging.ERROR):
        apply(one, version("api", "v1"))
        assert_same(stands(other), stands(one))
    assert "this process" in caplog.text
    assert other.health.counts() == {("divergence", HOME): 1}
    assert other.health.troubles() == [], "it is right again once it was loaded"


def test_an_engine_that_takes_over_decides_from_the_rows(prepared: Callable[[str], Store]) -> None:
    store, clock = prepared("memory:"), Clock()
    one, other = _parted(store, clock)
    one.release_lease()
    other.hold_lease(LEASE_SECONDS)
    apply(other, version("api", "v1"))
    assert {job.variables for job in engine_of(other).jobs.values()} == {()}
    assert_same(stands(one), stands(other))


def test_a_report_for_a_job_that_only_this_process_misses_is_taken_after_loading_anew(
    prepared: Callable[[str], Store],
) -> None:
    store, clock = prepared("memory:"), Clock()
    one, other = leader(store, clock), follower(store, clock)
    for change in (*ONE_NODE, version("api", "v1")):
        apply(one, change)
    (job,) = engine_of(other).jobs
    engine_of(other).state.jobs.clear()
    apply(other, JobReported(job, "successful"))
    one.serve([])
    row = store.job(HOME, job)
    assert row is not None
    assert row["status"] == "successful"
    assert other.health.counts() == {("divergence", HOME): 1}


def test_a_report_is_never_acknowledged_while_the_store_has_a_job_that_loading_does_not_bring(
    prepared: Callable[[str], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, clock = prepared("memory:"), Clock()
    one = leader(store, clock)
    apply(one, *ONE_NODE)
    monkeypatch.setattr(SqlTransaction, "has_current_job", lambda self, job: True)
    with pytest.raises(UnavailableError):
        apply(one, JobReported(identifiers.derive("job", "x"), "successful"))
    assert one.health.is_wrong("divergence", HOME)
    monkeypatch.undo()
    apply(one, version("api", "v1"))
    assert not one.health.is_wrong("divergence", HOME)


def test_a_job_that_was_put_away_since_the_last_decision_is_not_missed(
    prepared: Callable[[str], Store],
) -> None:
    """The rows stand for the last decision; the follower has taken in what the leader has not decided on yet."""
    store, clock = prepared("memory:"), Clock()
    one, other = leader(store, clock), follower(store, clock)
    for change in (*ONE_NODE, version("api", "v1")):
        apply(one, change)
    (first,) = engine_of(one).jobs
    apply(one, JobReported(first, "successful"))
    apply(one, version("api", "v2"))
    (second,) = (job for job in engine_of(one).jobs if job != first)
    apply(other, JobReported(second, "successful"))
    apply(other, JobReported(first, "failure"))
    assert other.health.counts() == {}


def test_health_says_each_trouble_once_until_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    told: list[tuple[str, str, bool]] = []
    health = Health(Clock(), lambda *news: told.append(news))
    with caplog.at_level(logging.WARNING):
        health.wrong("clock", "ahead by 10 s", "a")
        health.wrong("clock", "ahead by 11 s", "a")
        assert [one.message for one in health.troubles()] == ["ahead by 11 s"]
        health.right("clock", "a")
        health.right("clock", "a")
    assert told == [("clock", "a", True), ("clock", "a", False)]
    assert caplog.text.count("ahead by") == 1
