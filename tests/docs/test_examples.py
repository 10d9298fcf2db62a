"""What the pages show is true: examples run, manifests are valid, printed output is what is printed."""

import atexit
import functools
import json
import re
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import headgate
from headgate.fleet import rules
from headgate.fleet.engine import manifests
from headgate.kernel.problems import Problem
from headgate.simulate import scenario
from headgate.simulate.model.result import Result
from headgate.simulate.run import simulate

from . import pages

FRAGMENT_KEYS = {"timeline", "agents", "expect", "objects"}
SERVICE_MARKS = {"oidc", "prometheus"}
"""Checked in `test_service`."""
CLUSTER_MARKS = {"kubernetes"}
"""Applied to a control plane by the tests that have one."""
KNOWN_MARKS = {"", "fails", "wrong", "rules", *FRAGMENT_KEYS, *SERVICE_MARKS, *CLUSTER_MARKS}
SHELL_WORDS = ("make", "git", "python3", "echo", "export", "cd")


def named(block: pages.Block) -> str:
    return block.label


def is_scenario(block: pages.Block) -> bool:
    return "kind: Scenario" in block.text


SCENARIOS = [block for block in pages.all_blocks("yaml", "") if is_scenario(block)]
FAILING = pages.all_blocks("yaml", "fails")
MANIFESTS = [block for block in pages.all_blocks("yaml", "") if not is_scenario(block)]
PAGES_WITH_COMMANDS = [
    page
    for page in pages.all_pages()
    if pages.name_of(page) not in pages.NEEDING_A_SERVER | pages.NEEDING_A_CLUSTER
    and any(block.language == "console" for block in pages.blocks_of(page))
]


@functools.cache
def folder_of(page: Path) -> Path:
    """A folder with the page's own files as they are at the end of the page."""
    folder = Path(tempfile.mkdtemp(prefix="headgate-docs-"))
    atexit.register(shutil.rmtree, folder)
    pages.furnish(folder)
    for block in pages.blocks_of(page):
        if block.file_name is not None:
            pages.write_file(block, folder)
    return folder


@functools.cache
def played(block: pages.Block) -> Result:
    contents = manifests.read_documents(block.text, source=block.label)
    [only] = scenario.read_all(contents, folder_of(block.page))
    return simulate(only)


@pytest.mark.parametrize("block", SCENARIOS, ids=named)
def test_a_scenario_on_a_page_expects_something_and_gets_it(block: pages.Block) -> None:
    result = played(block)
    assert result.expectations, "a scenario that expects nothing shows nothing"
    assert [f"{item.name}: {item.message}" for item in result.expectations if not item.passed] == []
    assert result.violations == []


@pytest.mark.parametrize("block", FAILING, ids=named)
def test_a_scenario_that_is_said_to_fail_fails(block: pages.Block) -> None:
    assert not all(item.passed for item in played(block).expectations)


def problems_in(block: pages.Block) -> list[Problem]:
    return headgate.validate(block.text)


@pytest.mark.parametrize("block", MANIFESTS, ids=named)
def test_a_manifest_on_a_page_is_valid(block: pages.Block) -> None:
    assert [str(problem) for problem in problems_in(block)] == []


@pytest.mark.parametrize("block", pages.all_blocks("yaml", "wrong"), ids=named)
def test_a_manifest_that_is_said_to_be_wrong_is_refused(block: pages.Block) -> None:
    assert problems_in(block) != []


@pytest.mark.parametrize("block", pages.all_blocks("yaml", "rules"), ids=named)
def test_rules_on_a_page_are_valid(block: pages.Block) -> None:
    problems: list[Problem] = []
    rules.read_rules(yaml.safe_load(block.text), "policy", "rules", problems)
    assert [str(problem) for problem in problems] == []


@pytest.mark.parametrize("block", pages.all_blocks("yaml", *sorted(FRAGMENT_KEYS)), ids=named)
def test_a_piece_of_a_scenario_on_a_page_is_valid(block: pages.Block) -> None:
    spec = {"start": "2026-03-01T09:00:00Z", block.mark: yaml.safe_load(block.text)}
    document: dict[str, Any] = {"apiVersion": "headgate.dev/v1", "kind": "Scenario"}
    scenario.read({**document, "metadata": {"name": "piece"}, "spec": spec})


@pytest.mark.parametrize("block", pages.all_blocks("json", ""), ids=named)
def test_json_on_a_page_is_json(block: pages.Block) -> None:
    json.loads(block.text)


@pytest.mark.parametrize("page", pages.all_pages(), ids=pages.name_of)
def test_every_yaml_block_is_of_a_kind_that_is_checked(page: Path) -> None:
    marks = {block.mark for block in pages.blocks_of(page) if block.language in ("yaml", "yml")}
    assert marks <= KNOWN_MARKS


@pytest.mark.parametrize("page", PAGES_WITH_COMMANDS, ids=pages.name_of)
def test_following_a_page_prints_what_it_shows(page: Path, tmp_path: Path) -> None:
    pages.furnish(tmp_path)
    exit_code = 0
    for block in pages.blocks_of(page):
        if block.file_name is not None:
            pages.write_file(block, tmp_path)
        if block.language != "console":
            continue
        for command in pages.commands_of(block):
            if command.line.startswith("headgate "):
                exit_code, printed = pages.run(shlex.split(command.line)[1:], tmp_path)
                assert pages.is_printed(command.printed, printed), f"{command.line}\n{printed}"
            elif command.line == "echo $?":
                assert command.printed.strip() == str(exit_code)
            else:
                check_other_command(command.line)


def check_other_command(line: str) -> None:
    """Commands that cost too much to run here are looked up instead."""
    words = shlex.split(line)
    assert words[0] in SHELL_WORDS, f"{line}: neither headgate nor a command that is known here"
    if words[0] == "make":
        targets = re.findall(r"^(\w+):", (pages.ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        assert set(words[1:]) <= set(targets)


def sentences(result: Result) -> set[str]:
    said = {line.message for item in result.explanations for line in item.rules}
    return said | {item.message for item in result.explanations}


@pytest.mark.parametrize("block", pages.all_blocks("text", "said"), ids=named)
def test_sentences_on_a_page_are_said_by_a_scenario_of_that_page(block: pages.Block) -> None:
    said: set[str] = set()
    for candidate in SCENARIOS:
        if candidate.page == block.page:
            said |= sentences(played(candidate))
    assert set(block.text.splitlines()) - said == set()
