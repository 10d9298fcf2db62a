"""What expectations may call beside CEL's own functions: short ways to say what scenarios say again and again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headgate import cel

_NOTHING = "-"


def rows(items: Sequence[Any], fields: str) -> list[str]:
    """Each item as a line of the fields that are named, such as `09:00 node-1 kubelet v2`.

    A time is the time of day, with its seconds where there are some; null is `-`.
    """
    return [" ".join(_cell(_map(item, "rows"), name) for name in fields.split()) for item in items]


def _cell(item: Mapping[str, Any], name: str) -> str:
    if name not in item:
        raise cel.EvaluationError(f"rows(): there is no field {name}; there are {', '.join(sorted(item))}")
    value = item[name]
    if value is None:
        return _NOTHING
    if name == "at" or name.endswith("At"):
        return str(value)[11:16] if str(value)[16:] == ":00Z" else str(value)[11:].rstrip("Z")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def living(items: Sequence[Any]) -> list[Any]:
    """Pods or objects that nobody has deleted."""
    return [item for item in items if _map(item, "living")["deletedAt"] is None]


def least_ready(pods: Sequence[Any], since: str) -> int:
    """How many of the pods were ready and not deleted when they were fewest, from a moment on."""
    spans: list[tuple[str, str | None]] = [
        (pod["readyAt"], pod["deletedAt"])
        for pod in (_map(item, "leastReady") for item in pods)
        if pod["readyAt"] is not None
    ]
    ends = {ended for _, ended in spans if ended is not None and ended > since}
    return min(
        sum(ready <= moment and (ended is None or ended > moment) for ready, ended in spans)
        for moment in (since, *ends)
    )


def within_limits(budgets: Sequence[Any]) -> bool:
    """Whether none of the budgets ever held more than its limit. Of no budgets nothing is known, so that is false."""
    used = [_map(item, "withinLimits") for item in budgets]
    if not all("peak" in budget and "limit" in budget for budget in used):
        raise cel.EvaluationError(
            "withinLimits() is for result.budgets, whose entries have a peak and a limit"
        )
    return bool(used) and all(budget["peak"] <= budget["limit"] for budget in used)


def _map(item: Any, function: str) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise cel.EvaluationError(f"{function}() is for lists of the result, such as result.pods")
    return item


FUNCTIONS = (
    cel.Function("rows", (cel.DYN, cel.STRING), cel.list_of(cel.STRING), rows, member=True),
    cel.Function("living", (cel.DYN,), cel.list_of(cel.DYN), living, member=True),
    cel.Function("leastReady", (cel.DYN, cel.STRING), cel.INT, least_ready, member=True),
    cel.Function("withinLimits", (cel.DYN,), cel.BOOL, within_limits, member=True),
)
EXPECT = cel.CelEnvironment({"result": cel.DYN}, FUNCTIONS)
