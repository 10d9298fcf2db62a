"""What expressions of a scenario may read about pods and objects of the cluster."""

from collections.abc import Iterator, Mapping
from typing import Any

from headgate import cel
from headgate.kernel.problems import Problem, Rejected

MATCH = cel.CelEnvironment({"pod": cel.DYN, "object": cel.DYN, "revision": cel.INT})


def pod_selector(text: str, path: str) -> cel.Selector:
    try:
        return MATCH.selector(text)
    except cel.CompileError as error:
        raise Rejected(Problem(path, flaw.message) for flaw in error.problems) from None


def filled(value: Any, bindings: Mapping[str, object]) -> Any:
    """The value with every `${}` in it evaluated; one that stands alone keeps its type. Raises EvaluationError."""
    if isinstance(value, dict):
        return {key: filled(item, bindings) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [filled(item, bindings) for item in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    pieces = list(_pieces(value))
    if len(pieces) == 1 and pieces[0][0]:
        return _evaluated(pieces[0][1], bindings)
    return "".join(_text(_evaluated(text, bindings)) if is_code else text for is_code, text in pieces)


def _evaluated(text: str, bindings: Mapping[str, object]) -> Any:
    try:
        return MATCH.compile(text, check=False).evaluate(bindings)
    except cel.CompileError as error:
        raise cel.EvaluationError(str(error)) from None


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _pieces(text: str) -> Iterator[tuple[bool, str]]:
    """(is an expression, its text); braces and quotes inside an expression are skipped over."""
    rest = text
    while rest:
        before, mark, after = rest.partition("${")
        if before:
            yield False, before
        if not mark:
            return
        end = _closing(after)
        yield True, after[:end]
        rest = after[end + 1 :]


def _closing(text: str) -> int:
    depth, quote, index = 0, "", 0
    while index < len(text):
        character = text[index]
        if quote:
            index += character == "\\"
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "{":
            depth += 1
        elif character == "}":
            if depth == 0:
                return index
            depth -= 1
        index += 1
    raise cel.EvaluationError(f"${{{text} has no end")
