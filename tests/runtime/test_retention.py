"""History has an end, by age and by number; what is needed to go on, to explain and to roll back is no history."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from headgate.fleet.model.changes import JobReported
from headgate.kernel import instants
from headgate.runtime import retention
from headgate.runtime.retention import Limit, Retention
from headgate.store import Store
from headgate.store.port import Remembered

from .fleet import ONE_NODE, cycle, version
from .stage import HOME, Clock
from .workspace_engines import apply, assert_same, engine_of, follower, leader, stands, stands_by_rows

FEW = Limit(days=1, count=2)


def lived(store: Store, clock: Clock, versions: int = 6) -> None:
    """A version an hour, each deployed."""
    workspace_engine = leader(store, clock)
    for change in ONE_NODE:
        apply(workspace_engine, change)
    for number in range(versions):
        clock.advance(3_600)
        apply(workspace_engine, version("api", f"v{number}"))
        for job in [job.id for job in engine_of(workspace_engine).jobs.values() if job.completed_at is None]:
            apply(workspace_engine, JobReported(job, "successful"))
    workspace_engine.release_lease()


def forget(store: Store, kept: Retention, now: int) -> int:
    store.put_document(HOME, retention.KIND, retention.KIND, msgspec.json.encode(kept))
    return sum(retention.forgetting(store, [HOME], now))


def tags(store: Store) -> list[str]:
    return [str(row["tag"]) for row in store.jobs_before(HOME, None, 100, {})]


def test_nothing_is_forgotten_that_is_young_and_few(prepared: Callable[[str], Store], store_url: str) -> None:
    store, clock = prepared(store_url), Clock()
    lived(store, clock)
    assert forget(store, Retention(), clock.now) == 0


def test_more_than_so_many_go_the_oldest_first(prepared: Callable[[str], Store], store_url: str) -> None:
    store, clock = prepared(store_url), Clock()
    lived(store, clock)
    head, newest = store.head(HOME), store.newest_event(HOME)
    forget(store, Retention(FEW, FEW, FEW, FEW, FEW), clock.now)
    assert tags(store) == ["v5", "v4", "v3"], "the newest release is no history"
    assert [event.seq for event in store.events_after(HOME, 0, 100)] == [newest - 1, newest]
    assert len(store.audit_before(HOME, None, 100)) == 2
    assert [entry.seq for entry in store.log_after(HOME, 0, 100)][-1] == head


def test_what_is_older_than_so_many_days_goes(prepared: Callable[[str], Store], store_url: str) -> None:
    store, clock = prepared(store_url), Clock()
    lived(store, clock)
    forget(store, Retention(jobs=Limit(2.5 / 24, 10**6)), clock.now)
    assert tags(store) == ["v5", "v4", "v3"]
    clock.advance(86_400 * 3_650)
    forget(store, Retention(), clock.now)
    assert tags(store) == ["v5"], "what runs is known for ever"


def test_under_a_legal_hold_nothing_goes(prepared: Callable[[str], Store]) -> None:
    store, clock = prepared("memory:"), Clock()
    lived(store, clock)
    assert forget(store, Retention(FEW, FEW, FEW, FEW, FEW, legal_hold=True), clock.now) == 0


def test_whoever_loads_afterwards_stands_where_it_stood(prepared: Callable[[str], Store]) -> None:
    store, clock = prepared("memory:"), Clock()
    lived(store, clock)
    before = stands_by_rows(store)
    none = Limit(1, 0)
    clock.advance(86_400 * 2)
    forget(store, Retention(none, none, none, none, none), clock.now)
    workspace_engine = leader(store, clock, "next")
    assert_same(stands(workspace_engine), before)
    assert stands(follower(store, clock))["sequence"] == before["sequence"]
    apply(workspace_engine, version("api", "v9"))
    (job,) = (job for job in engine_of(workspace_engine).jobs.values() if job.completed_at is None)
    assert (job.tag, job.created_at) == ("v9", clock.now)


def test_groups_go_with_their_members(prepared: Callable[[str], Store], store_url: str) -> None:
    store, clock = prepared(store_url), Clock()
    workspace_engine = leader(store, clock)
    for change in (*cycle(), version("kubelet", "v1")):
        apply(workspace_engine, change)
    for _ in range(10):
        for job in [job.id for job in engine_of(workspace_engine).jobs.values() if job.completed_at is None]:
            apply(workspace_engine, JobReported(job, "successful"))
    assert store.groups_before(HOME, None, 10, {}) != []
    forget(store, Retention(groups=Limit(1, 0)), clock.now)
    assert store.groups_before(HOME, None, 10, {}) == []
    assert_same(stands(workspace_engine), stands_by_rows(store))


def test_it_goes_in_small_steps(prepared: Callable[[str], Store], monkeypatch: pytest.MonkeyPatch) -> None:
    store, clock = prepared("memory:"), Clock()
    lived(store, clock)
    monkeypatch.setattr(retention, "STEP_ROWS", 2)
    clock.advance(86_400 * 1_000)
    steps = list(retention.forgetting(store, [HOME], clock.now))
    assert max(steps) == 2
    assert tags(store) == ["v5"]


def test_idempotency_keys_are_kept_for_a_day(prepared: Callable[[str], Store], store_url: str) -> None:
    store, clock = prepared(store_url), Clock()
    with store.begin(HOME) as transaction:
        for hours in (0, 2):
            at = clock.now + instants.hours(hours)
            transaction.remember(Remembered(f"key-{hours}", "x", 200, b'["",null]', at))
    clock.advance(25 * 3_600)
    assert sum(retention.forgetting(store, [], clock.now)) == 1
    with store.begin(HOME) as transaction:
        assert transaction.recall("key-0") is None
        assert transaction.recall("key-2") is not None
