"""Every change re-evaluates what it can affect, at once: the worker here looks at nothing by itself."""

from __future__ import annotations

import pytest

from . import wakeups_by_jobs, wakeups_by_objects
from .fleet import ONE_NODE, policy, version
from .stage import Stage, eventually
from .wakeups import Case, Later, all_kinds, change_of, kind_of, play

CASES = [*wakeups_by_objects.CASES, *wakeups_by_jobs.CASES]
NOT_WAITED_FOR = {"Put JobAgent", "Delete JobAgent"}
"""No gate asks for an agent: the next job is given to whoever is there then."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_what_waited_for_it_goes_on_with_the_same_commit(case: Case, stage: Stage) -> None:
    for happening in case.given:
        play(stage, happening)
    before = stage.picture()
    if isinstance(case.happening, Later):
        stage.clock.advance(case.happening.seconds)
        after = stage.look()
    else:
        after = stage.picture_with(change_of(stage, case.happening))

    assert sorted(set(after.jobs) - set(before.jobs)) == sorted(case.starts)
    assert sorted(set(before.jobs) - set(after.jobs)) == sorted(case.ends)
    if case.says is not None:
        target, words = case.says
        assert words in after.says[target]
        assert words not in before.says.get(target, "")


def test_every_kind_of_change_has_a_case() -> None:
    covered = {kind_of(case.happening) for case in CASES} - {"time"}
    assert all_kinds() - NOT_WAITED_FOR == covered


def test_cases_have_names_of_their_own() -> None:
    names = [case.name for case in CASES]
    assert sorted(set(names)) == sorted(names)


def test_time_alone_wakes_the_worker_without_being_told(stage: Stage) -> None:
    """By a timer of its own: the clock here moves before it is set."""
    stage.each(*ONE_NODE, policy("slow", {"gate": {"when": ["now >= timestamp('2026-03-02T09:00:01Z')"]}}))
    stage.submit(version("api", "v1"))
    assert stage.picture().jobs == []
    stage.clock.advance(1)
    eventually(lambda: stage.picture().jobs)
