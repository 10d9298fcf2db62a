"""One tree for all levels: its states, its reasons, and how it is written."""

from __future__ import annotations

from typing import get_args

import pytest

from headgate.fleet.model.objects import JobStatus, TargetState
from headgate.fleet.model.records import GroupStatus
from headgate.kernel import decisions, explanations, instants
from headgate.kernel.decisions import Reason
from headgate.kernel.explanations import ExplanationLine, ExplanationTree, PartFacts, PartState

NOW = instants.parse("2026-03-02T09:00:00Z")


@pytest.mark.parametrize("states", [TargetState, GroupStatus, JobStatus])
def test_whatever_state_a_fleet_has_is_one_of_the_tree(states: object) -> None:
    assert {PartState(state).value for state in get_args(states)} == set(get_args(states))


def test_what_is_settled_on_one_level_may_still_have_to_run_on_another() -> None:
    assert explanations.is_settled("graph", PartState.READY)
    assert not explanations.is_settled("fleet", PartState.READY)
    assert explanations.is_settled("graph", "Propagated")
    assert not explanations.is_settled("a level of another server", "done")


def test_the_tree_is_written_as_it_is_declared() -> None:
    line = ExplanationLine("approval", "careful, sign-off", "pending", Reason.AWAITING_APPROVAL, "waits", NOW)
    tree = ExplanationTree(
        "App demo", "graph", PartState.PROPAGATING, "1 of 2", PartFacts("instance", 2), (line,)
    )
    written = tree.document()
    assert written == {
        "subject": "App demo",
        "level": "graph",
        "state": "Propagating",
        "message": "1 of 2",
        "part": {"kind": "instance", "revision": 2, "role": "regular", "dependsOn": []},
        "lines": [
            {
                "type": "approval",
                "origin": "careful, sign-off",
                "verdict": "pending",
                "reason": "AwaitingApproval",
                "message": "waits",
                "nextEvaluationTime": "2026-03-02T09:00:00Z",
            }
        ],
        "children": [],
    }
    assert {type(written["state"]), type(written["lines"][0]["reason"])} == {str}


def test_what_cannot_be_asked_is_no_pass() -> None:
    verdict = decisions.error("no such key", gate="${signals.go}")
    assert (verdict.outcome, verdict.reason) == ("error", Reason.EVALUATION_FAILED)
    assert not verdict.is_allowed
