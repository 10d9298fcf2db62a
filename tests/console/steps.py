"""What people do in the console, again and again."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, expect

from service import fleet as service_fleet
from service.client import Client

HOSTILE = '<img src=x onerror="document.title=1"> \u202egnp.exe ' + "x" * 200


def fleet(client: Client, *rules: dict[str, Any]) -> None:
    """Three nodes, one deployment whose jobs take a moment, and a policy with the given rules."""
    manifest = service_fleet.manifest
    client.apply(
        manifest("JobAgent", "local", type="exec", config={"command": "true"}),
        manifest("Environment", "prod", resourceSelector="true"),
        manifest("Deployment", "kubelet", jobAgent="local", resourceSelector="true"),
        *(manifest("Resource", f"node-{number}", kind="Node") for number in (1, 2, 3)),
        manifest("Policy", "careful", selector="true", rules=list(rules)),
    )


def publish(client: Client, tag: str) -> None:
    client.expect(201, "POST", "/v1/deployments/kubelet/versions", {"tag": tag})


def enter(page: Page, client: Client) -> None:
    """By a token, as somebody who has only that; the workspace is chosen as a person would."""
    page.goto(client.address)
    page.get_by_label("API token").fill(str(client.token))
    page.get_by_role("button", name="Log in", exact=True).click()
    page.locator("details.who summary").click()
    chosen = page.locator("details.who").get_by_label("Workspace")
    chosen.select_option(client.workspace)
    expect(chosen).to_be_hidden()
    expect(page.get_by_text("● live")).to_be_visible()


def because(page: Page, reason: str) -> None:
    """Whoever orders something says why."""
    page.get_by_role("dialog").get_by_label("Reason").fill(reason)


def confirm(page: Page, name: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=name).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def log_in(page: Page, address: str, token: str) -> None:
    """The workspace is the only one that the token has."""
    page.goto(address)
    page.get_by_label("API token").fill(token)
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_text("● live")).to_be_visible()


def told(page: Page, text: str) -> None:
    """What was done is said once its event has come."""
    expect(page.locator(".toasts")).to_contain_text(text)
