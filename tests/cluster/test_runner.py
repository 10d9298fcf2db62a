"""A pass whose write was not taken comes back, and says so where people look, as soon as it is more than bad timing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from headgate.cluster.port import Conflict, NameTaken, NotNow, WriteRefused
from headgate.cluster.refusals import Untaken
from headgate.cluster.runner import PASSING_TIMES, Runner
from headgate.kernel import conditions, instants
from headgate.kernel.objects import Create, Object, UpdateStatus

from .counting import Counting, EmptyPlan

SECOND = instants.seconds(1)
OWNER = Object("example.com/v1", "Gate", "default", "a", uid="of-a")
MADE = Create(Object("v1", "Service", "default", "web"))


def runner_of(*items: Object) -> Runner[EmptyPlan]:
    runner: Runner[EmptyPlan] = Runner(items, Counting(), patience=SECOND)
    return runner


def tried(runner: Runner[EmptyPlan], problem: Untaken, times: int) -> list[tuple[int, list[str]]]:
    """Each time: how many seconds later the pass comes back, and what people are told."""
    found = []
    for _ in range(times):
        runner.queue.requeues.clear()
        told = runner.not_written(OWNER.key, MADE, problem, 0)
        found.append((runner.queue.requeues[OWNER.key] // SECOND, _messages(told)))
    return found


def _messages(told: Sequence[UpdateStatus]) -> list[str]:
    refusals = [conditions.refusal(update.status) for update in told]
    return [refusal.message for refusal in refusals if refusal is not None]


def test_what_news_will_end_waits_for_them_however_often() -> None:
    assert tried(runner_of(OWNER), Conflict("it has moved on"), 5) == [(1, [])] * 5


def test_what_people_have_to_end_is_told_at_once_and_tried_later_each_time() -> None:
    message = "Service web: there is no room"
    found = tried(runner_of(OWNER), WriteRefused("there is no room"), 3)
    assert found == [(1, [message]), (2, [message]), (4, [message])]


@pytest.mark.parametrize("problem", [NotNow("the server is busy"), NameTaken("the server is busy")])
def test_what_may_end_by_itself_is_told_when_it_does_not(problem: Untaken) -> None:
    found = tried(runner_of(OWNER), problem, PASSING_TIMES)
    assert found == [(1, []), (2, []), (4, ["Service web: the server is busy"])]


def test_after_a_pass_that_was_written_whole_the_next_refusal_is_the_first() -> None:
    runner = runner_of(OWNER)
    tried(runner, NotNow("the server is busy"), PASSING_TIMES - 1)
    assert runner.written(OWNER.key) == ()
    assert tried(runner, NotNow("the server is busy"), 1) == [(1, [])]


def test_what_was_told_is_taken_back_when_all_was_written() -> None:
    status = conditions.with_refusal({}, "Service web: there is no room", 1, 0)
    told = Object("example.com/v1", "Gate", "default", "a", uid="of-a", status=status)
    (taken_back,) = runner_of(told).written(OWNER.key)
    assert (taken_back.key, taken_back.uid) == (told.key, told.uid)
    assert conditions.refusal(taken_back.status) is None


def test_nobody_is_told_of_what_is_gone() -> None:
    assert tried(runner_of(), WriteRefused("there is no room"), 1) == [(1, [])]
