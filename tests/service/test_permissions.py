"""Nobody does more than the token allows: each role, each operation, in the token's own workspace and in others."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from . import fleet, operations, waiting
from .client import Client, segment
from .conftest import new_workspace
from .server import Server

BY_ROLE: dict[str, set[str]] = {"viewer": {"read"}}
BY_ROLE["deployer"] = {
    "read",
    "version:write",
    "resource:write",
    "variable:write",
    "signal:write",
    "job:report",
    "job:config",
}
BY_ROLE["approver"] = {"read", "approval:write"}
BY_ROLE["operator"] = BY_ROLE["deployer"] | {
    "version:scope", "version:reject", "freeze:write", "skip:write", "group:act", "target:act", "target:adopt", "budget:resume", "audit:read",
}  # fmt: skip
BY_ROLE["admin"] = (
    BY_ROLE["operator"]
    | BY_ROLE["approver"]
    | {"fleet:write", "policy:write", "token:write", "job:run", "workspace:admin", "version:import"}
)
OF_ALL_WORKSPACES = {"createWorkspace", "deleteWorkspace", "putRetention", "repairClock"}
SIGNED = {"callbackJob"}
BY_KIND = {"apply"}


def traces(client: Client) -> Any:
    """Whatever a change leaves behind somewhere."""
    return (
        client.get("/v1/export"),
        client.get("/v1/audit", limit=1)["items"],
        client.expect(
            200, "GET", "/v1/events", headers={"Accept": "application/json"}, sort="-seq", limit=1
        ).json["items"],
        client.get("/v1/systems"),
        [{**token, "lastUsedAt": None} for token in client.get("/v1/tokens")["items"]],
        client.get("/v1/approvals"),
        client.get("/v1/skips"),
        [(job["id"], job["status"]) for job in client.get("/v1/jobs")["items"]],
        [(group["id"], group["status"]) for group in client.get("/v1/groups")["items"]],
    )


def quiet(client: Client) -> None:
    """Nothing in the workspace changes by itself any more: the job that nobody can be called for has ended."""
    for job in fleet.jobs(client, "web"):
        client.expect(200, "PATCH", f"/v1/jobs/{job['id']}", {"status": "successful"})


def test_the_table_of_roles_is_what_tokens_of_the_roles_say(client: Client) -> None:
    for role, permissions in BY_ROLE.items():
        said = client.token_with(f"a {role}", role=role).get("/v1/whoami", workspace=None)
        assert set(said["workspaces"][client.workspace]) == permissions, role


def test_there_is_an_attempt_for_every_operation_that_changes_something(busy: Client) -> None:
    tried = {request.operation for request in operations.changing(operations.known(busy))}
    described = operations.described(busy)
    changing = {
        name for name, (_, method, _) in described.items() if method != "GET"
    } - operations.NOT_CHANGING
    assert tried == changing


def test_a_viewer_changes_nothing(busy: Client) -> None:
    quiet(busy)
    viewer = busy.token_with("looks", role="viewer")
    requests = operations.changing(operations.known(busy))
    before = traces(busy)
    for request in requests:
        wanted = 401 if request.operation in SIGNED else 403
        caller = Client(viewer.address, viewer.token) if request.operation in OF_ALL_WORKSPACES else viewer
        answer = request.send(caller)
        assert answer.status == wanted, f"{request}: {answer!r}"
        assert answer.headers["content-type"] == "application/problem+json"
    assert traces(busy) == before


@pytest.mark.parametrize("role", ["deployer", "approver", "operator"])
def test_a_role_is_refused_what_is_not_in_its_row_of_the_table(busy: Client, role: str) -> None:
    caller = busy.token_with(f"a {role}", role=role)
    described = operations.described(busy)
    for request in operations.changing(operations.known(busy)):
        permission = described[request.operation][2].get("x-headgate-permission", "")
        if request.operation in SIGNED | BY_KIND | OF_ALL_WORKSPACES or not permission:
            continue
        answer = request.send(caller)
        assert (answer.status == 403) == (permission not in BY_ROLE[role]), f"{request}: {answer!r}"


@pytest.mark.parametrize(
    ("role", "kind", "is_allowed"),
    [
        ("deployer", "Resource", True),
        ("deployer", "Policy", False),
        ("deployer", "Deployment", False),
        ("deployer", "Freeze", False),
        ("operator", "Freeze", True),
        ("operator", "JobAgent", False),
        ("approver", "Signal", False),
        ("viewer", "Resource", False),
    ],
)
def test_applying_needs_the_permission_of_each_kind(
    client: Client, role: str, kind: str, is_allowed: bool
) -> None:
    caller = client.token_with("applies", role=role)
    specs: dict[str, dict[str, Any]] = {
        "Policy": {"rules": []},
        "Freeze": {"reason": "why not"},
        "Signal": {"value": 1},
    }
    wanted = [fleet.manifest(kind, "thing", **specs.get(kind, {}))]
    if role != "viewer" and not is_allowed and role != "approver":
        wanted.insert(0, fleet.resource("allowed"))
    answer = caller.call("POST", "/v1/apply", {"manifests": wanted})
    assert (answer.status == 200) == is_allowed, answer
    assert is_allowed or (answer.status == 403 and client.get("/v1/export")["manifests"] == [])


def test_a_scoped_version_needs_its_permission_in_every_way_it_can_be_made(busy: Client) -> None:
    deployer = busy.token_with("a deployer", role="deployer")
    scoped = {"tag": "v9", "targetSelector": "true"}
    version = fleet.manifest("Version", "spare-v9", deployment="spare", **scoped)
    for method, path, body in (
        ("POST", "/v1/deployments/spare/versions", scoped),
        ("PATCH", "/v1/deployments/spare/versions/v1", {"targetSelector": "true"}),
        ("PATCH", f"/v1/versions/{segment('spare/v1')}", {"targetSelector": "true"}),
        ("POST", "/v1/apply", {"manifests": [version]}),
    ):
        assert deployer.call(method, path, body).status == 403, path
    operator = busy.token_with("an operator", role="operator")
    assert operator.call("POST", "/v1/deployments/spare/versions", scoped).status == 201
    unscoped = fleet.manifest("Version", "spare-v9", deployment="spare", tag="v9")
    for method, path, change in (
        ("PATCH", "/v1/deployments/spare/versions/v9", {"targetSelector": None}),
        ("POST", "/v1/apply", {"manifests": [unscoped]}),
    ):
        answer = deployer.call(method, path, change)
        assert answer.status == 403, f"taking the scope away is a change of it: {answer!r}"


def test_a_token_of_another_workspace_finds_nothing_here(server: Server, busy: Client) -> None:
    elsewhere = new_workspace(server)
    stranger = Client(server.address, elsewhere.token_with("an admin elsewhere", role="admin").token)
    quiet(busy)
    known = operations.known(busy)
    before = traces(busy)
    for request in operations.changing(known):
        if request.operation in SIGNED:
            continue
        answer = Client(server.address, stranger.token, busy.workspace).call(
            request.method, request.path, request.body
        )
        wanted = {400, 403} if request.operation in OF_ALL_WORKSPACES else {404}
        assert answer.status in wanted, f"{request}: {answer!r}"
    assert traces(busy) == before


def test_a_token_of_another_workspace_reads_nothing_by_name_or_id(server: Server, busy: Client) -> None:
    elsewhere = new_workspace(server)
    stranger = Client(server.address, elsewhere.token_with("an admin elsewhere", role="admin").token)
    known = operations.known(busy)
    things = [f"/v1/{one}/{named}" for one in operations.COLLECTIONS for named in ("spare", _id(busy, one))]
    version = busy.get("/v1/deployments/spare/versions/v1")["id"]
    things += [
        f"/v1/workspaces/{busy.workspace}", "/v1/systems/shop", f"/v1/versions/{version}",
        f"/v1/versions/{segment('spare/v1')}", "/v1/deployments/spare/versions", "/v1/policies/careful/rules",
        f"/v1/jobs/{known.job}", f"/v1/groups/{known.group}", f"/v1/skips/{known.skip}",
        f"/v1/release-targets/{segment('api/prod/node-1')}", "/v1/release-targets/api/prod/node-1/explain",
    ]  # fmt: skip
    for path in things:
        for workspace in (None, busy.workspace) if "workspaces" not in path else (None,):
            answer = Client(server.address, stranger.token, workspace).call("GET", path)
            assert answer.status == 404, f"{path} in {workspace}: {answer!r}"
    for operation, (path, method, described) in operations.described(busy).items():
        if method != "GET" or "{" in path or not path.startswith("/v1") or operation in _OF_THE_TOKEN:
            continue
        moments = {
            parameter["name"]: datetime.now(UTC).isoformat()
            for parameter in described.get("parameters", ())
            if parameter.get("required")
        }
        answer = Client(server.address, stranger.token, busy.workspace).call("GET", path, **moments)
        assert answer.status == 404, f"{path}: {answer!r}"
        own = stranger.call("GET", path, headers={"Accept": "application/json"}, **moments)
        assert own.status == 200, path
        assert b"node-1" not in own.body, path
    workspaces = stranger.call("GET", "/v1/workspaces").json["items"]
    assert [one["name"] for one in workspaces] == [elsewhere.workspace]


_OF_THE_TOKEN = {"listWorkspaces", "whoAmI", "getChecks", "getSession", "listLoginWays", "finishOidcLogin"}


def _id(client: Client, collection: str) -> str:
    found: str = client.get(f"/v1/{collection}/spare")["id"]
    return found


def test_a_token_that_has_expired_or_was_removed_is_refused(client: Client) -> None:
    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2))
    short = client.token_with("short", role="admin", expiresAt=soon)
    assert short.call("GET", "/v1/resources").status == 200
    waiting.until(lambda: short.call("GET", "/v1/resources").status == 401)
    removed = client.token_with("removed", role="admin")
    assert removed.call("GET", "/v1/resources").status == 200
    client.expect(204, "DELETE", "/v1/tokens/removed")
    assert removed.call("GET", "/v1/resources").status == 401


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer hg_short", "Bearer hg_" + "a" * 43, "Bearer a.b.c", "hg_x",
     "Bearer " + "x" * 8000, "Bearer hg_" + "\xe4" * 43],
)  # fmt: skip
def test_whoever_has_no_token_is_a_stranger(server: Server, authorization: str) -> None:
    answer = server.anybody().call("GET", "/v1/resources", headers={"Authorization": authorization})
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer ")


def test_an_agents_token_is_for_its_own_jobs(busy: Client) -> None:
    """The jobs of another agent are neither claimed, nor kept, nor reported with it."""
    known = operations.known(busy)
    other = busy.token_with("other", permissions=["job:run", "job:report"], agents=["other-puller"])
    for request in (
        ("POST", "/v1/job-agents/puller/claim", {}),
        ("POST", f"/v1/jobs/{known.claimed_job}/heartbeat", {"token": known.claim}),
        ("POST", f"/v1/jobs/{known.claimed_job}/report", {"token": known.claim, "status": "successful"}),
        ("PATCH", f"/v1/jobs/{known.job}", {"status": "successful"}),
    ):
        assert other.call(*request).status == 403, request
    assert {job["status"] for job in fleet.jobs(busy, "api")} <= {"pending", "queued"}
    assert other.expect(200, "POST", "/v1/job-agents/other-puller/claim", {}).json["jobs"] != []


@pytest.mark.parametrize(
    "wanted",
    [
        {"role": "admin"},
        {"role": "deployer"},
        {"permissions": ["fleet:write"]},
        {"role": "viewer", "permissions": ["job:run"]},
        {"role": "viewer", "allWorkspaces": True},
        {"permissions": ["token:write"], "allWorkspaces": True},
    ],
)
def test_a_token_cannot_make_a_stronger_one(client: Client, wanted: dict[str, Any]) -> None:
    weak = client.token_with("weak", permissions=["read", "token:write", "approval:write"])
    assert weak.call("POST", "/v1/tokens", {"name": "strong", **wanted}).status == 403
    assert [one["name"] for one in weak.get("/v1/tokens")["items"]] == ["weak"]
    assert weak.call("POST", "/v1/tokens", {"name": "equal", "permissions": ["read"]}).status == 201


def test_a_token_cannot_outlive_the_one_that_made_it(client: Client) -> None:
    """Otherwise it would make itself another day, for ever."""
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 7200))
    short = client.token_with("short", role="admin", expiresAt=until)
    assert short.call("POST", "/v1/tokens", {"name": "a", "role": "viewer"}).status == 403
    assert short.call("POST", "/v1/tokens", {"name": "b", "role": "viewer", "expiresAt": later}).status == 403
    assert short.call("POST", "/v1/tokens", {"name": "c", "role": "viewer", "expiresAt": until}).status == 201


def test_the_last_token_that_can_make_others_stays(server: Server) -> None:
    admin = server.admin()
    refused = admin.call("DELETE", "/v1/tokens/admin")
    assert refused.status == 409
    assert "make another one first" in refused.sentences
    assert admin.call("GET", "/v1/whoami").status == 200
