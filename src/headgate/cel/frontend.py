"""Parses and checks source text with cel-expr-python; nothing else here knows that library.

Only its parser and checker are used. Its evaluator is the oracle of the tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from cel_expr_python import cel

from headgate.cel import words
from headgate.cel.core.errors import CompileError, SyntaxProblem
from headgate.cel.functions import Function
from headgate.cel.types import BOOL, DOUBLE, INT, UINT, Type

EXTENSIONS = (
    "bindings",
    "encoders",
    "lists",
    "math",
    "optional",
    "regex",
    "sets",
    "strings",
    "two-var-comprehensions",
)
NESTING_LIMIT = 32
"""Set by the parser; chains of && and || count as one level, chains of other operators as one level a term."""

_TOO_DEEP = (
    f"the expression nests more than {NESTING_LIMIT} levels deep (a chain such as a + b + c counts a level a term); "
    "split it with cel.bind, or use lists and macros"
)

CONFIGURATION = "name: headgate\nextensions:\n" + "".join(
    f"  - name: {name}\n    version: latest\n" for name in EXTENSIONS
)


class FrontEnd:
    def __init__(
        self,
        variables: Mapping[str, Type],
        functions: Sequence[Function],
        *,
        mixed_numbers: bool,
        container: str,
    ) -> None:
        extensions = [cel.CelExtension("custom", list(_declarations(functions)))] if functions else []
        if mixed_numbers:
            extensions.append(cel.CelExtension("mixed numbers", list(_mixed_number_declarations())))
        self._environment = cel.NewEnv(
            config=cel.NewEnvConfigFromYaml(CONFIGURATION),
            variables={name: _front_end_type(type_) for name, type_ in variables.items()},
            extensions=extensions,
            container=container,
        )

    def serialized(self, text: str, *, boolean_words: bool, check: bool) -> bytes:
        _refuse_oversized(text)
        source = words.with_operators(text) if boolean_words else text
        try:
            serialized: bytes = self._environment.compile(source, disable_check=not check).serialize()
        except RuntimeError as error:
            raise CompileError(text, _problems(str(error))) from None
        return serialized


def _refuse_oversized(text: str) -> None:
    if len(text) > words.LENGTH_LIMIT:
        message = f"the expression has {len(text)} characters; at most {words.LENGTH_LIMIT} are allowed"
    elif not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        message = "the expression holds half of a surrogate pair, which is not text"
    elif words.expansion(text) > words.EXPANSION_LIMIT:
        message = "too many chained optMap or optFlatMap: each repeats its whole target; split the chain with cel.bind"
    else:
        return
    raise CompileError(text, (SyntaxProblem(message, 1, 1),))


# The report also quotes the source, on lines that start with a space.
_PROBLEM = re.compile(r"^(?:INVALID_ARGUMENT: )?ERROR: <input>:(-?\d+):(-?\d+): (.*)", re.MULTILINE)
_DEPTH_REPORT = re.compile(
    r"^\S.*(?:Exceeded max recursion depth|Expression recursion limit exceeded)", re.MULTILINE
)


def _problems(report: str) -> tuple[SyntaxProblem, ...]:
    if _DEPTH_REPORT.search(report):
        return (SyntaxProblem(_TOO_DEEP, 1, 1),)
    problems = [
        SyntaxProblem(_reworded(message), max(1, int(line)), max(1, int(column)))
        for line, column, message in _PROBLEM.findall(report)
        if "<<nil>> parsetree" not in message
    ]
    return tuple(dict.fromkeys(problems)) or (SyntaxProblem(_reworded(report), 1, 1),)


def _reworded(message: str) -> str:
    message = re.sub(r" \[[A-Z_]+\]$", "", message).removeprefix("INVALID_ARGUMENT: ")
    message = message.removesuffix(" (in container '')")
    message = re.sub(r" expecting (\{.*\}|<EOF>)$", "", message)
    message = message.replace("mismatched input '<EOF>'", "the expression ends too early")
    return re.sub(r"^(extraneous|mismatched) input", "unexpected", message.removeprefix("Syntax error: "))


def _front_end_type(type_: Type) -> cel.Type:
    match type_.name:
        case "list":
            return cel.Type.List(_front_end_type(type_.parameters[0]))
        case "map":
            key, value = type_.parameters
            return cel.Type.Map(_front_end_type(key), _front_end_type(value))
        case "optional":
            return cel.Type.AbstractType(
                "optional_type", [_front_end_type(each) for each in type_.parameters]
            )
        case name:
            simple: cel.Type = getattr(cel.Type, name.upper())
            return simple


def _declarations(functions: Sequence[Function]) -> Iterator[cel.FunctionDecl]:
    by_name: dict[str, list[Function]] = {}
    for function in functions:
        by_name.setdefault(function.name, []).append(function)
    for name, overloads in by_name.items():
        yield cel.FunctionDecl(
            name,
            [
                cel.Overload(
                    f"headgate_{name}_{place}",
                    return_type=_front_end_type(function.result),
                    parameters=[_front_end_type(parameter) for parameter in function.parameters],
                    is_member=function.member,
                )
                for place, function in enumerate(overloads)
            ],
        )


def _mixed_number_declarations() -> Iterator[cel.FunctionDecl]:
    pairs = [(INT, DOUBLE), (DOUBLE, INT), (UINT, DOUBLE), (DOUBLE, UINT)]
    whole_pairs = [(INT, UINT), (UINT, INT)]
    for operator in ("_+_", "_-_", "_*_", "_/_"):
        yield _operator_declaration(operator, pairs, DOUBLE)
    for operator in ("_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_"):
        yield _operator_declaration(operator, pairs + whole_pairs, BOOL)


def _operator_declaration(operator: str, pairs: list[tuple[Type, Type]], result: Type) -> cel.FunctionDecl:
    overloads = [
        cel.Overload(
            f"mixed_{operator}_{left}_{right}",
            return_type=_front_end_type(result),
            parameters=[_front_end_type(left), _front_end_type(right)],
        )
        for left, right in pairs
    ]
    return cel.FunctionDecl(operator, overloads)
