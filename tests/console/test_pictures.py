"""The demo as the pages of the documentation show it. `make pictures` keeps what is seen here in `docs/images`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from service.server import Server

from .steps import log_in

pytestmark = pytest.mark.slow
KEPT_IN = "HEADGATE_PICTURES"
DOCS = Path(__file__).resolve().parents[2] / "docs"
PICTURES = ("console-now", "console-time", "console-rollout")


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Server]:
    found = Server(tmp_path / "demo", "--demo")
    found.start()
    yield found
    found.stop()


def keep(page: Page, name: str, folder: Path) -> None:
    """As high as what is on it."""
    bottom = page.locator("main > :last-child").bounding_box()
    assert bottom is not None
    height = min(1_000, int(bottom["y"] + bottom["height"] + 20))
    file = folder / f"{name}.png"
    page.screenshot(path=file, clip={"x": 0, "y": 0, "width": 1_280, "height": height}, full_page=True)
    assert file.stat().st_size > 10_000


def recorded(page: Page) -> None:
    """What came before the page was opened is on the slider, too."""
    expect(page.locator(".track .mark-was").nth(5)).to_be_attached()


def test_the_demo_looks_as_the_documentation_shows_it(page: Page, demo: Server, tmp_path: Path) -> None:
    folder = Path(os.environ.get(KEPT_IN, tmp_path))
    page.emulate_media(color_scheme="light")
    log_in(page, demo.address, demo.token)
    drain = page.get_by_role("row", name=re.compile("^node-drain"))
    expect(drain).to_contain_text(re.compile("[4-6] up to date"))
    keep(page, "console-now", folder)
    page.goto(f"{demo.address}/fleet?view=grid")
    expect(page.locator(".legend")).to_contain_text("running")
    recorded(page)
    expect(page.locator(".time .said")).to_contain_text("all is done")
    keep(page, "console-time", folder)
    page.get_by_role("link", name="Now").click()
    page.get_by_role("row", name=re.compile("^kubelet-upgrade")).get_by_role("link").first.click()
    expect(page.get_by_role("region", name="Environments")).to_contain_text("up to date")
    expect(page.get_by_role("region", name="Jobs over time").get_by_role("application")).to_be_visible()
    recorded(page)
    keep(page, "console-rollout", folder)


def test_every_picture_is_shown_and_there_is_no_other() -> None:
    shown = (DOCS / "console.md").read_text("utf-8")
    assert {path.stem for path in (DOCS / "images").glob("console-*.png")} == set(PICTURES)
    for name in PICTURES:
        assert f"images/{name}.png" in shown
