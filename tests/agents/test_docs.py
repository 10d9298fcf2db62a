"""The pages of agents name every field, and their examples can be used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from headgate.agents.config_checks import CONFIGS
from headgate.fleet.model import agent_fields
from headgate.kernel import documents

DOCS = Path(__file__).parents[2] / "docs" / "agents"


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_field_of_a_config_is_on_its_page_and_no_other(kind: str) -> None:
    text = (DOCS / f"{kind}.md").read_text("utf-8")
    table = text[text.index("| field |") :].split("\n\n")[0]
    cells = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", table, re.MULTILINE)
    written = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert written == set(documents.fields_of(CONFIGS[kind]))


@pytest.mark.parametrize("kind", CONFIGS)
def test_the_example_of_a_page_is_a_config_that_can_be_used(kind: str) -> None:
    text = (DOCS / f"{kind}.md").read_text("utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    [example] = [yaml.safe_load(block) for block in blocks]
    assert example["spec"]["type"] == kind
    documents.read(CONFIGS[kind], example["spec"]["config"], "config")


def test_every_agent_is_among_the_types_wherever_they_are_listed() -> None:
    """A console that does not know a type cannot make an agent of it."""
    readme = (DOCS / "README.md").read_text("utf-8")
    objects = (DOCS.parent / "objects.md").read_text("utf-8")
    page = (DOCS.parents[1] / "console" / "src" / "pages" / "agents.tsx").read_text("utf-8")
    [offered] = re.findall(r"^const TYPES = \[(.*)\];$", page, re.MULTILINE)
    [listed] = re.findall(r"^\| `type` \|.*\| (`exec`.*) \|$", objects, re.MULTILINE)
    types = {*CONFIGS, "pull"}
    assert set(re.findall(r'"([\w-]+)"', offered)) == types
    assert set(re.findall(r"`([\w-]+)`", listed)) == types
    assert set(re.findall(r"^\| `([\w-]+)` \|.*\| \[", readme, re.MULTILINE)) == types


def test_what_is_open_by_default_is_told() -> None:
    text = (DOCS / "README.md").read_text("utf-8")
    table = text[text.index("| type | open |") :].split("\n\n")[0]
    told = {
        agent_type: tuple(re.findall(r"`(\w+)`", opened))
        for types, opened in re.findall(r"^\| (.+) \| (.+) \|$", table, re.MULTILINE)
        for agent_type in re.findall(r"`([\w-]+)`", types)
    }
    assert told == {**agent_fields.OPEN_BY_DEFAULT, "pull": agent_fields.OPEN_FOR_OTHERS}
