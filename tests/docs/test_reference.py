"""Nothing is undocumented: rules, fields, objects, steps, commands, promises, dependencies."""

import re
import tomllib
from pathlib import Path

import click
import pytest

from headgate.cli import exit_codes, main
from headgate.fleet import rules
from headgate.fleet.model import records
from headgate.fleet.model.objects import TargetState
from headgate.promises import ALL as PROMISES
from headgate.simulate.model import steps
from headgate.simulate.model.result import Result

from . import fields, pages

DOCS = pages.ROOT / "docs"
TABLES = {name: (page, rows) for page in pages.all_pages() for name, rows in fields.tables_in(page)}


@pytest.mark.parametrize("name", fields.registry())
def test_a_table_has_every_field_with_type_default_and_what_is_allowed(name: str) -> None:
    assert name in TABLES, f"no page has a table after <!-- fields: {name} -->"
    page, rows = TABLES[name]
    written = {row[0].strip("`"): tuple(row[1:4]) for row in rows}
    assert written == fields.rows(fields.registry()[name]), f"{pages.name_of(page)}: run docs.refresh"
    assert all(row[4] not in ("", "TODO") for row in rows), f"{pages.name_of(page)}: a field has no meaning"


def test_every_table_is_of_a_struct_that_there_is() -> None:
    assert set(TABLES) == set(fields.registry())


@pytest.mark.parametrize("kind", rules.KINDS)
def test_a_rule_has_a_page_with_its_example_its_fields_and_its_place_in_a_bracket(kind: str) -> None:
    page = DOCS / "rules" / f"{kind}.md"
    assert TABLES[f"{kind}Rule"][0] == page
    text = page.read_text("utf-8")
    for heading in ("## Fields", "## What it says", "## In a bracket", "## A scenario to run"):
        assert heading in text
    examples = [block for block in pages.blocks_of(page) if "kind: Scenario" in block.text]
    assert any(f"{kind}:" in block.text for block in examples)


def test_there_is_no_page_of_a_rule_that_there_is_not() -> None:
    assert {page.stem for page in (DOCS / "rules").glob("*.md")} == set(rules.KINDS)


def section(page: Path, heading: str) -> str:
    """The text below a heading, up to the next one of the same or a higher level."""
    text = page.read_text("utf-8")
    match = re.search(rf"^(#+) {re.escape(heading)}$", text, re.MULTILINE)
    assert match is not None, f"{pages.name_of(page)} has no heading {heading!r}"
    following = re.compile(rf"^#{{1,{len(match.group(1))}}} ", re.MULTILINE).search(text, match.end())
    return text[match.end() : following.start() if following else len(text)]


@pytest.mark.parametrize("kind", steps.KINDS)
def test_a_step_of_the_timeline_is_documented(kind: str) -> None:
    headings = re.findall(r"^### (.+)$", (DOCS / "scenarios.md").read_text("utf-8"), re.MULTILINE)
    assert [heading for heading in headings if kind in re.split(r"[^a-zA-Z]+", heading)]


def test_every_key_of_the_result_is_documented() -> None:
    written = section(DOCS / "scenarios.md", "Output")
    empty = Result("", 0, 0, 0, True, False, [], [], [], {})
    assert [key for key in empty.document() if f"`{key}`" not in written] == []


def commands() -> dict[str, click.Command]:
    context = click.Context(main.headgate)
    found = {name: main.headgate.get_command(context, name) for name in main.headgate.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


@pytest.mark.parametrize("name", commands())
def test_a_command_is_documented_with_its_options_arguments_and_exit_codes(name: str) -> None:
    written = section(DOCS / "cli.md", f"`headgate {name}`")
    for parameter in commands()[name].params:
        if isinstance(parameter, click.Option):
            assert all(f"`{option}`" in written or f"`{option} " in written for option in parameter.opts)
        elif isinstance(parameter, click.Argument):
            assert (parameter.metavar or parameter.name or "").strip("[].").upper() in written
    if commands()[name].params:
        assert "Exit codes" in written


def test_exit_codes_are_documented_once_for_all() -> None:
    written = section(DOCS / "cli.md", "Exit codes")
    for code in (exit_codes.OK, exit_codes.FAILED, exit_codes.UNREADABLE, exit_codes.PROMISE_BROKEN):
        assert f"| {code} |" in written


def test_every_promise_is_named() -> None:
    written = section(DOCS / "concepts.md", "Promises")
    assert [promise.name for promise in PROMISES if f"`{promise.name}`" not in written] == []


def test_every_state_of_a_group_and_of_a_member_is_told() -> None:
    written = (DOCS / "brackets.md").read_text("utf-8")
    states = [*records.GroupStatus.__args__, *records.MemberState.__args__]  # type: ignore[attr-defined]
    assert [state for state in states if f"`{state}`" not in written] == []


def test_every_state_of_a_target_is_told() -> None:
    written = (DOCS / "explain.md").read_text("utf-8")
    assert [state for state in TargetState.__args__ if f"`{state}`" not in written] == []  # type: ignore[attr-defined]


def test_every_dependency_is_named_with_its_reason() -> None:
    project = tomllib.loads((pages.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = [*project["dependencies"], *(one for extra in extras for one in extra)]
    names = {re.split(r"[<>=!~ \[;]", requirement)[0] for requirement in declared}
    written = (DOCS / "dependencies.md").read_text("utf-8")
    rows = {row[0].strip("`") for row in map(fields.cells, re.findall(r"^\| `.*$", written, re.MULTILINE))}
    assert rows == names


def test_every_example_folder_is_listed() -> None:
    folders = {path.name for path in (pages.ROOT / "examples").iterdir() if path.is_dir()}
    written = (DOCS / "README.md").read_text("utf-8")
    assert [name for name in sorted(folders - {"fleets"}) if f"examples/{name}" not in written] == []
