"""Fleets to look at in the console, and what is asked over the wire meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, Request

from service import fleet as service_fleet
from service.client import Client

manifest = service_fleet.manifest


def ten_nodes(client: Client, seconds: float = 0.5) -> None:
    """Drained two at a time, upgraded, and put back."""
    layer = "deployment.name in ['node-drain', 'kubelet', 'node-uncordon']"
    client.apply(
        slowly(seconds),
        manifest("Environment", "prod", resourceSelector="true"),
        *(manifest("Deployment", name, jobAgent="local", resourceSelector="true") for name in _LAYER),
        *(
            manifest("Resource", f"node-{number}", kind="Node", metadata={"zone": "ab"[number % 2]})
            for number in range(1, 11)
        ),
        manifest("Policy", "Node Lifecycle", selector=layer, rules=_lifecycle(layer)),
    )


def slowly(seconds: float) -> dict[str, Any]:
    """An agent whose jobs take as long."""
    return manifest("JobAgent", "local", type="exec", config={"command": f"sleep {seconds}"})


_LAYER = ("node-drain", "kubelet", "node-uncordon")


def _lifecycle(layer: str) -> list[dict[str, Any]]:
    limit = {"groupSelector": "true", "limitType": "count", "limitValue": 2}
    return [
        {
            "name": "one drain for all",
            "deploymentBracket": {
                "deploymentSelector": layer,
                "readinessMode": "collection_window",
                "readinessWindowSeconds": 1,
            },
        },
        {"name": "two at a time", "resourceConcurrency": limit},
        {
            "deploymentDependency": {
                "dependsOn": "deployment.name == 'node-drain'",
                "appliesTo": "deployment.name == 'kubelet'",
            }
        },
        {
            "deploymentDependency": {
                "dependsOn": "deployment.name == 'kubelet'",
                "appliesTo": "deployment.name == 'node-uncordon'",
            }
        },
    ]


def publish(client: Client, deployment: str, tag: str, **fields: Any) -> None:
    client.expect(201, "POST", f"/v1/deployments/{deployment}/versions", {"tag": tag, **fields})


@contextmanager
def questions(page: Page) -> Iterator[list[str]]:
    """Paths of the API that the page asks meanwhile."""
    asked: list[str] = []

    def hear(request: Request) -> None:
        path = urlsplit(request.url).path
        if path.startswith("/v1/"):
            asked.append(path)

    page.on("request", hear)
    yield asked
    page.remove_listener("request", hear)
