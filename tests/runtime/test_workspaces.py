"""Workspaces that come and go while a worker runs."""

from __future__ import annotations

import msgspec
import pytest

from headgate.runtime.commands import UnknownWorkspaceError
from headgate.runtime.worker import Worker

from .fleet import ONE_NODE, delete, resource, version
from .stage import ANA, HOME, PATIENCE, Stage, command, eventually, picture, workspace
from .workspace_engines import engine_of, follower


def live(worker: Worker, name: str) -> list[str]:
    return worker.ask(name, picture).result(PATIENCE).jobs


def test_a_workspace_that_was_just_made_is_served_at_once(stage: Stage) -> None:
    stage.store.add_workspace(workspace("new"))
    changes = (*ONE_NODE, version("api", "v1"))
    stage.worker.submit("new", command(*changes), ANA, alone=True).result(PATIENCE)
    eventually(lambda: live(stage.worker, "new") == ["api/prod/a v1"])


def test_workspaces_do_not_see_each_other(stage: Stage) -> None:
    stage.store.add_workspace(workspace("new"))
    stage.each(*ONE_NODE, version("api", "v1"))
    assert live(stage.worker, "new") == []
    assert stage.picture().jobs == ["api/prod/a v1"]


def test_a_workspace_that_was_removed_is_not_there(stage: Stage) -> None:
    stage.each(*ONE_NODE)
    stage.store.remove_workspace(HOME)
    with pytest.raises(UnknownWorkspaceError):
        stage.submit(resource("b"))
    stage.worker.wake()
    with pytest.raises(UnknownWorkspaceError):
        stage.picture()


def test_a_workspace_that_was_made_anew_under_its_name_is_empty_and_has_ids_of_its_own(stage: Stage) -> None:
    stage.each(*ONE_NODE, version("api", "v1"))
    old = stage.job("api/prod/a")
    stage.store.remove_workspace(HOME)
    anew = msgspec.structs.replace(workspace(HOME), id=workspace("another").id)
    stage.store.add_workspace(anew)
    assert stage.picture().says == {}
    stage.each(*ONE_NODE, version("api", "v1"))
    stage.worker.wake()
    eventually(lambda: stage.picture().jobs)
    new = stage.job("api/prod/a")
    assert new != old
    assert set(engine_of(follower(stage.store, stage.clock)).jobs) == {new}


def test_the_jobs_of_what_was_deleted_are_not_counted_as_live(stage: Stage) -> None:
    stage.each(*ONE_NODE, version("api", "v1"))
    (engine,) = stage.worker._engines.values()
    assert engine.live_jobs() == {"pending": 1}
    stage.submit(delete("Resource", "a"))
    assert engine.live_jobs() == {}
