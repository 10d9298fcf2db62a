"""Credentials in what people write: seen by those who may write them, and nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from . import fleet, operations, waiting
from .client import Client
from .server import Server

SECRET = "sentinel-in-plain-text"
ADDRESS = f"https://robot:{SECRET}@metrics.invalid/api?team=${{resource.name}}&key={SECRET}"
PROVIDER = {
    "type": "http",
    "method": "POST",
    "url": ADDRESS,
    "headers": {"X-Key": SECRET},
    "body": json.dumps({"token": SECRET}),
}
PROMETHEUS = {
    "type": "prometheus",
    "address": f"http://{SECRET}@prometheus.invalid?x={SECRET}",
    "query": "up",
}
CONFIG = {
    "url": ADDRESS,
    "parameters": {"database": {"password": SECRET, "host": "db"}, "list": [{"API_KEY": SECRET}]},
}


def _rules(provider: dict[str, Any]) -> list[Any]:
    metrics = [
        {"name": "m", "provider": provider, "successCondition": "result.ok"},
        {"name": "p", "provider": PROMETHEUS, "successCondition": "result.value > 0.0"},
    ]
    return [{"name": "check", "verification": {"metrics": metrics}}]


def _objects() -> list[dict[str, Any]]:
    nested = {"parameters": {"database": {"password": SECRET}}}
    return [
        fleet.manifest("JobAgent", "puller", type="pull", config=CONFIG),
        fleet.manifest("Environment", "prod", resourceSelector="true"),
        fleet.resource("one"),
        fleet.manifest(
            "Deployment", "api", resourceSelector="true", jobAgent="puller", jobAgentConfig=nested
        ),
        fleet.manifest("Policy", "checks", rules=_rules(PROVIDER)),
        fleet.manifest("Version", "api-v1", deployment="api", tag="v1", jobAgentConfig=nested),
    ]


def _everything_read(server: Server, client: Client, caller: Client) -> dict[str, bytes]:
    """By the description of the service, each path that can be read without naming more than these."""
    names = {
        "resource": "one", "environment": "prod", "deployment": "api", "version": "v1", "policy": "checks",
        "rule": "check", "agent": "puller", "target": "api/prod/one",
        "job": client.get("/v1/jobs")["items"][0]["id"],
    }  # fmt: skip
    found: dict[str, bytes] = {}
    for path, methods in server.anybody().get("/openapi.json")["paths"].items():
        if "get" not in methods or path == "/v1/events":
            continue
        wanted = path.replace("/v1/versions/{version}", "/v1/versions/api%2Fv1")
        for name, value in names.items():
            wanted = wanted.replace("{" + name + "}", value)
        if "{" not in wanted:
            found[wanted] = caller.call("GET", wanted).body
    found["events"] = caller.call(
        "GET", "/v1/events", headers={"Accept": "application/json"}, after=0, limit=1000
    ).body
    return found


def test_nobody_is_shown_a_secret_that_they_may_not_write(client: Client, server: Server) -> None:
    client.apply(*_objects())
    waiting.until(lambda: len(fleet.jobs(client, "api")) == 1)
    job = fleet.jobs(client, "api")[0]["id"]
    client.expect(200, "PATCH", f"/v1/jobs/{job}", {"status": "successful"})
    waiting.until(lambda: b"no result" in client.call("GET", f"/v1/jobs/{job}").body)
    changed = [
        fleet.manifest(
            "JobAgent", "puller", type="pull", config={**CONFIG, "url": "https://other.example.com"}
        ),
        fleet.manifest("Policy", "checks", rules=_rules({**PROVIDER, "body": "another"})),
    ]
    viewer = client.token_with("looks", role="viewer")
    auditor = client.token_with("audits", permissions=["read", "audit:read"])
    for caller in (viewer, auditor):
        told = _everything_read(server, client, caller)
        for path, body in {"diff": {"manifests": changed}, "plan": {"manifests": changed}}.items():
            told[path] = caller.expect(200, "POST", f"/v1/{path}", body).body
        assert len(told) > 20
        assert [path for path, body in told.items() if SECRET.encode() in body] == []
    assert SECRET not in server.log.read_text()
    assert SECRET in json.dumps(client.get("/v1/policies/checks"))
    assert SECRET in json.dumps(client.get("/v1/job-agents/puller"))


def test_what_is_no_secret_stays_to_be_seen(client: Client) -> None:
    client.apply(*_objects())
    viewer = client.token_with("looks", role="viewer")
    seen = viewer.get("/v1/policies/checks")["rules"][0]["verification"]["metrics"]
    assert seen[0]["provider"]["url"] == "https://***@metrics.invalid/api?team=${resource.name}&key=***"
    assert seen[0]["provider"]["body"] == "***"
    assert seen[1]["provider"] == {
        **PROMETHEUS,
        "address": "http://***@prometheus.invalid?x=***",
        "timeoutSeconds": 30,
    }
    config = viewer.get("/v1/job-agents/puller")["config"]
    assert config["parameters"] == {
        "database": {"password": "***", "host": "db"},
        "list": [{"API_KEY": "***"}],
    }
    assert viewer.get("/v1/deployments/api")["jobAgentConfig"] == {
        "parameters": {"database": {"password": "***"}}
    }


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://u:p@{}@host/x", "http://***@host/x"),
        ("http://u@{}@v@host:80?a=b", "http://***@host:80?a=***"),
        ("https://host/x#{}", "https://host/x#***"),
        ("https://host/x?a=${{resource.name}}#access_token={}&state=${{resource.name}}",
         "https://host/x?a=${resource.name}#access_token=***&state=${resource.name}"),
        ("https://host/@team/x", "https://host/@team/x"),
    ],
)  # fmt: skip
def test_all_of_an_address_that_may_be_secret_is_hidden(client: Client, address: str, shown: str) -> None:
    config = {"parameters": {"place": address.format(SECRET)}}
    client.apply(fleet.manifest("JobAgent", "puller", type="pull", config=config))
    viewer = client.token_with("looks", role="viewer")
    seen = viewer.get("/v1/job-agents/puller")["config"]["parameters"]
    assert seen == {"place": shown}
    if "***" in shown:
        again = fleet.manifest("JobAgent", "puller", type="pull", config={"parameters": seen})
        assert client.call("POST", "/v1/apply", {"manifests": [again]}).status == 422


def test_fields_are_hidden_by_the_words_of_their_names(client: Client) -> None:
    hidden = (
        "pat",
        "githubPAT",
        "tls_pem",
        "bearer",
        "sasUrl",
        "connectionString",
        "DB_CONNECTION_STRING",
        "slackWebhook",
    )
    plain = (
        "path",
        "pattern",
        "patch",
        "disaster",
        "sassFile",
        "connections",
        "webhooksEnabled",
        "forbearers",
        "patEnv",
    )
    config = {"parameters": dict.fromkeys((*hidden, *plain), "value")}
    client.apply(fleet.manifest("JobAgent", "puller", type="pull", config=config))
    seen = client.token_with("looks", role="viewer").get("/v1/job-agents/puller")["config"]["parameters"]
    assert {field for field, value in seen.items() if value == "***"} == {*hidden}


def test_nothing_that_a_viewer_exports_can_be_written_over_the_secrets(client: Client) -> None:
    client.apply(*_objects())
    exported = client.token_with("looks", role="viewer").get("/v1/export")["manifests"]
    before = client.get("/v1/export")
    for manifest in exported:
        if manifest["kind"] in ("JobAgent", "Deployment", "Policy", "Version"):
            answer = client.call("POST", "/v1/apply", {"manifests": [manifest]})
            assert answer.status == 422, f"{manifest}: {answer!r}"
            assert "was not shown" in answer.sentences
    assert client.get("/v1/export") == before


def test_a_changed_secret_shows_that_it_changes_and_not_how(client: Client) -> None:
    client.apply(*_objects())
    other = _rules({**PROVIDER, "url": ADDRESS.replace(SECRET, "another"), "body": "another"})
    shown = client.expect(
        200, "POST", "/v1/diff", {"manifests": [fleet.manifest("Policy", "checks", rules=other)]}
    ).json
    fields = {field["path"].rpartition(".")[2]: field["after"] for field in shown["differences"][0]["fields"]}
    assert fields == {
        "url": "https://***@metrics.invalid/api?team=${resource.name}&key=*** (another one)",
        "body": "*** (another one)",
    }


def test_an_agent_is_not_selected_by_its_secret(client: Client) -> None:
    """Whoever may look may plan, and could find it out letter by letter."""
    client.apply(*_objects())
    probe = fleet.manifest(
        "Deployment",
        "probe",
        resourceSelector="true",
        jobAgentSelector="jobAgent.config.parameters.database.password.startsWith('sentinel')",
    )
    viewer = client.token_with("looks", role="viewer")
    body = {"manifests": [probe, fleet.manifest("Version", "probe-v1", deployment="probe", tag="v1")]}
    planned = viewer.expect(200, "POST", "/v1/plan", body).json
    jobs = [job for job in planned["jobs"] if job["deployment"] == "probe"]
    assert {job["status"] for job in jobs} == {"invalidJobAgent"}


@pytest.mark.parametrize(
    "expression",
    [
        "int({}) > 0",
        "timestamp({}) > timestamp('2020-01-01T00:00:00Z')",
        "{{'a': 1}}[{}] == 1",
    ],
)
def test_an_expression_that_fails_does_not_say_the_secret_of_a_deployment(
    client: Client, expression: str
) -> None:
    client.apply(*_objects())
    viewer = client.token_with("looks", role="viewer")
    asked = expression.format("deployment.jobAgentConfig.parameters.database.password")
    version = {"deployment": "api", "tag": "v2"}
    plans = [
        [fleet.manifest("Version", "api-v2", **version, targetSelector=asked)],
        [
            fleet.manifest("Version", "api-v2", **version),
            fleet.manifest("Policy", "p", selector=asked, rules=[{"approval": {"minApprovals": 1}}]),
        ],
        [
            fleet.manifest("Version", "api-v2", **version),
            fleet.manifest("Policy", "p", rules=[{"gate": {"expression": asked}}]),
        ],
    ]
    for manifests in plans:
        answer = viewer.call("POST", "/v1/plan", {"manifests": manifests, "force": True})
        assert SECRET.encode() not in answer.body
    assert SECRET.encode() not in viewer.call("GET", "/v1/release-targets", cel=asked).body


def test_nothing_is_selected_by_the_secret_of_a_deployment(client: Client) -> None:
    client.apply(*_objects())
    guess = "deployment.jobAgentConfig.parameters.database.password.startsWith('sentinel')"
    version = fleet.manifest("Version", "api-v2", deployment="api", tag="v2", targetSelector=guess)
    viewer = client.token_with("looks", role="viewer")
    planned = viewer.expect(200, "POST", "/v1/plan", {"manifests": [version], "force": True}).json
    assert {job["version"] for job in planned["jobs"]} == {"v1"}


def test_jobs_are_given_the_secret_of_their_deployment(client: Client) -> None:
    again = {"parameters": {"again": "${deployment.jobAgentConfig.parameters.database.password}"}}
    version = fleet.manifest("Version", "api-v1", deployment="api", tag="v1", jobAgentConfig=again)
    client.apply(*_objects()[:-1], version)
    claimed = client.expect(200, "POST", "/v1/job-agents/puller/claim", {"waitSeconds": 20}).json["jobs"]
    assert [one["config"]["parameters"]["again"] for one in claimed] == [SECRET]


def test_a_user_in_an_address_beside_a_header_is_refused_with_a_sentence(client: Client) -> None:
    provider = {"type": "http", "url": "https://u:p@a.example.com", "headers": {"authorization": "Bearer x"}}
    answer = client.call("PUT", "/v1/policies/checks", {"rules": _rules(provider)})
    assert answer.status == 422
    assert "allowed is one of them" in answer.sentences


@pytest.mark.parametrize(
    "name",
    [
        "\u0430dmin",
        "ad\u200bmin",
        "adm\u0131n",
        "admin\u0007",
        "ad\u202emin",
        "a  b",
        "\uff41dmin",
        "-x",
        "admin ",
    ],
)
def test_a_token_has_no_name_that_looks_like_another_one(client: Client, name: str) -> None:
    answer = client.call("POST", "/v1/tokens", {"name": name, "role": "viewer"})
    assert answer.status == 422
    assert answer.json["errors"][0]["path"] == "name"
    assert "allowed are" in answer.sentences


def test_a_token_has_any_plain_name(client: Client) -> None:
    for name in ("ci", "CI runner 2", "edge/eu-west:1", "a.b_c+d"):
        client.expect(201, "POST", "/v1/tokens", {"name": name, "role": "viewer"})


def _guesses(secret: str) -> list[dict[str, Any]]:
    """What there is, with this in the place of every secret."""
    return json.loads(json.dumps(_objects()).replace(SECRET, secret))


@pytest.mark.parametrize("path", ["/v1/diff", "/v1/plan"])
def test_nobody_finds_out_whether_a_guess_is_right(client: Client, path: str) -> None:
    """Of a secret that they are not shown: whatever they give is another one."""
    client.apply(*_objects())
    waiting.until(lambda: len(fleet.jobs(client, "api")) == 1)
    for role in ("viewer", "approver"):
        caller = client.token_with(f"{role}-{client.workspace}-{path[-4:]}", role=role)
        right, wrong, masked = (
            caller.call(
                "POST",
                path,
                {"manifests": _guesses(secret), "force": True}
                if path == "/v1/plan"
                else {"manifests": _guesses(secret)},
            )
            for secret in (SECRET, "something-else-entirely", "sentinel")
        )
        assert right.status == wrong.status == 200, (right, wrong)
        assert _but_for_times(right) == _but_for_times(wrong) == _but_for_times(masked)
        actions = {one["kind"]: one["action"] for one in right.json["differences"]}
        for kind in ("JobAgent", "Deployment", "Version", "Policy"):
            assert actions[kind] == "configured"
        assert actions["Environment"] == "unchanged"


def _but_for_times(answer: Any) -> Any:
    return answer.json["differences"], [job["version"] for job in answer.json.get("jobs", [])]


def test_those_who_see_a_secret_are_told_whether_it_changes(client: Client) -> None:
    client.apply(*_objects())
    same = client.expect(200, "POST", "/v1/diff", {"manifests": _objects()}).json["differences"]
    assert {one["action"] for one in same} == {"unchanged"}
    other = client.expect(200, "POST", "/v1/diff", {"manifests": _guesses("another")}).json["differences"]
    assert {one["kind"] for one in other if one["action"] == "configured"} == {
        "JobAgent", "Deployment", "Version", "Policy",
    }  # fmt: skip


_WRITES_SECRETS = {"fleet:write", "policy:write", "version:write", "job:config"}
_GIVES_SECRETS_TO_RUN_JOBS = {"claimJobs"}


def _hide_a_secret_in_everything(client: Client) -> None:
    nested = {"parameters": {"database": {"password": SECRET}}}
    for agent in client.get("/v1/job-agents")["items"]:
        config = {"config": {**agent["config"], **nested}}
        client.expect(200, "PATCH", f"/v1/job-agents/{agent['name']}", config)
    for deployment in client.get("/v1/deployments")["items"]:
        place = f"/v1/deployments/{deployment['name']}"
        client.expect(200, "PATCH", place, {"jobAgentConfig": nested})
    for version in client.get("/v1/deployments/spare/versions")["items"]:
        place = f"/v1/deployments/spare/versions/{version['tag']}"
        client.expect(200, "PATCH", place, {"jobAgentConfig": nested})
    for policy in client.get("/v1/policies")["items"]:
        rules = {"rules": [*policy["rules"], *_rules(PROVIDER)]}
        client.expect(200, "PATCH", f"/v1/policies/{policy['name']}", rules)


def test_what_a_change_answers_shows_no_secret_to_one_who_may_not_write_it(busy: Client) -> None:
    """Each operation by a token with its permission and no other, and once more with the key of the first answer."""
    _hide_a_secret_in_everything(busy)
    described = operations.described(busy)
    answered = set()
    callers: dict[str, Client] = {}
    for number, request in enumerate(operations.changing(operations.known(busy))):
        permission = described[request.operation][2].get("x-headgate-permission", "")
        if permission in _WRITES_SECRETS or not permission or request.operation in _GIVES_SECRETS_TO_RUN_JOBS:
            continue
        if permission not in callers:
            callers[permission] = busy.token_with(f"only {permission}", permissions=[permission])
        for _ in range(2):
            answer = request.send(callers[permission], {"Idempotency-Key": f"{busy.workspace}-{number}"})
            assert SECRET.encode() not in answer.body, request.operation
            if answer.status == request.status and answer.body:
                answered.add(request.operation)
    assert {"rejectVersion", "rejectVersionOfDeployment", "vote", "createSkip", "patchJob"} <= answered


def test_who_rejects_a_version_and_may_write_its_secrets_sees_them(client: Client) -> None:
    client.apply(*_objects())
    told = client.expect(200, "POST", "/v1/deployments/api/versions/v1/reject", {"reason": "bad"}).json
    assert told["jobAgentConfig"] == {"parameters": {"database": {"password": SECRET}}}
