"""What the API may know of the engine: its questions, and the objects and records that its state keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import headgate
from headgate.fleet.state.state import State
from headgate.kernel.identifiers import NamedIds

API = Path(headgate.__file__).parent / "api"
OBJECTS = frozenset(
    [
        "approvals",
        "deployments",
        "environments",
        "identifiers",
        "ids",
        "job_agents",
        "jobs",
        "policies",
        "resources",
        "sequence",
        "sites",
        "skips",
        "targets",
        "versions",
        "workspace",
    ]
)
"""What a state keeps for others. The rest of its fields is how the engine works: when it looks, what it counts, what it
remembers."""


def read_of_the_state(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if name == "state":
                yield node.attr


@pytest.mark.parametrize("path", sorted(API.rglob("*.py")), ids=lambda path: path.stem)
def test_the_api_reads_none_of_the_engines_working_parts(path: Path) -> None:
    fields = vars(State(NamedIds(), "default")).keys()
    assert fields >= OBJECTS
    assert not {name for name in read_of_the_state(path.read_text()) if name in fields - OBJECTS}


def test_a_working_part_would_be_found() -> None:
    text = "def f(view, state):\n    return view.engine.state.waiting.dirty or state.unfinished or view.now"
    assert set(read_of_the_state(text)) == {"waiting", "unfinished"}
