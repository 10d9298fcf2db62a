"""Which gates are asked, and in which order, follows from what each rule's file says."""

import pytest

from headgate.fleet import rules
from headgate.fleet.gates import gates, judges
from headgate.fleet.rules import always_on
from headgate.fleet.rules.spec import GateStage

ASKED_BY_CYCLES = {
    GateStage.CYCLE: "deploymentBracket",
    GateStage.UPSTREAM: "deploymentDependency",
    GateStage.TURN: "gradualRollout",
    GateStage.SLOTS: "resourceConcurrency",
}
"""Each has code of its own that asks it: another rule of such a stage would be asked by nobody."""

TABLES = (gates._OF_SCOPE, gates._OF_VERSION, gates._OF_PACE, gates._OF_MOMENT)


def test_every_rule_of_a_stage_is_asked_by_its_judge_or_by_the_cycles() -> None:
    by_cycles = {rules.KINDS[kind] for kind in ASKED_BY_CYCLES.values()}
    with_stage = {spec for spec in rules.KINDS.values() if spec.traits.stage is not None}
    asked = [spec for table in TABLES for spec in table]
    assert len(asked) == len(set(asked))
    assert set(asked) == with_stage - by_cycles == set(judges.OF_SPEC)


@pytest.mark.parametrize("stage", ASKED_BY_CYCLES)
def test_a_stage_of_the_cycles_has_its_one_rule(stage: GateStage) -> None:
    assert [kind for kind, spec in rules.KINDS.items() if spec.traits.stage is stage] == [
        ASKED_BY_CYCLES[stage]
    ]


def test_gates_are_asked_in_the_order_in_which_people_read() -> None:
    stages = [spec.traits.stage for table in TABLES for spec in table]
    assert stages == sorted(stage for stage in stages if stage is not None)


def test_what_needs_no_rule_has_a_name_of_its_own() -> None:
    assert rules.KINDS.keys().isdisjoint(always_on.TRAITS)
    assert rules.TRAITS.keys() == rules.KINDS.keys() | always_on.TRAITS.keys()


@pytest.mark.parametrize("kind", rules.TRAITS)
def test_what_holds_a_start_says_what_ends_the_wait(kind: str) -> None:
    """By people, by an event, or by neither: then it always has a time, or is denied."""
    traits = rules.TRAITS[kind]
    assert not (traits.event and (traits.is_answered_by_votes or traits.is_ended_by_people))
