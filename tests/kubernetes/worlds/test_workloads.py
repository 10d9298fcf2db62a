"""Workloads in both worlds: what is written when, how full the budgets are, and what is left are the same."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from kube import ControlPlane

from . import playing, stories
from .comparing import differences
from .stories import Story

BATCHES = {
    "rolling": (
        "workload/rolling/default-is-one-down-none-added",
        "workload/rolling/components-at-the-same-time",
        "workload/rolling/pods-one-at-a-time",
    ),
    "budgets": (
        "workload/budgets/recreate-two-of-four",
        "workload/budgets/limits-at-three-levels",
        "workload/on-delete/deleted-pod-comes-back-new",
    ),
}


@pytest.mark.parametrize("batch", BATCHES)
def test_a_story_is_the_same_in_both_worlds(stage: ControlPlane, batch: str) -> None:
    assert asyncio.run(playing.differences_of(stage, BATCHES[batch])) == {}


def test_a_difference_is_seen(stage: ControlPlane) -> None:
    """One of the two pods that may be away together is not given up in the live world."""
    story = stories.load("workload/budgets/two-pods-at-a-time")
    expected, found = asyncio.run(playing.both(stage, story, _with_one_at_a_time))
    said = "\n".join(differences(expected, found))
    assert "2026-03-02T09:10:00Z writes" in said
    assert "llm-0-worker missing and too many: simulated (2, 0), live (1, 0)" in said
    assert "maxUnavailable: simulated 2, live 1" in said


def _with_one_at_a_time(story: Story) -> Story:
    text = msgspec.json.encode(story.document).decode()
    assert text.count('"maxUnavailable":2') == 1
    return stories.prepared(
        story.name, msgspec.json.decode(text.replace('"maxUnavailable":2', '"maxUnavailable":1'))
    )
