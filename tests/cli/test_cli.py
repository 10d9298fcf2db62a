"""The command line: what it prints, where, and with which exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from headgate.cli.main import headgate

SCENARIO: dict[str, Any] = {
    "apiVersion": "headgate.dev/v1",
    "kind": "Scenario",
    "metadata": {"name": "small"},
    "spec": {
        "start": "2026-03-01T09:00:00Z",
        "objects": [
            {
                "apiVersion": "headgate.dev/v1",
                "kind": "Environment",
                "metadata": {"name": "prod"},
                "spec": {"resourceSelector": "true"},
            },
            {
                "apiVersion": "headgate.dev/v1",
                "kind": "Deployment",
                "metadata": {"name": "api"},
                "spec": {"resourceSelector": "true"},
            },
            {"apiVersion": "headgate.dev/v1", "kind": "Resource", "metadata": {"name": "node-1"}},
        ],
        "timeline": [{"at": "+0s", "publish": {"deployment": "api", "tag": "v1"}}],
        "expect": [{"name": "one job", "that": "result.jobs.size() == 1"}],
    },
}


def run(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(headgate, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(SCENARIO))
    return path


def test_simulate_prints_the_timeline(file: Path) -> None:
    result = run("simulate", file)
    assert result.exit_code == 0
    assert "Day 1 09:00  +0m  node-1  api v1  started" in result.stdout
    assert "Finish  Day 1 09:01 (+1m, 2026-03-01 09:01 UTC): converged" in result.stdout


def test_simulate_prints_the_same_json_each_time(file: Path) -> None:
    first, second = run("simulate", file, "--output", "json"), run("simulate", file, "--output", "json")
    assert first.stdout_bytes == second.stdout_bytes
    document = json.loads(first.stdout)
    assert document["converged"] is True
    assert document["expectations"] == [{"name": "one job", "passed": True, "message": ""}]


def test_simulate_writes_the_page_to_a_file(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run("simulate", file, "--output", "html", "-o", page).exit_code == 0
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("command", ["simulate", "test"])
def test_the_short_option_is_the_form_as_everywhere(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    json.loads(run(command, file, "-o", "json").stdout)
    misspelled = run(command, file, "-o", "jsn")
    assert misspelled.exit_code == 2
    assert 'is "jsn"; allowed are text, json, ' in misspelled.stderr
    assert "--output-file writes to a file" in misspelled.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["simulate", "test"])
def test_a_file_is_named_by_its_own_option_or_by_a_path_with_a_suffix(
    file: Path, tmp_path: Path, command: str
) -> None:
    own, short = tmp_path / "json", tmp_path / "short.json"
    assert run(command, file, "-o", "json", "--output-file", own).stdout == ""
    assert run(command, file, "-o", short, "--output", "json").stdout == ""
    assert json.loads(own.read_text()) == json.loads(short.read_text())


def test_simulate_takes_the_end_and_the_seed_from_the_command_line(file: Path) -> None:
    document = json.loads(run("simulate", file, "--output", "json", "--until", "+30s", "--seed", "5").stdout)
    assert document["seed"] == 5
    assert document["end"] == "2026-03-01T09:00:30Z"
    assert document["converged"] is False


def test_simulate_refuses_an_end_that_is_no_time(file: Path) -> None:
    result = run("simulate", file, "--until", "tomorrow")
    assert result.exit_code == 2
    assert result.stderr.startswith("--until: 'tomorrow' is not a time")


def test_simulate_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    result = run("simulate", tmp_path / "gone.yaml")
    assert result.exit_code == 2
    assert result.stderr == f"{tmp_path / 'gone.yaml'}: cannot be read: No such file or directory\n"


def test_simulate_says_every_problem_of_a_scenario_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(
        "apiVersion: headgate.dev/v1\n"
        "kind: Scenario\n"
        "metadata: {name: broken}\n"
        "spec:\n"
        "  start: 2026-03-01T09:00:00Z\n"
        "  seeds: 1\n"
        "  agents:\n"
        "    - {duration: 8}\n"
    )
    result = run("simulate", path)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert [line.split(": ")[:2] for line in result.stderr.splitlines()] == [
        [f"{path}:6", "spec.seeds"],
        [f"{path}:8", "spec.agents[0].duration"],
    ]


def test_simulate_ends_with_three_when_a_promise_is_broken(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headgate.promises.watch import FleetWatch

    original = FleetWatch.on_job_created

    def twice(self: FleetWatch, job: Any, verdicts: Any) -> None:
        original(self, job, verdicts)
        original(self, job, verdicts)

    monkeypatch.setattr(FleetWatch, "on_job_created", twice)
    result = run("simulate", file)
    assert result.exit_code == 3
    assert "promise NoDoubleEffect broken (seed 1)" in result.stderr


def test_test_passes_when_everything_holds(file: Path) -> None:
    result = run("test", file)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "1 scenario: 1 passed, 0 failed"


def test_test_ends_with_one_when_an_expectation_fails(file: Path) -> None:
    changed = json.loads(json.dumps(SCENARIO))
    changed["spec"]["expect"][0]["that"] = "result.jobs.size() == 2"
    file.write_text(json.dumps(changed))
    result = run("test", file)
    assert result.exit_code == 1
    assert "expected: one job" in result.stdout


def test_test_writes_junit(file: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    assert run("test", file, "--output", "junit", "-o", report).exit_code == 0
    assert report.read_text().startswith('<?xml version="1.0"')


def test_test_ends_with_two_when_there_is_nothing_to_run(tmp_path: Path) -> None:
    result = run("test", tmp_path)
    assert result.exit_code == 2
    assert "no scenario in" in result.stderr


def test_test_ends_with_two_when_a_file_cannot_be_read(file: Path) -> None:
    file.write_text("kind: Scenario\n")
    result = run("test", file.parent)
    assert result.exit_code == 2
    assert "metadata.name: is required" in result.stdout


def test_validate_passes_what_is_well_formed(file: Path) -> None:
    result = run("validate", "-f", file)
    assert (result.exit_code, result.stdout) == (0, "1 document, no problem\n")


def test_validate_prints_every_problem_with_file_line_and_path(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(
        "apiVersion: headgate.dev/v1\n"
        "kind: Policy\n"
        "metadata: {name: p}\n"
        "spec:\n"
        "  rules:\n"
        "    - resourceConcurrency: {groupSelector: 'resource.', limitType: percentage, limitValue: 120}\n"
        "  colour: red\n"
    )
    result = run("validate", "-f", path)
    assert result.exit_code == 1
    said = result.stdout
    assert f"{path}:6: spec.rules[0].resourceConcurrency.limitValue" in said
    assert f"{path}:6: spec.rules[0].resourceConcurrency.groupSelector" in said
    assert f"{path}:7: spec.colour" in said
    assert result.stderr == "3 problems\n"


def test_validate_looks_into_the_objects_of_a_scenario(file: Path) -> None:
    changed = json.loads(json.dumps(SCENARIO))
    changed["spec"]["objects"][0]["spec"]["resourceSelector"] = "resource."
    file.write_text(yaml.safe_dump(changed))
    result = run("validate", "-f", file)
    assert result.exit_code == 1
    assert ": spec.objects[0]" in result.stdout or "spec.resourceSelector" in result.stdout


def test_validate_reads_standard_input_and_folders(file: Path) -> None:
    assert run("validate", "-f", "-", stdin="{name: p, rules: []}").exit_code == 0
    assert run("validate", "-f", file.parent).exit_code == 0


def test_validate_ends_with_two_for_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert run("validate", "-f", tmp_path / "gone.yaml").exit_code == 2


def test_cel_shows_value_type_reads_and_cost() -> None:
    result = run(
        "cel", "resource.kind == 'Node' AND resource.size > 2", "--bind", 'resource={"kind":"Node","size":3}'
    )
    assert result.exit_code == 0
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert lines["value"] == "true"
    assert lines["type"] == "bool"
    assert lines["reads"] == "resource.kind, resource.size"
    assert lines["cost"].endswith("steps")


def test_cel_says_what_it_lacks_to_have_a_value() -> None:
    result = run("cel", "deployment.name == 'api'")
    assert result.exit_code == 0
    assert "no value: give --bind deployment=JSON" in result.stdout


def test_cel_knows_the_functions_of_gates() -> None:
    assert run("cel", "target.ready() && linearlyUpdated(target, targets, 3)").exit_code == 0


def test_cel_points_at_what_is_malformed() -> None:
    result = run("cel", "resource.kind = 'Node'")
    assert result.exit_code == 1
    assert "^" in result.stderr


def test_cel_says_why_there_is_no_value() -> None:
    result = run("cel", "resource.gone", "--bind", "resource={}")
    assert result.exit_code == 1
    assert "fails to evaluate" in result.stderr


def test_cel_refuses_a_bind_that_is_not_json() -> None:
    result = run("cel", "a", "--bind", "a={")
    assert result.exit_code == 2
    assert result.stderr == "--bind a: is not JSON: {\n"


def test_cel_takes_a_plain_word_as_a_string() -> None:
    assert '"hello"' in run("cel", "a", "--bind", "a=hello").stdout


def test_version_is_printed() -> None:
    assert run("version").stdout.startswith("headgate ")


def test_help_names_every_command_and_the_exit_codes() -> None:
    text = run("--help").stdout
    for command in ("simulate", "test", "validate", "cel", "version"):
        assert command in text
    assert "3 a promise was broken" in " ".join(text.split())


def command_line(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from headgate.cli.main import main; main()", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_an_internal_error_is_one_line_and_no_traceback(file: Path) -> None:
    broken = {"PYTHONWARNINGS": "ignore"}
    code = (
        "import headgate.simulate.run as run\n"
        "def fail(*_): raise RuntimeError('boom')\n"
        "run.simulate = fail\n"
        "from headgate.cli.main import main\n"
        "main()\n"
    )
    for debug, shows in (("0", False), ("1", True)):
        done = subprocess.run(
            [sys.executable, "-c", code, "simulate", str(file)],
            capture_output=True,
            text=True,
            env={**os.environ, **broken, "HEADGATE_DEBUG": debug},
            check=False,
        )
        assert done.returncode != 0
        assert ("Traceback" in done.stderr) is shows
        assert "boom" in done.stderr


def test_help_does_not_load_the_engine() -> None:
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from headgate.cli.main import headgate\n"
        "CliRunner().invoke(headgate, ['--help'])\n"
        "print([name for name in sys.modules if name.startswith(('headgate.fleet', 'headgate.cel', 'yaml'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_unknown_command_is_refused() -> None:
    assert command_line("explode").returncode == 2
