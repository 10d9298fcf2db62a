"""apply, diff, plan, delete -f and export: manifests in, sentences with file and line out."""

import json
from pathlib import Path
from typing import Any

import pytest

from headgate.fleet.engine import manifests
from headgate.simulate.run import simulate
from headgate.simulate.scenario import read

from . import golden
from .conftest import Command
from .fake_api import FakeApi, Reply, Request, problem

ENVIRONMENT = """\
apiVersion: headgate.dev/v1
kind: Environment
metadata: {name: prod}
spec: {resourceSelector: "true"}
"""
POLICY = """\
apiVersion: headgate.dev/v1
kind: Policy
metadata: {name: careful}
spec:
  rules:
    - retry: {maxRetries: 2}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yaml"
    path.write_text(f"{ENVIRONMENT}---\n{POLICY}")
    return path


def results(*actions: str) -> dict[str, Any]:
    names = [("Environment", "prod"), ("Policy", "careful")]
    return {"results": [{"kind": k, "name": n, "action": a} for (k, n), a in zip(names, actions)]}


def test_apply_sends_all_documents_in_one_call(api: FakeApi, run: Command, file: Path) -> None:
    api.on("POST", "apply", results("created", "configured"))
    result = run("apply", "-f", file)
    assert result.stdout.splitlines() == [
        "Environment prod  created",
        "Policy careful    configured",
        "1 created, 1 configured",
    ]
    assert [one["kind"] for one in api.last.body["manifests"]] == ["Environment", "Policy"]
    assert api.last.body["dryRun"] is False


def test_apply_reads_standard_input(api: FakeApi, run: Command) -> None:
    api.on("POST", "apply", results("unchanged"))
    assert run("apply", "-f", "-", "--dry-run", stdin=ENVIRONMENT).stdout.splitlines()[-1] == (
        "1 unchanged (dry run, nothing stored)"
    )
    assert api.last.body["dryRun"] is True


def test_problems_of_the_server_are_said_at_their_lines(api: FakeApi, run: Command, file: Path) -> None:
    errors = [
        ("manifests[1].spec.rules[0].retry.maxRetries", "must be at most 1, not 2"),
        ("manifests[0].spec.colour", "is not a known key"),
        ("manifests", "are too many"),
    ]
    api.on("POST", "apply", problem(422, "invalid", *errors))
    result = run("apply", "-f", file)
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"{file}:11: spec.rules[0].retry.maxRetries: must be at most 1, not 2",
        f"{file}:4: spec.colour: is not a known key",
        "manifests: are too many",
    ]


def test_what_is_no_yaml_asks_no_server(api: FakeApi, run: Command, file: Path) -> None:
    file.write_text("a: [1,\nb: 2\n")
    result = run("apply", "-f", file)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"{file}:3: ")
    assert api.requests == []


def test_a_key_that_is_written_twice_is_refused(run: Command, file: Path) -> None:
    file.write_text(ENVIRONMENT + "kind: Policy\n")
    result = run("apply", "-f", file)
    assert (result.exit_code, result.stderr) == (2, f"{file}:2: kind: is written twice, again in line 5\n")


def test_a_number_that_json_does_not_have_is_refused(run: Command, file: Path) -> None:
    file.write_text("kind: Signal\nspec: {value: .nan}\n")
    assert run("apply", "-f", file).exit_code == 2


def test_scenarios_in_a_folder_are_passed_over(api: FakeApi, run: Command, file: Path) -> None:
    (file.parent / "scenario.yaml").write_text("kind: Scenario\n")
    api.on("POST", "apply", results("created", "created"))
    result = run("apply", "-f", file.parent)
    assert result.exit_code == 0
    assert "is a scenario, passed over" in result.stderr
    assert len(api.last.body["manifests"]) == 2


def test_a_scenario_by_name_is_refused_with_what_plays_it(run: Command, file: Path) -> None:
    file.write_text("kind: Scenario\n")
    result = run("apply", "-f", file)
    assert result.exit_code == 2
    assert f"headgate simulate {file}" in result.stderr


def test_a_folder_without_manifests_is_said(run: Command, tmp_path: Path) -> None:
    assert run("apply", "-f", tmp_path).exit_code == 2


DIFFERENCES: list[dict[str, Any]] = [
    {"kind": "Environment", "name": "prod", "action": "created", "before": None, "after": {}, "fields": []},
    {
        "kind": "Policy",
        "name": "careful",
        "action": "configured",
        "before": {},
        "after": {},
        "fields": [{"path": "spec.priority", "before": 0, "after": 5}],
    },
    {"kind": "Resource", "name": "node-1", "action": "unchanged", "before": {}, "after": {}, "fields": []},
]


def test_diff_shows_every_field_that_would_change(api: FakeApi, run: Command, file: Path) -> None:
    api.on("POST", "diff", {"differences": DIFFERENCES})
    result = run("diff", "-f", file)
    assert result.exit_code == 0
    golden.compare("diff", result.stdout)


def test_diff_ends_with_two_when_asked_to(api: FakeApi, run: Command, file: Path) -> None:
    api.on("POST", "diff", {"differences": DIFFERENCES})
    assert run("diff", "-f", file, "--exit-code").exit_code == 2
    api.on("POST", "diff", {"differences": DIFFERENCES[2:]})
    assert run("diff", "-f", file, "--exit-code").exit_code == 0


def planned(differences: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A true output document: what a run of the simulator gives."""
    objects = [
        {"apiVersion": "headgate.dev/v1", "kind": "Environment", "metadata": {"name": "prod"}},
        {"apiVersion": "headgate.dev/v1", "kind": "Deployment", "metadata": {"name": "api"}},
        {"apiVersion": "headgate.dev/v1", "kind": "Resource", "metadata": {"name": "node-1"}},
    ]
    for one in objects[:2]:
        one["spec"] = {"resourceSelector": "true"}
    scenario = {
        "apiVersion": "headgate.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": "plan"},
        "spec": {
            "start": "2026-03-01T09:00:00Z",
            "objects": objects,
            "timeline": [{"at": "+0s", "publish": {"deployment": "api", "tag": "v1"}}],
        },
    }
    result = simulate(read(scenario))
    finish = {"at": "2026-03-01T09:01:00Z", "converged": True, "wasCut": False, "waiting": []}
    return {"differences": differences, **result.document(), "finish": finish, **more}


def test_plan_shows_differences_and_the_rollout(api: FakeApi, run: Command, file: Path) -> None:
    api.on("POST", "plan", planned(DIFFERENCES))
    result = run("plan", "-f", file, "--until", "72h")
    assert result.exit_code == 2, result.output
    assert result.stdout.startswith("+ Environment prod\n~ Policy careful\n")
    assert "node-1  api v1" in result.stdout
    assert "Plan: 1 to create, 1 to change" in result.stdout
    assert api.last.body["until"] == "72h"


def test_plan_of_a_version_publishes_nothing(api: FakeApi, run: Command) -> None:
    api.on("POST", "plan", planned(DIFFERENCES))
    assert run("plan", "api", "v1", "--target-selector", "true", "--metadata", "a=b").exit_code == 2
    version = {"deployment": "api", "tag": "v1", "targetSelector": "true", "metadata": {"a": "b"}}
    assert api.last.body == {"version": version, "manifests": []}


def test_plan_ends_with_zero_when_there_is_nothing_to_do(api: FakeApi, run: Command, file: Path) -> None:
    api.on("POST", "plan", planned(DIFFERENCES[2:], jobs=[], groups=[]))
    assert run("plan", "-f", file).exit_code == 0


def test_plan_ends_with_one_when_the_changes_are_refused(api: FakeApi, run: Command, file: Path) -> None:
    refused = {
        "at": "2026-03-01T09:00:00Z",
        "step": "changes[0]",
        "errors": [{"path": "spec", "message": "is wrong"}],
    }
    api.on("POST", "plan", planned(DIFFERENCES, rejected=[refused]))
    result = run("plan", "-f", file)
    assert result.exit_code == 1
    assert "spec: is wrong" in result.stdout


@pytest.mark.parametrize(
    "arguments", [("api",), (), ("--colour",), ("-f", "gone.yaml"), ("api", "v1", "--until", "soon")], ids=str
)
def test_plan_never_ends_with_two_for_an_error(
    api: FakeApi, run: Command, arguments: tuple[str, ...]
) -> None:
    result = run("plan", *arguments)
    assert result.exit_code == 1
    assert result.stderr
    assert api.requests == []


def test_plan_refused_by_the_server_ends_with_one(api: FakeApi, run: Command, file: Path) -> None:
    api.on("POST", "plan", problem(422, "invalid", ("manifests[0].spec", "is wrong")))
    result = run("plan", "-f", file)
    assert (result.exit_code, result.stderr) == (1, f"{file}:4: spec: is wrong\n")


def test_delete_by_manifests_goes_backwards_and_passes_over_what_is_gone(
    api: FakeApi, run: Command, file: Path
) -> None:
    api.on("DELETE", "environments prod", Reply(None))
    file.write_text(
        f"{ENVIRONMENT}---\n{POLICY}---\n"
        "apiVersion: headgate.dev/v1\nkind: Version\nmetadata: {}\nspec: {deployment: api, tag: v1}\n"
    )
    result = run("delete", "-f", file)
    assert result.stdout.splitlines() == [
        "version api/v1 was not there",
        "policy careful was not there",
        "environment prod deleted",
    ]


def test_delete_stops_at_what_is_in_use(api: FakeApi, run: Command, file: Path) -> None:
    api.on("DELETE", "policies careful", problem(409, "careful is in use"))
    result = run("delete", "-f", file)
    assert (result.exit_code, result.stderr) == (1, "careful is in use\n")


def test_export_can_be_applied(api: FakeApi, run: Command, file: Path, tmp_path: Path) -> None:
    values = [document.value for document in manifests.read_documents(file.read_text(), source="x")]
    api.on("GET", "export", {"manifests": values})
    exported = tmp_path / "exported.yaml"
    exported.write_text(run("export").stdout)
    bodies: list[Any] = []

    def keep(request: Request) -> Reply:
        bodies.append(request.body["manifests"])
        return Reply(results("unchanged", "unchanged"))

    api.on("POST", "apply", keep)
    assert run("apply", "-f", exported).exit_code == 0
    assert bodies == [values]
    assert json.loads(run("export", "-o", "json").stdout) == {"manifests": values}
    assert run("export", "-o", "name").stdout == "Environment/prod\nPolicy/careful\n"
    assert run("export", "-o", "table").stdout.splitlines() == [
        "KIND         OBJECTS",
        "Environment  1",
        "Policy       1",
    ]


ASKED = "environment qa has 2 release targets: api/qa/a, api/qa/b; if that is meant, give confirm"


def test_a_set_is_pruned_once_it_is_confirmed(api: FakeApi, run: Command, file: Path) -> None:
    api.on("POST", "apply", problem(409, ASKED, ("confirm", ASKED)))
    result = run("apply", "-f", file, "--set", "shop", "--prune")
    assert result.exit_code == 2
    assert result.stderr.startswith("environment qa has 2 release targets: api/qa/a, api/qa/b. Delete it?")
    api.on(
        "POST",
        "apply",
        {"results": [{"kind": "Environment", "name": "qa", "action": "deleted", "note": None}]},
    )
    result = run("apply", "-f", file, "--set", "shop", "--prune", "--yes")
    assert result.stdout.splitlines() == ["Environment qa  deleted", "1 deleted"]
    body = api.last.body
    assert (body["set"], body["prune"], body["confirm"]) == ("shop", True, True)


def test_pruning_needs_a_set(api: FakeApi, run: Command, file: Path) -> None:
    result = run("apply", "-f", file, "--prune")
    assert (result.exit_code, result.stderr) == (
        2,
        "--prune: needs --set NAME, the set that these manifests are\n",
    )


def test_diff_shows_deletions(api: FakeApi, run: Command) -> None:
    gone = {
        "kind": "Environment",
        "name": "qa",
        "action": "deleted",
        "before": {},
        "after": None,
        "fields": [],
    }
    kept = {**gone, "kind": "Version", "name": "api/v1", "action": "kept", "note": "v1 runs on api/prod/a"}
    api.on("POST", "diff", {"differences": [gone, kept]})
    result = run("diff", "--delete", "env/qa", "--exit-code")
    assert result.stdout.splitlines() == [
        "- Environment qa",
        "= Version api/v1 is kept: v1 runs on api/prod/a",
        "1 to delete, 1 kept",
    ]
    assert result.exit_code == 2
    assert api.last.body == {"manifests": [], "deletions": [{"kind": "Environment", "name": "qa"}]}


@pytest.mark.parametrize("wrong", ["qa", "env/", "jobs/x"])
def test_what_cannot_be_deleted_is_called_wrongly(api: FakeApi, run: Command, wrong: str) -> None:
    assert run("diff", "--delete", wrong).exit_code == 2
    assert api.requests == []
