"""Whatever people write who may not write agents: no credential and no variable of the server goes where they say.

One system is the owner's, to which agents of all types are set up. The other one is the attacker's, and must never hear
of anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from headgate.agents.argocd import ArgocdConfig
from headgate.agents.exec import ExecConfig
from headgate.agents.github import GithubConfig
from headgate.agents.http import HttpConfig
from headgate.fleet.model import agent_fields

from . import waiting
from .client import Client
from .listener import Listener
from .server import Server

TOKEN = "sentinel-of-the-agents-token"
PASSWORD = "sentinel-of-the-servers-database"
HEADER = "sentinel-of-the-owners-header"
ENVIRONMENT = {"HEADGATE_AGENT_TOKEN": TOKEN, "DATABASE_PASSWORD": PASSWORD}
CONFIGS: dict[str, type[msgspec.Struct]] = {
    "http": HttpConfig,
    "github": GithubConfig,
    "argocd": ArgocdConfig,
    "exec": ExecConfig,
    "pull": ExecConfig,
}
OTHER_SPELLINGS = (
    "URL",
    "Url",
    "server_url",
    "TokenEnv",
    "tokenenv",
    "Headers",
    "baseUrl",
    "command ",
    "сommand",
)


class Scene(NamedTuple):
    server: Server
    owners: Listener
    attackers: Listener


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    server = Server(tmp_path_factory.mktemp("attacked"), environment=ENVIRONMENT)
    server.start()
    found = Scene(server, Listener(), Listener())
    yield found
    server.stop()
    found.owners.close()
    found.attackers.close()
    log = server.log.read_text()
    assert "Traceback" not in log, log
    assert TOKEN not in log
    assert PASSWORD not in log


@pytest.fixture
def admin(scene: Scene, request: pytest.FixtureRequest) -> Client:
    name = f"attacked-{abs(hash(request.node.name)) % 10**9}"
    scene.server.admin().expect(201, "POST", "/v1/workspaces", {"name": name})
    client = scene.server.admin(name)
    _set_up(client, scene.owners)
    scene.owners.requests.clear()
    return client


def _set_up(client: Client, owners: Listener) -> None:
    credential = {"tokenEnv": "HEADGATE_AGENT_TOKEN"}
    configs: dict[str, dict[str, Any]] = {
        "http": {
            "url": f"{owners.address}/hook/${{resource.name}}/start?tag=${{version.tag}}&note=${{variables.note}}",
            "statusUrl": f"{owners.address}/hook/${{resource.name}}/status/{{externalId}}",
            "secretEnv": "HEADGATE_AGENT_TOKEN",
            "headers": {"Authorization": HEADER, "X-Note": "${variables.note}"},
        },
        "github": {
            **credential,
            "apiUrl": f"{owners.address}/github",
            "owner": "acme",
            "repo": "${resource.name}",
            "workflow": "deploy.yaml",
            "inputs": {"tag": "${version.tag}", "note": "${variables.note}"},
        },
        "argocd": {
            **credential,
            "serverUrl": f"{owners.address}/argocd",
            "application": "${resource.name}",
            "revision": "${version.tag}",
            "project": "${variables.note}",
        },
        "exec": {"command": "true ${version.tag} ${variables.note}"},
        "pull": {"command": ["true", "--tag=${version.tag}"]},
    }
    for name, config in configs.items():
        client.expect(201, "POST", "/v1/job-agents", {"name": name, "type": name, "config": config})
    client.expect(201, "POST", "/v1/environments", {"name": "prod", "resourceSelector": "true"})
    for name in configs:
        deployment = {
            "name": name,
            "resourceSelector": "true",
            "jobAgent": name,
            "variables": {"note": "fine"},
        }
        client.expect(201, "POST", "/v1/deployments", deployment)


def _deployer(admin: Client) -> Client:
    return admin.token_with(f"deployer-{admin.workspace}", role="deployer")


def _evil_values(scene: Scene) -> list[object]:
    return [
        scene.attackers.address,
        "DATABASE_PASSWORD",
        ["sh", "-c", "id"],
        {"X": "y"},
        True,
        None,
        "${variables.note}",
    ]


def _fields(agent_type: str) -> list[str]:
    fields = [field.encode_name for field in msgspec.structs.fields(CONFIGS[agent_type])]
    return [field for field in fields if field not in agent_fields.open_fields(agent_type, None)]


@pytest.mark.parametrize("agent_type", CONFIGS)
def test_no_field_that_the_agent_has_not_opened_can_be_set(
    scene: Scene, admin: Client, agent_type: str
) -> None:
    deployer = _deployer(admin)
    count = 0
    for field in (*_fields(agent_type), *OTHER_SPELLINGS, "", "a.b", "overridable"):
        for value in _evil_values(scene):
            count += 1
            version = {"tag": f"v{count}", "jobAgentConfig": {field: value}}
            answer = deployer.call("POST", f"/v1/deployments/{agent_type}/versions", version)
            assert answer.status == 422, (field, value, answer)
            assert "allowed are" in answer.sentences
            assert any(field in error["path"] for error in answer.json["errors"]), (field, answer)
        change = {"jobAgentConfig": {field: scene.attackers.address}}
        assert admin.call("PATCH", f"/v1/deployments/{agent_type}", change).status == 422, field
        manifest = {
            "apiVersion": "headgate.dev/v1",
            "kind": "Version",
            "metadata": {"name": f"{agent_type}-{count}"},
            "spec": {"deployment": agent_type, "tag": "by-manifest", **change},
        }
        assert deployer.call("POST", "/v1/apply", {"manifests": [manifest]}).status == 422, field
    assert admin.get(f"/v1/deployments/{agent_type}/versions")["items"] == []
    assert scene.attackers.requests == []


def test_a_deployer_writes_neither_agents_nor_deployments_nor_policies(scene: Scene, admin: Client) -> None:
    deployer = _deployer(admin)
    evil = {"config": {"url": scene.attackers.address}}
    for method, path in (
        ("PUT", "/v1/job-agents/http"),
        ("PATCH", "/v1/job-agents/http"),
        ("PATCH", "/v1/deployments/http"),
        ("PUT", "/v1/policies/checks"),
    ):
        assert deployer.call(method, path, evil).status == 403, path


NOTES = [
    "x\r\nX-Injected: yes",
    "x\nHost: evil",
    "\x1b[31m",
    "@127.0.0.1",
    "#",
    "?x",
    "../../../../admin",
    "${'HEADGATE_AGENT_TOKEN'}",
    "{{ secrets.token }}",
    "$(env)",
    "`env`",
    "{externalId}",
    "http://evil.example",
    "é",
    "a" * 5_000,
]
NAMES = [
    "node-1",
    ".",
    "..",
    "...",
    "%2e%2e",
    "a@b",
    "a#b",
    "a?b=c",
    "a\\b",
    "a:1",
    "ⓛocalhost",
    "{externalId}",
    "-rf",
]


def test_whatever_resources_versions_and_variables_are_called_requests_go_to_the_owner(
    scene: Scene, admin: Client
) -> None:
    deployer = _deployer(admin)
    for name in NAMES:
        deployer.call(
            "PUT", f"/v1/resources/{_segment(name)}", {"kind": "Node", "variables": {"note": "plain"}}
        )
    for number, note in enumerate(NOTES):
        named = {"kind": "Node", "variables": {"note": note}}
        deployer.expect(201, "PUT", f"/v1/resources/noted-{number}", named)
    for deployment in CONFIGS:
        path = f"/v1/deployments/{deployment}/versions"
        deployer.expect(201, "POST", path, {"tag": "../..?x=1#y@127.0.0.1/$(env)"})
    jobs = _started_jobs(admin)
    assert "failure" not in {job["status"] for job in jobs if job["agent"] == "exec"}
    assert scene.attackers.requests == []
    assert {request.path.split("/")[1] for request in scene.owners.requests} == {"hook", "github", "argocd"}
    assert len(scene.owners.requests) > len(NAMES)
    for request in scene.owners.requests:
        _check_arrived_where_the_owner_said(request.path, request.everything)
        assert "x-injected" not in request.headers
        assert request.headers["host"] == f"127.0.0.1:{scene.owners.port}"
    _check_nothing_is_told(admin, jobs)


def _check_arrived_where_the_owner_said(path: str, everything: str) -> None:
    parts = path.partition("?")[0].split("/")
    assert PASSWORD not in everything
    match parts[1]:
        case "hook":
            assert len(parts) in (4, 5), path
            assert parts[3] in ("start", "status"), path
            assert TOKEN not in everything
        case "github":
            assert parts[2:4] == ["repos", "acme"], path
            assert parts[5:8] == ["actions", "workflows", "deploy.yaml"], path
        case "argocd":
            assert parts[2:5] == ["api", "v1", "applications"], path
            assert parts[6:] in ([], ["sync"]), path
        case _:
            raise AssertionError(path)
    assert not {".", "..", ""} & set(parts[1:]), path


def _check_nothing_is_told(admin: Client, jobs: list[Any]) -> None:
    """Neither in jobs nor in events, for whoever may look."""
    told = json.dumps(jobs) + json.dumps(admin.get("/v1/job-agents"))
    viewer = admin.token_with(f"viewer-{admin.workspace}", role="viewer")
    told += json.dumps(viewer.get("/v1/jobs", limit=200)) + json.dumps(
        viewer.get("/v1/release-targets", limit=200)
    )
    assert TOKEN not in told
    assert PASSWORD not in told


def _started_jobs(admin: Client) -> list[Any]:
    found: list[Any] = []

    def all_have() -> bool:
        found[:] = admin.get("/v1/jobs", limit=500)["items"]
        served = [job for job in found if job["agent"] != "pull"]
        return bool(served) and all(job["status"] != "pending" for job in served)

    waiting.until(all_have)
    return found


def _segment(name: str) -> str:
    return "".join(f"%{byte:02X}" for byte in name.encode())


@pytest.mark.parametrize(
    "variable", ["DATABASE_PASSWORD", "HOME", "PATH", "HEADGATE_DATABASE", "headgate_agent_token"]
)
def test_a_variable_that_the_operator_has_not_listed_goes_nowhere(
    scene: Scene, admin: Client, variable: str
) -> None:
    """Also where whoever names it may write agents of the workspace."""
    for agent_type, field, address in (
        ("http", "secretEnv", "url"),
        ("github", "tokenEnv", "apiUrl"),
        ("argocd", "tokenEnv", "serverUrl"),
    ):
        rest = {"owner": "a", "repo": "b", "workflow": "c"} if agent_type == "github" else {}
        rest = {"application": "a"} if agent_type == "argocd" else rest
        config = {address: scene.attackers.address, field: variable, **rest}
        admin.expect(200, "PUT", f"/v1/job-agents/{agent_type}", {"type": agent_type, "config": config})
    admin.expect(201, "POST", "/v1/resources", {"name": "node-1", "kind": "Node"})
    for deployment in ("http", "github", "argocd"):
        admin.expect(201, "POST", f"/v1/deployments/{deployment}/versions", {"tag": "v1"})
    jobs = _started_jobs(admin)
    assert {job["status"] for job in jobs} == {"invalidIntegration"}
    assert all("--allow-env" in job["message"] for job in jobs), jobs
    assert scene.attackers.requests == []


def test_a_field_that_an_agent_closes_later_is_not_used_and_the_job_says_so(
    scene: Scene, admin: Client
) -> None:
    config = {"url": f"{scene.owners.address}/hook", "secretEnv": "HEADGATE_AGENT_TOKEN", "pollSeconds": 60}
    opened = {"type": "http", "config": config, "overridable": ["pollSeconds", "parameters"]}
    admin.expect(200, "PUT", "/v1/job-agents/http", opened)
    version = {"tag": "v1", "jobAgentConfig": {"pollSeconds": 1, "parameters": {"a": 1}}}
    _deployer(admin).expect(201, "POST", "/v1/deployments/http/versions", version)
    admin.expect(200, "PUT", "/v1/job-agents/http", {**opened, "overridable": ["parameters"]})
    admin.expect(201, "POST", "/v1/resources", {"name": "node-1", "kind": "Node"})
    job = _started_jobs(admin)[0]
    assert job["status"] == "invalidJobAgent"
    assert "version v1 of http sets: jobAgentConfig.pollSeconds" in job["message"]
    assert "allowed are parameters" in job["message"]
    assert scene.owners.requests == []


def test_an_answer_that_leads_elsewhere_is_not_followed(scene: Scene, admin: Client) -> None:
    """Not by a redirect, and not by the name that the receiver gives to the job."""
    for number, status in enumerate((301, 302, 303, 307, 308)):
        leads = Listener(status, Location=f"{scene.attackers.address}/{status}")
        config = {
            "url": leads.address,
            "secretEnv": "HEADGATE_AGENT_TOKEN",
            "headers": {"Authorization": HEADER},
        }
        admin.expect(200, "PUT", "/v1/job-agents/http", {"type": "http", "config": config})
        if number == 0:
            admin.expect(201, "POST", "/v1/resources", {"name": "node-1", "kind": "Node"})
        admin.expect(201, "POST", "/v1/deployments/http/versions", {"tag": f"v{status}"})
        waiting.until(lambda listener=leads: bool(listener.requests))  # type: ignore[misc]
        waiting.until(lambda: all(job["status"] == "invalidIntegration" for job in _started_jobs(admin)))
        leads.close()
    assert scene.attackers.requests == []


@pytest.mark.parametrize(
    "links",
    [
        {"log": "javascript:alert(1)"},
        {"log": "JaVaScRiPt:alert(1)"},
        {"log": "data:text/html,x"},
        {"log": " https://a"},
        {"log": "//evil.example"},
        {"log": "https://a\nb"},
        {"log": ""},
    ],
)
def test_a_link_that_runs_something_is_refused(admin: Client, links: dict[str, str]) -> None:
    admin.expect(201, "POST", "/v1/resources", {"name": "node-1", "kind": "Node"})
    admin.expect(201, "POST", "/v1/deployments/pull/versions", {"tag": "v1"})
    path = "/v1/job-agents/pull/claim"
    claimed = admin.expect(200, "POST", path, {"waitSeconds": 20}).json["jobs"][0]
    job, token = claimed["job"]["id"], claimed["claim"]["token"]
    body = {"status": "inProgress", "links": links}
    for answer in (
        admin.call("POST", f"/v1/jobs/{job}/report", {**body, "token": token}),
        admin.call("PATCH", f"/v1/jobs/{job}", body),
    ):
        assert answer.status == 422
        assert "http://" in answer.sentences
    assert admin.get(f"/v1/jobs/{job}")["links"] == {}


def test_private_addresses_are_not_reached_where_they_are_not_allowed(tmp_path: Path) -> None:
    attacked = Listener()
    server = Server(tmp_path, "--allow-address", "public", environment=ENVIRONMENT)
    server.start()
    try:
        admin = server.admin()
        hosts = [
            "127.0.0.1",
            "localhost",
            "[::ffff:127.0.0.1]",
            "[::1]",
            "2130706433",
            "0x7f.1",
            "0.0.0.0",
            "127.1",
        ]
        admin.expect(201, "POST", "/v1/environments", {"name": "prod", "resourceSelector": "true"})
        admin.expect(201, "POST", "/v1/resources", {"name": "node-1", "kind": "Node"})
        for number, host in enumerate(hosts):
            config = {"url": f"http://{host}:{attacked.port}/", "secretEnv": "HEADGATE_AGENT_TOKEN"}
            agent = {"name": f"agent-{number}", "type": "http", "config": config}
            admin.expect(201, "POST", "/v1/job-agents", agent)
            deployment = {"name": f"d-{number}", "resourceSelector": "true", "jobAgent": f"agent-{number}"}
            admin.expect(201, "POST", "/v1/deployments", deployment)
            admin.expect(201, "POST", f"/v1/deployments/d-{number}/versions", {"tag": "v1"})
        waiting.until(lambda: len(admin.get("/v1/jobs")["items"]) == len(hosts))
        jobs = _started_jobs(admin)
        assert {job["status"] for job in jobs} == {"invalidIntegration"}, jobs
        named = [job for job in jobs if "--allow-address" in job["message"]]
        assert len(named) >= len(hosts) - 3, jobs
        assert attacked.requests == []
    finally:
        server.stop()
        attacked.close()


def test_what_another_server_answers_is_shown_to_operators_and_its_beginning_to_others(
    scene: Scene, admin: Client
) -> None:
    """A provider's address is no way to read what stands elsewhere."""
    tail = "sentinel-of-the-answer"
    asked = Listener(body=json.dumps({"a": "x" * 600, "z": tail}).encode())
    metric = {
        "name": "health",
        "provider": {"type": "http", "url": asked.address},
        "successCondition": "result.status == 201",
    }
    policy = {"name": "checks", "rules": [{"verification": {"metrics": [metric]}}]}
    admin.expect(201, "POST", "/v1/policies", policy)
    admin.expect(201, "POST", "/v1/resources", {"name": "node-1", "kind": "Node"})
    admin.expect(201, "POST", "/v1/deployments/exec/versions", {"tag": "v1"})
    waiting.until(lambda: tail in json.dumps(admin.get("/v1/jobs")["items"]))
    deployer, viewer = _deployer(admin), admin.token_with(f"viewer-{admin.workspace}", role="viewer")
    job = admin.get("/v1/jobs")["items"][0]["id"]
    asking = {"headers": {"Accept": "application/json"}}
    for caller in (deployer, viewer):
        told = [
            caller.call("GET", "/v1/jobs").body,
            caller.call("GET", f"/v1/jobs/{job}").body,
            caller.call("GET", "/v1/release-targets").body,
            caller.call("GET", "/v1/release-targets/exec%2Fprod%2Fnode-1").body,
            caller.call("GET", "/v1/release-targets/exec%2Fprod%2Fnode-1/explain").body,
            caller.call("GET", "/v1/events", after=0, **asking).body,
            caller.call("GET", "/v1/status").body,
            caller.call("GET", "/v1/jobs", cel=f"string(job).contains('{tail}')").body,
        ]
        for text in told:
            assert tail.encode() not in text.replace(f"contains('{tail}')".encode(), b""), text
            assert b"x" * 400 not in text
        probing = caller.call(
            "GET", "/v1/jobs", cel=f"job.metrics[0].measurements[0].answer.contains('{tail}')"
        )
        assert probing.status == 422 or probing.json["items"] == []
    late = deployer.call("PATCH", f"/v1/jobs/{job}", {"status": "successful"})
    assert tail.encode() not in late.body
    asked.close()


def test_secrets_of_an_agent_are_seen_by_those_who_may_write_it(admin: Client) -> None:
    """And by nobody else: not in lists, by filters, exports, diffs and plans, nor in the audit log."""
    secret = "sentinel-in-plain-text"
    config = {"url": "https://a.example.com", "secret": secret, "headers": {"Authorization": secret}}
    admin.expect(200, "PUT", "/v1/job-agents/http", {"type": "http", "config": config})
    manifest = {
        "apiVersion": "headgate.dev/v1",
        "kind": "JobAgent",
        "metadata": {"name": "http"},
        "spec": {"type": "http", "config": {**config, "secret": "a guess"}},
    }
    assert admin.get("/v1/job-agents/http")["config"] == config
    operator = admin.token_with(f"operator-{admin.workspace}", role="operator")
    for caller in (_deployer(admin), operator):
        seen = caller.get("/v1/job-agents/http")["config"]
        assert seen == {**config, "secret": "***", "headers": {"Authorization": "***"}}
        told = [
            caller.call("GET", "/v1/job-agents").body,
            caller.call("GET", "/v1/export").body,
            caller.call("POST", "/v1/diff", {"manifests": [manifest]}).body,
            caller.call("POST", "/v1/plan", {"manifests": [manifest]}).body,
            caller.call("GET", "/v1/audit").body,
            caller.call("GET", "/v1/events", after=0, headers={"Accept": "application/json"}).body,
        ]
        assert secret.encode() not in b"".join(told)
        for probe in (
            f"jobAgent.config.secret == '{secret}'",
            "jobAgent.config.secret.startsWith('sentinel')",
        ):
            assert caller.get("/v1/job-agents", cel=probe)["items"] == []
    shown = admin.expect(200, "POST", "/v1/diff", {"manifests": [manifest]}).json
    assert "*** (another one)" in json.dumps(shown)


def test_what_was_read_without_its_secrets_is_not_written_over_them(admin: Client) -> None:
    admin.expect(200, "PUT", "/v1/job-agents/http", {"type": "http", "config": {"secret": "good"}})
    answer = admin.call("PUT", "/v1/job-agents/http", {"type": "http", "config": {"secret": "***"}})
    assert answer.status == 422
    assert "a secret that was not shown" in answer.sentences
    assert admin.get("/v1/job-agents/http")["config"] == {"secret": "good"}


def test_headers_of_providers_are_seen_by_those_who_may_write_policies(admin: Client) -> None:
    secret = "sentinel-in-a-header"

    def rules(header: str) -> list[Any]:
        provider = {"type": "http", "url": "https://a.example.com", "headers": {"Authorization": header}}
        metric = {"name": "m", "provider": provider, "successCondition": "result.ok"}
        return [{"name": "check", "verification": {"metrics": [metric]}}]

    admin.expect(201, "POST", "/v1/policies", {"name": "checks", "rules": rules(secret)})
    manifest = {"apiVersion": "headgate.dev/v1", "kind": "Policy", "metadata": {"name": "checks"}}
    other = {**manifest, "spec": {"rules": rules("a guess")}}
    none = {**manifest, "spec": {"rules": []}}
    assert secret in json.dumps(admin.get("/v1/policies/checks"))
    operator = admin.token_with(f"operator-{admin.workspace}", role="operator")
    for caller in (_deployer(admin), operator):
        assert '"Authorization": "***"' in json.dumps(caller.get("/v1/policies/checks"))
        told = [
            caller.call("GET", "/v1/policies").body,
            caller.call("GET", "/v1/export").body,
            caller.call("GET", "/v1/policies/checks/rules").body,
            caller.call("GET", "/v1/policies/checks/rules/check").body,
            caller.call("POST", "/v1/diff", {"manifests": [other]}).body,
            caller.call("POST", "/v1/diff", {"manifests": [none]}).body,
            caller.call("POST", "/v1/plan", {"manifests": [other]}).body,
            caller.call("GET", "/v1/audit").body,
        ]
        assert secret.encode() not in b"".join(told)
    shown = admin.expect(200, "POST", "/v1/diff", {"manifests": [other]}).json
    assert "*** (another one)" in json.dumps(shown)
    assert admin.call("PUT", "/v1/policies/checks", {"rules": rules("***")}).status == 422
