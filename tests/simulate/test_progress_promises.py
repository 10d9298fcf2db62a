"""NoSilentDowngrade, and the two promises that try what an engine says instead of believing it."""

import inspect

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes, records
from headgate.fleet.state import wakes
from headgate.kernel import instants
from headgate.promises import driving, waking
from headgate.promises.base import RunEnding, Unconverged
from headgate.promises.driving import WakeDriver

from .synthetic import IDS, START, ObservedFleet, group, job, put, version

LATER = START + instants.seconds(60)


def fleet_on(tag: str, *policies: changes.Put) -> ObservedFleet:
    """v1, v2 and v3 are published one after another, and the tag runs on node-1."""
    fleet = ObservedFleet(*policies)
    for number, one in enumerate(("v2", "v3"), start=1):
        fleet.accept(version("api", one, createdAt=f"2026-03-01T09:0{number}:00Z"))
    first = job(tag=tag)
    fleet.create(first)
    fleet.end(first)
    return fleet


def test_nothing_goes_back_by_itself() -> None:
    fleet = fleet_on("v2")
    fleet.create(job(tag="v1", kind="hook"))
    assert fleet.broken == ["NoSilentDowngrade"]
    assert "api/prod/node-1 runs v2 and was put on v1, which is older (hook)" in fleet.messages


def test_going_forward_is_no_going_back() -> None:
    fleet = fleet_on("v2")
    fleet.create(job(tag="v3"))
    assert fleet.broken == []


def test_a_rollback_without_a_cause_is_a_silent_downgrade() -> None:
    fleet = fleet_on("v2")
    fleet.create(job(tag="v1", kind="rollback"))
    assert fleet.broken == ["NoSilentDowngrade"]


def test_a_rollback_rule_a_person_and_a_rejected_version_may_send_it_back() -> None:
    by_rule = fleet_on("v1", put("Policy", "back", rules=[{"rollback": {}}]))
    bad = job(tag="v2", verification="failed")
    by_rule.create(bad)
    by_rule.end(bad)
    by_rule.create(job(tag="v1", kind="rollback", id="back"))
    by_person = fleet_on("v2")
    by_person.accept(changes.TargetAction("rollback", "api/prod/node-1", "ana"))
    by_person.create(job(tag="v1", kind="rollback"))
    by_rejection = fleet_on("v2")
    by_rejection.accept(changes.SetVersionStatus("api", "v2", "rejected"))
    by_rejection.create(job(tag="v1"))
    assert by_rule.broken + by_person.broken + by_rejection.broken == []


def test_a_rollback_rule_that_has_not_fired_sends_nobody_back() -> None:
    fleet = fleet_on("v2", put("Policy", "back", rules=[{"rollback": {}}]))
    fleet.create(job(tag="v1", kind="rollback"))
    assert fleet.broken == ["NoSilentDowngrade"]
    assert "no rollback rule of it has fired" in fleet.messages


def test_an_order_for_another_target_and_a_retry_send_nobody_back() -> None:
    for_another = fleet_on("v2")
    for_another.accept(changes.TargetAction("rollback", "api/prod/node-", "ana"))
    for_another.create(job(tag="v1", kind="rollback"))
    retried = fleet_on("v2")
    retried.accept(changes.TargetAction("retry", "api/prod/node-1", "ana"))
    retried.create(job(tag="v1"))
    assert for_another.broken + retried.broken == ["NoSilentDowngrade", "NoSilentDowngrade"]


def test_work_that_a_fresh_look_finds_was_missed() -> None:
    fleet = ObservedFleet()
    fleet.watch.reconciled_afresh([])
    assert fleet.broken == []
    fleet.watch.reconciled_afresh(["deploy v1 on api/prod/node-1 starts"])
    assert fleet.broken == ["MonotoneProgress"]


def _ended_with(member: records.Member, *accepted: changes.Change) -> list[str]:
    fleet = ObservedFleet()
    for change in accepted:
        fleet.accept(change)
    fleet.watch.on_group_changed(group(members=[member]))
    waits = Unconverged("api/prod/node-1", "running", "its group", "group", (("pending", "waits"),))
    fleet.watch.ended(RunEnding(START, False, False, None, (waits,)))
    return fleet.broken


def test_a_group_that_goes_on_with_nothing_makes_no_progress() -> None:
    assert _ended_with(records.Member("api", version="v", state="running")) == ["MonotoneProgress"]


def test_a_group_that_is_frozen_or_has_no_version_for_its_hook_is_held() -> None:
    freeze = put("Freeze", "incident", reason="look", selector="true")
    assert _ended_with(records.Member("api", version="v", state="waiting"), freeze) == []
    assert _ended_with(records.Member("api", role="postHook", version=None, state="waiting")) == []


def test_a_wake_up_that_does_not_wake_is_none() -> None:
    fleet = ObservedFleet()
    unit = Unconverged("api/prod/node-1", "waiting", "votes", "votes", (("pending", "waits"),), False)
    fleet.watch.ended(RunEnding(START, False, False, None, (unit,)))
    assert fleet.broken == ["NoStuckWithoutReason"]


def _waiting_for_a_vote() -> Engine:
    engine = Engine(IDS)
    for change in (
        put("Environment", "prod", resourceSelector="true"),
        put("Deployment", "api", resourceSelector="true"),
        put("Resource", "node-1"),
        put("Policy", "votes", rules=[{"approval": {"minApprovals": 1}}]),
        version("api", "v1"),
    ):
        engine.apply(change, START)
    engine.decide(START)
    return engine


def test_a_unit_stands_on_the_lists_of_what_it_waits_for() -> None:
    engine = _waiting_for_a_vote()
    assert waking.Waker(engine).wakes("api/prod/node-1")
    assert waking.found_afresh(waking.copy_of(engine), START) == []
    engine.state.targets["api/prod/node-1"].waits = (("nothing", "that", "happens"),)
    assert not waking.Waker(engine).wakes("api/prod/node-1")


def test_an_engine_that_lost_a_wake_up_is_found_out() -> None:
    engine = _waiting_for_a_vote()
    engine.apply(changes.Vote("api", "v1", "prod", "ana", "approved"), LATER)
    engine.state.waiting.dirty.clear()
    engine.decide(LATER)
    assert waking.found_afresh(waking.copy_of(engine), LATER) == ["deploy v1 on api/prod/node-1 starts"]


def test_what_a_unit_waits_for_is_made_to_happen() -> None:
    assert WakeDriver().unanswered(_waiting_for_a_vote(), START) == []


def test_each_wake_is_driven_once_in_a_run() -> None:
    driver = WakeDriver()
    driver.unanswered(_waiting_for_a_vote(), START)
    deaf = _waiting_for_a_vote()
    deaf.state.waiting.forget(deaf.state.targets["api/prod/node-1"])
    assert driver.unanswered(deaf, START) == []


def test_a_time_that_the_clock_does_not_know_wakes_nobody() -> None:
    engine = _waiting_for_a_vote()
    engine.state.targets["api/prod/node-1"].requeue_at = LATER
    (found,) = WakeDriver().unanswered(engine, START)
    assert found.startswith("api/prod/node-1 waits for 2026-03-01T")


def test_every_wake_of_the_fleet_can_be_driven() -> None:
    named = {value[0] for name, value in vars(wakes).items() if name.isupper()}
    named |= {
        value(*("" for _ in inspect.signature(value).parameters))[0]
        for value in vars(wakes).values()
        if inspect.isfunction(value)
    }
    assert named == driving.TOPICS
