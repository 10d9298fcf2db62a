"""Selectors that somebody gives, looked at before the engine works with them.

One evaluation has a bound of its own, but a selector that comes near it for every target would keep the engine from
everybody else's work for as long as there are targets. So what all of them take together is found out first, in slices
between which others are served, and has a bound too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from headgate import cel
from headgate.api import replies
from headgate.api.calls import Request
from headgate.cel import syntax
from headgate.fleet.model import expressions
from headgate.fleet.model.changes import Object
from headgate.fleet.state.state import State
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import EngineView

SLICE_SECONDS = 0.02
MOST_STEPS = 500_000
STEPS_FOR_EACH = 200
"""A large fleet may take longer, as everything does that is done to all of it."""
LONG_TEXT = 500
"""Characters; what is shorter and has no loop takes few steps, whatever it is asked about."""
_OVER_RESOURCES = "resourceSelector"
_FIELDS = {"selector": "selector", "targetSelector": "target_selector", _OVER_RESOURCES: "resource_selector"}


async def check_body(call: Request, body: Any, path: str = "") -> None:
    """Of an object, a patch or an order, as it was given; what is no text is refused by whoever reads it."""
    if not isinstance(body, dict):
        return
    for field in _FIELDS:
        text = body.get(field)
        if isinstance(text, str):
            await _check(call, f"{path}{field}", text, over_targets=field != _OVER_RESOURCES)


async def check_object(call: Request, thing: Object, path: str) -> None:
    given = {field: getattr(thing, attribute, None) for field, attribute in _FIELDS.items()}
    await check_body(call, given, f"{path}.spec.")


async def _check(call: Request, path: str, text: str, *, over_targets: bool) -> None:
    program = await replies.in_thread(_long_one, text)
    if program is None:
        return
    names = await replies.ask(call, partial(_names, over_targets))
    cost = _Cost(max(MOST_STEPS, STEPS_FOR_EACH * len(names)))
    while cost.done < len(names):
        await replies.ask(call, partial(_look, program, names, cost, over_targets))
        if cost.spent > cost.most:
            what = "release targets" if over_targets else "resources"
            message = f"takes more than {cost.most:,} steps for the {len(names)} {what}; make it simpler"
            raise Rejected([Problem(path, message)])


def _long_one(text: str) -> cel.Program | None:
    """None for what takes few steps, and for what is refused by itself."""
    problems: list[Problem] = []
    expressions.check_selector(expressions.SELECTOR, text, "", problems)
    if problems:
        return None
    program = expressions.SELECTOR.compile(text)
    return program if len(text) > LONG_TEXT or _has_loop(program.root) else None


def _has_loop(root: syntax.SyntaxNode) -> bool:
    return isinstance(root, syntax.Fold) or any(map(_has_loop, root.children()))


def _names(over_targets: bool, view: EngineView) -> list[str]:
    state = view.engine.state
    return list(state.targets if over_targets else state.resources)


class _Cost(msgspec.Struct):
    most: int
    spent: int = 0
    done: int = 0


def _look(
    program: cel.Program, names: Sequence[str], cost: _Cost, over_targets: bool, view: EngineView
) -> None:
    """Goes on where the last look stopped, for as long as one question may keep the engine from its work."""
    ends = time.monotonic() + SLICE_SECONDS
    for bindings in _bindings(view.engine.state, names[cost.done :], over_targets):
        cost.done += 1
        cost.spent += _steps(program, bindings)
        if cost.spent > cost.most or time.monotonic() > ends:
            return
    cost.done = len(names)


def _bindings(state: State, names: Sequence[str], over_targets: bool) -> Iterator[dict[str, Any]]:
    """Whoever is gone meanwhile costs nothing."""
    for name in names:
        if over_targets:
            target = state.targets.get(name)
            yield dict(target.bindings()) if target is not None else {}
        else:
            node = state.resources.get(name)
            yield {"resource": node.view} if node is not None else {}


def _steps(program: cel.Program, bindings: dict[str, Any]) -> int:
    try:
        return program.evaluate_counted(bindings, steps=cel.SELECTOR_STEPS)[1]
    except cel.BudgetExceeded:
        return cel.SELECTOR_STEPS
    except cel.EvaluationError:
        return 0
