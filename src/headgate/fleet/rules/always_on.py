"""What holds a start though no rule of a policy says so: each by the kind that its verdicts have, beside those of rules."""

from collections.abc import Mapping

from headgate.fleet.rules.spec import GateStage, Traits

FREEZE = "freeze"
PAUSE = "pause"
DEPENDENCIES = "dependencies"
"""Versions of other deployments that a version says it depends on."""
REJECTION = "rejection"

TRAITS: Mapping[str, Traits] = {
    FREEZE: Traits(stage=GateStage.FREEZE, is_ended_by_people=True, is_of_any_version=True),
    PAUSE: Traits(is_ended_by_people=True),
    DEPENDENCIES: Traits(stage=GateStage.DEPENDENCIES, event="a deployment that it depends on has succeeded"),
    REJECTION: Traits(is_ended_by_people=True),
}
