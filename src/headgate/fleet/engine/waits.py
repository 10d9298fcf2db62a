"""What ends a wait: time, an event, or a person.

Where any gate that does not allow needs a person, nothing else can change the target: all gates must allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from headgate.fleet import rules
from headgate.fleet.model import objects as model
from headgate.fleet.model.records import Group
from headgate.fleet.rules.deployment_bracket import DeploymentBracket
from headgate.fleet.state import units
from headgate.fleet.state.state import GateResult
from headgate.fleet.state.units import VersionNode

ChangedBy = Literal["time", "event", "person"]

TRIED_BY_RETRY = frozenset({"given_up", "passed_over"})
_FOR_A_PERSON = TRIED_BY_RETRY | {"failed_group"}
"""Details of a bracket's verdict that say that nothing goes on by itself."""


def needs_person(result: GateResult) -> bool:
    """Whether nothing but a person ends the wait for a gate that does not allow."""
    verdict = result.verdict
    if verdict.outcome == "denied":
        return True
    if verdict.requeue_at is not None:
        return False
    traits = rules.TRAITS[result.kind]
    is_theirs = traits.is_answered_by_votes or traits.is_ended_by_people
    return is_theirs or bool(verdict.details.get("by_person"))


def changed_by(result: GateResult, group: Group | None) -> ChangedBy:
    """What ends the wait for one gate that does not allow."""
    verdict = result.verdict
    if needs_person(result):
        return "person"
    if verdict.requeue_at is not None:
        return "time"
    is_of_bracket = result.rule is not None and units.is_a(result.rule, DeploymentBracket)
    if is_of_bracket and (_FOR_A_PERSON & verdict.details.keys() or _has_failed(group)):
        return "person"
    return "event"


def _has_failed(group: Group | None) -> bool:
    return group is not None and group.status == "failed"


def is_blocked(
    stance: model.TargetState, held_back: Sequence[tuple[VersionNode | None, GateResult]], group: Group | None
) -> bool:
    """Whether nothing but a person can change it. What was measured holds nobody back who goes on or goes back."""
    if stance in ("failed", "rolledBack"):
        return True
    return stance in ("waiting", "frozen") and any(
        changed_by(result, group) == "person" for _, result in held_back if result.kind != "verification"
    )
