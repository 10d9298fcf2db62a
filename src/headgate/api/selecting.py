"""Selectors that somebody gives, looked at before the engine works with them.

One evaluation has a bound of its own, but a selector that comes near it for every target would keep the engine from
everybody else's work for as long as there are targets. So what all of them take together is found out first, in slices
between which others are served, and has a bound too.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from headgate import cel
from headgate.api.http import replies
from headgate.api.http.calls import Request
from headgate.cel import syntax
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import lookup, release_targets, selector_subjects
from headgate.fleet.model import expressions, kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.kernel import documents
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


class _Given(msgspec.Struct, frozen=True):
    """A selector, where it stands, and what it is going to be asked about."""

    path: str
    text: str
    asked_of: Literal["resources", "release targets"] = "release targets"
    upstream: str | None = None
    """The deployment whose targets alone it is asked about, with what runs there: that which a version depends on."""

    @property
    def environment(self) -> cel.CelEnvironment:
        return expressions.SELECTOR if self.upstream is None else expressions.VERSION_SELECTOR


async def check_body(call: Request, body: Any, path: str = "") -> None:
    """Of an object, a patch or an order, as it was given; what is no text is refused by whoever reads it."""
    if not isinstance(body, dict):
        return
    for field in _FIELDS:
        text = body.get(field)
        if isinstance(text, str):
            of_resources = field == _OVER_RESOURCES
            await _check(
                call, _Given(f"{path}{field}", text, "resources" if of_resources else "release targets")
            )
    spent = 0
    for given in _dependencies(body.get("dependencies"), f"{path}dependencies"):
        spent = await _check(call, given, spent)


def _dependencies(given: object, path: str) -> Iterator[_Given]:
    """All of a version have one bound together: every target of the version has to ask each of them."""
    for name, dependency in given.items() if isinstance(given, dict) else ():
        text = dependency.get("versionSelector") if isinstance(dependency, dict) else dependency
        if isinstance(name, str) and isinstance(text, str):
            yield _Given(f"{documents.field_path(path, name)}.versionSelector", text, upstream=name)


async def check_object(call: Request, item: Object, path: str) -> None:
    given = {field: getattr(item, attribute, None) for field, attribute in _FIELDS.items()}
    if isinstance(item, model.Version):
        given["dependencies"] = {name: one.version_selector for name, one in item.dependencies.items()}
    await check_body(call, given, f"{path}.spec.")


async def _check(call: Request, given: _Given, spent: int = 0) -> int:
    """The steps that it takes and those that were spent before."""
    program = await asyncio.to_thread(_long_one, given)
    if program is None:
        return spent
    names = await replies.ask(call, partial(_names, given))
    cost = _Cost(max(MOST_STEPS, STEPS_FOR_EACH * len(names)), spent)
    while cost.done < len(names):
        await replies.ask(call, partial(_look, program, given, names, cost))
        if cost.spent > cost.most:
            message = (
                f"takes more than {cost.most:,} steps for the {len(names)} {given.asked_of}; make it simpler"
            )
            raise Rejected([Problem(given.path, message)])
    return cost.spent


def _long_one(given: _Given) -> cel.Program | None:
    """None for what takes few steps, and for what is refused by itself."""
    problems: list[Problem] = []
    expressions.check_selector(given.environment, given.text, "", problems)
    if problems:
        return None
    program = given.environment.compile(given.text)
    return program if len(given.text) > LONG_TEXT or _has_loop(program.root) else None


def _has_loop(root: syntax.SyntaxNode) -> bool:
    return isinstance(root, syntax.Fold) or any(map(_has_loop, root.children()))


def _names(given: _Given, view: EngineView) -> list[str]:
    engine = view.engine
    if given.upstream is not None:
        return selector_subjects.targets_of(engine, given.upstream)
    if given.asked_of == "resources":
        return list(lookup.names(engine, kinds.RESOURCE))
    return list(release_targets.names(engine))


class _Cost(msgspec.Struct):
    most: int
    spent: int = 0
    done: int = 0


def _look(program: cel.Program, given: _Given, names: Sequence[str], cost: _Cost, view: EngineView) -> None:
    """Goes on where the last look stopped, for as long as one question may keep the engine from its work."""
    ends = time.monotonic() + SLICE_SECONDS
    for bindings in _bindings(view.engine, given, names[cost.done :]):
        cost.done += 1
        cost.spent += _steps(program, bindings)
        if cost.spent > cost.most or time.monotonic() > ends:
            return
    cost.done = len(names)


def _bindings(engine: Engine, given: _Given, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Whoever is gone meanwhile costs nothing."""
    if given.asked_of == "resources":
        return selector_subjects.bindings_of_resources(engine, names)
    return selector_subjects.bindings_of_targets(engine, names)


def _steps(program: cel.Program, bindings: dict[str, Any]) -> int:
    try:
        return program.evaluate_counted(bindings, steps=cel.SELECTOR_STEPS)[1]
    except cel.BudgetExceeded:
        return cel.SELECTOR_STEPS
    except cel.EvaluationError:
        return 0
