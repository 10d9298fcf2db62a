"""Workspaces in turn: a flood in one leaves the others theirs, and has a bound itself."""

import threading
import uuid
from concurrent.futures import Future

import pytest

from headgate.runtime.commands import ENGINE, BusyError, Caller, CommandContext
from headgate.runtime.items import WaitingLine, WorkItem
from headgate.runtime.worker import Worker, WorkerSettings, wall_clock
from headgate.store import Workspace
from headgate.store.sql.opening import open_store

ME = Caller("ada")


def item(workspace: str, caller: Caller = ME) -> WorkItem:
    return WorkItem(workspace, command=lambda context: None, caller=caller)


def test_each_turn_has_the_oldest_few_of_every_workspace() -> None:
    line = WaitingLine(100)
    given = [item("flooded") for _ in range(5)] + [item("calm")]
    for one in given:
        assert line.has_room_for(one)
        line.add(one)
    assert line.next_turn(2) == {"flooded": given[:2], "calm": given[5:]}
    assert line.next_turn(2) == {"flooded": given[2:4]}
    assert line.next_turn(2) == {"flooded": given[4:5]}
    assert line.is_empty
    assert line.length == 0


def test_a_full_workspace_takes_no_more_but_from_the_engine() -> None:
    line = WaitingLine(2)
    assert [line.has_room_for(item("full")) for _ in range(3)] == [True, True, False]
    assert line.has_room_for(item("full", ENGINE))
    assert line.has_room_for(item("other"))


def test_what_one_workspace_floods_the_worker_with_is_not_done_before_the_others_have_their_turn() -> None:
    store = open_store("memory:")
    store.migrate()
    for name in ("flooded", "calm"):
        store.add_workspace(Workspace(str(uuid.uuid4()), name, "", wall_clock()))
    worker = Worker(store, WorkerSettings("test", most_items_a_batch=10, most_items_waiting=300))
    worker.start()
    order: list[str] = []
    begun, released = threading.Event(), threading.Event()

    def wait(context: CommandContext) -> None:
        begun.set()
        released.wait(30)

    def note(name: str) -> Future[None]:
        def command(context: CommandContext) -> None:
            order.append(name)

        return worker.submit(name, command, ME)

    try:
        worker.submit("calm", wait, ME)
        begun.wait(30)
        flood = [note("flooded") for _ in range(301)]
        one = note("calm")
        released.set()
        one.result(30)
        with pytest.raises(BusyError, match="300 requests wait for the workspace flooded already"):
            flood[-1].result(30)
        for future in flood[:-1]:
            future.result(30)
    finally:
        worker.stop()
        store.close()
    assert order.index("calm") <= 20
    assert order.count("flooded") == 300
