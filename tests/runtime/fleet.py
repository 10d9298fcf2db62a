"""Small fleets, written as changes."""

from __future__ import annotations

from typing import Any

from headgate.fleet.engine import manifests
from headgate.fleet.model import changes
from headgate.fleet.model.changes import Change, Delete, Put
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds

START = instants.parse("2026-03-02T09:00:00Z")


def thing(kind: str, name: str, /, **spec: Any) -> Any:
    document = {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    return manifests.parse(document, NamedIds("tests"), START)


def put(kind: str, name: str, /, **spec: Any) -> Put:
    return Put(thing(kind, name, **spec))


def delete(kind: str, name: str) -> Delete:
    return Delete(kind, name)


def agent(name: str = "runner", **spec: Any) -> Put:
    return put("JobAgent", name, **{"type": "pull", **spec})


def resource(name: str, /, **spec: Any) -> Put:
    return put("Resource", name, **{"kind": "Node", **spec})


def environment(name: str = "prod", **spec: Any) -> Put:
    return put("Environment", name, **{"resourceSelector": "true", **spec})


def deployment(name: str, **spec: Any) -> Put:
    return put("Deployment", name, **{"resourceSelector": "true", "jobAgent": "runner", **spec})


def version(owner: str, tag: str, **spec: Any) -> Put:
    """Those with higher numbers are newer."""
    age = instants.seconds(1) - int(tag.removeprefix("v"))
    given = {"deployment": owner, "tag": tag, "createdAt": instants.show(START - age), **spec}
    return Put(thing("Version", f"{owner}/{tag}", **given), create_only=True)


def policy(name: str, *rules: dict[str, Any], **spec: Any) -> Put:
    return put("Policy", name, rules=list(rules), **spec)


def approve(tag: str, user: str = "ana", status: Any = "approved", owner: str = "api") -> Change:
    return changes.Vote(owner, tag, "prod", user, status)


ONE_NODE: tuple[Change, ...] = (agent(), resource("a"), environment(), deployment("api"))
"""One agent, one resource, one environment, one deployment without a version."""

TWO_NODES: tuple[Change, ...] = (*ONE_NODE, resource("b"))

APPROVAL = {"name": "signed", "approval": {"minApprovals": 1}}
ONE_AT_A_TIME = {
    "name": "one",
    "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 1},
}
STAGES = {
    "name": "stages",
    "environmentProgression": {"dependsOnEnvironmentSelector": "environment.name != 'prod'"},
}
BRACKET = {
    "name": "cycle",
    "deploymentBracket": {
        "deploymentSelector": "true",
        "readinessMode": "immediate",
        "preHookSelector": "deployment.name == 'drain'",
        "postHookSelector": "deployment.name == 'uncordon'",
    },
}


def bracket(**options: Any) -> dict[str, Any]:
    return {"name": "cycle", "deploymentBracket": {**BRACKET["deploymentBracket"], **options}}  # type: ignore[dict-item]


def cycle(*rules: dict[str, Any], nodes: tuple[str, ...] = ("a",)) -> tuple[Change, ...]:
    """A bracket around kubelet; nothing of kubelet is published yet."""
    return (
        agent(),
        *(resource(name) for name in nodes),
        environment(),
        *(deployment(name) for name in ("drain", "kubelet", "uncordon")),
        policy("nodes", *(rules or (BRACKET,))),
        version("drain", "v1"),
        version("uncordon", "v1"),
    )
