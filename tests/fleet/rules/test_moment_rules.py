"""Rules that judge a moment: gradual rollout, window, gate, failure budget, concurrency."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.fleet.rules import (
    allowances,
    deployment_window,
    failure_budget,
    gate,
    gradual_rollout,
    resource_concurrency,
)
from headgate.fleet.rules.deployment_window import DeploymentWindow
from headgate.fleet.rules.gradual_rollout import GradualRollout
from headgate.fleet.rules.resource_concurrency import ResourceConcurrency
from headgate.kernel import instants
from headgate.kernel.decisions import Verdict
from headgate.kernel.quantities import Quantity

NINE = instants.parse("2026-03-02T09:00:00Z")


def at(minutes: float) -> int:
    return NINE + instants.minutes(minutes)


def offsets(rollout_type: gradual_rollout.RolloutType, interval: int, total: int) -> list[int]:
    rule = GradualRollout(interval, rollout_type)
    return [gradual_rollout.offset(rule, position, total) // 1_000_000 for position in range(total)]


def test_linear_turns_are_one_interval_apart() -> None:
    assert offsets("linear", 300, 3) == [0, 300, 600]


def test_normalized_turns_share_one_interval_in_whole_seconds() -> None:
    assert offsets("linearNormalized", 100, 3) == [0, 33, 66]


def test_exponential_turns_come_in_waves() -> None:
    assert offsets("exponential", 60, 9) == [0, 60, 120, 120, 180, 180, 180, 180, 240]


@given(
    st.sampled_from(["linear", "linearNormalized", "exponential"]), st.integers(0, 9999), st.integers(1, 60)
)
def test_a_later_position_never_has_an_earlier_turn(
    kind: gradual_rollout.RolloutType, interval: int, total: int
) -> None:
    turns = offsets(kind, interval, total)
    assert turns == sorted(turns)
    assert turns[0] == 0


def test_a_turn_that_has_not_come_is_announced_exactly() -> None:
    rule = GradualRollout(300)
    verdict = gradual_rollout.judge(rule, 1, 10, NINE, at(4))
    assert (verdict.outcome, verdict.requeue_at) == ("pending", at(5))
    assert (
        verdict.message
        == "position 1 (0 to 9) has its turn at 2026-03-02T09:05:00Z (rollout started 2026-03-02T09:00:00Z)"
    )
    assert gradual_rollout.judge(rule, 1, 10, NINE, at(5)).satisfied_at == at(5)


def test_a_rollout_that_has_not_started_says_what_it_waits_for() -> None:
    verdict = gradual_rollout.judge(GradualRollout(300), 0, 10, None, NINE, "approval")
    assert (verdict.outcome, verdict.requeue_at) == ("pending", None)
    assert verdict.message == "the rollout has not started: waits for approval (position 0 (0 to 9))"


WORK_HOURS = DeploymentWindow("FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=9", 60)


def test_an_open_window_allows_until_its_end() -> None:
    verdict = deployment_window.judge(WORK_HOURS, at(30))
    assert (verdict.outcome, verdict.satisfied_at, verdict.requeue_at) == ("allowed", NINE, at(60))
    assert verdict.message == "the window is open since 2026-03-02T09:00:00Z, until 2026-03-02T10:00:00Z"


def test_the_rules_zone_stands_beside_the_moment() -> None:
    rule = deployment_window.DeploymentWindow(
        "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0", 60, timezone="Europe/Berlin"
    )
    verdict = deployment_window.judge(rule, instants.parse("2026-03-02T10:30:00Z"))
    assert verdict.message == "the window is closed, it opens at 2026-03-03T08:00:00Z (09:00 Europe/Berlin)"


def test_a_closed_window_says_when_it_opens() -> None:
    verdict = deployment_window.judge(WORK_HOURS, at(60))
    assert (verdict.outcome, verdict.requeue_at) == ("pending", at(24 * 60))
    assert verdict.message == "the window is closed, it opens at 2026-03-03T09:00:00Z"


def test_a_window_that_is_over_is_denied() -> None:
    over = DeploymentWindow("DTSTART:20260101T090000\nRRULE:FREQ=DAILY;COUNT=2", 60)
    assert deployment_window.judge(over, NINE).outcome == "denied"
    assert deployment_window.shift(over, NINE) is None


def test_a_denying_window_holds_until_its_end() -> None:
    closed = DeploymentWindow(WORK_HOURS.rrule, 60, allow_window=False)
    inside = deployment_window.judge(closed, at(30))
    assert (inside.outcome, inside.requeue_at) == ("pending", at(60))
    outside = deployment_window.judge(closed, at(60))
    assert (outside.outcome, outside.requeue_at) == ("allowed", at(24 * 60))


@given(st.integers(-20_000, 20_000), st.booleans())
def test_a_shifted_moment_is_the_first_that_is_allowed(minutes: int, allow_window: bool) -> None:
    rule = DeploymentWindow("FREQ=DAILY;BYHOUR=9,10,17", 60, "Europe/Berlin", allow_window)
    shifted = deployment_window.shift(rule, at(minutes))
    assert shifted is not None
    assert deployment_window.judge(rule, shifted).is_allowed
    if shifted > at(minutes):
        assert not deployment_window.judge(rule, at(minutes)).is_allowed
        assert not deployment_window.judge(rule, shifted - 1).is_allowed


class Item:
    def __init__(self, updated: bool, ready: bool) -> None:
        self.updated, self.ready = updated, ready

    def is_updated(self) -> bool:
        return self.updated

    def is_ready(self) -> bool:
        return self.ready


class CountedItems(list[Item]):
    """A list that knows its counts and refuses to be counted."""

    def landed_count(self) -> int:
        return 3

    def in_flight_count(self) -> int:
        return 0

    def rank_among_not_updated(self, item: Item) -> int:
        return self.index(item)

    def index_of(self, item: Item) -> int:
        return 40 + self.index(item)


LANDED, IN_FLIGHT, WAITING = (True, True), (True, False), (False, True)


def gated(*when: str, items: list[Item] | None = None, which: int = 0, **bindings: object) -> Verdict:
    items = items if items is not None else [Item(*WAITING)]
    bound = {"target": items[which], "targets": items, **bindings}
    return gate.judge(gate.Gate(when), bound, allowances.of(len(when), "web/prod/a", NINE), NINE)


def test_all_conditions_of_a_gate_must_be_true() -> None:
    assert gated("true", "1 < 2").is_allowed
    assert gated().is_allowed
    verdict = gated("true", "target.updated()")
    assert (verdict.outcome, verdict.message) == ("pending", "the gate is false: target.updated()")


def test_an_error_in_a_gate_blocks_and_is_shown() -> None:
    verdict = gated("signals['pager'].firing == false", signals={})
    assert verdict.outcome == "pending"
    assert "cannot be evaluated: signals['pager']" in verdict.message
    assert verdict.details["error"]


@pytest.mark.parametrize(
    ("states", "which", "goes"),
    [
        ([WAITING, WAITING, WAITING, WAITING], 2, True),
        ([WAITING, WAITING, WAITING, WAITING], 3, False),
        ([LANDED, IN_FLIGHT, WAITING, WAITING], 2, True),
        ([LANDED, IN_FLIGHT, WAITING, WAITING], 3, False),
        ([IN_FLIGHT, WAITING], 0, True),
    ],
)
def test_linear_waves_in_a_gate(states: list[tuple[bool, bool]], which: int, goes: bool) -> None:
    items = [Item(*state) for state in states]
    assert gated("linearlyUpdated(target, targets, 3)", items=items, which=which).is_allowed is goes


def test_exponential_waves_in_a_gate() -> None:
    items = [Item(*LANDED), Item(*LANDED), Item(*WAITING), Item(*WAITING), Item(*WAITING)]
    goes = [
        gated("exponentiallyUpdated(target, targets)", items=items, which=which).is_allowed
        for which in (2, 3, 4)
    ]
    assert goes == [True, True, False]


def test_a_list_that_knows_its_counts_is_asked_for_them() -> None:
    items = CountedItems([Item(*WAITING), Item(*WAITING)])
    assert gated("exponentiallyUpdated(target, targets)", items=items, which=0).is_allowed
    assert not gated("exponentiallyUpdated(target, targets)", items=items, which=1).is_allowed
    assert gated("indexOf(target, targets) == 41", items=items, which=1).is_allowed


def test_ready_and_updated_work_on_lists_and_in_macros() -> None:
    items = [Item(*LANDED), Item(*IN_FLIGHT)]
    assert not gated("targets.ready()", items=items).is_allowed
    assert gated("targets.updated()", items=items).is_allowed
    assert gated("targets.filter(t, t.updated() && !t.ready()).size() < 2", items=items).is_allowed


def test_a_gate_on_a_constant_time_is_looked_at_then() -> None:
    verdict = gated("now >= timestamp('2026-03-02T10:00:00Z')")
    assert (verdict.outcome, verdict.requeue_at) == ("pending", at(60))
    assert gated("now >= timestamp('2026-03-02T08:00:00Z')").requeue_at is None


def test_a_gate_on_any_other_reading_of_time_is_looked_at_each_minute() -> None:
    assert gated("now.getHours() < 9").requeue_at == at(1)
    mixed = "now > version.createdAt + duration('1h') || now > timestamp('2030-01-01T00:00:00Z')"
    verdict = gated(mixed, version={"createdAt": instants.to_datetime(NINE)})
    assert (verdict.outcome, verdict.requeue_at) == ("pending", at(1))


def test_a_gate_that_does_not_read_time_waits_for_events_alone() -> None:
    assert gated("target.updated()").requeue_at is None


def test_a_failure_budget_is_exceeded_by_more_than_it_allows() -> None:
    rule = failure_budget.FailureBudget(Quantity(10, is_percentage=True))
    assert not failure_budget.exceeded(rule, 2, 29)
    assert failure_budget.exceeded(rule, 3, 29)
    assert failure_budget.exceeded(rule, 1, 9)


def test_a_stopped_line_waits_for_a_person_and_names_the_failures() -> None:
    rule = failure_budget.FailureBudget(Quantity(1))
    assert failure_budget.judge(rule, None, ["node-1"], 10).is_allowed
    verdict = failure_budget.judge(rule, NINE, ["node-1", "node-4"], 10)
    assert (verdict.outcome, verdict.requeue_at) == ("pending", None)
    assert verdict.message == (
        "the line is stopped since 2026-03-02T09:00:00Z, until a person resumes it;"
        " 2 of 10 targets failed, allowed 1: node-1, node-4"
    )


def test_a_concurrency_limit_is_a_count_or_a_share_rounded_up() -> None:
    share = ResourceConcurrency("true", "percentage", 20)
    assert [resource_concurrency.limit(share, total) for total in (0, 1, 10, 11)] == [0, 1, 2, 3]
    assert resource_concurrency.limit(ResourceConcurrency("true", "count", 5), 3) == 5


def test_the_concurrency_sentence_names_who_holds_the_slots() -> None:
    active = [("node-3", "executing kubelet-upgrade"), ("node-7", "failed, held since 09:16")]
    assert resource_concurrency.sentence(active, 10, 2) == (
        "2 of 10 resources active, limit 2: node-3 (executing kubelet-upgrade), node-7 (failed, held since 09:16)"
    )


def test_a_long_concurrency_sentence_is_cut_after_ten() -> None:
    active = [(f"n{number}", "x") for number in range(24)]
    assert resource_concurrency.sentence(active, 30, 24).endswith("n9 (x) and 14 more")
