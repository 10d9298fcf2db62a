"""Nothing of a workload is undocumented: types, stuck states, conditions and their reasons, fields of a status."""

import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from headgate.kernel.decisions import Reason
from headgate.simulate import scenario
from headgate.simulate.model import steps
from headgate.simulate.model.result import Result
from headgate.simulate.run import simulate
from headgate.workload import model, plan
from headgate.workload.plan import child_status, conditions, set_states, set_status

from . import pages
from .test_examples import SCENARIOS, played
from .test_reference import section

FOLDER = pages.ROOT / "docs" / "workloads"
EXAMPLES = sorted((pages.ROOT / "examples" / "workload").rglob("*.yaml"))
WRITERS_OF_CONDITIONS = (set_status, child_status)
CAPITALIZED = re.compile(r'"([A-Z][A-Za-z]+)"')
NAMED_REASON = re.compile(r"\bReason\.([A-Z_]+)")


def reasons_in(source: str) -> set[str]:
    """Of the words that all levels share, those it names."""
    return {Reason[word].value for word in NAMED_REASON.findall(source)}


STUCK = sorted(
    {
        reason
        for path in Path(plan.__path__[0]).glob("*.py")
        if path.stem not in ("set_status", "set_states", "child_status")
        for reason in reasons_in(path.read_text("utf-8"))
    }
    - {Reason.PUT_BACK}
)
"""Reasons why a unit of a workload is stuck: all that its plan gives, but for those of conditions, of a set as a whole and of what it announces."""
REFUSED_AT_ADMISSION = {Reason.MISCONFIGURED, Reason.NAME_TAKEN}
"""A simulation admits nothing that a webhook would refuse, so no scenario meets these."""


@functools.cache
def results() -> tuple[Result, ...]:
    """Of every set that the pages on workloads and the examples play."""
    on_pages = [played(block) for block in SCENARIOS if block.page.parent == FOLDER]
    return (*on_pages, *(simulate(scenario.load(path)) for path in EXAMPLES))


def documents() -> list[dict[str, Any]]:
    return [result.document() for result in results()]


def text_of(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


def unnamed(words: Iterator[str] | set[str], page: str) -> list[str]:
    written = text_of(page)
    return [word for word in sorted(set(words)) if f"`{word}`" not in written]


@pytest.mark.parametrize("name", STUCK)
def test_a_stuck_state_has_a_section_that_shows_it(name: str) -> None:
    written = section(FOLDER / "stuck.md", f"`{name}`")
    assert "kind: Scenario" in written


def test_what_is_stuck_is_told_from_how_far_the_set_is_by_its_reason() -> None:
    assert set_states.OF_THE_WHOLE.isdisjoint(STUCK)


def test_every_stuck_state_is_met_by_a_scenario_on_a_page() -> None:
    on_pages = [played(block) for block in SCENARIOS if block.page.parent == FOLDER]
    met = {line.type for result in on_pages for item in result.explanations for line in item.rules}
    assert set(STUCK) - met == REFUSED_AT_ADMISSION


@pytest.mark.parametrize("name", sorted(REFUSED_AT_ADMISSION))
def test_what_only_gets_past_a_webhook_is_shown_being_refused(name: str) -> None:
    written = section(FOLDER / "stuck.md", f"`{name}`")
    shown = [block for block in SCENARIOS if block.page == FOLDER / "stuck.md" and block.text in written]
    assert shown
    assert all(played(block).rejected for block in shown)


@pytest.mark.parametrize("kind", get_args(model.StrategyType))
def test_a_type_of_update_is_described_and_can_be_chosen(kind: str) -> None:
    assert f"| `{kind}`" in section(FOLDER / "strategies.md", "Types")
    assert f"`{kind}`" in text_of("choose-a-strategy.md")


@pytest.mark.parametrize("action", get_args(steps.WorkloadStep.__annotations__["action"]))
def test_a_command_to_a_set_is_played_on_the_page_about_operating(action: str) -> None:
    assert f"workload: {{action: {action}, " in text_of("operating.md")


def test_every_condition_and_every_reason_that_the_code_knows_is_told() -> None:
    types = {conditions.AVAILABLE, conditions.PROGRESSING, conditions.BREACHED, conditions.SCHEDULED}
    sources = [inspect.getsource(module) for module in WRITERS_OF_CONDITIONS]
    statuses = {word for source in sources for word in CAPITALIZED.findall(source)}
    reasons = {reason for source in sources for reason in reasons_in(source)}
    not_statuses = set(get_args(model.StrategyType))
    assert unnamed(types | reasons | (statuses - not_statuses), "status.md") == []


def test_every_condition_that_is_ever_reported_is_told() -> None:
    reported = {
        word
        for document in documents()
        for item in document["conditions"]
        for word in (item["type"], item["status"], item["reason"])
    }
    assert unnamed(reported, "status.md") == []


def keys_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            if key not in ("conditions", "leftBehind", "liveReplicas"):
                yield from keys_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys_in(item)


@pytest.mark.parametrize("kind", [model.KIND, model.CLIQUE_KIND, model.SCALING_GROUP_KIND])
def test_every_field_of_a_status_is_told(kind: str) -> None:
    statuses = [
        item["status"]
        for document in documents()
        for snapshot in document["snapshots"]
        for item in snapshot["objects"]
        if item["kind"] == kind
    ]
    assert statuses
    assert unnamed({key for status in statuses for key in keys_in(status)}, "status.md") == []


def test_every_state_of_an_explanation_is_told() -> None:
    assert unnamed({state.value for state in set_states.REASONS}, "status.md") == []


def pictures() -> list[Path]:
    return sorted((pages.ROOT / "docs" / "images").glob("workload-*.png"))


def test_every_picture_of_a_workload_is_shown_and_small() -> None:
    written = "".join(page.read_text("utf-8") for page in pages.all_pages())
    assert pictures()
    assert [picture.name for picture in pictures() if f"images/{picture.name}" not in written] == []
    assert [picture.name for picture in pictures() if picture.stat().st_size >= 200_000] == []
