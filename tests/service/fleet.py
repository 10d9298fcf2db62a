"""A small fleet with something of every kind in it, so that every operation has something to work on."""

from __future__ import annotations

from typing import Any

import smallest
from headgate.fleet.model import kinds

from . import waiting
from .client import Client

SECRET = "a secret between two machines"


def manifest(kind: str, name: str, /, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def resource(name: str, **spec: Any) -> dict[str, Any]:
    return manifest("Resource", name, **{"kind": "Node", **spec})


def fleet() -> list[dict[str, Any]]:
    return [
        manifest("JobAgent", "puller", config={"maxAttempts": 5}),
        manifest("JobAgent", "other-puller"),
        manifest("JobAgent", "caller", type="http", config={"url": "http://127.0.0.1:9/", "secret": SECRET}),
        manifest(
            "Environment", "prod", resourceSelector="resource.kind == 'Node'", systems=["default", "shop"]
        ),
        *(resource(f"node-{number}", variables={"zone": number}) for number in range(1, 4)),
        manifest("Deployment", "api", resourceSelector="true", jobAgent="puller", systems=["shop"]),
        manifest("Deployment", "web", resourceSelector="true", jobAgent="caller"),
        manifest(
            "Deployment", "gated", resourceSelector="true", jobAgent="other-puller", variables={"zone": 1}
        ),
        manifest("Deployment", "drain", resourceSelector="true", jobAgent="puller"),
        manifest("Deployment", "kubelet", resourceSelector="true", jobAgent="puller"),
        manifest("Deployment", "broken", resourceSelector="true", jobAgent="other-puller"),
        manifest("Deployment", "calm", resourceSelector="true", jobAgent="other-puller"),
        *_spares(),
        manifest("VariableSet", "defaults", variables={"colour": "green"}),
        manifest("Signal", "load", value=1),
        manifest("Freeze", "holidays", reason="nobody is there", selector="resource.name == 'node-3'"),
        manifest(
            "Policy",
            "careful",
            selector="deployment.name == 'gated'",
            rules=[
                {"name": "two eyes", "approval": {"minApprovals": 2}},
                {"name": "few failures", "failureBudget": {"maxFailed": 1}},
            ],
        ),
        manifest(
            "Policy",
            "together",
            selector="deployment.name in ['drain', 'kubelet']",
            rules=[
                {
                    "name": "one drain",
                    "deploymentBracket": {
                        "deploymentSelector": "deployment.name in ['drain', 'kubelet']",
                        "readinessWindowSeconds": 3600,
                    },
                },
                {
                    "name": "one",
                    "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 1},
                },
            ],
        ),
    ]


def _spares() -> list[dict[str, Any]]:
    """One of each kind that nothing depends on."""
    specs = {
        **smallest.OBJECTS,
        "Resource": {"kind": "Rack"},
        "Policy": {"selector": "false", "rules": []},
        "Freeze": {"reason": "a rehearsal", "selector": "false"},
    }
    return [
        *(manifest(kind.name, "spare", **specs.get(kind.name, {})) for kind in kinds.NAMED),
        *(manifest("Version", f"spare-{tag}", deployment="spare", tag=tag) for tag in ("v1", "v2", "v3")),
    ]


def fill(client: Client) -> None:
    """Jobs of three agents, a group that collects, votes, a skip, a described system, a token."""
    client.apply(*fleet())
    for deployment in ("api", "web", "gated", "drain", "kubelet", "broken", "calm"):
        client.expect(201, "POST", f"/v1/deployments/{deployment}/versions", {"tag": "v1"})
    client.expect(
        200,
        "POST",
        "/v1/approvals",
        {"deployment": "gated", "tag": "v1", "environment": "prod", "status": "approved"},
    )
    client.expect(
        201, "POST", "/v1/skips",
        {"rule": "two eyes", "resource": "node-1", "deployment": "gated", "tag": "v1", "reason": "a rehearsal"},
    )  # fmt: skip
    client.expect(201, "PUT", "/v1/systems/shop", {"description": "where people buy"})
    client.expect(201, "POST", "/v1/tokens", {"name": "somebody", "role": "viewer"})
    client.expect(201, "PUT", "/v1/systems/spare", {})
    _end(client, "broken", "failure")
    _end(client, "calm", "successful")
    client.expect(201, "POST", "/v1/deployments/calm/versions", {"tag": "v2"})
    waiting.until(lambda: len(jobs(client, "calm")) == 4)
    _end(client, "calm", "successful")
    waiting.until(
        lambda: (
            len(jobs(client, "api")) == 2 and len(jobs(client, "web")) == 2 and bool(jobs(client, "gated"))
        )
    )
    waiting.until(lambda: len(client.get("/v1/groups")["items"]) >= 2)


def _end(client: Client, deployment: str, status: str) -> None:
    waiting.until(lambda: len(jobs(client, deployment)) >= 2)
    for job in jobs(client, deployment):
        client.expect(200, "PATCH", f"/v1/jobs/{job['id']}", {"status": status})


def jobs(client: Client, deployment: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/v1/jobs", deployment=deployment)["items"]
    return found
