"""What expressions of a scenario may read about pods and objects of the cluster."""

from collections.abc import Mapping
from typing import Any

from headgate import cel
from headgate.cel import interpolation
from headgate.cel.interpolation import OPENING, InterpolatedPart, InterpolationError
from headgate.kernel.problems import Problem, Rejected

MATCH = cel.CelEnvironment({"pod": cel.DYN, "object": cel.DYN, "revision": cel.INT})


def pod_selector(text: str, path: str) -> cel.Selector:
    try:
        return MATCH.selector(text)
    except cel.CompileError as error:
        raise Rejected(Problem(path, problem.message) for problem in error.problems) from None


def filled(value: Any, bindings: Mapping[str, object]) -> Any:
    """The value with every `${}` in it evaluated; one that stands alone keeps its type. Raises EvaluationError."""
    if isinstance(value, dict):
        return {key: filled(item, bindings) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [filled(item, bindings) for item in value]
    if not isinstance(value, str) or OPENING not in value:
        return value
    parts = _parts_of(value)
    if len(parts) == 1 and parts[0].is_expression:
        return _evaluated(parts[0].text, bindings)
    return "".join(
        _text(_evaluated(part.text, bindings)) if part.is_expression else part.text for part in parts
    )


def _parts_of(text: str) -> tuple[InterpolatedPart, ...]:
    """In a scenario a `${` that is never closed is a slip of the pen, not text."""
    try:
        parts = interpolation.parts_of(text)
    except InterpolationError as error:
        raise cel.EvaluationError(str(error)) from None
    for part in parts:
        if not part.is_expression and (start := part.text.find(OPENING)) >= 0:
            raise cel.EvaluationError(f"{part.text[start:]} has no end")
    return parts


def _evaluated(text: str, bindings: Mapping[str, object]) -> Any:
    try:
        return MATCH.compile(text, check=False).evaluate(bindings)
    except cel.CompileError as error:
        raise cel.EvaluationError(str(error)) from None


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)
