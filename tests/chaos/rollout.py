"""The rollout that is disturbed: nodes of which few may be worked on at once, with a drain and an uncordon around it.

What is asked of the service comes in steps. Each has a key of its own, so a step that was cut off is asked again.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec

from headgate.fleet.engine import manifests
from headgate.fleet.model import changes
from headgate.runtime.commands import CommandContext
from headgate.store import Workspace

WORKSPACE = Workspace("5f0c3f43-8bd5-4f0e-9d9d-0a4f5f1f7e11", "default", "for chaos", 0)
AGENT = "robot"
NODES = 6
MOST_NODES_AT_ONCE = 2
MOST_CLAIMS = 1000
"""Claims are lost with every process that is killed; no job shall end because of that."""


class Step(msgspec.Struct, frozen=True):
    """`manifests` are put, or the freeze `unfreeze` is deleted."""

    key: str
    manifests: tuple[dict[str, object], ...] = ()
    unfreeze: str | None = None

    @property
    def subjects(self) -> list[tuple[str, str, str]]:
        """Type of the change, kind and name, as the log has them."""
        if self.unfreeze is not None:
            return [("Delete", "Freeze", self.unfreeze)]
        return [("Put", str(one["kind"]), _name(one)) for one in self.manifests]

    def command(self, context: CommandContext) -> None:
        if self.unfreeze is not None:
            context.apply(changes.Delete("Freeze", self.unfreeze))
        for document in self.manifests:
            thing = manifests.parse(document, context.ids, context.now)
            assert not isinstance(thing, manifests.ForeignObject)
            context.apply(changes.Put(thing))


def _name(manifest: dict[str, object]) -> str:
    metadata = manifest["metadata"]
    assert isinstance(metadata, dict)
    return str(metadata["name"])


def steps(nodes: int = NODES, more: int = 0) -> list[Step]:
    """With so many more versions at the end."""
    return [
        Step("fleet", tuple(_fleet(nodes))),
        _publish("drain", "v1"),
        _publish("uncordon", "v1"),
        _publish("patch", "v1"),
        _publish("kubelet", "v1"),
        _freeze("first"),
        Step("unfreeze-first", unfreeze="first"),
        _publish("kubelet", "v2"),
        _publish("patch", "v2"),
        _freeze("second"),
        Step("unfreeze-second", unfreeze="second"),
        _publish("kubelet", "v3"),
        *(_publish("kubelet", f"v{number}") for number in range(4, 4 + more)),
    ]


def outcome(job: str, chance: random.Random) -> str:
    """Some jobs fail, and are tried again by their rule."""
    return "failure" if chance.random() < 0.1 else "successful"


def _manifest(kind: str, name: str, /, **spec: object) -> dict[str, object]:
    return {"apiVersion": manifests.API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _publish(deployment: str, tag: str) -> Step:
    name = f"{deployment}/{tag}"
    return Step(f"publish-{deployment}-{tag}", (_manifest("Version", name, deployment=deployment, tag=tag),))


def _freeze(name: str) -> Step:
    return Step(f"freeze-{name}", (_manifest("Freeze", name, reason="everybody stops"),))


def _fleet(nodes: int) -> Iterator[dict[str, object]]:
    yield _manifest("JobAgent", AGENT, type="pull", config={"maxAttempts": MOST_CLAIMS})
    yield _manifest("Environment", "prod", resourceSelector="resource.kind == 'Node'")
    for deployment in ("drain", "patch", "kubelet", "uncordon"):
        yield _manifest("Deployment", deployment, resourceSelector="resource.kind == 'Node'", jobAgent=AGENT)
    for number in range(1, nodes + 1):
        yield _manifest("Resource", f"node-{number}", kind="Node")
    bracket = {
        "deploymentSelector": "true",
        "readinessMode": "immediate",
        "unchangedMemberStrategy": "skip_unchanged",
        "overlapStrategy": "queue",
    }
    limit = {"groupSelector": "true", "limitType": "count", "limitValue": MOST_NODES_AT_ONCE}
    order = (
        {"dependsOn": "deployment.name == 'drain'", "appliesTo": "deployment.name in ['patch', 'kubelet']"},
        {"dependsOn": "deployment.name == 'patch'", "appliesTo": "deployment.name == 'kubelet'"},
        {
            "dependsOn": "deployment.name in ['patch', 'kubelet']",
            "appliesTo": "deployment.name == 'uncordon'",
        },
    )
    yield _manifest(
        "Policy",
        "nodes",
        selector="true",
        rules=[
            {"deploymentBracket": bracket},
            {"resourceConcurrency": limit},
            *({"deploymentDependency": one} for one in order),
            {"retry": {"maxRetries": 20}},
        ],
    )
