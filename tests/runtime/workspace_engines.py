"""Workspace engines without a thread of their own: what a worker does, one step at a time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model.changes import Change
from headgate.kernel.identifiers import NamedIds
from headgate.runtime import rows
from headgate.runtime.items import WorkItem
from headgate.runtime.replica import Replica
from headgate.runtime.workspace_engine import AfterCommit, WorkspaceEngine
from headgate.store import Store, Transaction, UnavailableError

from .stage import ANA, HOME, Clock, command, workspace
from .test_rows_follow_scenarios import comparable

LEASE_SECONDS = 3_600.0


def leader(store: Store, clock: Clock, holder: str = "leader") -> WorkspaceEngine:
    workspace_engine = follower(store, clock, holder)
    workspace_engine.hold_lease(LEASE_SECONDS)
    assert workspace_engine.is_leader
    return workspace_engine


def follower(store: Store, clock: Clock, holder: str = "follower") -> WorkspaceEngine:
    return WorkspaceEngine(store, workspace(HOME), clock, holder)


def apply(workspace_engine: WorkspaceEngine, *changes: Change) -> AfterCommit:
    """In one commit; raises what the caller would get."""
    item = WorkItem(HOME, command=command(*changes), caller=ANA, alone=True)
    outcome = workspace_engine.serve([item])
    assert outcome is not None
    item.future.result(0)
    return outcome


def engine_of(workspace_engine: WorkspaceEngine) -> Engine:
    """Caught up with everything that is committed."""
    item = WorkItem(HOME, question=lambda view: view.engine)
    workspace_engine.answer([item])
    found: Engine = item.future.result(0)
    return found


def stands(workspace_engine: WorkspaceEngine) -> dict[str, Any]:
    return comparable(engine_of(workspace_engine))


def stands_by_rows(store: Store) -> dict[str, Any]:
    return comparable(rows.restore(HOME, store.load(HOME), NamedIds(workspace(HOME).id)))


def stands_by_log(store: Store) -> dict[str, Any]:
    """Everything that ever happened, taken by an engine that knew nothing."""
    empty = Engine(NamedIds(workspace(HOME).id), HOME)
    replica = Replica(workspace(HOME), empty, 0, 0)
    replica.catch_up(store)
    return comparable(replica.engine)


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for part in expected:
        assert found[part] == expected[part], part


@contextlib.contextmanager
def failing(store: Store, monkeypatch: pytest.MonkeyPatch, *, is_stored: bool) -> Iterator[None]:
    """Every commit fails; `is_stored` for the case that only its acknowledgement is lost."""
    begin = store.begin

    @contextlib.contextmanager
    def begin_and_fail(*arguments: Any) -> Iterator[Transaction]:
        with begin(*arguments) as transaction:
            yield transaction
            if not is_stored:
                raise UnavailableError("the disk is full")
        raise UnavailableError("the line went dead")

    with monkeypatch.context() as patch:
        patch.setattr(store, "begin", begin_and_fail)
        yield
