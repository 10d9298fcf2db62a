"""Conditions of the user's own, over the target, its siblings, time and signals from outside."""

from collections import ChainMap
from collections.abc import Mapping
from typing import Literal

from headgate import cel
from headgate.cel import moments
from headgate.fleet.model import expressions
from headgate.fleet.rules.allowances import Allowance
from headgate.fleet.rules.spec import GateStage, RuleSpec, Traits
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.instants import Instant


class Gate(RuleSpec, frozen=True, rename="camel"):
    traits = Traits(
        stage=GateStage.CONDITIONS,
        event="a signal or another target changes",
        is_of_each_target=True,
        lets_repairs_pass=True,
        may_hold_a_lock=True,
    )

    when: tuple[expressions.GateText, ...]
    on_error: Literal["block"] = "block"

    def in_words(self) -> str:
        return f"A target starts when {' and '.join(f'`{one}`' for one in self.when)}; an error holds it."

    def reads_siblings(self) -> bool:
        return True


def judge(rule: Gate, bindings: Mapping[str, object], allowance: Allowance, now: Instant) -> Verdict:
    """All must be true. An error blocks and is shown; it can go away with the data, so it waits rather than refuses."""
    for text in rule.when:
        program = expressions.GATE.compile(text, expect=cel.BOOL)
        seen: dict[str, object] = {"now": instants.to_datetime(moments.steady(program, now))}
        try:
            value = _value(program, ChainMap(seen, bindings), allowance)  # type: ignore[arg-type]  # it is only read
        except cel.BudgetExceeded:
            return _too_costly(program, allowance, now)
        except cel.EvaluationError as error:
            return decisions.pending(
                Reason.EVALUATION_FAILED,
                f"the gate cannot be evaluated: {text}: {error}",
                requeue_at=moments.next_change(program, now),
                expression=text,
                error=str(error),
            )
        if value is not True:
            what = "is false" if value is False else "is not true or false"
            return decisions.pending(
                Reason.GATE_FALSE,
                f"the gate {what}: {text}",
                requeue_at=moments.next_change(program, now),
                expression=text,
            )
    programs = [expressions.GATE.compile(text, expect=cel.BOOL) for text in rule.when]
    times = [at for program in programs if (at := moments.next_change(program, now)) is not None]
    return decisions.allowed("all conditions of the gate are true", requeue_at=min(times, default=None))


def _value(program: cel.Program, bindings: Mapping[str, object], allowance: Allowance) -> object:
    """Within its share, as most are; else within what it is given in turn."""
    try:
        return program.evaluate(bindings, steps=allowance.share)
    except cel.BudgetExceeded:
        if allowance.steps == allowance.share:
            raise
        return program.evaluate(bindings, steps=allowance.steps)


def _too_costly(program: cel.Program, allowance: Allowance, now: Instant) -> Verdict:
    error = f"it takes more than {allowance.steps:,} steps"
    if allowance.more_at is None:
        message = f"evaluation failed: too expensive: {error}; make it simpler"
        again_at = moments.next_change(program, now)
    else:
        moment = instants.show_to_the_second(allowance.more_at)
        message = f"{error}, more than its share of {allowance.share:,}, and is given more in turn, next at {moment}"
        again_at = allowance.more_at
    return decisions.pending(
        Reason.EVALUATION_FAILED,
        f"the gate is not answered: {program.text}: {message}",
        requeue_at=again_at,
        expression=program.text,
        error=error,
    )
