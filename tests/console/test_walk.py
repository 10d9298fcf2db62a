"""What a person on call does in the console, in a real browser on a real server with real jobs."""

from __future__ import annotations

from itertools import count

import pytest
from playwright.sync_api import Page, expect

from service import fleet as service_fleet
from service.client import Client
from service.conftest import new_workspace
from service.server import Server

from .steps import HOSTILE, because, confirm, enter, fleet, publish

pytestmark = pytest.mark.slow
_numbers = count(1)


@pytest.fixture
def client(server: Server) -> Client:
    return new_workspace(server)


def test_a_version_is_approved_goes_out_and_is_taken_back(page: Page, client: Client) -> None:
    enter(page, client)
    expect(page.get_by_text("Nothing is known yet")).to_be_visible()
    fleet(client, {"name": "somebody says yes", "approval": {"minApprovals": 1}})
    publish(client, "v1")
    needed = page.get_by_role("region", name="Needs a person")
    needed.get_by_role("button", name="Approve").click()
    confirm(page, "Approve")
    expect(page.get_by_text("Everything is up to date")).to_be_visible()
    publish(client, "v2")
    needed.get_by_role("button", name="Approve").click()
    confirm(page, "Approve")
    expect(page.get_by_text("Everything is up to date")).to_be_visible()

    page.keyboard.press("/")
    page.get_by_role("combobox", name="Deployment, version").fill("node-2")
    page.get_by_role("option", name="kubelet/prod/node-2").click()
    expect(page.get_by_role("heading", name="kubelet on node-2 in prod")).to_be_visible()
    page.get_by_role("button", name="Roll back").click()
    because(page, "it is slow")
    confirm(page, "Roll back")
    expect(page.locator("dd", has_text="v1").first).to_be_visible()


def test_the_line_is_stopped_and_goes_on(page: Page, client: Client) -> None:
    fleet(client)
    enter(page, client)
    page.get_by_role("button", name="Freeze all").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the freeze").fill("incident-1")
    dialog.get_by_label("Reason").fill("the registry is down")
    confirm(page, "Freeze all")
    expect(page.locator(".notice")).to_contain_text("the registry is down")
    publish(client, "v1")
    expect(page.locator(".bar").first).to_have_attribute("aria-label", "3 frozen")
    page.get_by_role("button", name="Unfreeze").click()
    confirm(page, "Unfreeze")
    expect(page.locator(".notice")).to_have_count(0)
    expect(page.get_by_text("Everything is up to date")).to_be_visible()
    # Whoever is sent the address sees the same workspace, and copies commands for it.
    assert f"workspace={client.workspace}" in page.url
    expect(page.locator(".command")).to_contain_text(f"--workspace {client.workspace}")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(".workspace")).to_contain_text(client.workspace)
    expect(other.get_by_text("Everything is up to date")).to_be_visible()
    other.get_by_role("link", name="Fleet").click()
    assert f"workspace={client.workspace}" in other.url
    other.goto(f"{client.address}/?workspace=nowhere")
    expect(other.get_by_role("alert").first).to_contain_text("There is no workspace nowhere")


def test_a_target_says_why_it_waits(page: Page, client: Client) -> None:
    fleet(client, {"name": "somebody says yes", "approval": {"minApprovals": 1}})
    publish(client, "v1")
    enter(page, client)
    page.goto(f"{client.address}/targets/kubelet/prod/node-1")
    expect(page.locator("ol.gates")).to_contain_text("somebody says yes")
    expect(page.locator("ol.gates")).to_contain_text("pending")
    expect(page.get_by_role("heading", name="What you can do")).to_be_visible()


def test_who_may_only_look_can_press_nothing(page: Page, client: Client) -> None:
    fleet(client)
    viewer = client.token_with(f"viewer-{next(_numbers)}", role="viewer")
    page.goto(client.address)
    page.get_by_label("API token").fill(str(viewer.token))
    page.get_by_role("button", name="Log in", exact=True).click()
    button = page.get_by_role("button", name="Freeze all")
    expect(button).to_be_disabled()
    expect(button).to_have_attribute("title", "needs the permission freeze:write")
    expect(button).to_have_accessible_description("needs the permission freeze:write")
    expect(page.get_by_role("note")).to_contain_text("Freeze all needs freeze:write")


def test_names_are_shown_and_not_obeyed(page: Page, client: Client) -> None:
    fleet(client)
    client.expect(201, "POST", "/v1/freezes", {"name": "hostile", "reason": HOSTILE})
    enter(page, client)
    expect(page.locator(".notice")).to_contain_text("<img src=x")
    assert page.locator(".notice img").count() == 0
    for path in ("/", "/freezes", "/audit"):
        page.set_viewport_size({"width": 360, "height": 800})
        page.goto(client.address + path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator("main")).to_contain_text("hostile")
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0, path
    assert "Headgate" in page.title()


def test_a_server_that_goes_away_comes_back(page: Page, server: Server, client: Client) -> None:
    fleet(client)
    enter(page, client)
    server.kill()
    expect(page.get_by_text("reconnecting")).to_be_visible()
    server.start()
    expect(page.get_by_text("● live")).to_be_visible()
    publish(client, "v7")
    page.get_by_role("link", name="Versions").click()
    expect(page.get_by_role("link", name="kubelet v7")).to_be_visible()


def test_a_link_of_the_command_line_logs_in_once(page: Page, client: Client) -> None:
    code = Client(client.address, client.token).expect(201, "POST", "/v1/session/codes").json["code"]
    page.goto(f"{client.address}/#login={code}")
    expect(page.get_by_role("heading", name="Now")).to_be_visible()
    assert "login" not in page.url
    page.get_by_text("admin", exact=True).click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("You are logged out.")).to_be_visible()
    page.goto(f"{client.address}/#login={code}")
    page.reload()
    expect(page.get_by_label("API token")).to_be_visible()


def test_each_limit_names_its_own_holders(page: Page, client: Client) -> None:
    manifest = service_fleet.manifest
    sides = [("east", "1"), ("west", "2")]
    client.apply(
        manifest("JobAgent", "puller"),
        manifest("Environment", "prod", resourceSelector="true"),
        manifest("Deployment", "kubelet", jobAgent="puller", resourceSelector="true"),
        *(manifest("Resource", f"{side}-{number}", kind="Node") for side, _ in sides for number in (1, 2, 3)),
        *(
            manifest(
                "Policy",
                side,
                selector="true",
                rules=[
                    {
                        "name": f"{side} slowly",
                        "resourceConcurrency": {
                            "groupSelector": f"resource.name.startsWith('{side}')",
                            "limitType": "count",
                            "limitValue": int(limit),
                        },
                    }
                ],
            )
            for side, limit in sides
        ),
    )
    publish(client, "v1")
    enter(page, client)
    limits = page.get_by_role("region", name="Limits")
    expect(limits.get_by_role("listitem").filter(has_text="east slowly")).to_contain_text("1 of 1")
    for side, limit in sides:
        line = limits.get_by_role("listitem").filter(has_text=f"{side} slowly")
        expect(line).to_contain_text(", ".join(f"{side}-{number}" for number in range(1, int(limit) + 1)))
        other = {"east": "west", "west": "east"}[side]
        expect(line).not_to_contain_text(f"{other}-1")


def test_a_vote_is_asked_for_during_a_freeze_too(page: Page, client: Client) -> None:
    fleet(client, {"name": "somebody says yes", "approval": {"minApprovals": 1}})
    publish(client, "v1")
    client.expect(201, "POST", "/v1/freezes", {"name": "stop", "reason": "not today"})
    enter(page, client)
    expect(page.locator(".notice")).to_contain_text("not today")
    needed = page.get_by_role("region", name="Needs a person")
    expect(needed).to_contain_text("approval")
    page.goto(f"{client.address}/approvals")
    awaited = page.get_by_role("region", name="Waits for a vote")
    expect(awaited).to_contain_text("3 targets")
    awaited.get_by_role("button", name="Approve").click()
    confirm(page, "Approve")
    expect(awaited).to_have_count(0)
    page.goto(client.address)
    expect(needed).to_contain_text("Nobody is waited for")


def test_the_palette_asks_for_no_vote_that_one_has_given(page: Page, client: Client) -> None:
    fleet(client, {"name": "two say yes", "approval": {"minApprovals": 2}})
    publish(client, "v1")
    client.expect(
        200,
        "POST",
        "/v1/approvals",
        {"deployment": "kubelet", "tag": "v1", "environment": "prod", "status": "approved"},
    )
    enter(page, client)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Deployment, version").fill("kubelet v1 for prod")
    options = page.get_by_role("listbox").get_by_role("option")
    expect(options).to_have_text(["Reject kubelet v1 for prod act"])


def test_a_target_that_failed_needs_a_person(page: Page, client: Client) -> None:
    fleet(client)
    client.apply(
        service_fleet.manifest("JobAgent", "local", type="exec", config={"command": "echo no; exit 1"})
    )
    enter(page, client)
    needed = page.get_by_role("region", name="Needs a person")
    expect(needed).to_contain_text("Nobody is waited for")
    publish(client, "v1")
    expect(needed).to_contain_text("failed")
    expect(needed).to_contain_text("node-1, node-2, node-3")
    glance = page.get_by_role("region", name="At a glance")
    expect(glance).to_contain_text("Something has failed")
    expect(glance.get_by_role("link", name="3 targets failed or rolled back")).to_have_attribute(
        "href", "#needed"
    )
    needed.get_by_role("link", name="node-2").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("kubelet on node-2")
    page.go_back()
    client.apply(service_fleet.manifest("JobAgent", "local", type="exec", config={"command": "true"}))
    needed.get_by_role("button", name="Retry").click()
    because(page, "it is put right")
    page.get_by_role("dialog").get_by_label("Type kubelet to go on").fill("kubelet")
    confirm(page, "Retry")
    expect(needed).to_contain_text("Nobody is waited for")
    expect(glance).to_contain_text("Nothing needs a person")
    expect(glance).to_contain_text("3 up to date")


def test_a_rollout_that_takes_longer_than_expected_is_overdue(page: Page, client: Client) -> None:
    """The plan goes by the jobs of before, which took no time."""
    fleet(client)
    publish(client, "v1")
    enter(page, client)
    expect(page.get_by_text("Everything is up to date")).to_be_visible()
    client.apply(service_fleet.manifest("JobAgent", "local", type="exec", config={"command": "sleep 90"}))
    publish(client, "v2")
    motion = page.get_by_role("region", name="In motion")
    expect(motion).to_contain_text("3 running")
    expect(motion).to_contain_text("overdue expected")
    expect(motion).to_contain_text("planned")


def test_a_scoped_version_counts_its_own_targets(page: Page, client: Client) -> None:
    fleet(client, {"name": "somebody says yes", "approval": {"minApprovals": 1}})
    scope = {"tag": "v1-one", "targetSelector": "resource.name == 'node-2'"}
    client.expect(201, "POST", "/v1/deployments/kubelet/versions", scope)
    enter(page, client)
    page.goto(f"{client.address}/rollouts/kubelet/v1-one")
    environments = page.get_by_role("region", name="Environments")
    expect(environments).to_contain_text("1 waiting")
    expect(environments).not_to_contain_text("without a version")
    waiting = page.get_by_role("region", name="Waiting, by reason")
    expect(waiting).to_contain_text("1 target")
    expect(waiting).to_contain_text("node-2")
    expect(waiting).not_to_contain_text("node-1")


def test_enter_takes_the_first_decision_that_is_listed(page: Page, client: Client) -> None:
    fleet(client)
    publish(client, "v1")
    enter(page, client)
    page.goto(f"{client.address}/rollouts/kubelet/v1")
    expect(page.get_by_role("region", name="Environments")).to_contain_text("3 up to date")
    page.get_by_role("button", name="Jump to a decision").click()
    search = page.get_by_label("Search decisions")
    search.fill("node-2")
    expect(page.get_by_role("dialog").get_by_role("listitem").first).to_be_visible()
    search.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".time .said")).to_contain_text("kubelet on node-2")
    assert "at=" in page.url
