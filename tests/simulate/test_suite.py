"""Scenario files as tests: which files count, what fails, and what is printed about it."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from headgate.screens import suite_report
from headgate.simulate import suite
from headgate.simulate.model.result import Result
from headgate.simulate.scenario import Scenario

from .small import document, publish

ONE_JOB = {"name": "one job", "that": "result.jobs.size() == 1"}
TWO_JOBS = {"name": "two jobs", "that": "result.jobs.size() == 2"}


def write(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(value))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "deep" / "good.yaml", document(publish(), name="good", expect=[ONE_JOB]))
    write(tmp_path / "bad.yaml", document(publish(), name="bad", expect=[ONE_JOB, TWO_JOBS]))
    write(tmp_path / "fleet.yaml", {"apiVersion": "headgate.dev/v1", "kind": "Resource"})
    (tmp_path / "notes.txt").write_text("kind: Scenario")
    (tmp_path / "template.yaml").write_text("{{ not: yaml }")
    return tmp_path


def test_scenarios_are_found_in_folders_and_other_files_are_passed_over(folder: Path) -> None:
    outcomes = list(suite.run([folder]))
    assert [(outcome.scenario, outcome.passed) for outcome in outcomes] == [("bad", False), ("good", True)]


def test_a_file_that_is_named_must_be_a_scenario(folder: Path) -> None:
    (outcome,) = suite.run([folder / "fleet.yaml"])
    assert [problem.message for problem in outcome.problems] == ["holds no document of kind Scenario"]


def test_a_file_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    (outcome,) = suite.run([tmp_path / "gone.yaml"])
    assert [problem.message for problem in outcome.problems] == ["cannot be read: No such file or directory"]


def test_a_broken_scenario_in_a_folder_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("kind: Scenario\nspec: [")
    (outcome,) = suite.run([tmp_path])
    assert not outcome.passed
    assert outcome.problems


def test_a_file_is_run_once_however_often_it_is_named(folder: Path) -> None:
    assert len(list(suite.run([folder / "bad.yaml", folder]))) == 2


def test_several_scenarios_in_one_file_are_all_run(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(yaml.safe_dump_all([document(name="one"), document(name="two")]))
    assert [outcome.scenario for outcome in suite.run([file])] == ["one", "two"]


def test_text_names_the_expectation_the_expression_and_the_values(folder: Path) -> None:
    text = suite_report.to_text(list(suite.run([folder])))
    assert text == (
        "FAIL  bad   1 of 2 expectations, 1 jobs, 1m\n"
        f"      {folder / 'bad.yaml'}\n"
        "      expected: two jobs\n"
        "        result.jobs.size() == 2\n"
        "        is false\n"
        "          result.jobs.size() is 1\n"
        "ok    good  1 of 1 expectations, 1 jobs, 1m\n"
        "2 scenarios: 1 passed, 1 failed\n"
    )


def test_json_says_the_same_to_programs(folder: Path) -> None:
    report = json.loads(suite_report.to_json(list(suite.run([folder]))))
    assert report["passed"] is False
    assert [(item["scenario"], item["passed"]) for item in report["scenarios"]] == [
        ("bad", False),
        ("good", True),
    ]
    assert [item["passed"] for item in report["scenarios"][0]["expectations"]] == [True, False]


def test_junit_has_a_case_for_each_expectation_and_one_for_the_promises(folder: Path) -> None:
    root = ElementTree.fromstring(suite_report.to_junit(list(suite.run([folder]))))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("5", "1", "0")
    bad, good = root.findall("testsuite")
    assert [case.get("name") for case in bad] == ["one job", "two jobs", "promises hold"]
    assert [case.get("name") for case in good] == ["one job", "promises hold"]
    (failure,) = root.iter("failure")
    assert failure.get("message") == "result.jobs.size() == 2"
    assert "result.jobs.size() is 1" in (failure.text or "")


def test_junit_shows_an_unreadable_file_as_an_error(tmp_path: Path) -> None:
    root = ElementTree.fromstring(suite_report.to_junit(list(suite.run([tmp_path / "gone\x01.yaml"]))))
    assert root.get("errors") == "1"


def test_a_scenario_without_expectations_checks_the_promises_only(tmp_path: Path) -> None:
    (outcome,) = suite.run([write(tmp_path / "plain.yaml", document(publish(), name="plain"))])
    assert outcome.passed
    assert "promises only" in suite_report.to_text([outcome])


def test_a_broken_promise_fails_a_scenario_whatever_it_expects() -> None:
    violation = suite.Violation("OneJobPerTarget", 0, "a release target has at most one live job: two")
    outcome = suite.ScenarioOutcome("file", "name", violations=(violation,), seed=7)
    assert not outcome.passed
    assert "promise OneJobPerTarget broken at 1970-01-01T00:00:00Z, seed 7" in suite_report.to_text([outcome])
    assert "OneJobPerTarget broken" in suite_report.to_junit([outcome])


def test_an_error_of_our_own_fails_one_scenario_and_the_others_still_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("breaks", "works"):
        text = f"{{apiVersion: headgate.dev/v1, kind: Scenario, metadata: {{name: {name}}}, spec: {{start: 2026-03-01T09:00:00Z}}}}"
        (tmp_path / f"{name}.yaml").write_text(text)
    play = suite.simulate

    def sometimes(scenario: Scenario) -> Result:
        if scenario.name == "breaks":
            raise KeyError("nothing there")
        return play(scenario)

    monkeypatch.setattr(suite, "simulate", sometimes)
    broken, works = suite.run([tmp_path])
    assert "KeyError" in broken.failures[0].message
    assert works.passed
