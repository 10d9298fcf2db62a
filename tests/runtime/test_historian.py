"""What was is told exactly as it was, at every moment, whoever reads the log and however often it is interrupted."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headgate.fleet.engine import change_tracker
from headgate.fleet.engine.change_tracker import Tables
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.runtime import historian
from headgate.runtime.historian import Historian
from headgate.store import Store
from headgate.store.sql.opening import open_store
from properties import fleets
from properties.effort import examples

from .fleet import TWO_NODES, put, version
from .histories import History
from .stage import HOME, Clock, workspace
from .workspace_engines import apply, engine_of, leader

NEVER = 1e12


class SeenHistory(History):
    """With all there was after the last decision of each moment."""

    def __init__(self, *given: Any) -> None:
        self.was: dict[Instant, Tables] = {}
        super().__init__(*given)

    def _decide(self) -> None:
        super()._decide()
        engine = engine_of(self.leader)
        if not self.leader.is_behind():
            self.was[self.clock.now] = change_tracker.tables_of(engine, self.clock.now)


def told(store: Store, at: Instant) -> Tables:
    return historian.folded(store.history_until(HOME, at), at)


def new_store() -> Store:
    store = open_store("memory:")
    store.migrate()
    store.add_workspace(workspace(HOME))
    return store


@examples(25)
@given(document=fleets.scenarios(), seed=st.integers(0, 2**32))
def test_every_moment_is_told_as_it_was(document: dict[str, Any], seed: int) -> None:
    store = new_store()
    try:
        history = SeenHistory(store, document, random.Random(seed))
        history.play()
        assert Historian(store, workspace(HOME)).read_on(NEVER)
        for at, was in history.was.items():
            found = told(store, at)
            for table in was:
                assert _recorded(found[table]) == _recorded(was[table]), (at, table)
    finally:
        store.close()


def _recorded(table: dict[str, Any]) -> dict[str, Any]:
    """Time may change why somebody waits while nothing is decided, and what is not decided is not recorded."""
    return {
        name: [content[0], content[1], content[3]] if isinstance(content, list) else content
        for name, content in table.items()
    }


def _grown(store: Store, clock: Clock, tags: range) -> list[Instant]:
    one, moments = leader(store, clock), []
    for number in tags:
        clock.advance(60)
        apply(one, version("api", f"v{number}"))
        moments.append(clock.now)
    one.release_lease()
    return moments


def test_who_comes_later_goes_on_where_it_was_left(monkeypatch: Any) -> None:
    monkeypatch.setattr(historian, "SEGMENT_CHANGES", 3)
    monkeypatch.setattr(historian, "PIECE_CHANGES", 1)
    store, clock = new_store(), Clock()
    one = leader(store, clock)
    for change in TWO_NODES:
        apply(one, change)
    one.release_lease()
    moments = _grown(store, clock, range(5))
    first = Historian(store, workspace(HOME))
    assert first.read_on(NEVER)
    before = [told(store, at) for at in moments]
    first.save()
    _grown(store, clock, range(5, 8))
    first.read_on(NEVER)
    after = told(store, clock.now)
    second = Historian(store, workspace(HOME))
    assert second.position < first.position
    assert second.read_on(NEVER)
    assert [told(store, at) for at in moments] == before
    assert told(store, clock.now) == after
    store.close()


def test_where_the_log_is_cut_it_begins_with_what_there_is() -> None:
    store, clock = new_store(), Clock()
    one = leader(store, clock)
    for change in (*TWO_NODES, version("api", "v1")):
        clock.advance(60)
        apply(one, change)
    one.release_lease()
    assert store.prune(HOME, "log", before=clock.now, keep=0, limit=1_000)
    assert Historian(store, workspace(HOME)).read_on(NEVER)
    span = store.history_span(HOME)
    assert span is not None
    assert span[0] == clock.now
    assert told(store, clock.now)["targets"]
    store.close()


def test_what_was_is_forgotten_with_the_log(monkeypatch: Any) -> None:
    monkeypatch.setattr(historian, "SEGMENT_CHANGES", 1)
    store, clock = new_store(), Clock()
    one = leader(store, clock)
    for change in TWO_NODES:
        apply(one, change)
    one.release_lease()
    for number in range(4):
        [moment] = _grown(store, clock, range(number, number + 1))
        assert Historian(store, workspace(HOME)).read_on(NEVER)
    found = Historian(store, workspace(HOME))
    found.read_on(NEVER)
    store.prune(HOME, "log", before=moment, keep=1_000, limit=1_000)
    span = store.history_span(HOME)
    assert span is not None
    assert told(store, moment)["targets"]
    store.close()


def test_a_freeze_that_ends_by_its_time_is_seen_to_end() -> None:
    store, clock = new_store(), Clock()
    one = leader(store, clock)
    careful = put(
        "Policy", "careful", selector="true", rules=[{"name": "yes", "approval": {"minApprovals": 1}}]
    )
    until = instants.show(clock.now + instants.minutes(10))
    freeze = put("Freeze", "night", reason="quiet", expiresAt=until)
    for change in (*TWO_NODES, careful, freeze, version("api", "v1")):
        apply(one, change)
    frozen = clock.now
    clock.advance(601)
    one.serve([])
    assert Historian(store, workspace(HOME)).read_on(NEVER)
    states = [{row[0] for row in told(store, at)["targets"].values()} for at in (frozen, clock.now)]
    assert states == [{"frozen"}, {"waiting"}]
    store.close()
