"""What tests of the console have in common: coming in, fleets to look at, and what is asked over the wire."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, Request, expect

from service import fleet as service_fleet
from service.client import Client

manifest = service_fleet.manifest


def enter(page: Page, client: Client) -> None:
    """By a token, as somebody who has only that; the workspace is chosen as a person would."""
    page.goto(client.address)
    page.get_by_label("API token").fill(str(client.token))
    page.get_by_role("button", name="Log in").click()
    page.locator("details.who summary").click()
    page.get_by_label("Workspace").select_option(client.workspace)
    expect(page.get_by_label("Workspace")).to_be_hidden()
    expect(page.get_by_text("● live")).to_be_visible()


def because(page: Page, reason: str) -> None:
    """Whoever orders something says why."""
    page.get_by_role("dialog").get_by_label("Reason").fill(reason)


def confirm(page: Page, name: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=name).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


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
