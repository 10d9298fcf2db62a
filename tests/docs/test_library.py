"""The public library: its names are documented, and the examples of its page give what they show."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import headgate

from . import pages

PAGE = pages.ROOT / "docs" / "library.md"
EXAMPLES = [
    block for page in pages.all_pages() for block in pages.blocks_of(page) if block.language == "pycon"
]
PAGES = list(dict.fromkeys(block.page for block in EXAMPLES))


@pytest.mark.parametrize("page", PAGES, ids=pages.name_of)
def test_examples_of_a_page_give_what_they_show(page: Path) -> None:
    text = "\n".join(block.text for block in EXAMPLES if block.page == page)
    example = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    said: list[str] = []
    result = doctest.DocTestRunner().run(example, out=said.append)
    assert result.attempted > 0
    assert result.failed == 0, "".join(said)


def test_exactly_the_exported_names_are_there_in_order() -> None:
    assert headgate.__all__ == sorted(headgate.__all__)
    assert dir(headgate) == headgate.__all__
    assert [name for name in headgate.__all__ if not hasattr(headgate, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        headgate.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_exactly_the_exported_names_are_documented() -> None:
    rows = re.findall(r"^\| (`.+`) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`(\w+)", row)}
    assert documented == set(headgate.__all__)


def test_every_exported_function_is_used_in_an_example() -> None:
    text = "".join(block.text for block in EXAMPLES)
    functions = [name for name in headgate.__all__ if name.islower()]
    assert [name for name in functions if f"headgate.{name}" not in text] == []


@pytest.mark.parametrize("first", ["headgate.simulate", "headgate.simulate.run", "headgate"])
def test_simulate_can_be_called_whatever_was_imported_before(first: str) -> None:
    code = (
        f"import {first}, headgate\ntry:\n    headgate.simulate('')\nexcept headgate.Rejected as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "the text holds 0 documents of kind Scenario; allowed is one\n"


def test_importing_the_library_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import headgate; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["headgate"]
