"""What expressions of the fleet may read and call: one CEL environment for each place they are written in."""

from collections.abc import Sequence
from typing import Annotated, Any

from headgate import cel
from headgate.kernel import waves
from headgate.kernel.documents import Checked
from headgate.kernel.problems import Problem

_OBJECT = cel.map_of(cel.STRING, cel.DYN)
_PLACE = {"resource": _OBJECT, "environment": _OBJECT, "deployment": _OBJECT}


def _is_ready(receiver: Any) -> bool:
    if isinstance(receiver, list | tuple):
        return all(_is_ready(item) for item in receiver)
    return bool(_item(receiver, "ready").is_ready())


def _is_updated(receiver: Any) -> bool:
    if isinstance(receiver, list | tuple):
        return all(_is_updated(item) for item in receiver)
    return bool(_item(receiver, "updated").is_updated())


def _item(receiver: Any, method: str) -> Any:
    if not hasattr(receiver, "is_ready"):
        raise cel.EvaluationError(f"{method}() is for target and targets, not for {type(receiver).__name__}")
    return receiver


def _linearly_updated(item: Any, items: Any, size: int) -> bool:
    if size < 1:
        raise cel.EvaluationError(f"linearlyUpdated needs a wave of at least 1, not {size}")
    return _may_go(item, items, lambda landed: waves.linear_limit(landed, size))


def _exponentially_updated(item: Any, items: Any) -> bool:
    return _may_go(item, items, waves.exponential_limit)


def _may_go(item: Any, items: Any, limit_after: Any) -> bool:
    if _is_updated(item):
        return True
    landed = _landed_count(items)
    rank = _rank_among_not_updated(item, items)
    return waves.may_go(rank, landed, _in_flight_count(items), limit_after(landed))


# A list of targets may know its counts already; asking a thousand targets for each of a thousand would be a million.


def _landed_count(items: Any) -> int:
    if hasattr(items, "landed_count"):
        return int(items.landed_count())
    return sum(1 for item in items if _is_updated(item) and _is_ready(item))


def _in_flight_count(items: Any) -> int:
    if hasattr(items, "in_flight_count"):
        return int(items.in_flight_count())
    return sum(1 for item in items if _is_updated(item) and not _is_ready(item))


def _rank_among_not_updated(item: Any, items: Any) -> int:
    if hasattr(items, "rank_among_not_updated"):
        return int(items.rank_among_not_updated(item))
    rank = 0
    for other in items:
        if other is item or other == item:
            return rank
        rank += not _is_updated(other)
    raise cel.EvaluationError("the first argument is not an item of the list")


def _index_of(item: Any, items: Any) -> int:
    if hasattr(items, "index_of"):
        return int(items.index_of(item))
    for index, other in enumerate(items):
        if other is item or other == item:
            return index
    raise cel.EvaluationError("indexOf: the item is not in the list")


_GATE_FUNCTIONS = (
    cel.Function("ready", (cel.DYN,), cel.BOOL, _is_ready, member=True),
    cel.Function("updated", (cel.DYN,), cel.BOOL, _is_updated, member=True),
    cel.Function("linearlyUpdated", (cel.DYN, cel.DYN, cel.INT), cel.BOOL, _linearly_updated),
    cel.Function("exponentiallyUpdated", (cel.DYN, cel.DYN), cel.BOOL, _exponentially_updated),
    cel.Function("indexOf", (cel.DYN, cel.DYN), cel.INT, _index_of),
)

SELECTOR = cel.Environment(_PLACE)
DEPLOYMENT_SELECTOR = SELECTOR
VERSION_SELECTOR = cel.Environment({**_PLACE, "version": _OBJECT})
GATE = cel.Environment(
    {
        **_PLACE,
        "version": _OBJECT,
        "target": cel.DYN,
        "targets": cel.list_of(cel.DYN),
        "now": cel.TIMESTAMP,
        "signals": _OBJECT,
    },
    _GATE_FUNCTIONS,
)
RESULT = cel.Environment({"result": cel.DYN})
JOB_AGENT = cel.Environment({**_PLACE, "jobAgent": _OBJECT})
SCENARIO_MATCH = cel.Environment({**_PLACE, "version": _OBJECT, "attempt": cel.INT})
EXPECT = cel.Environment({"result": cel.DYN})


def check(environment: cel.Environment, text: str, path: str, problems: list[Problem]) -> None:
    """A malformed condition becomes problems that show the place in its text."""
    if not text.strip():
        problems.append(Problem(path, "must not be empty; allowed is a CEL expression"))
        return
    try:
        environment.compile(text, expect=cel.BOOL)
    except cel.CompileError as error:
        problems.extend(Problem(path, _pointed(text, flaw)) for flaw in error.problems)


def _pointed(text: str, flaw: cel.Problem) -> str:
    lines = text.splitlines() or [""]
    line = lines[min(flaw.line, len(lines)) - 1]
    first = max(0, flaw.column - 61)
    excerpt = line[first : first + 100]
    caret = " " * (flaw.column - 1 - first) + "^"
    return f"{flaw.message} (line {flaw.line}, column {flaw.column})\n  {excerpt}\n  {caret}"


def checked(environment: cel.Environment) -> Checked:
    return Checked(lambda text, path, problems: check(environment, text, path, problems))


SelectorText = Annotated[str, checked(SELECTOR)]
DeploymentSelectorText = Annotated[str, checked(DEPLOYMENT_SELECTOR)]
VersionSelectorText = Annotated[str, checked(VERSION_SELECTOR)]
JobAgentSelectorText = Annotated[str, checked(JOB_AGENT)]
ConditionText = Annotated[str, checked(RESULT)]
GateText = Annotated[str, checked(GATE)]


def roots(environment: cel.Environment, texts: Sequence[str]) -> frozenset[str]:
    """The variables that the expressions read between them."""
    return frozenset().union(*(environment.compile(text).roots for text in texts))
