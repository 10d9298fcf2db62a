"""Events: numbered without a gap, in the order in which things happened, and nobody sleeps through one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import msgspec
import pytest

from docs import event_types
from headgate.kernel.problems import Rejected
from headgate.runtime import wiring
from headgate.runtime.wiring import WorkerClient
from headgate.store import Event, Store

from .fleet import APPROVAL, ONE_NODE, TWO_NODES, cycle, delete, policy, put, resource, version
from .stage import ANA, HOME, PATIENCE, Clock, Stage, command
from .workspace_engines import apply, follower, leader

TARGET = "api/prod/a"


def events(store: Store, after: int = 0) -> list[Event]:
    return store.events_after(HOME, after, 10_000)


def types(store: Store, after: int = 0) -> list[str]:
    return [event.type for event in events(store, after)]


def test_events_are_numbered_without_a_gap(prepared: Callable[[str], Store], store_url: str) -> None:
    store = prepared(store_url)
    clock = Clock()
    one, other = leader(store, clock), follower(store, clock)
    for number, change in enumerate((*TWO_NODES, version("api", "v1"), version("api", "v2"))):
        apply((one, other)[number % 2], change)
    one.serve([])
    found = events(store)
    assert [event.seq for event in found] == list(range(1, len(found) + 1))
    assert store.newest_event(HOME) == len(found)


def test_events_tell_a_job_from_its_publication_to_its_end(stage: Stage) -> None:
    stage.each(*ONE_NODE)
    before = stage.store.newest_event(HOME)
    stage.submit(version("api", "v1"))
    stage.report(TARGET, "inProgress")
    stage.report(TARGET, message="it works")
    found = events(stage.store, before)
    assert [event.type for event in found] == [
        "version.published",
        "job.created",
        "job.inProgress",
        "job.successful",
    ]
    assert found[0].message == "api/v1 published by ana"
    assert found[-1].message == f"{TARGET} v1 successful: it works"
    assert msgspec.json.decode(found[-1].data)["status"] == "successful"


def test_events_tell_a_cycle_of_a_bracket(stage: Stage) -> None:
    stage.each(*cycle())
    before = stage.store.newest_event(HOME)
    stage.submit(version("kubelet", "v1"))
    for name in ("drain", "kubelet", "uncordon"):
        stage.report(f"{name}/prod/a")
    found = [kind for kind in types(stage.store, before) if kind.startswith("group.")]
    assert found[-2:] == ["group.executing", "group.completed"]


def test_what_a_follower_takes_is_told_once(prepared: Callable[[str], Store]) -> None:
    store = prepared("memory:")
    clock = Clock()
    one, other = leader(store, clock), follower(store, clock)
    for change in ONE_NODE:
        apply(one, change)
    before = store.newest_event(HOME)
    apply(other, version("api", "v1"))
    one.serve([])
    apply(other, resource("b"))
    one.serve([])
    assert types(store, before) == ["version.published", "job.created", "resource.applied", "job.created"]


def test_a_restart_tells_nothing_again(
    prepared: Callable[[str], Store], staged: Callable[[Store], Stage]
) -> None:
    store = prepared("memory:")
    first = staged(store)
    first.each(*ONE_NODE, version("api", "v1"))
    first.worker.stop()
    before = store.newest_event(HOME)
    staged(store).look()
    assert types(store, before) == []


def test_what_was_not_committed_is_not_told(stage: Stage) -> None:
    stage.each(*ONE_NODE)
    before = stage.store.newest_event(HOME)
    future = stage.worker.submit(HOME, command(resource("b"), version("ghost", "v1")), ANA, alone=True)
    assert isinstance(future.exception(PATIENCE), Rejected)
    stage.submit(resource("c"))
    assert [event.name for event in events(stage.store, before)] == ["c"]


def test_text_that_no_database_takes_is_told_without_it(
    prepared: Callable[[str], Store], staged: Callable[[Store], Stage], store_url: str
) -> None:
    stage = staged(prepared(store_url))
    stage.each(*ONE_NODE, version("api", "v1"))
    stage.report(TARGET, "failure", message="exit\x00status")
    assert "exit\ufffdstatus" in events(stage.store)[-1].message


def test_those_who_wait_for_events_sleep_through_none(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by themselves here: one wake-up that is lost, and a reader never sees the last event."""
    monkeypatch.setattr(wiring, "_LONGEST_NAP", 2 * PATIENCE)
    client = WorkerClient(stage.worker)
    stage.worker.after_commit = lambda name, outcome: client.committed(name, outcome.newest_event)
    stage.submit(resource("b"))
    first, count = stage.store.newest_event(HOME), 150

    async def follow() -> list[int]:
        seen: list[int] = []
        while len(seen) < count:
            position = first + len(seen)
            assert await client.wait_for_events(HOME, position, PATIENCE)
            seen += [event.seq for event in events(stage.store, position)]
        return seen

    async def follow_all() -> list[list[int]]:
        return await asyncio.wait_for(asyncio.gather(*(follow() for _ in range(4))), PATIENCE)

    def write() -> None:
        for number in range(count):
            stage.submit(resource("b", config={"number": number}))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        found = asyncio.run(follow_all())
    finally:
        writer.join()
    assert found == [list(range(first + 1, first + count + 1))] * 4


def test_an_event_that_is_there_already_is_not_waited_for(stage: Stage) -> None:
    client = WorkerClient(stage.worker)
    client.committed(HOME, 7)

    async def wait() -> bool:
        return await asyncio.wait_for(client.wait_for_events(HOME, 6, PATIENCE), 5)

    assert asyncio.run(wait())


def test_waiting_ends_without_an_event(stage: Stage) -> None:
    client = WorkerClient(stage.worker)
    assert not asyncio.run(client.wait_for_events(HOME, 0, 0.01))


def test_a_waiter_whose_loop_has_ended_does_not_stop_the_worker(stage: Stage) -> None:
    client = WorkerClient(stage.worker)
    loop = asyncio.new_event_loop()
    client._waiting.add((loop, asyncio.Event()))
    loop.close()
    client.committed(HOME, 1)


def test_commits_go_on_when_nobody_can_be_told(stage: Stage) -> None:
    def fail(workspace: str, outcome: object) -> None:
        raise RuntimeError("nobody is there")

    stage.worker.after_commit = fail
    stage.each(*ONE_NODE)
    assert set(stage.picture().says) == {TARGET}


def test_what_someone_must_be_told_is_told_once_by_any_number_of_processes(
    prepared: Callable[[str], Store], store_url: str
) -> None:
    store = prepared(store_url)
    clock = Clock()
    one, other = leader(store, clock), follower(store, clock)
    for change in (*TWO_NODES, policy("careful", APPROVAL), version("api", "v1")):
        apply(other, change)
    one.serve([])
    one.drop_replica()
    other.drop_replica()
    apply(other, put("Freeze", "stop", reason="incident"))
    apply(other, delete("Freeze", "stop"))
    one.serve([])
    other.serve([])
    told = [event.type for event in events(store) if event.type in event_types.TOLD]
    assert told == ["approval.requested", "freeze.begun", "freeze.ended"]
    assert set(types(store)) <= set(event_types.all_types())


def test_a_scope_that_fails_is_warned_of_once_a_target(
    prepared: Callable[[str], Store], store_url: str
) -> None:
    """The version is kept where its scope cannot be judged, so whoever wrote it has to hear of that."""
    store = prepared(store_url)
    one = leader(store, Clock())
    scoped = version("api", "v1", targetSelector="resource.metadata['tier'] == 'gold'")
    for change in (*TWO_NODES, scoped):
        apply(one, change)
    one.serve([])
    apply(one, put("Freeze", "stop", reason="incident"))
    one.drop_replica()
    one.serve([])
    warned = [event for event in events(store) if event.type == "warning.raised"]
    assert sorted(event.name for event in warned) == ["api/prod/a", "api/prod/b"]
    assert all("targetSelector of v1 failed" in event.message for event in warned)
