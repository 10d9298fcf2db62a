"""axe finds nothing serious on any page, in light and in dark; and no page is wider than the screen, whatever the names."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from service import fleet as service_fleet
from service.client import Client, segment
from service.conftest import new_workspace
from service.server import Server

from .steps import HOSTILE, log_in

pytestmark = pytest.mark.slow
CONSOLE = Path(__file__).resolve().parents[2] / "console"
AXE = CONSOLE / "node_modules" / "axe-core" / "axe.min.js"
NAME = ('<img src=x onerror="document.title=1"> \u05e9\u05dc\u05d5\u05dd ' + "x" * 253)[:253]
HALF = NAME[:126]
"""A version's name is its deployment's and its tag."""
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="session")
def axe() -> str:
    if shutil.which("npm") is None:
        pytest.skip("axe is a package of Node, which is not here")
    packages = CONSOLE.parent / "scripts" / "console-packages"
    subprocess.run([packages], check=True, capture_output=True, timeout=600)
    return AXE.read_text("utf-8")


@pytest.fixture(scope="module")
def client(server: Server) -> Client:
    """Names that would like to be markup, or written from right to left, wherever there is a name."""
    found = new_workspace(server).token_with("pages", role="admin")
    manifest = service_fleet.manifest
    found.apply(
        manifest("JobAgent", NAME, type="exec", config={"command": "false"}),
        manifest("Environment", "prod", resourceSelector="true"),
        manifest(
            "Deployment", HALF, jobAgent=NAME, resourceSelector="true", variables={NAME: {"default": NAME}}
        ),
        manifest("Resource", NAME, kind="Node"),
        manifest("Policy", NAME, selector="true", rules=[{"name": NAME, "approval": {"minApprovals": 1}}]),
        manifest("Signal", NAME, value=NAME),
    )
    path = f"/v1/deployments/{segment(HALF)}/versions"
    found.expect(201, "POST", path, {"tag": HALF, "message": HOSTILE, "metadata": {NAME: NAME}})
    found.expect(201, "POST", "/v1/freezes", {"name": NAME, "reason": HOSTILE})
    found.token_with("x" * 100, role="viewer")
    return found


def paths() -> list[str]:
    name, half = segment(NAME), segment(HALF)
    return [
        "/",
        "/fleet",
        "/fleet?view=grid",
        "/versions",
        "/versions/new",
        "/policies",
        "/policies?new=yes",
        f"/policies/{name}",
        f"/policies/{name}?edit=yes",
        f"/rollouts/{half}/{half}",
        f"/targets/{half}/prod/{name}",
        "/workloads",
        "/graphs",
        "/freezes",
        "/approvals",
        "/agents",
        "/signals",
        "/audit",
        "/simulate",
        "/settings",
        "/nowhere",
    ]


def problems(page: Page, axe: str) -> list[Any]:
    page.evaluate(axe)
    found = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations)"
    )
    return [
        {"rule": one["id"], "nodes": [node["html"][:200] for node in one["nodes"][:3]]}
        for one in found
        if one["impact"] in SERIOUS
    ]


def settled(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_text("● live")).to_be_visible()
    expect(page.get_by_text("Loading ")).to_have_count(0)
    if "?new=" in address:
        expect(page.locator(".plan").first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Browser, client: Client, axe: str, scheme: Any) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(client.address)
    assert problems(page, axe) == []
    log_in(page, client.address, str(client.token))
    found = {}
    for path in paths():
        settled(page, client.address + path)
        found[path] = problems(page, axe)
    page.goto(f"{client.address}/freezes")
    page.get_by_role("main").get_by_role("button", name="Freeze", exact=True).click()
    found["a dialog"] = problems(page, axe)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
    found["the palette"] = problems(page, axe)
    context.close()
    bad = {path: one for path, one in found.items() if one}
    assert bad == {}, json.dumps(bad, indent=1)


def test_names_are_shown_and_not_obeyed_anywhere(page: Page, client: Client) -> None:
    log_in(page, client.address, str(client.token))
    too_wide = {}
    for width in (360, 1280, 2560):
        page.set_viewport_size({"width": width, "height": 900})
        for path in paths():
            settled(page, client.address + path)
            wider = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            if wider > 0:
                too_wide[f"{path} at {width}"] = wider
            assert page.locator("main img, main script").count() == 0, path
            assert "Headgate" in page.title()
    assert too_wide == {}
