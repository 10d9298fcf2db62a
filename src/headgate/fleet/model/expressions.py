"""What expressions of the fleet may read and call: one CEL environment for each place they are written in."""

from collections.abc import Sequence
from typing import Annotated

from headgate import cel
from headgate.cel import waves
from headgate.fleet.model import known_fields
from headgate.kernel.documents import Checked
from headgate.kernel.problems import Problem

_OBJECT = cel.map_of(cel.STRING, cel.DYN)
_PLACE = {"resource": _OBJECT, "environment": _OBJECT, "deployment": _OBJECT}

SELECTOR = cel.CelEnvironment(_PLACE)
DEPLOYMENT_SELECTOR = SELECTOR
VERSION_SELECTOR = cel.CelEnvironment({**_PLACE, "version": _OBJECT})
GATE = cel.CelEnvironment(
    {
        **_PLACE,
        "version": _OBJECT,
        "target": cel.DYN,
        "targets": cel.list_of(cel.DYN),
        "now": cel.TIMESTAMP,
        "signals": _OBJECT,
    },
    waves.FUNCTIONS,
)
GROUP_BY = cel.CelEnvironment({"resource": _OBJECT})
RESULT = cel.CelEnvironment({"result": cel.DYN})
JOB_AGENT = cel.CelEnvironment({**_PLACE, "jobAgent": _OBJECT})
SCENARIO_MATCH = cel.CelEnvironment({**_PLACE, "version": _OBJECT, "attempt": cel.INT})


def check(environment: cel.CelEnvironment, text: str, path: str, problems: list[Problem]) -> None:
    """A malformed condition, or one that reads what no object has, becomes problems that show the place in its text."""
    program = compiled(environment, text, path, problems)
    if program is not None:
        problems.extend(Problem(path, _pointed(text, problem)) for problem in known_fields.problems(program))


def compiled(
    environment: cel.CelEnvironment, text: str, path: str, problems: list[Problem]
) -> cel.Program | None:
    """A condition over whatever its variables turn out to hold; None, with the problems, if it is malformed."""
    if not text.strip():
        problems.append(Problem(path, "must not be empty; allowed is a CEL expression"))
        return None
    try:
        return environment.compile(text, expect=cel.BOOL)
    except cel.CompileError as error:
        problems.extend(Problem(path, _pointed(text, problem)) for problem in error.problems)
    return None


_THINGS: list[dict[str, object]] = [
    {"id": text, "name": text, "kind": text, "tag": text, "metadata": {}, "config": {}, "variables": {}}
    for text in ("", "x")
]
PLAIN_OBJECT = _THINGS[-1]
"""Stands for an object that is not there yet, where it is only asked how long an expression takes."""


def check_selector(environment: cel.CelEnvironment, text: str, path: str, problems: list[Problem]) -> None:
    """As `check`; and one that takes long even of a resource with nothing in it takes long of each of thousands."""
    count_before = len(problems)
    check(environment, text, path, problems)
    if len(problems) > count_before:
        return
    program = environment.compile(text, expect=cel.BOOL)
    if any(_is_too_long(program, sized) for sized in _THINGS):
        message = f"takes more than {cel.SELECTOR_STEPS:,} steps for one resource; make it simpler"
        problems.append(Problem(path, message))


def _is_too_long(program: cel.Program, sized: object) -> bool:
    bindings = dict.fromkeys(("resource", "environment", "deployment", "version", "jobAgent"), sized)
    try:
        program.evaluate(bindings, steps=cel.SELECTOR_STEPS)
    except cel.BudgetExceeded:
        return True
    except cel.EvaluationError:
        return False
    return False


_GROUP_TYPES = ("string", "int", "uint", "double", "bool", "dyn")


def check_group_by(text: str, path: str, problems: list[Problem]) -> None:
    """An expression over the resource that gives text, a number or a bool."""
    if not text.strip():
        problems.append(Problem(path, "must not be empty; allowed is a CEL expression over resource"))
        return
    try:
        program = GROUP_BY.compile(text)
    except cel.CompileError as error:
        problems.extend(Problem(path, _pointed(text, problem)) for problem in error.problems)
        return
    unknown = known_fields.problems(program)
    if unknown:
        problems.extend(Problem(path, _pointed(text, problem)) for problem in unknown)
        return
    if program.root.type.name not in _GROUP_TYPES:
        problems.append(
            Problem(
                path,
                f"gives {program.result_type}; allowed is an expression that gives text, a number or a bool",
            )
        )
    elif any(_is_too_long(program, sized) for sized in _THINGS):
        message = f"takes more than {cel.SELECTOR_STEPS:,} steps for one resource; make it simpler"
        problems.append(Problem(path, message))


def group_value(text: str, resource: object) -> str:
    """As text; empty where the expression fails, as it does where a key is missing, or gives nothing that names a group."""
    try:
        value = GROUP_BY.compile(text).evaluate({"resource": resource}, steps=cel.SELECTOR_STEPS)
    except cel.EvaluationError:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float | cel.Uint) else ""


def _pointed(text: str, problem: cel.SyntaxProblem) -> str:
    lines = text.splitlines() or [""]
    line = lines[min(problem.line, len(lines)) - 1]
    first = max(0, problem.column - 61)
    excerpt = line[first : first + 100]
    caret = " " * (problem.column - 1 - first) + "^"
    return f"{problem.message} (line {problem.line}, column {problem.column})\n  {excerpt}\n  {caret}"


def checked(environment: cel.CelEnvironment) -> Checked:
    return Checked(lambda text, path, problems: check(environment, text, path, problems))


def selecting(environment: cel.CelEnvironment) -> Checked:
    return Checked(lambda text, path, problems: check_selector(environment, text, path, problems))


SelectorText = Annotated[str, selecting(SELECTOR)]
DeploymentSelectorText = Annotated[str, selecting(DEPLOYMENT_SELECTOR)]
VersionSelectorText = Annotated[str, selecting(VERSION_SELECTOR)]
JobAgentSelectorText = Annotated[str, selecting(JOB_AGENT)]
ConditionText = Annotated[str, checked(RESULT)]
GroupByText = Annotated[str, Checked(check_group_by)]
GateText = Annotated[str, checked(GATE)]


def roots(environment: cel.CelEnvironment, texts: Sequence[str]) -> frozenset[str]:
    """The variables that the expressions read between them."""
    return frozenset().union(*(environment.compile(text).roots for text in texts))
