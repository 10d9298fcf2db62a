"""The configuration that a job is run with: `${...}` in it computed.

A string that is one expression and nothing else becomes the expression's value, whatever its type. In any other text
an expression gives a string, a number or a bool.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from headgate import cel
from headgate.cel import interpolation
from headgate.cel.interpolation import OPENING, InterpolatedPart, InterpolationError
from headgate.cel.plain import OMITTED, plain
from headgate.kernel.documents import describe, field_path, item_path
from headgate.kernel.problems import Problem

_OBJECT = cel.map_of(cel.STRING, cel.DYN)
ENVIRONMENT = cel.CelEnvironment(
    {
        "version": _OBJECT,
        "resource": _OBJECT,
        "environment": _OBJECT,
        "deployment": _OBJECT,
        "variables": _OBJECT,
        "job": _OBJECT,
    }
)

CONFIG_STEPS = 5_000
"""Of all expressions of one config: they are computed where the job is created, and jobs come by the thousand."""

Config = Mapping[str, object]
ConfigBindings = Mapping[str, object]


class Metered(dict[str, object]):
    """Bindings for one config, with the meter that all of its expressions share; most configs have none."""

    @functools.cached_property
    def meter(self) -> cel.Meter:
        return cel.Meter(CONFIG_STEPS)


def resolve_into(
    config: Config, bindings: ConfigBindings, path: str, problems: list[Problem]
) -> dict[str, Any]:
    resolved = _resolved(config, bindings, path, problems)
    assert isinstance(resolved, dict)
    return resolved


def constant_text(expression: str) -> str | None:
    """What an expression gives that looks at nothing and gives a text; None for any other."""
    try:
        program = ENVIRONMENT.compile(expression)
        value = plain(program.evaluate({}, steps=CONFIG_STEPS)) if not program.roots else None
    except (cel.CompileError, cel.EvaluationError):
        return None
    return value if isinstance(value, str) else None


def _resolved(value: object, bindings: ConfigBindings, path: str, problems: list[Problem]) -> object:
    if isinstance(value, Mapping):
        members = {
            str(key): _resolved(item, bindings, field_path(path, str(key)), problems)
            for key, item in value.items()
        }
        return {key: item for key, item in members.items() if item is not OMITTED}
    if isinstance(value, list | tuple):
        items = [
            _resolved(item, bindings, item_path(path, index), problems) for index, item in enumerate(value)
        ]
        return [item for item in items if item is not OMITTED]
    if isinstance(value, str) and OPENING in value:
        return _resolved_text(value, bindings, path, problems)
    return value


def _resolved_text(text: str, bindings: ConfigBindings, path: str, problems: list[Problem]) -> object:
    try:
        parts = interpolation.parts_of(text)
    except InterpolationError as error:
        problems.append(Problem(path, str(error)))
        return text
    if len(parts) == 1 and parts[0].is_expression:
        return _value(parts[0], bindings, path, problems)
    return "".join(
        text_of(part, bindings, path, problems) if part.is_expression else part.text for part in parts
    )


def _value(part: InterpolatedPart, bindings: ConfigBindings, path: str, problems: list[Problem]) -> object:
    meter = bindings.meter if isinstance(bindings, Metered) else cel.Meter(CONFIG_STEPS)
    if meter.remaining < 0:
        return None  # the expression that used up the steps has said so
    try:
        return plain(ENVIRONMENT.compile(part.text).evaluate_within(bindings, meter))
    except cel.CompileError as error:
        problems.extend(Problem(path, f"${{{part.text}}}: {problem.message}") for problem in error.problems)
    except cel.EvaluationError as error:
        problems.append(Problem(path, f"${{{part.text}}}: {error.message}"))
    return None


def text_of(part: InterpolatedPart, bindings: ConfigBindings, path: str, problems: list[Problem]) -> str:
    count_before = len(problems)
    value = _value(part, bindings, path, problems)
    if len(problems) > count_before:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    given = "nothing" if value is OMITTED else describe(value)
    problems.append(
        Problem(path, f"${{{part.text}}}: gives {given}; in a text a string, a number or a bool is needed")
    )
    return ""
