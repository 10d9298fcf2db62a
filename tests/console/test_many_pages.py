"""A browser has six connections to a server: many pages, kept or open, do not use them up."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from service import waiting
from service.client import Client
from service.conftest import new_workspace
from service.server import Server

from .conftest import CHROMIUM
from .steps import because, confirm, fleet, log_in, publish

pytestmark = pytest.mark.slow
APPROVAL = {"name": "somebody says yes", "approval": {"minApprovals": 1}}
SHORTLY_MS = 20_000
_numbers = count(1)
ADDRESSES = {
    "/": "kubelet v1",
    "/fleet": "kubelet",
    "/rollouts/kubelet/v1": "3 waiting",
    "/targets/kubelet/prod/node-1": "somebody says yes",
    "/versions": "v1",
    "/policies": "careful",
    "/approvals": "Waits for a vote",
    "/fleet?view=grid": "3 waiting",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """With the cache of pages that one can go back to, which tests usually do without."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine: `scripts/chromium`, run as root, installs it")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox"],
            ignore_default_args=["--disable-back-forward-cache"],
        )
        yield found
        found.close()


@pytest.fixture
def client(server: Server) -> Client:
    found = new_workspace(server).token_with(f"many-{next(_numbers)}", role="admin")
    fleet(found, APPROVAL)
    publish(found, "v1")
    return found


def shows(page: Page, text: str) -> None:
    expect(page.get_by_text("● live")).to_be_visible(timeout=SHORTLY_MS)
    expect(page.locator("main")).to_contain_text(text, timeout=SHORTLY_MS)


def test_eight_addresses_one_after_the_other_in_one_tab(page: Page, client: Client) -> None:
    log_in(page, client.address, str(client.token))
    for path, text in ADDRESSES.items():
        page.goto(client.address + path)
        shows(page, text)


def test_a_page_that_was_kept_shows_what_has_happened_since(page: Page, client: Client) -> None:
    log_in(page, client.address, str(client.token))
    page.goto(f"{client.address}/fleet")
    shows(page, "3 waiting")
    page.goto(f"{client.address}/policies")
    shows(page, "careful")
    vote = {"deployment": "kubelet", "tag": "v1", "environment": "prod", "status": "approved"}
    client.expect(200, "POST", "/v1/approvals", vote)
    waiting.until(lambda: all(one["current"] for one in client.get("/v1/release-targets")["items"]))
    page.go_back(wait_until="commit")
    shows(page, "3 up to date")


def test_eight_tabs_are_all_live(page: Page, client: Client) -> None:
    log_in(page, client.address, str(client.token))
    tabs = [page.context.new_page() for _ in ADDRESSES]
    for tab, (path, text) in zip(tabs, ADDRESSES.items(), strict=True):
        tab.goto(client.address + path)
        shows(tab, text)
    first, grid = tabs[0], tabs[-1]
    first.get_by_role("button", name="Freeze all").click()
    because(first, "not today")
    confirm(first, "Freeze all")
    expect(grid.locator(".legend")).to_contain_text("3 frozen", timeout=SHORTLY_MS)
    # Whoever opened the line goes: the others go on.
    page.close()
    first.close()
    client.expect(200, "DELETE", f"/v1/freezes/{client.get('/v1/freezes')['items'][0]['name']}")
    expect(grid.locator(".legend")).to_contain_text("3 waiting", timeout=SHORTLY_MS)
    expect(grid.get_by_text("● live")).to_be_visible()


def test_all_tabs_know_when_the_server_is_away(page: Page, client: Client, server: Server) -> None:
    log_in(page, client.address, str(client.token))
    other = page.context.new_page()
    other.goto(f"{client.address}/fleet")
    shows(other, "3 waiting")
    server.kill()
    for tab in (page, other):
        expect(tab.get_by_text("reconnecting, stale since")).to_be_visible()
    server.start()
    for tab in (page, other):
        expect(tab.get_by_text("● live")).to_be_visible()
