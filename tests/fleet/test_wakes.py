"""A wake that nobody fires would only content a checker: each is waited for somewhere and happens somewhere."""

import ast
import inspect
from pathlib import Path

import pytest

from headgate import fleet
from headgate.fleet.state import wakes

FOLDER = Path(inspect.getfile(fleet)).parent
NAMES = sorted(
    name
    for name, value in vars(wakes).items()
    if name.isupper() or (inspect.isfunction(value) and value.__module__ == wakes.__name__)
)


def uses() -> tuple[set[str], set[str]]:
    """The wakes that happen, and those that are named anywhere else."""
    fired: list[str] = []
    named: list[str] = []
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "happened":
                fired += wakes_in(node)
            elif isinstance(node, ast.Module):
                named += wakes_in(node)
    waited = list(named)
    for name in fired:
        waited.remove(name)
    return set(fired), set(waited)


def wakes_in(tree: ast.AST) -> list[str]:
    return [
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "wakes"
    ]


@pytest.mark.parametrize("name", NAMES)
def test_each_wake_is_waited_for_and_happens(name: str) -> None:
    fired, waited = uses()
    assert name in fired, "nothing ever fires it"
    assert name in waited, "nobody ever waits for it"


def test_wakes_are_built_nowhere_else() -> None:
    topics = {value[0] for name in NAMES if isinstance(value := getattr(wakes, name), tuple)}
    assert topics == {"freeze", "signals", "environments", "ranks"}
    for path in FOLDER.rglob("*.py"):
        if path.name != "wakes.py":
            assert "happened((" not in path.read_text("utf-8"), path
