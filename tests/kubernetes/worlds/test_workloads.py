"""Workloads in both worlds: what is written when, how full the budgets are, and what is left are the same."""

from __future__ import annotations

import msgspec
import pytest

from kube import ControlPlane

from . import playing, simulated, stories
from .comparing import differences
from .stories import Story

BATCHES = {
    "rolling": (
        "workload/rolling/components-at-the-same-time",
        "workload/rolling/default-is-one-down-none-added",
        "workload/rolling/next-replica-waits-for-all-pods",
        "workload/rolling/not-done-until-ready",
        "workload/rolling/pods-one-at-a-time",
    ),
    "budgets": (
        "workload/budgets/both-down-and-added",
        "workload/budgets/limits-at-three-levels",
        "workload/budgets/recreate-two-of-four",
        "workload/budgets/surge-only-for-what-it-protects",
        "workload/budgets/unavailable-ones-cost-nothing",
    ),
    "somebody-else": (
        "workload/children/an-edit-and-a-crash",
        "workload/children/an-edited-index-does-not-move-a-clique",
        "workload/children/an-edited-member-is-put-back",
        "workload/children/an-edited-scaling-group-is-put-back",
        "workload/children/an-edited-template-starts-no-pod",
        "workload/children/the-sets-own-edit-is-no-strangers",
        "workload/objects/deleted-clique-comes-back",
    ),
    "pods-that-go": (
        "workload/dead/a-member-of-a-group",
        "workload/dead/each-way-to-end",
        "workload/dead/while-paused",
        "workload/on-delete/deleted-member-comes-back-new",
        "workload/on-delete/deleted-pod-comes-back-new",
        "workload/on-delete/scale-in-takes-the-old",
    ),
    "orders": (
        "workload/operators/abort-pods",
        "workload/operators/deadline-rollback-under-recreate",
        "workload/operators/faster-in-the-middle",
        "workload/operators/partition-keeps-the-revision-of-the-dead",
        "workload/operators/paused",
    ),
    "claims": (
        "workload/claims/a-replica-is-recreated",
        "workload/claims/deleted-claims-come-back",
        "workload/claims/each-level-and-scope",
        "workload/claims/filters",
    ),
    "sets": (
        "workload/objects/deleted-set",
        "workload/refusals/defaults-with-a-warning",
        "workload/refusals/names-that-collide",
        "workload/revisions/live-count-follows-the-template",
        "workload/startup/explicit",
        "workload/startup/in-order",
    ),
}
"""Those of a batch are played at the same time."""


@pytest.mark.parametrize("batch", BATCHES)
def test_a_workload_is_the_same_in_both_worlds(stage: ControlPlane, batch: str) -> None:
    assert playing.differences_of(stage, BATCHES[batch]) == {}


def test_a_difference_is_seen(stage: ControlPlane) -> None:
    """One of the two pods that may be away together is not given up in the live world."""
    story = stories.load("workload/budgets/two-pods-at-a-time")
    expected = simulated.play(story)
    (found,) = playing.live(stage, [(_with_one_at_a_time(story), expected.end)])
    said = "\n".join(differences(expected, found))
    assert "2026-03-02T09:10:00Z llm writes" in said
    assert "llm-0-worker missing and too many: simulated (2, 0), live (1, 0)" in said
    assert "maxUnavailable: simulated 2, live 1" in said


def _with_one_at_a_time(story: Story) -> Story:
    text = msgspec.json.encode(story.document).decode()
    assert text.count('"maxUnavailable":2') == 1
    return stories.prepared(
        story.name, msgspec.json.decode(text.replace('"maxUnavailable":2', '"maxUnavailable":1'))
    )
