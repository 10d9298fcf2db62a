"""A person logs in at their provider, works, and is told when that is over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from service.identity_provider import SECRET, IdentityProvider, running, settings
from service.server import Server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, IdentityProvider]]:
    folder = tmp_path_factory.mktemp("single-sign-on")
    with running() as provider:
        file = folder / "oidc.yaml"
        file.write_text(settings(provider))
        server = Server(folder, "--oidc", str(file), environment={"HEADGATE_TEST_CLIENT_SECRET": SECRET})
        server.start()
        yield server, provider
        server.stop()


def test_a_person_logs_in_at_their_provider(page: Page, machine: tuple[Server, IdentityProvider]) -> None:
    server, provider = machine
    page.goto(f"{server.address}/freezes?q=x")
    button = page.get_by_role("button", name="Log in with Example SSO")
    button.click()
    expect(page.get_by_role("heading", name="Freezes")).to_be_visible()
    assert page.url == f"{server.address}/freezes?q=x"
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert (
        page.evaluate("document.cookie + JSON.stringify({...localStorage, ...sessionStorage})").find("ey") < 0
    )
    page.get_by_text("ada@example.com", exact=True).click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("You are logged out.")).to_be_visible()
    assert page.context.cookies() == []

    provider.error = "access_denied"
    button.click()
    expect(page.get_by_text("it was declined at the provider")).to_be_visible()
    assert "login-failed" not in page.url
    provider.error = None
    provider.claims = {**provider.claims, "groups": []}
    button.click()
    expect(page.get_by_text("none of your groups has a role here")).to_be_visible()


def test_a_session_ends_with_what_the_provider_said(
    page: Page, machine: tuple[Server, IdentityProvider]
) -> None:
    server, provider = machine
    provider.claims = {**provider.claims, "groups": ["guests"]}
    provider.seconds = 8
    page.goto(f"{server.address}/freezes")
    page.get_by_role("button", name="Log in with Example SSO").click()
    freeze = page.get_by_role("main").get_by_role("button", name="Freeze", exact=True)
    expect(freeze).to_be_disabled()
    page.wait_for_timeout(9_000)
    page.get_by_role("link", name="Signals").click()
    expect(page.get_by_text("Your session has ended")).to_be_visible()
    provider.seconds = 300
    page.get_by_role("button", name="Log in with Example SSO").click()
    expect(page.get_by_role("heading", name="Signals")).to_be_visible()
