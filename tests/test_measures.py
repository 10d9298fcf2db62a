"""The scripts that say how the code stands as a whole run, and see what they are meant to see."""

import ast
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
MOST_FUNCTIONS_OF_A_PUBLISH, MOST_FILES_OF_A_PUBLISH = 300, 60
"""A new layer on the way of a publish is somebody's decision. They only go down."""
MOST_NAMES_FOR_TESTS = 2
"""What shows a test all there is, where production needs only what has changed."""
MOST_VAGUE_NAMES = 0
"""Names that say that there is something (`found`, `said`, `thing`), not what it is. They only go down."""
MEASURE = runpy.run_path(str(ROOT / "scripts" / "measure"))


def module(name: str, text: str) -> Any:
    return MEASURE["Module"](MEASURE["PACKAGE"] / name, text, ast.parse(text))


@pytest.mark.slow
def test_every_figure_is_printed_on_a_line_of_its_own() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "measure")]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    figures = dict(re.findall(r"^(.+?): (\d+)", printed, re.MULTILINE))
    assert len(figures) == len(printed.splitlines())
    assert 100 < int(figures["functions of one publish"]) <= MOST_FUNCTIONS_OF_A_PUBLISH
    assert 20 < int(figures["files of one publish"]) <= MOST_FILES_OF_A_PUBLISH
    assert figures["names that nobody uses"] == figures["arguments that nobody reads"] == "0"
    assert int(figures["names that only tests use"]) <= MOST_NAMES_FOR_TESTS
    assert int(figures["lines of fleet"]) < int(figures["lines"])


def test_a_class_name_of_two_packages_is_found() -> None:
    of = [
        module("fleet/a.py", "class Plan: ..."),
        module("fleet/b.py", "class Order: ...\nclass _Own: ..."),
        module("fleet/c.py", "class Order: ..."),
        module("graph/a.py", "class Plan: ...\nclass _Own: ..."),
    ]
    assert MEASURE["shared_class_names"](of) == {"Plan": ["fleet/a.py", "graph/a.py"]}


def test_a_class_name_that_one_package_has_twice_is_found() -> None:
    of = [
        module(
            "fleet/a.py", "class Plan: ...\nKey = tuple[str, str]\nSeen = Mapping[str, Any]\nT = TypeVar('T')"
        ),
        module("fleet/cycles/b.py", "class Plan: ...\nKey = tuple[int, int]\nSeen = dict[str, Any]\nT = int"),
        module("graph/a.py", "Key = str"),
    ]
    assert MEASURE["class_names_twice_in_a_package"](of) == {
        "fleet Key": ["fleet/a.py", "fleet/cycles/b.py"],
        "fleet Plan": ["fleet/a.py", "fleet/cycles/b.py"],
    }


def test_a_ring_of_modules_is_found_with_imports_in_functions_and_without_those_for_types() -> None:
    of = [
        module("fleet/a.py", "from headgate.fleet import b"),
        module("fleet/b.py", "def later():\n    import headgate.fleet.c"),
        module("fleet/c.py", "try:\n    from headgate.fleet.a import one\nexcept ImportError: ..."),
        module("fleet/d.py", "if TYPE_CHECKING:\n    from headgate.fleet import e"),
        module("fleet/e.py", "from headgate.fleet import a, d"),
    ]
    assert MEASURE["module_rings"](of) == [["headgate.fleet.a", "headgate.fleet.b", "headgate.fleet.c"]]


def test_a_ring_of_a_folder_and_one_in_it_is_found() -> None:
    of = [
        module("fleet/a.py", "from headgate.fleet.state import b"),
        module("fleet/c.py", ""),
        module("fleet/state/b.py", "from headgate.fleet import c"),
        module("graph/a.py", "from headgate.fleet import a\nimport headgate.validation"),
        module("validation.py", "from headgate.fleet import a"),
    ]
    assert MEASURE["module_rings"](of) == []
    assert MEASURE["folder_rings"](of) == [["headgate.fleet", "headgate.fleet.state"]]


def test_no_modules_import_each_other_in_a_ring() -> None:
    assert MEASURE["module_rings"](MEASURE["modules"]()) == []


def test_no_folders_import_each_other_in_a_ring() -> None:
    assert MEASURE["folder_rings"](MEASURE["modules"]()) == []


def test_a_function_that_is_written_twice_is_found_under_its_other_name() -> None:
    body = "    total = 0\n    for item in {0}:\n        total += item\n    return total\n"
    of = [
        module("fleet/a.py", "def sum_of(items):\n    'Adds.'\n" + body.format("items")),
        module("graph/a.py", "def added(values):\n" + body.format("values")),
        module("graph/b.py", "def multiplied(values):\n" + body.format("values").replace("+=", "*=")),
    ]
    assert MEASURE["written_twice"](of) == [["fleet/a.py:1 sum_of", "graph/a.py:1 added"]]


def test_a_name_that_nobody_uses_is_found_however_it_could_be_used() -> None:
    of = [
        module("fleet/__init__.py", ""),
        module("graph/__init__.py", ""),
        module(
            "fleet/a.py",
            "LIMIT = 1\nSPARE = 2\nROUTES = ()\ndef one(): ...\ndef two(): ...\ndef three(): return three\n@command\ndef four(): ...",
        ),
        module(
            "fleet/b.py",
            "from headgate.fleet import a\nfrom headgate.fleet.a import one\nprint(a.LIMIT, one, a.four)",
        ),
        module("fleet/c.py", "from headgate.graph import a\na.two()\n__all__ = ['five']\ndef five(): ..."),
    ]
    uses = MEASURE["Uses"](of)
    for each in of:
        uses.add(each.tree, each.dotted)
    assert MEASURE["unused_names"](of, uses) == [
        "fleet/a.py:2 SPARE",
        "fleet/a.py:5 two",
        "fleet/a.py:6 three",
    ]


def test_an_argument_that_nobody_reads_is_found_where_no_one_else_asks_for_it() -> None:
    of = [
        module("fleet/__init__.py", ""),
        module(
            "fleet/a.py",
            "def one(x, y): return x\ndef two(x, y): return x\ndef three(_, y): return y\none(1, 2)",
        ),
        module("fleet/b.py", "from headgate.fleet import a\nhand_over(a.two)\na.one(1, 2)"),
    ]
    uses = MEASURE["Uses"](of)
    for each in of:
        uses.add(each.tree, each.dotted)
    assert MEASURE["unused_arguments"](of, uses) == ["fleet/a.py:1 one(y)"]


def test_names_do_not_say_less_of_what_they_hold_than_before() -> None:
    vague = [label for each in MEASURE["modules"]() for label in each.vague_names()]
    assert len(vague) <= MOST_VAGUE_NAMES, vague


def test_a_name_that_does_not_say_what_it_holds_is_found_but_for_fields_and_short_ones_beside_their_noun() -> (
    None
):
    text = (
        "class Answer:\n    said: str\n    def told(self, thing): ...\n"
        "def _found(x):\n    one = [one for one in x]\n    return {found for found in one}\n"
        "match x:\n    case int() as shown: shown.found(stated=1)"
    )
    assert sorted(module("fleet/a.py", text).vague_names()) == [
        "fleet/a.py:3 thing",
        "fleet/a.py:3 told",
        "fleet/a.py:4 _found",
        "fleet/a.py:5 one",
        "fleet/a.py:6 found",
        "fleet/a.py:8 shown",
    ]


def test_comments_for_tools_are_not_counted() -> None:
    text = "import os  # noqa: F401\n# Why it is so.\nx: int = ''  # type: ignore[assignment]  # reason\n"
    assert module("kernel/a.py", text).comments() == 1
