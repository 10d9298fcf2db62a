"""What is shown is right by itself: in two tabs, after the server was away, and whatever the clock of the viewer says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from service import waiting
from service.client import Client
from service.conftest import new_workspace
from service.server import Server

from .steps import because, confirm, enter
from .visits import manifest, publish, questions, ten_nodes

pytestmark = pytest.mark.slow
HOSTILE = '<img src=x onerror="document.title=1"> \u202egnp.exe'


@pytest.fixture
def client(server: Server) -> Client:
    return new_workspace(server)


def three_nodes(client: Client, *rules: dict[str, Any], names: tuple[str, ...] = ("n1", "n2", "n3")) -> None:
    client.apply(
        manifest("JobAgent", "puller"),
        manifest("Environment", "prod", resourceSelector="true"),
        manifest("Deployment", "api", jobAgent="puller", resourceSelector="true"),
        *(manifest("Resource", name, kind="Node", metadata={"zone": name[-1]}) for name in names),
        manifest("Policy", "careful", selector="true", rules=list(rules)),
    )


APPROVAL = {"name": "somebody says yes", "approval": {"minApprovals": 1}}


def test_both_tabs_see_it_and_neither_asks_again(page: Page, client: Client) -> None:
    three_nodes(client, APPROVAL)
    enter(page, client)
    page.goto(f"{client.address}/fleet?view=grid")
    other = page.context.new_page()
    other.goto(client.address)
    other.locator("details.who summary").click()
    other.get_by_label("Workspace").select_option(client.workspace)
    legend = page.locator(".legend")
    expect(legend).to_contain_text("3 no version")
    expect(other.get_by_text("● live")).to_be_visible()
    with questions(page) as asked:
        publish(client, "api", "v1")
        expect(legend).to_contain_text("3 waiting")
        other.get_by_role("button", name="Freeze all").click()
        other.get_by_role("dialog").get_by_label("Reason").fill("not today")
        confirm(other, "Freeze all")
        expect(legend).to_contain_text("3 frozen")
        other.get_by_role("button", name="Unfreeze").click()
        confirm(other, "Unfreeze")
        expect(legend).to_contain_text("3 waiting")
    assert {path for path in asked if path != "/v1/future"} == set()


def test_tables_are_patched_and_not_asked_for_again(page: Page, client: Client) -> None:
    three_nodes(client, APPROVAL)
    publish(client, "api", "v1")
    vote = {
        "deployment": "api",
        "tag": "v1",
        "environment": "prod",
        "status": "approved",
        "reason": "looks good",
    }
    skip = {"rule": "somebody says yes", "policy": "careful", "resource": "n1", "reason": "an emergency"}
    enter(page, client)
    changes: list[tuple[str, str, Callable[[], Any]]] = [
        (
            "freezes",
            "not today",
            lambda: client.expect(201, "POST", "/v1/freezes", {"name": "f", "reason": "not today"}),
        ),
        ("signals", "error-rate", lambda: client.expect(201, "PUT", "/v1/signals/error-rate", {"value": 7})),
        (
            "policies",
            "another",
            lambda: client.apply(manifest("Policy", "another", selector="true", rules=[])),
        ),
        ("agents", "helper", lambda: client.apply(manifest("JobAgent", "helper"))),
        ("versions", "v2", lambda: publish(client, "api", "v2")),
        ("approvals", "looks good", lambda: client.expect(200, "POST", "/v1/approvals", vote)),
        ("approvals", "an emergency", lambda: client.expect(201, "POST", "/v1/skips", skip)),
        ("audit", "the-last", lambda: client.expect(201, "PUT", "/v1/signals/the-last", {"value": 7})),
        (
            "policies/careful",
            "a better one",
            lambda: client.expect(200, "PATCH", "/v1/policies/careful", {"description": "a better one"}),
        ),
    ]
    for path, word, change in changes:
        page.goto(f"{client.address}/{path}")
        expect(page.get_by_text("● live")).to_be_visible()
        expect(page.locator("h1")).to_be_visible()
        expect(page.get_by_text("Loading")).to_have_count(0)
        if path == "approvals":  # its buttons ask once how one has voted
            expect(
                page.get_by_role("region", name="Waits for a vote").get_by_role("button").first
            ).to_be_visible()
        with questions(page) as asked:
            change()
            expect(page.locator("main")).to_contain_text(word)
        assert {one for one in asked if not SENTENCES.search(one)} == set(), path


SENTENCES = re.compile("/(status|explain|text|selection)$")
"""What the server makes of all there is; it is asked for again where it may read otherwise."""


def test_a_plan_is_received_and_read_beside_the_page(page: Page, client: Client) -> None:
    """Of ten thousand targets it has ten megabytes, which would hold up whoever scrolls meanwhile."""
    ten_nodes(client, 5)
    for deployment in ("node-drain", "kubelet", "node-uncordon"):
        publish(client, deployment, "v1")
    enter(page, client)
    page.goto(f"{client.address}/fleet")
    expect(page.locator(".time .said")).to_contain_text("all is done in")
    asked = page.evaluate("performance.getEntriesByType('resource').map((one) => new URL(one.name).pathname)")
    assert "/v1/session" in asked
    assert "/v1/future" not in asked


def test_what_is_shown_is_right_after_the_server_was_away(page: Page, server: Server, client: Client) -> None:
    three_nodes(client, APPROVAL)
    enter(page, client)
    page.goto(f"{client.address}/fleet")
    expect(page.locator(".matrix")).to_contain_text("3 without a version")
    server.kill()
    expect(page.get_by_text("reconnecting, stale since")).to_be_visible()
    server.start()
    publish(client, "api", "v1")
    expect(page.get_by_text("● live")).to_be_visible()
    expect(page.locator(".matrix")).to_contain_text("3 waiting")
    expect(page.locator(".matrix")).to_contain_text("approval")


def test_a_viewer_whose_clock_is_wrong_is_told_the_right_times(page: Page, client: Client) -> None:
    three_nodes(client, APPROVAL)
    publish(client, "api", "v1")
    page.add_init_script("const right = Date.now; Date.now = () => right() + 3 * 86400000;")
    enter(page, client)
    page.goto(f"{client.address}/rollouts/api/v1")
    published = page.locator(".answer")
    expect(published).to_contain_text("ago")
    expect(published).not_to_contain_text("days")
    expect(page.get_by_label("Moment")).to_have_attribute("aria-valuetext", "now")
    page.get_by_label("Moment").fill("1")
    expect(page.locator(".time .said")).to_contain_text("ago")
    expect(page.locator(".time .trouble")).to_have_count(0)
    page.goto(f"{client.address}/freezes")
    page.get_by_role("button", name="Freeze", exact=True).click()
    because(page, "for two hours")
    page.get_by_role("dialog").get_by_label("Ends").fill("2h")
    confirm(page, "Freeze")
    expect(page.locator("main")).to_contain_text(re.compile("in (2 h|1 h 59 min)"))


def test_names_are_shown_and_not_obeyed(page: Page, client: Client) -> None:
    long = "n" * 253
    three_nodes(client, APPROVAL, names=("n1", long))
    publish(client, "api", "v1", message=HOSTILE, metadata={"build": "javascript:alert(1)", "by": HOSTILE})
    enter(page, client)
    page.set_viewport_size({"width": 360, "height": 800})
    for path in ("/rollouts/api/v1", "/fleet", "/fleet?view=grid&group=zone"):
        page.goto(client.address + path)
        expect(page.get_by_label("Moment")).to_be_visible()
        expect(page.locator("main")).to_contain_text("waiting")
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, path
        assert page.locator("main img").count() == 0
        assert page.locator("a[href^='javascript']").count() == 0
    assert "Headgate" in page.title()


def test_a_filter_completes_names_and_shows_where_it_is_wrong(page: Page, client: Client) -> None:
    three_nodes(client, APPROVAL)
    enter(page, client)
    page.goto(f"{client.address}/fleet?view=grid")
    cel = page.get_by_role("combobox", name="Filter in CEL")
    cel.press_sequentially("target.res")
    page.get_by_role("option", name="target.resource").click()
    expect(cel).to_have_value("target.resource")
    cel.press_sequentially(" = 'n1'")
    cel.press("Enter")
    expect(page.locator(".cel pre")).to_contain_text("                ^")
    expect(page.locator(".filters")).to_contain_text("3 targets, by the filter before this one")
    cel.fill("target.resource == 'n1'")
    cel.press("Enter")
    expect(page.locator(".filters")).to_contain_text("1 target")
    expect(page.get_by_role("listbox")).to_have_count(0)
    assert "cel=" in page.url
    cel.fill("resource.name in ['n1', 'n2'] && environment.name == 'prod' && deployment.name != ''")
    cel.press("Enter")
    expect(page.locator(".filters")).to_contain_text("2 targets")
    cel.fill("resource.name ==")
    cel.press("Enter")
    expect(page.locator(".filters")).to_contain_text("2 targets, by the filter before this one")


def test_chosen_targets_are_rolled_back_together(page: Page, client: Client) -> None:
    ten_nodes(client, 0.1)
    for hook in ("node-drain", "node-uncordon"):
        publish(client, hook, "v1")
    publish(client, "kubelet", "v1")
    waiting.until(lambda: set(running(client)) == {"v1"})
    publish(client, "kubelet", "v2")
    waiting.until(lambda: set(running(client)) == {"v2"})
    enter(page, client)
    page.goto(f"{client.address}/fleet?view=grid")
    cel = page.get_by_role("combobox", name="Filter in CEL")
    cel.fill("target.name.matches('kubelet/.*/node-[12]$')")
    cel.press("Enter")
    expect(page.locator(".filters")).to_contain_text("2 targets")
    page.get_by_role("application").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Space")
    expect(page.get_by_role("toolbar")).to_contain_text("2 targets selected")
    page.get_by_role("toolbar").get_by_role("button", name="Roll back").click()
    because(page, "both are slow")
    confirm(page, "Roll back")
    expect(page.get_by_text("Roll back: 2 targets")).to_be_visible()
    waiting.until(lambda: running(client).count("v1") == 2)


def running(client: Client) -> list[str]:
    return [
        one["current"]
        for one in client.get("/v1/release-targets", deployment="kubelet", seconds=120)["items"]
    ]
