"""What holds a start though no rule of a policy says so: by the kinds of its verdicts, and with the sentences that are said."""

from collections.abc import Mapping

from headgate.fleet.model import objects as model
from headgate.fleet.rules.spec import GateStage, Traits
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason, Verdict

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


def judge_freeze(freeze: model.Freeze) -> Verdict:
    """Of one that is in force."""
    since = instants.show_to_the_second(freeze.created_at)
    until = (
        f" until {instants.show_to_the_second(freeze.expires_at)}" if freeze.expires_at is not None else ""
    )
    who = f" by {freeze.user}" if freeze.user else ""
    return decisions.pending(
        Reason.FROZEN,
        f"frozen by {freeze.name}{who} since {since}{until}: {freeze.reason}",
        requeue_at=freeze.expires_at,
        freeze=freeze.name,
    )


def judge_pause(version: model.Version) -> Verdict:
    return decisions.pending(
        Reason.PAUSED, f"{version.tag} is paused", paused=f"{version.deployment}/{version.tag}"
    )
