"""A newcomer's walk, without the docs: from the printed link to a node that is rolled back, with a look back and ahead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from service.client import Client
from service.server import Server

from .steps import because, confirm
from .visits import manifest, publish, slowly, ten_nodes

pytestmark = pytest.mark.slow


class FirstServer(Server):
    """With the link that it prints when it is started for the first time."""

    link = ""

    def start(self) -> None:
        super().start()
        assert self._process is not None
        assert self._process.stdout is not None
        self.link = self._process.stdout.readline().split()[-1]


@pytest.fixture
def first(tmp_path: Path) -> Iterator[FirstServer]:
    found = FirstServer(tmp_path / "first")
    found.start()
    yield found
    found.stop()


def test_a_newcomer_finds_the_way(page: Page, first: FirstServer) -> None:
    client = Client(first.address, first.token, "default")
    assert "#login=" in first.link
    page.goto(first.link)
    expect(page.get_by_text("Nothing is known yet")).to_be_visible()
    ten_nodes(client)
    for deployment in ("node-drain", "node-uncordon", "kubelet"):
        publish(client, deployment, "v1")

    watch_ten_nodes(page, first, "kubelet", "v1")
    careful = {"name": "somebody says yes", "approval": {"minApprovals": 1}}
    client.apply(manifest("Policy", "careful", selector="deployment.name == 'kubelet'", rules=[careful]))
    client.apply(slowly(3))
    publish(client, "kubelet", "v2")

    ask_why_node_7_waits(page)
    freeze_and_unfreeze(page)
    needed = page.get_by_role("region", name="Needs a person")
    needed.get_by_role("button", name="Approve").click()
    confirm(page, "Approve")
    look_ahead(page, first)
    watch_ten_nodes(page, first, "kubelet", "v2")
    look_back(page, first)
    roll_a_node_back(page)


def watch_ten_nodes(page: Page, server: Server, deployment: str, tag: str) -> None:
    page.goto(f"{server.address}/rollouts/{deployment}/{tag}")
    environments = page.get_by_role("region", name="Environments")
    expect(environments).to_contain_text("10 up to date")


def ask_why_node_7_waits(page: Page) -> None:
    page.keyboard.press("/")
    page.get_by_role("combobox", name="Deployment, version").fill("kubelet/prod/node-7")
    page.get_by_role("option", name="kubelet/prod/node-7").click()
    expect(page.locator("ol.gates")).to_contain_text("somebody says yes")
    expect(page.get_by_role("heading", name="What you can do")).to_be_visible()


def freeze_and_unfreeze(page: Page) -> None:
    page.get_by_role("link", name="Now").click()
    page.get_by_role("button", name="Freeze all").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("the registry is down")
    confirm(page, "Freeze all")
    expect(page.locator(".notice")).to_contain_text("the registry is down")
    page.get_by_role("button", name="Unfreeze").click()
    confirm(page, "Unfreeze")
    expect(page.locator(".notice")).to_have_count(0)


def look_ahead(page: Page, server: Server) -> None:
    """To when the last one will be done, while it goes on."""
    page.goto(f"{server.address}/rollouts/kubelet/v2")
    said = page.locator(".time .said")
    # The first plan goes by the jobs of before, which were shorter.
    expect(said).to_contain_text(re.compile(r"all is done in (\d{2,} s|\d+ min).* if nothing else changes"))
    page.get_by_label("Moment").fill("2000")
    expect(said).to_contain_text("simulated, if nothing else changes")
    expect(page.get_by_role("region", name="Environments")).to_contain_text("10 up to date")
    assert "at=" in page.url
    expect(page.get_by_role("note")).to_contain_text("acts are for now")
    expect(page.get_by_role("button", name="Pause")).to_be_disabled()
    expect(page.get_by_role("button", name="Roll back all")).to_be_disabled()
    play_while_it_goes_on(page)
    page.get_by_role("button", name="Now").click()
    assert "at=" not in page.url
    expect(page.get_by_role("button", name="Pause")).to_be_enabled()


def play_while_it_goes_on(page: Page) -> None:
    """What comes live does not hold it up."""
    page.get_by_label("Moment").fill("1")
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("button", name="Play").click()
    for _ in range(3):
        shown = page.url
        page.wait_for_url(lambda url, shown=shown: url != shown)  # type: ignore[misc]
    page.get_by_role("button", name="Stop").click()


def look_back(page: Page, server: Server) -> None:
    """To when node-3 was drained; a link shows the same to somebody else."""
    page.get_by_label("Moment").fill("1")
    expect(page.get_by_role("region", name="Environments")).to_contain_text("10 waiting")
    page.get_by_role("button", name="Jump to a decision").click()
    page.get_by_label("Search decisions").fill("node-drain on node-3 running")
    page.get_by_role("dialog").get_by_role("button", name="node-drain on node-3 running").first.click()
    said = page.locator(".time .said")
    expect(said).to_contain_text("node-drain on node-3 running")
    bracket = page.get_by_role("region", name=re.compile("Cycle of each resource"))
    expect(bracket.locator(".member", has_text="node-drain")).to_contain_text("running")
    reasons = page.get_by_role("region", name="Who waits, and for what")
    expect(reasons).to_contain_text("two at a time: 2 of 2 in use, held by")
    page.get_by_role("button", name="Nearer on the line").click()
    page.wait_for_url(re.compile(r"[?&]line=\d+-\d+"))
    shared = page.context.new_page()
    shared.goto(page.url)
    expect(shared.get_by_role("button", name="Further on the line")).to_be_enabled()
    expect(shared.get_by_label("Moment")).to_have_attribute("aria-valuetext", re.compile("ago"))
    expect(shared.get_by_role("region", name="Environments")).to_contain_text("waiting")
    shared.close()
    page.get_by_role("button", name="Further on the line").click()
    page.get_by_role("button", name="Decision after").click()
    expect(said).not_to_contain_text("node-drain on node-3 running v1")
    page.get_by_label("Speed").select_option("10")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("region", name="Environments")).to_contain_text("10 up to date")


def roll_a_node_back(page: Page) -> None:
    page.keyboard.press("/")
    page.get_by_role("combobox", name="Deployment, version").fill("kubelet/prod/node-3")
    page.get_by_role("option", name="kubelet/prod/node-3").click()
    page.get_by_role("button", name="Roll back").click()
    foreseen = page.get_by_role("dialog").locator(".foreseen")
    expect(foreseen).to_contain_text("If nothing else changes")
    expect(foreseen.locator(".moves")).to_have_text("kubelet/prod/node-3: v2 → v1")
    because(page, "it is slow")
    confirm(page, "Roll back")
    expect(page.locator("dd", has_text="v1").first).to_be_visible()
