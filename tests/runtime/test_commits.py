"""A batch is committed whole or not at all, and what fails in it takes nothing else along."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model.changes import PutSkip
from headgate.kernel.problems import Rejected
from headgate.runtime.commands import CommandContext
from headgate.store import Store, Transaction, UnavailableError

from .fleet import (
    APPROVAL,
    ONE_NODE,
    policy,
    resource,
    version,
)
from .stage import ANA, HOME, PATIENCE, Clock, Stage, command
from .workspace_engines import (
    apply,
    assert_same,
    engine_of,
    failing,
    leader,
    stands,
    stands_by_log,
    stands_by_rows,
)


@pytest.mark.parametrize("is_stored", [False, True], ids=["lost", "stored"])
def test_a_failed_commit_leaves_memory_equal_to_the_store(
    is_stored: bool, prepared: Callable[[str], Store], store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = prepared(store_url)
    one = leader(store, Clock())
    for change in ONE_NODE:
        apply(one, change)
    with (
        failing(store, monkeypatch, is_stored=is_stored),
        pytest.raises(UnavailableError),
    ):
        apply(one, version("api", "v1"))
    assert len(engine_of(one).jobs) == is_stored
    assert_same(stands(one), stands_by_rows(store))
    apply(one, resource("b"))
    assert_same(stands(one), stands_by_log(store))


def test_all_futures_of_a_failed_commit_say_so(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.each(*ONE_NODE)
    head = stage.store.head(HOME)
    with failing(stage.store, monkeypatch, is_stored=False):
        with stage.held():
            futures = [stage.worker.submit(HOME, command(resource(name)), ANA) for name in ("b", "c", "d")]
        errors = [future.exception(PATIENCE) for future in futures]
    assert {type(error) for error in errors} == {UnavailableError}
    assert stage.store.head(HOME) == head
    assert set(stage.ask(lambda view: view.engine.state.resources)) == {"a"}


def test_a_command_that_is_refused_half_way_stores_nothing_and_spares_the_others(stage: Stage) -> None:
    stage.each(*ONE_NODE)
    with stage.held():
        first = stage.worker.submit(HOME, command(resource("b")), ANA)
        refused = stage.worker.submit(
            HOME,
            command(resource("c"), resource("d"), version("ghost", "v1")),
            ANA,
            alone=True,
        )
        last = stage.worker.submit(HOME, command(resource("e")), ANA)
    first.result(PATIENCE)
    last.result(PATIENCE)
    assert isinstance(refused.exception(PATIENCE), Rejected)
    assert set(stage.ask(lambda view: view.engine.state.resources)) == {"a", "b", "e"}
    assert_same(stands_by_rows(stage.store), stands_by_log(stage.store))


def test_one_that_forgot_to_be_alone_spares_the_others_too(stage: Stage) -> None:
    stage.each(*ONE_NODE)
    with stage.held():
        first = stage.worker.submit(HOME, command(resource("b")), ANA)
        refused = stage.worker.submit(HOME, command(resource("c"), version("ghost", "v1")), ANA)
        last = stage.worker.submit(HOME, command(resource("e")), ANA)
    first.result(PATIENCE)
    last.result(PATIENCE)
    assert isinstance(refused.exception(PATIENCE), Rejected)
    assert set(stage.ask(lambda view: view.engine.state.resources)) == {"a", "b", "e"}


def test_a_change_that_breaks_half_way_is_not_kept_in_memory(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.each(*ONE_NODE)
    apply_whole = Engine.apply

    def break_at_c(engine: Engine, change: Any, now: int) -> None:
        apply_whole(engine, change, now)
        if getattr(getattr(change, "object", None), "name", "") == "c":
            raise RuntimeError("a bug")

    monkeypatch.setattr(Engine, "apply", break_at_c)
    with stage.held():
        broken = stage.worker.submit(HOME, command(resource("c")), ANA)
        good = stage.worker.submit(HOME, command(resource("b")), ANA)
    good.result(PATIENCE)
    assert isinstance(broken.exception(PATIENCE), RuntimeError)
    assert set(stage.ask(lambda view: view.engine.state.resources)) == {"a", "b"}
    assert_same(stands_by_rows(stage.store), stands_by_log(stage.store))


def test_what_cannot_be_written_does_not_take_its_neighbours_along(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stage.each(*ONE_NODE)
    begin = stage.store.begin

    @contextlib.contextmanager
    def refuse_c(*arguments: Any) -> Iterator[Transaction]:
        with begin(*arguments) as transaction:
            append = transaction.append

            def looking(entries: Any) -> None:
                if any(b'"name":"c"' in entry.payload for entry in entries):
                    raise ValueError("cannot be encoded")
                append(entries)

            monkeypatch.setattr(transaction, "append", looking)
            yield transaction

    monkeypatch.setattr(stage.store, "begin", refuse_c)
    with stage.held(), caplog.at_level(logging.CRITICAL):
        futures = [
            stage.worker.submit(HOME, command(change), ANA)
            for change in (resource("b"), resource("c"), resource("d"))
        ]
    assert isinstance(futures[1].exception(PATIENCE), ValueError)
    assert [futures[0].exception(PATIENCE), futures[2].exception(PATIENCE)] == [None, None]
    assert set(stage.ask(lambda view: view.engine.state.resources)) == {"a", "b", "d"}


def test_a_refused_change_leaves_nothing_behind(prepared: Callable[[str], Store]) -> None:
    one = leader(prepared("memory:"), Clock())
    for change in (*ONE_NODE, policy("rules", APPROVAL)):
        apply(one, change)
    before = engine_of(one).dump()
    with pytest.raises(Rejected):
        apply(one, PutSkip(reason="urgent", rule="signed", environment="nowhere"))
    assert engine_of(one).dump() == before


def test_a_command_may_only_look_and_then_leaves_no_entry(stage: Stage) -> None:
    stage.each(*ONE_NODE)
    head = stage.store.head(HOME)

    def look(context: CommandContext) -> int:
        return len(context.engine.state.resources)

    assert stage.worker.submit(HOME, look, ANA).result(PATIENCE) == 1
    assert stage.store.head(HOME) == head
