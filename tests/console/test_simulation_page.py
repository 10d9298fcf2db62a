"""The page of a simulation is one file: it is drawn without a server, and looked at nearer with the mouse and with keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from headgate.screens import page as screen
from simulate.small import fleet, manifest, play, publish

pytestmark = pytest.mark.slow
ONE_BY_ONE = manifest(
    "Policy",
    "careful",
    rules=[
        {
            "name": "one at a time",
            "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 1},
        }
    ],
)


@pytest.fixture
def opened(page: Page, tmp_path: Path) -> Page:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    file = tmp_path / "simulation.html"
    file.write_text(screen.render(play(publish(), objects=[*fleet(5), ONE_BY_ONE])), "utf-8")
    page.goto(file.as_uri())
    expect(page.get_by_role("heading", level=2, name="Jobs by resource")).to_be_visible()
    assert asked == [file.as_uri()]
    return page


def test_it_says_how_the_run_went(opened: Page) -> None:
    expect(opened.locator("#facts")).to_contain_text("Jobs5")
    expect(opened.get_by_text("converged")).to_be_visible()
    expect(opened.get_by_role("region", name="Limits over time")).to_contain_text("peak 1 of 1")
    opened.get_by_label("Filter by resource").fill("nobody")
    expect(opened.get_by_text("Nothing matches the filter.")).to_be_visible()


def test_a_job_is_found_and_looked_at_with_keys(opened: Page) -> None:
    chart = opened.get_by_role("application")
    chart.focus()
    opened.keyboard.press("ArrowDown")
    expect(opened.locator(".zoom .chosen")).to_contain_text("api v1 · node-1 in prod · successful")
    opened.keyboard.press("ArrowDown")
    expect(opened.locator(".zoom .chosen")).to_contain_text("node-2")
    everything = opened.get_by_role("button", name="All")
    opened.keyboard.press("+")
    expect(everything).to_be_enabled()
    opened.keyboard.press("0")
    expect(everything).to_be_disabled()


_DRAWN = """(before) => {
  const canvas = document.querySelector(".bars canvas");
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const now = canvas.toDataURL();
  return pixels.some((value) => value > 0) && now !== before && now;
}"""


def test_it_is_drawn_anew_when_the_scheme_is_another(opened: Page) -> None:
    opened.emulate_media(color_scheme="light")
    light = opened.wait_for_function(_DRAWN, arg="").json_value()
    opened.emulate_media(color_scheme="dark")
    opened.wait_for_function(_DRAWN, arg=light)
