"""The acts of each page, in a real browser on a real server."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from service import fleet as service_fleet
from service.client import Client
from service.conftest import new_workspace
from service.server import Server

from .steps import because, confirm, fleet, log_in, publish, told

pytestmark = pytest.mark.slow
APPROVAL = {"name": "somebody says yes", "approval": {"minApprovals": 1}}
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_numbers = count(1)


@pytest.fixture
def client(server: Server) -> Client:
    """An admin of one workspace alone: the console goes there by itself."""
    return new_workspace(server).token_with(f"admin-{next(_numbers)}", role="admin")


@pytest.fixture
def inside(page: Page, client: Client) -> Page:
    log_in(page, client.address, str(client.token))
    return page


def test_a_policy_is_tried_before_it_is_applied(inside: Page, client: Client) -> None:
    fleet(client, APPROVAL)
    publish(client, "v1")
    inside.goto(f"{client.address}/policies/careful")
    expect(inside.locator("ol.gates")).to_contain_text("A version needs an approval")
    expect(inside.get_by_role("region", name="Whom it reaches")).to_contain_text("3 targets")
    inside.get_by_role("link", name="Edit and try").click()
    editor = inside.get_by_label("The policy in YAML")
    expect(editor).to_contain_text("somebody says yes")
    beside = inside.get_by_role("region", name="How the rollout would go")
    expect(beside).to_contain_text("As it is: nothing is started")
    text = editor.input_value()
    editor.fill(text + "\n  broken: [")
    expect(beside).to_contain_text("not known, because the policy cannot be read")
    editor.fill(text.replace("approval: {}", "approval: {minApprovals: 0}"))
    expect(beside).to_contain_text("With the change: 3 jobs on 3 targets")
    expect(inside.locator(".diff")).to_contain_text("approval: {minApprovals: 0}")
    assert client.get("/v1/policies/careful")["rules"][0]["approval"]["minApprovals"] == 1
    inside.get_by_role("button", name="Apply").click()
    confirm(inside, "Apply")
    told(inside, "the policy careful is configured")
    assert client.get("/v1/policies/careful")["rules"][0]["approval"]["minApprovals"] == 0
    inside.get_by_role("button", name="Delete").click()
    dialog = inside.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Delete")).to_be_disabled()
    dialog.get_by_label("Type careful to go on").fill("careful")
    confirm(inside, "Delete")
    told(inside, "the policy careful is deleted")


def test_the_schema_is_offered_while_a_policy_is_written(inside: Page, client: Client) -> None:
    fleet(client)
    inside.goto(f"{client.address}/policies?new=yes")
    editor = inside.get_by_label("The policy in YAML")
    editor.fill(
        "apiVersion: headgate.dev/v1\nkind: Policy\nmetadata:\n  name: fresh\nspec:\n  rules:\n    - "
    )
    editor.press("End")
    editor.press_sequentially("appro")
    inside.get_by_role("option", name="approval").click()
    editor.press("Enter")
    editor.press_sequentially("minA")
    expect(inside.get_by_role("option", name="minApprovals")).to_be_visible()
    editor.press("Tab")
    editor.press_sequentially("2")
    inside.get_by_role("button", name="Apply").click()
    confirm(inside, "Apply")
    told(inside, "the policy fresh is created")
    assert client.get("/v1/policies/fresh")["rules"][0]["approval"]["minApprovals"] == 2


def test_a_version_is_published_to_whom_the_form_shows(inside: Page, client: Client) -> None:
    fleet(client)
    inside.goto(f"{client.address}/versions")
    expect(inside.get_by_text("No version was published yet")).to_be_visible()
    inside.get_by_role("link", name="New version").click()
    inside.get_by_label("Version", exact=True).fill("v1")
    inside.get_by_label("Only for targets (CEL)").fill("resource.name = 'node-1'")
    reached = inside.get_by_role("region", name="Whom it reaches")
    expect(reached.get_by_role("alert")).to_be_visible()
    expect(inside.get_by_role("button", name="Publish")).to_be_disabled()
    inside.get_by_label("Only for targets (CEL)").fill("resource.name == 'node-1'")
    expect(reached).to_contain_text("1 target")
    expect(inside.get_by_role("region", name="What would follow")).to_contain_text("1 job on 1 target")
    inside.get_by_role("button", name="Publish").click()
    confirm(inside, "Publish")
    told(inside, "published kubelet v1")
    publish(client, "v2")
    inside.get_by_role("link", name="Versions").click()
    row = inside.get_by_role("row", name="kubelet v1")
    expect(row).to_contain_text("scoped")
    expect(row).to_contain_text("resource.name == 'node-1'")
    for tag in ("v1", "v2"):
        inside.get_by_label(f"Compare kubelet {tag}").check()
    inside.get_by_role("button", name="Compare").click()
    expect(inside.locator(".diff")).to_contain_text('"tag": "v2"')
    inside.reload()
    expect(inside.locator(".diff")).to_contain_text('"tag": "v1"')
    row.get_by_role("button", name="Withdraw").click()
    because(inside, "not yet")
    confirm(inside, "Withdraw")
    expect(row).to_contain_text("paused")
    expect(row).to_contain_text("not yet")
    row.get_by_role("button", name="Make ready").click()
    confirm(inside, "Make ready")
    expect(row).to_contain_text("ready")
    row.get_by_role("button", name="Reject version").click()
    inside.get_by_role("dialog").get_by_label("Reason").fill("it crashes")
    inside.get_by_role("dialog").get_by_label("Type v1 to go on").fill("v1")
    confirm(inside, "Reject version")
    expect(row).to_contain_text("it crashes")


def test_a_page_that_cannot_be_loaded_says_so_and_is_tried_again(inside: Page, client: Client) -> None:
    inside.context.route("**/assets/*.js", lambda route: route.abort())
    inside.get_by_role("link", name="Versions").click()
    expect(inside.get_by_role("alert")).to_contain_text("This page cannot be shown")
    expect(inside.get_by_role("link", name="Fleet")).to_be_visible()
    inside.context.unroute("**/assets/*.js")
    inside.get_by_role("button", name="Try again").click()
    expect(inside.get_by_text("A version is one of a deployment")).to_be_visible()


def test_going_back_says_whom_it_brings_the_version_to(inside: Page, client: Client) -> None:
    fleet(client)
    environments = inside.get_by_role("region", name="Environments")
    for tag in ("good1", "bad1"):
        publish(client, tag)
        inside.goto(f"{client.address}/rollouts/kubelet/{tag}")
        expect(environments).to_contain_text("3 up to date")
    order = "/v1/release-targets/kubelet/prod/node-1/rollback"
    client.expect(200, "POST", order, {"reason": "it is slow"})
    expect(environments).to_contain_text("1 failed or rolled back")
    inside.get_by_role("button", name="Roll back all").click()
    dialog = inside.get_by_role("dialog")
    expect(dialog.locator(".moves")).to_contain_text("kubelet/prod/node-2: bad1 → good1")
    dialog.get_by_label("To version").fill("bad1")
    spread = dialog.get_by_role("alert")
    expect(spread).to_contain_text("1 target gets bad1 all the same")
    spread.get_by_role("button", name="Reject version").click()
    expect(dialog.get_by_role("heading", name="Mark kubelet bad1 as bad")).to_be_visible()


def test_a_target_shows_its_gates_log_and_variables(inside: Page, client: Client) -> None:
    manifest = service_fleet.manifest
    fleet(client, APPROVAL)
    client.apply(
        manifest("JobAgent", "local", type="exec", config={"command": "echo hello from the job"}),
        manifest("VariableSet", "zones", variables={"zone": "eu"}),
    )
    publish(client, "v1")
    inside.goto(f"{client.address}/targets/kubelet/prod/node-1")
    gates = inside.get_by_role("region", name="Gates, in order")
    expect(gates).to_contain_text("ends when enough people have approved")
    expect(gates).to_contain_text("can change it")
    for name in ("Retry", "Redeploy", "Roll back"):
        expect(inside.get_by_role("button", name=name, exact=True)).to_be_disabled()
    said = inside.locator("main > .refusals")
    expect(said).to_contain_text("Retry: kubelet/prod/node-1 has nothing that failed or was put back")
    expect(said).to_contain_text("Redeploy: kubelet/prod/node-1 has nothing deployed to deploy again")
    expect(inside.get_by_role("region", name="Variables", exact=True)).to_contain_text(
        "the variable set zones"
    )
    gates.get_by_role("button", name="Skip").click()
    dialog = inside.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("an emergency")
    dialog.get_by_label("Type node-1 to go on").fill("node-1")
    confirm(inside, "Skip")
    history = inside.get_by_role("region", name="History")
    expect(history).to_contain_text("✓ successful")
    history.get_by_role("button", name="Log").click()
    expect(inside.get_by_role("log")).to_contain_text("hello from the job")
    assert "job=" in inside.url
    inside.get_by_role("button", name="Redeploy").click()
    expect(dialog.locator(".foreseen")).to_contain_text("1 job on 1 target")
    expect(dialog.locator(".moves")).to_have_text("kubelet/prod/node-1: v1 → v1 again")
    # Those that wait for a vote are not concerned.
    expect(dialog.locator(".foreseen")).not_to_contain_text("left waiting")
    because(inside, "once more")
    confirm(inside, "Redeploy")
    expect(history).to_contain_text("redeploy")
    assert client.get("/v1/audit", kind="ReleaseTarget")["items"][0]["after"]["reason"] == "once more"
    expect(inside.get_by_role("button", name="Roll back")).to_be_disabled()
    expect(inside.locator("main > .refusals")).to_contain_text("has no previous version to go back to")
    inside.goto(f"{client.address}/approvals")
    skips = inside.get_by_role("region", name="Skips", exact=True)
    expect(skips).to_contain_text("an emergency")
    skips.get_by_role("button", name="End").click()
    expect(dialog.locator(".foreseen")).to_contain_text("If nothing else changes")
    confirm(inside, "End")
    expect(skips).to_contain_text("No rule is skipped")


def test_a_rule_without_a_name_is_skipped_and_holds_again(inside: Page, client: Client) -> None:
    fleet(client, {"approval": {"minApprovals": 1}}, {"approval": {"minApprovals": 2}})
    publish(client, "v1")
    inside.goto(f"{client.address}/targets/kubelet/prod/node-1")
    gates = inside.get_by_role("region", name="Gates, in order")
    gates.get_by_role("button", name="Skip").last.click()
    dialog = inside.get_by_role("dialog")
    expect(dialog).to_contain_text("Skip approval[1]")
    expect(dialog.locator(".foreseen")).to_be_visible()
    expect(dialog.get_by_role("alert")).to_have_count(0)
    dialog.get_by_label("Reason").fill("an emergency")
    dialog.get_by_label("Type node-1 to go on").fill("node-1")
    confirm(inside, "Skip")
    told(inside, "approval[1] is skipped")
    inside.goto(f"{client.address}/approvals")
    skips = inside.get_by_role("region", name="Skips", exact=True)
    expect(skips).to_contain_text("approval[1]")
    skips.get_by_role("button", name="End").click()
    confirm(inside, "End")
    expect(skips).to_contain_text("No rule is skipped")


def test_freezes_signals_and_agents_are_made_and_ended(inside: Page, client: Client) -> None:
    fleet(client)
    inside.goto(f"{client.address}/freezes")
    inside.get_by_role("button", name="Freeze", exact=True).click()
    dialog = inside.get_by_role("dialog")
    dialog.get_by_label("Name of the freeze").fill("holidays")
    dialog.get_by_label("Reason").fill("nobody is here")
    dialog.get_by_label("Only for (CEL)").fill("environment.name == 'prod'")
    dialog.get_by_label("Ends").fill("2h")
    expect(dialog.locator(".foreseen")).to_contain_text("nothing is started")
    confirm(inside, "Freeze")
    told(inside, "concerns 3 targets")
    expect(inside.get_by_role("row", name="holidays")).to_contain_text("in 1 h")
    inside.get_by_role("button", name="Unfreeze").click()
    because(inside, "they are back")
    confirm(inside, "Unfreeze")
    expect(inside.get_by_text("Nothing is frozen")).to_be_visible()

    inside.get_by_role("link", name="Signals").click()
    inside.get_by_role("button", name="Set a signal").click()
    inside.get_by_role("dialog").get_by_label("Name").fill("load")
    inside.get_by_role("dialog").get_by_label("Value").fill("0.7")
    confirm(inside, "Set a signal")
    row = inside.get_by_role("row", name="load")
    expect(row).to_contain_text("0.7")
    row.get_by_role("button", name="Delete").click()
    inside.get_by_role("dialog").get_by_label("Type load to go on").fill("load")
    because(inside, "nobody reads it")
    confirm(inside, "Delete")
    expect(row).to_have_count(0)

    inside.get_by_role("link", name="Agents").click()
    inside.get_by_role("button", name="New agent").click()
    inside.get_by_role("dialog").get_by_label("Name").fill("runner")
    because(inside, "for the edge")
    confirm(inside, "New agent")
    expect(inside.get_by_role("row", name="runner")).to_contain_text("pull")

    inside.get_by_role("link", name="Audit").click()
    for what, why in (
        ("delete Freeze holidays", "they are back"),
        ("delete Signal load", "nobody reads it"),
        ("put JobAgent runner", "for the edge"),
    ):
        expect(inside.get_by_role("row", name=what)).to_contain_text(why)
    entry = inside.get_by_role("row", name="JobAgent runner")
    entry.get_by_text("what it is").click()
    expect(entry.locator("ins").first).to_be_visible()


def test_tokens_are_made_shown_once_and_ended(inside: Page, client: Client) -> None:
    inside.goto(f"{client.address}/settings")
    inside.get_by_role("button", name="New token").click()
    dialog = inside.get_by_role("dialog")
    dialog.get_by_label("Name").fill("ci")
    dialog.get_by_label("Role").select_option("deployer")
    because(inside, "for the pipeline")
    dialog.get_by_role("button", name="New token").click()
    secret = inside.get_by_role("dialog").locator("code").inner_text()
    inside.get_by_role("button", name="I have it").click()
    row = inside.get_by_role("row", name="ci deployer")
    expect(row).to_contain_text("never")
    assert Client(client.address, secret).get("/v1/whoami")["user"] == "ci"
    row.get_by_role("button", name="Delete").click()
    inside.get_by_role("dialog").get_by_label("Type ci to go on").fill("ci")
    because(inside, "nobody uses it")
    confirm(inside, "Delete")
    expect(row).to_have_count(0)
    assert Client(client.address, secret).call("GET", "/v1/whoami").status == 401
    said = [one["reason"] for one in client.get("/v1/audit", kind="Token")["items"]]
    assert said[:2] == ["nobody uses it", "for the pipeline"]


def test_a_scenario_is_played_inside_the_console(inside: Page, client: Client, tmp_path: Path) -> None:
    """In a frame that reaches nothing, by scripts that the page's policy names."""
    inside.goto(f"{client.address}/simulate")
    inside.get_by_role("button", name="Play").click()
    frame = inside.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="three nodes one after the other")).to_be_visible()
    expect(frame.locator("#facts")).not_to_be_empty()
    with inside.expect_download() as download:
        inside.get_by_role("button", name="Download").click()
    assert "three nodes" in download.value.path().read_text()
    opened = inside.locator("input[type=file]")
    opened.set_input_files(EXAMPLES / "region-hotfix" / "scenario.yaml")
    inside.get_by_role("button", name="Play").click()
    expect(inside.get_by_role("alert")).to_contain_text("files[0]")
    opened.set_input_files(EXAMPLES / "fleets" / "services.yaml")
    expect(inside.get_by_label("Files beside the scenario")).to_contain_text("services.yaml")
    inside.get_by_role("button", name="Play").click()
    expect(frame.get_by_role("heading", name="region-hotfix")).to_be_visible()
    file = tmp_path / "broken.yaml"
    file.write_text("kind: Scenario\nspec: [")
    opened.set_input_files(file)
    inside.get_by_role("button", name="Play").click()
    expect(inside.get_by_role("alert")).to_be_visible()


def test_everything_is_done_with_keys(inside: Page, client: Client) -> None:
    """Freeze, find, unfreeze: no mouse."""
    fleet(client, APPROVAL)
    publish(client, "v1")
    keys = inside.keyboard
    keys.press("Control+k")
    keys.type("freeze everything")
    expect(inside.get_by_role("option", name="Freeze everything")).to_be_visible()
    keys.press("Enter")
    expect(inside.get_by_role("dialog", name="Freeze everything")).to_be_visible()
    inside.get_by_label("Reason").focus()
    keys.type("by keys alone")
    keys.press("Enter")
    expect(inside.locator(".notice")).to_contain_text("by keys alone")
    expect(inside.get_by_role("dialog")).to_have_count(0)
    keys.press("/")
    keys.type("end the freeze")
    expect(inside.get_by_role("option", name="End the freeze")).to_be_visible()
    keys.press("Enter")
    expect(inside.get_by_role("dialog", name="End the freeze")).to_be_visible()
    keys.press("Tab")
    while inside.evaluate("document.activeElement.textContent") != "Unfreeze":
        keys.press("Tab")
    keys.press("Enter")
    expect(inside.locator(".notice")).to_have_count(0)
    expect(inside.get_by_role("dialog")).to_have_count(0)
    keys.press("/")
    keys.type("approve kubelet")
    expect(inside.get_by_role("option", name="Approve kubelet v1 for prod")).to_be_visible()
    keys.press("Enter")
    expect(inside.get_by_role("dialog", name="Approve kubelet")).to_be_visible()
    inside.get_by_label("Reason").focus()
    keys.press("Enter")
    expect(inside.get_by_text("Everything is up to date")).to_be_visible()
    expect(inside.get_by_role("dialog")).to_have_count(0)
    keys.press("/")
    keys.type("explain node-2")
    expect(inside.get_by_role("option", name="Explain kubelet/prod/node-2")).to_be_visible()
    keys.press("Enter")
    expect(inside.get_by_role("heading", name="Gates, in order")).to_be_visible()
    keys.press("p")
    expect(inside.get_by_role("heading", name="Policies")).to_be_visible()
    keys.press("?")
    expect(inside.get_by_role("dialog", name="Keys")).to_contain_text("select it; with Shift all in between")


def test_who_may_only_look_is_told_what_it_takes(page: Page, client: Client) -> None:
    fleet(client, APPROVAL)
    publish(client, "v1")
    client.apply(service_fleet.manifest("Signal", "load", value=1))
    viewer = client.token_with("looks", role="viewer")
    log_in(page, client.address, str(viewer.token))
    for path, button, permission in (
        ("/freezes", "Freeze", "freeze:write"),
        ("/signals", "Delete", "signal:write"),
        ("/agents", "Change", "fleet:write"),
        ("/versions", "Withdraw", "version:write"),
        ("/policies/careful", "Delete", "policy:write"),
        ("/approvals", "Approve", "approval:write"),
        ("/targets/kubelet/prod/node-1", "Roll back", "target:act"),
        ("/targets/kubelet/prod/node-1", "Skip", "skip:write"),
    ):
        page.goto(client.address + path)
        found = page.get_by_role("main").get_by_role("button", name=button, exact=True).first
        expect(found).to_be_disabled()
        expect(found).to_have_attribute("title", f"needs the permission {permission}")
        expect(page.get_by_role("note")).to_contain_text(permission)
    page.goto(f"{client.address}/settings")
    expect(page.get_by_text("Tokens are shown to those who have the permission token:write")).to_be_visible()


def test_a_session_that_has_ended_says_so(inside: Page, client: Client, server: Server) -> None:
    fleet(client)
    inside.goto(f"{client.address}/freezes")
    expect(inside.get_by_text("Nothing is frozen")).to_be_visible()
    name = client.get("/v1/whoami", workspace=None)["user"]
    server.admin(client.workspace).expect(204, "DELETE", f"/v1/tokens/{name}")
    inside.get_by_role("link", name="Signals").click()
    expect(inside.get_by_text("Your session has ended")).to_be_visible()
    fresh = server.admin(client.workspace).token_with(f"{name}-again", role="admin")
    inside.get_by_label("API token").fill(str(fresh.token))
    inside.get_by_role("button", name="Log in", exact=True).click()
    expect(inside.get_by_role("heading", name="Signals")).to_be_visible()
