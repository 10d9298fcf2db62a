"""A version must have proved itself in other environments first."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Annotated, Literal

import msgspec

from headgate.fleet.model import expressions
from headgate.fleet.rules.spec import GateStage, RuleSpec, Traits
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem


class EnvironmentProgression(RuleSpec, frozen=True, rename="camel"):
    traits = Traits(
        stage=GateStage.PROOF,
        event="the version has succeeded in the environments before",
        keeps_time=True,
        is_same_for_all=True,
        may_hold_a_lock=True,
    )

    depends_on_environment_selector: expressions.SelectorText
    minimum_success_percentage: Annotated[float, msgspec.Meta(ge=0, le=100)] = 100.0
    minimum_soak_time_minutes: Annotated[int, msgspec.Meta(ge=0, le=366 * 1440)] = 0
    maximum_age_hours: Annotated[float, msgspec.Meta(gt=0, le=100 * 8784)] | None = None
    require_verification_passed: bool = True
    require: Literal["all", "any"] = "all"
    scoped_versions: Literal["enforce", "exempt"] = "enforce"

    @staticmethod
    def check_document(given: dict[str, object], path: str, problems: list[Problem]) -> None:
        soak, age = given.get("minimum_soak_time_minutes"), given.get("maximum_age_hours")
        if isinstance(soak, int) and isinstance(age, float) and soak > age * 60:
            problems.append(
                Problem(
                    f"{path}.maximumAgeHours",
                    f"is {age:g} hours, shorter than minimumSoakTimeMinutes of {soak} minutes: nothing could pass",
                )
            )

    def in_words(self) -> str:
        success = "has succeeded and is verified" if self.require_verification_passed else "has succeeded"
        share = f"on {self.minimum_success_percentage:g}% of the targets"
        soak = instants.show_duration(instants.seconds(60 * self.minimum_soak_time_minutes))
        long = f", for at least {soak}" if self.minimum_soak_time_minutes else ""
        old = f", not longer ago than {self.maximum_age_hours:g}h" if self.maximum_age_hours else ""
        which = "every environment" if self.require == "all" else "any environment"
        scoped = "; a version that reaches none of them may pass" if self.scoped_versions == "exempt" else ""
        where = f"in {which} with `{self.depends_on_environment_selector}`"
        return f"A version starts when it {success} {share} {where}{long}{old}{scoped}."


class Stage(msgspec.Struct, frozen=True):
    """One environment the rule looks at. `succeeded_at` has the first success of each target in scope, in order."""

    environment: str
    total: int
    succeeded_at: tuple[Instant, ...] = ()
    renewed_at: Instant | None = None
    """When the version was last deployed there, anew or again."""


def judge(rule: EnvironmentProgression, stages: Sequence[Stage], now: Instant) -> Verdict:
    if not stages:
        text = rule.depends_on_environment_selector
        return decisions.denied(Reason.MISCONFIGURED, f"no environment matches {text}", selector=text)
    judged = _judge_all(rule, stages, now)
    return _any_of(judged) if rule.require == "any" else _all_of(judged)


def stale_at(rule: EnvironmentProgression, stages: Sequence[Stage], now: Instant) -> Instant | None:
    """When time alone makes it another verdict, or another sentence: as soon as that of any stage is another."""
    return min(_known(verdict.requeue_at for verdict in _judge_all(rule, stages, now)), default=None)


def _judge_all(rule: EnvironmentProgression, stages: Sequence[Stage], now: Instant) -> list[Verdict]:
    return [_judge_stage(rule, stage, now) for stage in sorted(stages, key=lambda stage: stage.environment)]


def required_count(rule: EnvironmentProgression, total: int) -> int:
    """At least one: an environment that has not seen the version has proved nothing, even at 0 %."""
    return max(1, math.ceil(Fraction(str(rule.minimum_success_percentage)) * total / 100))


def _judge_stage(rule: EnvironmentProgression, stage: Stage, now: Instant) -> Verdict:
    if stage.total == 0:
        return _judge_empty(rule, stage)
    needed = required_count(rule, stage.total)
    done = len(stage.succeeded_at)
    percentage = f"{rule.minimum_success_percentage:g}%"
    if done < needed:
        return decisions.pending(
            Reason.AWAITING_ENVIRONMENT,
            f"{stage.environment}: {done} of {stage.total} targets succeeded, needs {needed} ({percentage})",
        )
    reached_at = stage.succeeded_at[needed - 1]
    soaked_at = reached_at + instants.minutes(rule.minimum_soak_time_minutes)
    if now < soaked_at:
        return decisions.pending(
            Reason.SOAKING,
            f"{stage.environment}: soaks since {instants.show_to_the_second(reached_at)},"
            f" until {instants.show_to_the_second(soaked_at)}",
            requeue_at=soaked_at,
        )
    return _judge_age(rule, stage, soaked_at, now)


def _judge_age(rule: EnvironmentProgression, stage: Stage, soaked_at: Instant, now: Instant) -> Verdict:
    succeeded = f"{stage.environment}: {len(stage.succeeded_at)} of {stage.total} targets succeeded"
    if rule.maximum_age_hours is None:
        return decisions.allowed(succeeded, satisfied_at=soaked_at)
    last = max(stage.succeeded_at[-1], stage.renewed_at or 0)
    too_old_at = last + instants.hours(rule.maximum_age_hours)
    if now > too_old_at:
        return decisions.denied(
            Reason.TOO_OLD,
            f"{stage.environment}: the last success at {instants.show_to_the_second(last)} is older than"
            f" {rule.maximum_age_hours:g} hours; deploy the version there again or publish a newer one",
        )
    return decisions.allowed(succeeded, satisfied_at=soaked_at, requeue_at=too_old_at + 1)


def _judge_empty(rule: EnvironmentProgression, stage: Stage) -> Verdict:
    if rule.scoped_versions == "exempt":
        return decisions.allowed(
            f"{stage.environment}: has no target in the version's scope, which is exempt"
        )
    return decisions.denied(
        Reason.NOT_SELECTED,
        f"{stage.environment}: has no target in the version's scope, so the version cannot prove itself there;"
        " widen the targetSelector, set scopedVersions to exempt, or skip this rule",
    )


def _all_of(judged: Sequence[Verdict]) -> Verdict:
    denied = [verdict for verdict in judged if verdict.outcome == "denied"]
    pending = [verdict for verdict in judged if verdict.outcome == "pending"]
    if denied:
        return decisions.denied(denied[0].reason, _sentences(denied))
    if pending:
        # What is allowed so far may become too old, and then the whole is denied.
        too_old = [verdict.requeue_at for verdict in judged if verdict.is_allowed]
        again = _known([_last_if_all_known(pending), *too_old])
        return decisions.pending(pending[0].reason, _sentences(pending), requeue_at=min(again, default=None))
    return decisions.allowed(
        _sentences(judged),
        satisfied_at=max(_known(verdict.satisfied_at for verdict in judged), default=None),
        requeue_at=min(_known(verdict.requeue_at for verdict in judged), default=None),
    )


def _any_of(judged: Sequence[Verdict]) -> Verdict:
    allowed = [verdict for verdict in judged if verdict.is_allowed]
    pending = [verdict for verdict in judged if verdict.outcome == "pending"]
    if allowed:
        return decisions.allowed(
            _sentences(allowed[:1]),
            satisfied_at=min(_known(verdict.satisfied_at for verdict in allowed), default=None),
            requeue_at=_last_if_all_known(allowed),
        )
    if pending:
        first = min(_known(verdict.requeue_at for verdict in pending), default=None)
        return decisions.pending(pending[0].reason, _sentences(pending), requeue_at=first)
    return decisions.denied(judged[0].reason, _sentences(judged))


def _last_if_all_known(judged: Sequence[Verdict]) -> Instant | None:
    """Time alone changes the outcome only if it changes every one of these."""
    known = _known(verdict.requeue_at for verdict in judged)
    return max(known) if len(known) == len(judged) else None


def _known(moments: Iterable[Instant | None]) -> list[Instant]:
    return [moment for moment in moments if moment is not None]


def _sentences(judged: Sequence[Verdict]) -> str:
    return "; ".join(verdict.message for verdict in judged)
