"""The API asks the engine's queries: how the state is kept is no business of a route."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

API = Path(__file__).parents[2] / "src" / "headgate" / "api"
ENGINE = "engine"


def reads_of_state(text: str) -> list[int]:
    """Lines that read `state` of an engine: of what is called so, what is said to be one, or what was one before."""
    tree = ast.parse(text)
    names = {ENGINE, *_annotated(tree), *_assigned(tree)}
    return [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr == "state" and _is_engine(node.value, names))
        or (isinstance(node, ast.Call) and _reads_by_name(node, names))
    ]


def _annotated(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None and "Engine" in _words(node.annotation):
            yield node.arg


def _words(annotation: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}


def _assigned(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_engine(node.value, {ENGINE}):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _is_engine(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == ENGINE
    return isinstance(node, ast.Name) and node.id in names


def _reads_by_name(call: ast.Call, names: set[str]) -> bool:
    is_getattr = isinstance(call.func, ast.Name) and call.func.id == "getattr"
    return is_getattr and _is_engine(call.args[0], names) and ast.unparse(call.args[1]) == "'state'"


def test_no_module_of_the_api_reads_the_state_of_an_engine() -> None:
    found = {
        str(file.relative_to(API)): reads_of_state(file.read_text("utf-8")) for file in API.rglob("*.py")
    }
    assert len(found) > 50
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "text",
    [
        "def look(view): return view.engine.state.targets",
        "def look(engine): return engine.state",
        "def look(copy: Engine): return copy.state.jobs",
        "def look(view):\n    held = view.engine\n    return held.state",
        "def look(engine): return getattr(engine, 'state')",
    ],
)
def test_a_read_of_the_state_is_found(text: str) -> None:
    assert len(reads_of_state(text)) == 1


def test_the_state_of_something_else_is_its_own() -> None:
    assert reads_of_state("def look(target, engine): return target.state, engine.explain(target)") == []
