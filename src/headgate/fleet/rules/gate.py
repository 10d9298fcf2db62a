"""Conditions of the user's own, over the target, its siblings, time and signals from outside."""

import re
from collections import ChainMap
from collections.abc import Mapping
from typing import Literal

import msgspec

from headgate import cel
from headgate.fleet import expressions
from headgate.kernel import instants, verdicts
from headgate.kernel.instants import Instant
from headgate.kernel.verdicts import Verdict

_TIMELESS = frozenset(
    {"timestamp", "ready", "updated", "linearlyUpdated", "exponentiallyUpdated", "indexOf", "size"}
)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class Gate(msgspec.Struct, frozen=True, rename="camel"):
    when: tuple[expressions.GateText, ...]
    on_error: Literal["block"] = "block"


def judge(rule: Gate, bindings: Mapping[str, object], now: Instant) -> Verdict:
    """All must be true. An error blocks and is shown; it can go away with the data, so it waits rather than refuses."""
    for text in rule.when:
        program = expressions.GATE.compile(text, expect=cel.BOOL)
        seen: dict[str, object] = {"now": instants.to_datetime(_steady(program, now))}
        try:
            value = program.evaluate(ChainMap(seen, bindings))  # type: ignore[arg-type]  # it is only read
        except cel.EvaluationError as error:
            return verdicts.pending(
                f"the gate cannot be evaluated: {text}: {error}",
                next_evaluation_time=_next_look(program, now),
                expression=text,
                error=str(error),
            )
        if value is not True:
            said = "is false" if value is False else "is not true or false"
            return verdicts.pending(
                f"the gate {said}: {text}", next_evaluation_time=_next_look(program, now), expression=text
            )
    programs = [expressions.GATE.compile(text, expect=cel.BOOL) for text in rule.when]
    looks = [look for program in programs if (look := _next_look(program, now)) is not None]
    return verdicts.allowed(
        "all conditions of the gate are true", next_evaluation_time=min(looks, default=None)
    )


def reads(rule: Gate) -> frozenset[str]:
    """The variables its conditions read, so that a change elsewhere does not ask the gate again."""
    return expressions.roots(expressions.GATE, rule.when)


def _next_look(program: cel.Program, now: Instant) -> Instant | None:
    """When time alone can change the value: at the constants that `now` is compared with, else at the next minute."""
    if "now" not in program.roots:
        return None
    if _compares_with_constants_only(program):
        ahead = [moment for moment in map(instants.from_datetime, program.timestamps) if moment >= now]
        # A comparison with > or <= changes just after its constant.
        return min((moment if moment > now else moment + 1 for moment in ahead), default=None)
    return _steady(program, now) + instants.minutes(1)


def _steady(program: cel.Program, now: Instant) -> Instant:
    """The moment an expression sees. Whole minutes, unless only its own constants matter: so its value changes at
    announced moments alone, whenever else it is asked."""
    return now if _compares_with_constants_only(program) else now - now % instants.minutes(1)


def _compares_with_constants_only(program: cel.Program) -> bool:
    """In doubt no: looking once a minute is right for everything, only later and more often than needed."""
    bare = _QUOTED.sub("", program.text)
    return (
        program.functions <= _TIMELESS
        and bare.count("timestamp") == len(program.timestamps)
        and not any("createdAt" in path for path in program.paths)
        and "createdAt" not in program.text
        and "-" not in bare
        and "+" not in bare
    )
