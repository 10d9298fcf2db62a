"""What the operator leaves out or puts off, so that a cluster hears less of it and nobody misses anything."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from headgate.graph.reconcile import labels, revisions
from headgate.kernel import instants
from headgate.kernel.objects import Action, DeleteObject, Key, Object, UpdateStatus
from headgate.kubernetes.errors import ApiError, ForbiddenError, UnreachableError
from headgate.kubernetes.resources import ApiResource
from headgate.operator.running import events, resting
from headgate.operator.running.costly_passes import CostlyPasses
from headgate.operator.running.feed import ObjectFeed
from headgate.operator.running.pace import WritePace
from headgate.operator.running.resting import RestingStatuses
from headgate.operator.running.retired_revisions import AFTER_SECONDS, RetiredRevisions

NOW = instants.parse("2026-03-02T09:00:00Z")
SHOP = Key("kro.run", "Shop", "default", "north")


def condition(kind: str, status: str, reason: str, message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def status_action(*truths: str) -> UpdateStatus:
    found = [condition(f"C{index}", truth, "R") for index, truth in enumerate(truths)]
    return UpdateStatus(SHOP, "uid", {"conditions": found})


def test_a_status_that_is_under_way_waits_a_second_and_no_longer() -> None:
    statuses = RestingStatuses()
    actions: list[Action] = [status_action("True", "Unknown")]
    assert statuses.rests(SHOP, actions, NOW) == NOW + resting.REST
    assert statuses.rests(SHOP, actions, NOW + resting.REST - 1) == NOW + resting.REST
    assert statuses.rests(SHOP, actions, NOW + resting.REST) is None


def rolled(state: str, landed: int) -> UpdateStatus:
    found = [condition("Ready", "False", "NotReady")]
    own = {"revision": 2, "landedRevision": landed}
    return UpdateStatus(SHOP, "uid", {"state": state, "conditions": found, "headgate": own})


def shop_at(index: int) -> Key:
    return Key("kro.run", "Shop", "default", f"shop-{index:04d}")


def rest_with_others(statuses: RestingStatuses, action: UpdateStatus, count: int) -> None:
    for index in range(count):
        key = shop_at(index)
        assert statuses.rests(key, [msgspec.structs.replace(action, key=key)], NOW) is not None


@pytest.mark.parametrize(
    ("action", "is_longer"),
    [
        (rolled("IN_PROGRESS", 1), True),
        (rolled("ERROR", 1), False),
        (rolled("IN_PROGRESS", 2), False),
        (status_action("Unknown"), False),
    ],
    ids=["under way", "failed", "was well before", "of a definition"],
)
def test_where_many_are_rolled_at_once_what_is_under_way_waits_longer_and_nothing_else(
    action: UpdateStatus, *, is_longer: bool
) -> None:
    statuses = RestingStatuses()
    rest_with_others(statuses, action, 100)
    until = NOW + resting.REST + 200 * resting.LEAST_SHARE * is_longer
    assert statuses.rests(SHOP, [action], NOW) == until
    assert statuses.rests(SHOP, [action], until) is None


def test_who_is_left_of_a_roll_is_told_of_after_twice_as_long_as_the_others_took() -> None:
    statuses = RestingStatuses()
    under_way = rolled("IN_PROGRESS", 1)
    rest_with_others(statuses, under_way, 100)
    assert statuses.rests(SHOP, [under_way], NOW) is not None
    took = instants.seconds(101)
    for index in range(100):
        key = shop_at(index)
        statuses.rests(key, [msgspec.structs.replace(status_action("True"), key=key)], NOW + took)
    until = NOW + resting.REST + 200 * instants.seconds(1)
    assert statuses.rests(SHOP, [under_way], NOW + took) == until
    assert statuses.rests(SHOP, [under_way], until) is None


def test_a_slow_cluster_has_more_time_for_the_next_roll() -> None:
    statuses = RestingStatuses()
    under_way = rolled("IN_PROGRESS", 1)
    took = instants.seconds(40)
    rest_with_others(statuses, under_way, 100)
    for index in range(100):
        key = shop_at(index)
        statuses.rests(key, [msgspec.structs.replace(status_action("True"), key=key)], NOW + took)
    rest_with_others(statuses, under_way, 200)
    assert statuses.rests(SHOP, [under_way], NOW) == NOW + resting.REST + 4 * took


def test_one_that_took_long_alone_does_not_keep_two_from_being_told_of() -> None:
    statuses = RestingStatuses()
    under_way = rolled("IN_PROGRESS", 1)
    rest_with_others(statuses, under_way, 1)
    done = msgspec.structs.replace(status_action("True"), key=shop_at(0))
    statuses.rests(shop_at(0), [done], NOW + instants.minutes(4))
    rest_with_others(statuses, under_way, 1)
    assert statuses.rests(SHOP, [under_way], NOW) == NOW + resting.REST + 2 * resting.MOST_SHARE


def test_nothing_waits_longer_than_five_minutes() -> None:
    statuses = RestingStatuses()
    rest_with_others(statuses, rolled("IN_PROGRESS", 1), 10_000)
    assert statuses.rests(SHOP, [rolled("IN_PROGRESS", 1)], NOW) == NOW + resting.LONGEST_REST


def test_a_status_that_says_all_is_well_waits_for_nothing() -> None:
    assert RestingStatuses().rests(SHOP, [status_action("True", "True")], NOW) is None


def test_only_the_last_write_of_a_pass_waits() -> None:
    delete = DeleteObject(Key("", "ConfigMap", "default", "a"), "uid", "")
    assert RestingStatuses().rests(SHOP, [status_action("False"), delete], NOW) is None


def test_who_is_asked_for_has_rested_long_enough() -> None:
    statuses = RestingStatuses()
    assert statuses.rests(SHOP, [status_action("False")], NOW) is not None
    statuses.end(SHOP)
    assert statuses.rests(SHOP, [status_action("False")], NOW) is None


def test_a_pass_that_took_long_rests_in_proportion_and_a_short_one_not_at_all() -> None:
    costs = CostlyPasses(0.002, 50)
    costs.took(SHOP, 0.001, NOW)
    assert costs.until(SHOP, NOW) is None
    costs.took(SHOP, 0.01, NOW)
    assert costs.until(SHOP, NOW) == NOW + instants.seconds(0.5)
    assert costs.until(SHOP, NOW + instants.seconds(0.5)) is None
    costs.took(SHOP, 10.0, NOW)
    assert costs.until(SHOP, NOW) == NOW + instants.seconds(1)


def test_what_several_conditions_newly_say_is_one_event_and_what_is_true_from_the_first_is_none() -> None:
    about = Object("kro.run/v1alpha1", "Shop", "default", "north", status={"conditions": []})
    told = events.of_conditions(
        about,
        {
            "conditions": [
                condition("Ready", "False", "NotReady", "config is missing"),
                condition("GraphResolved", "True", "Resolved", "at revision 1"),
                condition("ResourcesReady", "False", "NotReady", "config is missing"),
                condition("ResourcesPropagated", "Unknown", "Propagating", "1 of 3"),
            ]
        },
    )
    assert told is not None
    assert (told.reason, told.message) == ("NotReady", "config is missing; 1 of 3")
    assert events.of_conditions(about, {"conditions": [condition("Ready", "True", "Ready", "all")]}) is None


def test_a_condition_that_comes_true_again_is_told() -> None:
    before = {"conditions": [condition("ResourcesPropagated", "Unknown", "Propagating", "1 of 3")]}
    about = Object("kro.run/v1alpha1", "Shop", "default", "north", status=before)
    told = events.of_conditions(
        about, {"conditions": [condition("ResourcesPropagated", "True", "Propagated", "all")]}
    )
    assert told is not None
    assert told.message == "all"


class Server:
    """Takes what is deleted, together or one by one."""

    def __init__(self, *, takes_selections: bool = True, fault: ApiError | None = None) -> None:
        self.asked: list[str] = []
        self._fault = fault if takes_selections else ForbiddenError("no", status=403)

    async def find(self, *_: str) -> ApiResource:
        return ApiResource("kro.run", "v1alpha1", revisions.KIND, "resourcegraphrevisions")

    async def delete_selected(self, _: ApiResource, selector: str, namespace: str) -> dict[str, Any]:
        if self._fault is not None:
            raise self._fault
        self.asked.append(f"{namespace}: {selector}")
        return {}

    async def delete(self, _: ApiResource, name: str, namespace: str, *, uid: str) -> dict[str, Any]:
        self.asked.append(f"{namespace}/{name} {uid}")
        return {}


class Gone:
    def __init__(self) -> None:
        self.names: list[str] = []

    def observe(self, change: Any) -> None:
        assert change.kind == "deleted"
        self.names.append(change.object.name)


def retired(server: Server, gone: Gone, seconds: list[float]) -> RetiredRevisions:
    feed = ObjectFeed((), lambda: NOW)
    feed.listen(gone.observe)
    given: Any = server
    return RetiredRevisions(given, given, feed, WritePace(), "graphs", lambda: seconds[0])


def revision(instance: str, number: int) -> Object:
    marks = {labels.INSTANCE_ID: f"uid-{instance}", labels.REVISION: str(number)}
    name = f"shop-{instance}-r{number}"
    return Object(
        revisions.API_VERSION, revisions.KIND, "default", name, uid=f"of-{instance}-{number}", labels=marks
    )


def test_revisions_that_nothing_is_at_go_together_after_a_while() -> None:
    server, gone, seconds = Server(), Gone(), [0.0]
    waiting = retired(server, gone, seconds)

    async def story() -> None:
        for item in (revision("b", 1), revision("a", 1), revision("c", 7), revision("b", 1)):
            assert waiting.take(item)
        await waiting.remove_due()
        assert not server.asked
        seconds[0] = AFTER_SECONDS
        await waiting.remove_due()

    asyncio.run(story())
    assert server.asked == [
        "default: headgate.dev/revision=1,kro.run/instance-id in (uid-a,uid-b)",
        "default/shop-c-r7 of-c-7",
    ]
    assert sorted(gone.names) == ["shop-a-r1", "shop-b-r1", "shop-c-r7"]
    assert waiting.due_in_seconds() is None


def test_revisions_that_come_one_by_one_are_waited_for_and_not_for_ever() -> None:
    server, gone, seconds = Server(), Gone(), [0.0]
    waiting = retired(server, gone, seconds)

    async def story() -> None:
        for index in range(10):
            seconds[0] = index * (AFTER_SECONDS - 1)
            assert waiting.take(revision(f"i{index}", 1))
            await waiting.remove_due()

    asyncio.run(story())
    assert [each.count("uid-") for each in server.asked] == [9]
    assert waiting.due_in_seconds() == AFTER_SECONDS


def test_a_busy_server_is_not_asked_for_each_instead() -> None:
    server, gone, seconds = Server(fault=UnreachableError("silent")), Gone(), [0.0]
    waiting = retired(server, gone, seconds)
    assert waiting.take(revision("a", 1))
    assert waiting.take(revision("b", 1))
    waiting.hurry()
    asyncio.run(waiting.remove_due())
    assert (server.asked, gone.names) == ([], [])
    assert waiting.due_in_seconds() == AFTER_SECONDS


def test_where_a_selection_may_not_be_deleted_each_goes_by_itself() -> None:
    server, gone, seconds = Server(takes_selections=False), Gone(), [0.0]
    waiting = retired(server, gone, seconds)
    assert waiting.take(revision("a", 1))
    assert waiting.take(revision("b", 1))
    waiting.hurry()
    asyncio.run(waiting.remove_due())
    assert server.asked == ["default/shop-a-r1 of-a-1", "default/shop-b-r1 of-b-1"]


def test_a_revision_without_its_number_as_a_label_is_deleted_at_once() -> None:
    item = revision("a", 1)
    del item.labels[labels.REVISION]
    assert not retired(Server(), Gone(), [0.0]).take(item)
