"""For every operation that changes something, a request that would change something in the fleet of `fleet.fill`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

import smallest
from headgate.fleet.model import kinds

from . import fleet
from .client import Answer, Client, segment

Json = dict[str, Any]


class Request(msgspec.Struct, frozen=True):
    operation: str
    method: str
    path: str
    body: Any = None
    status: int = 200
    """Of an admin, the first time."""

    def send(self, client: Client, headers: dict[str, str] | None = None) -> Answer:
        return client.call(self.method, self.path, self.body, headers)


class Known(msgspec.Struct, frozen=True):
    """What a request may have to name, and names alone do not."""

    job: str
    claimed_job: str
    claim: int
    called_job: str
    group: str
    skip: str
    workspace: str


def known(client: Client) -> Known:
    claimed = client.expect(200, "POST", "/v1/job-agents/puller/claim", {"leaseSeconds": 3600}).json["jobs"][
        0
    ]
    jobs = {job["id"]: job for job in fleet.jobs(client, "api")}
    return Known(
        next(id_ for id_ in jobs if id_ != claimed["job"]["id"]),
        claimed["job"]["id"],
        claimed["claim"]["token"],
        fleet.jobs(client, "web")[0]["id"],
        client.get("/v1/groups")["items"][0]["id"],
        client.get("/v1/skips")["items"][0]["id"],
        client.workspace or "default",
    )


_WRITTEN: dict[str, tuple[Json, Json]] = {
    "Resource": ({"kind": "Shelf"}, {"version": "2"}),
    "Environment": ({"resourceSelector": "false"}, {"metadata": {"a": "b"}}),
    "Deployment": ({"resourceSelector": "false"}, {"metadata": {"a": "b"}}),
    "Policy": ({"rules": []}, {"enabled": False}),
    "JobAgent": ({"type": "exec"}, {"metadata": {"a": "b"}}),
    "Freeze": ({"reason": "another", "selector": "false"}, {"reason": "a third"}),
    "Signal": ({"value": 7}, {"value": 8}),
    "VariableSet": ({"variables": {"a": 1}}, {"priority": 3}),
}
"""What is created of a kind, and what is changed of it; others are created with what they need, and described."""
NEEDED: dict[str, Json] = {kind.collection: smallest.OBJECTS.get(kind.name, {}) for kind in kinds.NAMED}
"""The least that is sent to each collection to make one, beside a name."""
COLLECTIONS = tuple(NEEDED)


def _simple() -> Iterator[Request]:
    for kind in kinds.NAMED:
        name, path = kind.name, f"/v1/{kind.collection}"
        body, patch = _WRITTEN.get(name) or (smallest.OBJECTS.get(name, {}), {"metadata": {"a": "b"}})
        one = f"{path}/spare"
        yield Request(f"create{name}", "POST", path, {**body, "name": "another"}, 201)
        yield Request(f"put{name}", "PUT", one, body)
        yield Request(f"patch{name}", "PATCH", one, patch)
        yield Request(
            f"delete{name}", "DELETE", one, None, 200 if name in ("Policy", "Deployment", "Freeze") else 204
        )


def _versions() -> Iterator[Request]:
    yield Request("createVersion", "POST", "/v1/deployments/spare/versions", {"tag": "v4"}, 201)
    of_deployment, anywhere = "/v1/deployments/spare/versions/", "/v1/versions/"
    yield Request("patchVersion", "PATCH", anywhere + segment("spare/v1"), {"status": "paused"})
    yield Request("deleteVersion", "DELETE", anywhere + segment("spare/v2"), None, 204)
    yield Request("patchVersionOfDeployment", "PATCH", f"{of_deployment}v1", {"message": "it waits"})
    bad = {"reason": "leaks memory", "rollback": True}
    yield Request("rejectVersion", "POST", f"{anywhere}{segment('spare/v1')}/reject", bad)
    yield Request("rejectVersionOfDeployment", "POST", f"{of_deployment}v1/reject", bad)
    yield Request("deleteVersionOfDeployment", "DELETE", f"{of_deployment}v3", None, 204)


def _rules() -> Iterator[Request]:
    rules = "/v1/policies/careful/rules"
    calm = {"versionCooldown": {"intervalSeconds": 0}}
    yield Request("createRule", "POST", rules, calm, 201)
    budget = {"name": "few failures", "failureBudget": {"maxFailed": 2}}
    yield Request("putRule", "PUT", f"{rules}/{segment('few failures')}", budget)
    yield Request("deleteRule", "DELETE", f"{rules}/1", None, 200)


def _targets() -> Iterator[Request]:
    for action, deployment, suffix in (
        ("retry", "broken", ""),
        ("retry", "broken", "ByParts"),
        ("rollback", "calm", ""),
        ("redeploy", "calm", "ByParts"),
    ):
        target = f"{deployment}/prod/node-{2 if suffix else 1}"
        path = target if suffix else segment(target)
        yield Request(f"{action}Target{suffix}", "POST", f"/v1/release-targets/{path}/{action}")
    yield Request(
        "adoptTarget", "POST", f"/v1/release-targets/{segment('calm/prod/node-3')}/adopt", {"version": "v1"}
    )
    yield Request(
        "adoptTargetByParts", "POST", "/v1/release-targets/calm/prod/node-3/adopt", {"version": "v2"}
    )
    everywhere = {"environment": "prod"}
    yield Request("retryTargets", "POST", "/v1/deployments/calm/retry", everywhere, 409)
    yield Request("rollbackTargets", "POST", "/v1/deployments/api/rollback", everywhere, 409)
    yield Request("redeployTargets", "POST", "/v1/deployments/gated/redeploy", everywhere, 409)
    yield Request("adoptTargets", "POST", "/v1/deployments/gated/adopt", {**everywhere, "version": "v1"})
    refused = "/v1/release-targets/api/prod/node-1/rollback"
    yield Request("rollbackTargetByParts", "POST", refused, None, 409)
    refused = f"/v1/release-targets/{segment('gated/prod/node-2')}/redeploy"
    yield Request("redeployTarget", "POST", refused, None, 409)


def _rest(known: Known) -> Iterator[Request]:
    job, claimed = f"/v1/jobs/{known.job}", f"/v1/jobs/{known.claimed_job}"
    yield Request("createWorkspace", "POST", "/v1/workspaces", {"name": f"{known.workspace}-more"}, 201)
    yield Request("putSystem", "PUT", "/v1/systems/spare", {"description": "another"})
    yield Request(
        "putResourceSet", "PUT", "/v1/resources/set", {"provider": "p", "resources": [{"name": "new"}]}
    )
    yield Request("putResourceVariable", "PUT", "/v1/resources/node-3/variables/colour", {"value": 9})
    yield Request("deleteResourceVariable", "DELETE", "/v1/resources/node-3/variables/zone", None, 204)
    yield Request("putDeploymentVariable", "PUT", "/v1/deployments/gated/variables/colour", {"value": 9})
    yield Request("deleteDeploymentVariable", "DELETE", "/v1/deployments/gated/variables/zone", None, 204)
    yield Request("patchJob", "PATCH", job, {"status": "successful"})
    yield Request("claimJobs", "POST", "/v1/job-agents/other-puller/claim", {})
    yield Request("heartbeatJob", "POST", f"{claimed}/heartbeat", {"token": known.claim})
    yield Request("appendJobLog", "POST", f"{claimed}/log", {"token": known.claim, "lines": ["begun"]})
    yield Request("reportJob", "POST", f"{claimed}/report", {"token": known.claim, "status": "successful"})
    yield Request(
        "callbackJob", "POST", f"/v1/jobs/{known.called_job}/callback", {"status": "successful"}, 401
    )
    yield Request("retryGroup", "POST", f"/v1/groups/{known.group}/retry", {}, 409)
    yield Request("releaseGroup", "POST", f"/v1/groups/{known.group}/release", {}, 409)
    yield Request(
        "skipMemberOfGroup", "POST", f"/v1/groups/{known.group}/skip-member", {"member": "drain"}, 422
    )
    yield Request("abortGroup", "POST", f"/v1/groups/{known.group}/abort", {})
    vote = {"deployment": "gated", "tag": "v1", "environment": "prod", "status": "rejected"}
    yield Request("vote", "POST", "/v1/approvals", vote)
    yield Request("withdrawVote", "DELETE", f"/v1/approvals/{segment('gated/v1')}/prod", None, 200)
    yield Request("createSkip", "POST", "/v1/skips", {"rule": "two eyes", "reason": "why not"}, 201)
    yield Request("deleteSkip", "DELETE", f"/v1/skips/{known.skip}", None, 200)
    yield Request("resumeBudget", "POST", "/v1/budgets/resume", {"rule": "few failures"})
    yield Request("apply", "POST", "/v1/apply", {"manifests": [fleet.resource("applied")]})
    yield Request("createToken", "POST", "/v1/tokens", {"name": "more", "role": "viewer"}, 201)
    yield Request("deleteToken", "DELETE", "/v1/tokens/somebody", None, 204)
    yield Request("deleteSystem", "DELETE", "/v1/systems/spare", None, 204)
    yield Request("putRetention", "PUT", f"/v1/workspaces/{known.workspace}/retention", {"legalHold": False})
    yield Request("repairClock", "POST", f"/v1/workspaces/{known.workspace}/repair-clock", None, 422)
    yield Request("deleteWorkspace", "DELETE", f"/v1/workspaces/{known.workspace}", None, 204)


def _clusters() -> Iterator[Request]:
    """No cluster is connected in the tests of the service."""
    for act in ("pause", "resume", "abort", "partition"):
        body = {"partition": 0} if act == "partition" else {}
        path = f"/v1/workloads/{segment('nowhere/default/web')}/{act}"
        yield Request(f"{act}Workload", "POST", path, body, 404)
    for act in ("pause", "resume"):
        path = f"/v1/graphs/{segment('nowhere/shops.kro.run/default/web')}/{act}"
        yield Request(f"{act}Graph", "POST", path, {}, 404)


def changing(known: Known) -> list[Request]:
    """Those that take away what others need come last."""
    found = [*_rest(known), *_clusters(), *_targets(), *_versions(), *_rules(), *_simple()]
    return sorted(found, key=lambda one: (one.operation == "deleteWorkspace", one.method == "DELETE"))


def described(client: Client) -> dict[str, tuple[str, str, Json]]:
    """What the service says about itself: operation to path, method and description."""
    paths = client.get("/openapi.json", workspace=None)["paths"]
    return {
        operation["operationId"]: (path, method.upper(), operation)
        for path, methods in paths.items()
        for method, operation in methods.items()
    }


NOT_CHANGING = frozenset(
    {"diff", "plan", "simulate", "beginSession", "beginOidcLogin", "endSession", "createLoginCode"}
)
"""Questions that are too long for GET, and sessions of browsers, which change nothing in a workspace."""
