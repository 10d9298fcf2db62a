"""Commands that change something: what they send, what they say."""

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Command
from .fake_api import FakeApi, Reply, problem

CASES: list[tuple[str, str, str, Any, str]] = [
    (
        "publish api v2 --metadata a=b --config replicas=3 --config note=x --target-selector true --message hi",
        "POST",
        "deployments api versions",
        {
            "tag": "v2",
            "status": "ready",
            "config": {"replicas": 3, "note": "x"},
            "metadata": {"a": "b"},
            "targetSelector": "true",
            "message": "hi",
        },
        "published api v2 for targets where true",
    ),
    (
        "publish api v2",
        "POST",
        "deployments api versions",
        {"tag": "v2", "status": "ready"},
        "published api v2",
    ),
    (
        "approve api v2 -e prod --reason looks-good",
        "POST",
        "approvals",
        {
            "deployment": "api",
            "tag": "v2",
            "environment": "prod",
            "status": "approved",
            "reason": "looks-good",
        },
        "approved api v2 for prod",
    ),
    (
        "reject api v2 --environment prod",
        "POST",
        "approvals",
        {"deployment": "api", "tag": "v2", "environment": "prod", "status": "rejected"},
        "rejected api v2 for prod",
    ),
    (
        "skip sign-off --policy careful --deployment api --tag v2 --reason urgent --for 2h",
        "POST",
        "skips",
        {
            "rule": "sign-off",
            "policy": "careful",
            "deployment": "api",
            "tag": "v2",
            "reason": "urgent",
            "expiresAt": "2026-03-01T12:00:00Z",
        },
        "rule sign-off is skipped; take it back with `headgate delete skip id-1`",
    ),
    (
        "freeze incident-42 --reason database --selector true --until 2026-03-02T00:00:00Z",
        "POST",
        "freezes",
        {
            "name": "incident-42",
            "reason": "database",
            "selector": "true",
            "expiresAt": "2026-03-02T00:00:00Z",
        },
        "everything is frozen; end it with `headgate unfreeze incident-42`",
    ),
    (
        "freeze --reason database",
        "POST",
        "freezes",
        {"name": "freeze-20260301-100000", "reason": "database"},
        "everything is frozen; end it with `headgate unfreeze incident-42`",
    ),
    ("unfreeze incident-42", "DELETE", "freezes incident-42", None, "freeze incident-42 is over"),
    (
        "retry api/prod/node-1",
        "POST",
        "release-targets api/prod/node-1 retry",
        None,
        "api/prod/node-1 is tried again; see `headgate explain api/prod/node-1`",
    ),
    ("retry --group g-1", "POST", "groups g-1 retry", None, "group g-1 is tried again"),
    (
        "rollback api/prod/node-1",
        "POST",
        "release-targets api/prod/node-1 rollback",
        None,
        "api/prod/node-1 goes back to its version before; see `headgate explain api/prod/node-1`",
    ),
    (
        "redeploy api/prod/node-1",
        "POST",
        "release-targets api/prod/node-1 redeploy",
        None,
        "api/prod/node-1 runs its version once more; see `headgate explain api/prod/node-1`",
    ),
    ("abort g-1", "POST", "groups g-1 abort", {"postHooks": True}, "group g-1 is aborted"),
    ("abort g-1 --no-post-hooks", "POST", "groups g-1 abort", {"postHooks": False}, "group g-1 is aborted"),
    ("release-slot g-1", "POST", "groups g-1 release", None, "group g-1 holds no slot any more"),
    (
        "skip-member g-1 api",
        "POST",
        "groups g-1 skip-member",
        {"member": "api"},
        "api is skipped in group g-1",
    ),
    (
        "resume stop-early --policy careful --environment prod",
        "POST",
        "budgets resume",
        {"rule": "stop-early", "policy": "careful", "environment": "prod"},
        "rule stop-early lets rollouts go on in prod",
    ),
    ("delete resource node-1", "DELETE", "resources node-1", None, "resource node-1 deleted"),
    ("delete version api/v2", "DELETE", "versions api/v2", None, "version api/v2 deleted"),
    ("workspace create test", "POST", "workspaces", {"name": "test"}, "workspace test created"),
    ("workspace delete test --yes", "DELETE", "workspaces test", None, "workspace test deleted"),
    ("token delete ci", "DELETE", "tokens ci", None, "token ci deleted"),
]


@pytest.mark.parametrize(("line", "method", "place", "body", "said"), CASES, ids=[case[0] for case in CASES])
def test_a_command_sends_what_it_says(
    api: FakeApi, run: Command, line: str, method: str, place: str, body: Any, said: str
) -> None:
    api.on(method, place, Reply(None) if method == "DELETE" else Reply({"id": "id-1", "name": "incident-42"}))
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (0, said + "\n"), result.output
    assert api.last.body == body
    assert api.last.headers["idempotency-key"]


@pytest.mark.parametrize(
    ("line", "method", "place"),
    [
        ("unfreeze incident-42", "DELETE", "freezes incident-42"),
        ("resume stop-early --policy careful", "POST", "budgets resume"),
        ("delete resource node-1", "DELETE", "resources node-1"),
        ("token delete ci", "DELETE", "tokens ci"),
        ("token create ci --role viewer", "POST", "tokens"),
        ("unpause-version api v2", "PATCH", "deployments api versions v2"),
        ("pause-version api v1", "PATCH", "deployments api versions v1"),
        ("publish api v3", "POST", "deployments api versions"),
        ("withdraw-vote api v2 -e prod", "DELETE", "approvals api/v2 prod"),
        ("apply -f fleet.yaml", "POST", "apply"),
    ],
)
def test_a_reason_goes_along_where_the_body_has_no_place_for_it(
    api: FakeApi, run: Command, line: str, method: str, place: str, tmp_path: Path
) -> None:
    file = tmp_path / "fleet.yaml"
    file.write_text("{apiVersion: headgate.dev/v1, kind: Environment, metadata: {name: prod}}")
    api.on("GET", "deployments api versions v1", Reply({"status": "ready"}))
    api.on("GET", "deployments api versions v2", Reply({"status": "paused"}))
    answer = {"id": "id-1", "name": "ci", "secret": "t", "status": "ready", "items": [], "results": []}
    api.on(method, place, Reply(None) if method == "DELETE" else Reply(answer))
    words = [str(file) if word == "fleet.yaml" else word for word in line.split()]
    result = run(*words, "--reason", "there is room again")
    assert result.exit_code == 0, result.output
    assert (api.last.method, api.last.query.get("reason")) == (method, "there is room again")


def test_what_was_created_can_be_had_as_json_or_by_name(api: FakeApi, run: Command) -> None:
    api.on("POST", "deployments api versions", Reply({"id": "v", "status": "ready"}, 201))
    assert json.loads(run("publish", "api", "v2", "-o", "json").stdout) == {"id": "v", "status": "ready"}
    assert run("publish", "api", "v2", "-o", "name").stdout == "api/v2\n"


def test_a_version_that_is_not_ready_is_said_so(api: FakeApi, run: Command) -> None:
    api.on("POST", "deployments api versions", Reply({"status": "building"}, 201))
    assert "it rolls out when it is ready" in run("publish", "api", "v2", "--status", "building").stdout


def test_a_tag_that_is_there_already_ends_with_one(api: FakeApi, run: Command) -> None:
    api.on("POST", "deployments api versions", problem(409, "api has the tag v2 already"))
    result = run("publish", "api", "v2")
    assert (result.exit_code, result.stderr) == (1, "api has the tag v2 already\n")


def test_who_may_not_ends_with_five(api: FakeApi, run: Command) -> None:
    api.on("POST", "approvals", problem(403, "the permission approval:write is missing"))
    assert run("approve", "api", "v2", "-e", "prod").exit_code == 5


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("publish api v2 --config nothing", '--config: is "nothing"; allowed is KEY=VALUE'),
        ("publish api v2 --metadata a=1 --metadata a=2", "--metadata: a is given twice"),
        ("freeze --reason x --for soon", "--for: 'soon' is not a duration"),
        ("freeze --reason x --until soon", "--until: 'soon' is not a time"),
        (
            "freeze --reason x --until 2020-01-01T00:00:00Z",
            '--until: is "2020-01-01T00:00:00Z", which is over; allowed is a time to come',
        ),
        (
            "token create ci --until 2020-01-01T00:00:00Z",
            '--until: is "2020-01-01T00:00:00Z", which is over',
        ),
        (
            f"get resources {'x' * 100_000}",
            "a name or an option is too long: it makes an address of 100,014 characters; allowed are 32,000",
        ),
        (
            "freeze --reason x --for 1h --until 2026-03-02T00:00:00Z",
            "--for and --until: allowed is one of them",
        ),
        ("retry", "give TARGET, or --group ID"),
        ("retry a/b/c --group g", "give TARGET, or --group ID"),
        ("rollback api/prod", 'TARGET: is "api/prod"; allowed are deployment/environment/resource, or an id'),
        ("rollback api", 'TARGET: is "api"; name one as deployment/environment/resource, or give -e'),
        ("delete", "give KIND and NAME, or -f PATH"),
        ("delete resource", "NAME: is missing; which resource shall be deleted?"),
        ("delete jobs x", "KIND: jobs cannot be deleted; allowed are systems,"),
        ("delete workspace test", "KIND: workspaces cannot be deleted; allowed are systems,"),
        ("workspace delete test", "workspace test goes with everything in it; give --yes"),
    ],
)
def test_what_is_called_wrongly_asks_no_server(api: FakeApi, run: Command, line: str, said: str) -> None:
    result = run(*line.split())
    assert result.exit_code == 2
    assert result.stderr.startswith(said)
    assert api.requests == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", ""],
        ["get", "resources", ""],
        ["publish", "", "v1"],
        ["unfreeze", ""],
        ["token", "delete", ""],
    ],
)
def test_an_empty_name_asks_no_server(api: FakeApi, run: Command, arguments: list[str]) -> None:
    result = run(*arguments)
    assert (result.exit_code, api.requests) == (2, [])
    assert result.stderr == "a name is empty; allowed is the name or the id of something\n"


def test_the_secret_of_a_token_is_the_only_line_of_output(api: FakeApi, run: Command) -> None:
    api.on("POST", "tokens", Reply({"id": "t", "name": "ci", "secret": "hg_new"}, 201))
    result = run(
        "token",
        "create",
        "ci",
        "--role",
        "deployer",
        "--permission",
        "job:run",
        "--agent",
        "edge",
        "--for",
        "1d",
    )
    assert result.stdout == "hg_new\n"
    assert "shown this once" in result.stderr
    assert api.last.body == {
        "name": "ci",
        "role": "deployer",
        "permissions": ["job:run"],
        "agents": ["edge"],
        "expiresAt": "2026-03-02T10:00:00Z",
    }


def test_tokens_and_workspaces_are_listed(api: FakeApi, run: Command) -> None:
    api.lists("tokens", [{"id": "t", "name": "ci", "role": "deployer"}])
    api.lists("workspaces", [{"id": "w", "name": "default"}])
    assert run("token", "list", "-o", "name").stdout == "ci\n"
    assert run("workspace", "list", "--workspace", "x", "-o", "name").stdout == "default\n"
    assert "workspace" not in api.last.query


CONCERNS = {"targets": 7, "sample": ["api/prod/host-1", "api/prod/host-2"], "note": None}


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("publish api v2", "deployments api versions"),
        ("freeze stop --reason x", "freezes"),
        ("approve api v2 -e prod", "approvals"),
        ("skip sign-off --reason x", "skips"),
    ],
)
def test_every_act_says_whom_it_concerns(api: FakeApi, run: Command, line: str, place: str) -> None:
    api.on("POST", place, Reply({"id": "id-1", "name": "stop", "concerns": CONCERNS}, 201))
    said = run(*line.split()).stdout.splitlines()
    assert said[1:] == ["concerns 7 targets: api/prod/host-1, api/prod/host-2 and 5 more"]


def test_what_changes_nothing_says_so(api: FakeApi, run: Command) -> None:
    concerns = {"targets": 0, "sample": [], "note": "no policy asks for an approval of api v2 in prod"}
    api.on("POST", "approvals", Reply({"concerns": concerns}))
    said = run("approve", "api", "v2", "-e", "prod").stdout
    assert said == "approved api v2 for prod\nno policy asks for an approval of api v2 in prod\n"


@pytest.mark.parametrize(
    ("line", "place"),
    [("publish api v2 --force", "deployments api versions"), ("freeze stop --reason x --force", "freezes")],
)
def test_what_concerns_nobody_may_be_forced(api: FakeApi, run: Command, line: str, place: str) -> None:
    api.on("POST", place, Reply({"name": "stop"}, 201))
    assert run(*line.split()).exit_code == 0
    assert api.last.query["force"] == "true"


HAS_TARGETS = (
    "environment prod has 2 release targets: api/prod/host-1, api/prod/host-2; if that is meant, give confirm"
)


def test_what_has_targets_is_not_deleted_where_nobody_can_be_asked(api: FakeApi, run: Command) -> None:
    api.on("DELETE", "environments prod", problem(409, HAS_TARGETS, ("confirm", HAS_TARGETS)))
    result = run("delete", "environment", "prod")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "environment prod has 2 release targets: api/prod/host-1, api/prod/host-2. Delete it?"
    )
    assert len(api.requests) == 1


def test_with_yes_what_has_targets_is_deleted(api: FakeApi, run: Command) -> None:
    api.on("DELETE", "environments prod", Reply(None))
    assert run("delete", "environment", "prod", "--yes").stdout == "environment prod deleted\n"
    assert api.last.query["confirm"] == "true"


def test_a_dry_run_of_a_deletion_says_what_would_end(api: FakeApi, run: Command) -> None:
    found = {"concerns": CONCERNS, "needsConfirm": True, "neededBy": None}
    api.on("DELETE", "environments prod", Reply(found))
    result = run("delete", "environment", "prod", "--dry-run")
    assert result.stdout.splitlines() == [
        "environment prod would be deleted (dry run, nothing deleted)",
        "concerns 7 targets: api/prod/host-1, api/prod/host-2 and 5 more",
    ]
    assert result.exit_code == 0
    assert api.last.query["dryRun"] == "true"


@pytest.mark.parametrize("form", ["table", "json", "yaml", "name"])
def test_a_dry_run_of_a_deletion_that_would_be_refused_ends_with_1(
    api: FakeApi, run: Command, form: str
) -> None:
    free = {"concerns": CONCERNS, "needsConfirm": False, "neededBy": None}
    api.on("DELETE", "job-agents runner", Reply({**free, "neededBy": "runner runs the jobs of api"}))
    api.on("DELETE", "job-agents spare", Reply(free))
    result = run("delete", "job-agent", "runner", "spare", "--dry-run", "-o", form)
    assert result.exit_code == 1
    assert [request.query["dryRun"] for request in api.requests] == ["true", "true"]
    if form == "table":
        assert "job-agent runner cannot be deleted: runner runs the jobs of api\n" in result.stdout
        assert "job-agent spare would be deleted (dry run, nothing deleted)\n" in result.stdout


def test_a_dry_run_of_manifests_that_would_be_refused_ends_with_1(
    api: FakeApi, run: Command, tmp_path: Path
) -> None:
    file = tmp_path / "runner.yaml"
    file.write_text(
        "{apiVersion: headgate.dev/v1, kind: JobAgent, metadata: {name: runner}, spec: {type: pull}}"
    )
    needed = {"concerns": CONCERNS, "needsConfirm": False, "neededBy": "runner runs the jobs of api"}
    api.on("DELETE", "job-agents runner", Reply(needed))
    assert run("delete", "-f", file, "--dry-run").exit_code == 1


@pytest.mark.parametrize(
    ("line", "before", "body", "said"),
    [
        (
            "pause-version api v2 --message wait",
            "ready",
            {"status": "paused", "message": "wait"},
            "api v2 is paused; end it with `headgate unpause-version api v2`\n",
        ),
        ("unpause-version api v2", "paused", {"status": "ready"}, "api v2 is ready\n"),
    ],
)
def test_a_version_is_paused_and_let_go_on(
    api: FakeApi, run: Command, line: str, before: str, body: Any, said: str
) -> None:
    api.on("GET", "deployments api versions v2", Reply({"status": before}))
    api.on("PATCH", "deployments api versions v2", Reply(body))
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (0, said), result.output
    assert api.last.body == body


def test_what_was_rejected_is_not_made_ready_as_if_it_were_paused(api: FakeApi, run: Command) -> None:
    api.on("GET", "deployments api versions v2", Reply({"status": "rejected"}))
    result = run("unpause-version", "api", "v2")
    assert (result.exit_code, result.stderr) == (1, "api v2 is rejected, not paused\n")
    assert api.last.method == "GET"
