"""Conditions of the user's own, over the target, its siblings, time and signals from outside."""

from collections import ChainMap
from collections.abc import Mapping
from typing import Literal

import msgspec

from headgate import cel
from headgate.cel import moments
from headgate.fleet import expressions
from headgate.kernel import instants, verdicts
from headgate.kernel.instants import Instant
from headgate.kernel.verdicts import Verdict


class Gate(msgspec.Struct, frozen=True, rename="camel"):
    when: tuple[expressions.GateText, ...]
    on_error: Literal["block"] = "block"


def judge(rule: Gate, bindings: Mapping[str, object], now: Instant) -> Verdict:
    """All must be true. An error blocks and is shown; it can go away with the data, so it waits rather than refuses."""
    for text in rule.when:
        program = expressions.GATE.compile(text, expect=cel.BOOL)
        seen: dict[str, object] = {"now": instants.to_datetime(moments.steady(program, now))}
        try:
            value = program.evaluate(ChainMap(seen, bindings))  # type: ignore[arg-type]  # it is only read
        except cel.EvaluationError as error:
            return verdicts.pending(
                f"the gate cannot be evaluated: {text}: {error}",
                next_evaluation_time=moments.next_change(program, now),
                expression=text,
                error=str(error),
            )
        if value is not True:
            said = "is false" if value is False else "is not true or false"
            return verdicts.pending(
                f"the gate {said}: {text}",
                next_evaluation_time=moments.next_change(program, now),
                expression=text,
            )
    programs = [expressions.GATE.compile(text, expect=cel.BOOL) for text in rule.when]
    looks = [look for program in programs if (look := moments.next_change(program, now)) is not None]
    return verdicts.allowed(
        "all conditions of the gate are true", next_evaluation_time=min(looks, default=None)
    )


def reads(rule: Gate) -> frozenset[str]:
    """The variables its conditions read, so that a change elsewhere does not ask the gate again."""
    return expressions.roots(expressions.GATE, rule.when)
