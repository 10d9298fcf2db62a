"""Links lead somewhere, and every page can be found."""

import re
from pathlib import Path

import pytest

from . import pages

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def links_of(page: Path) -> list[str]:
    return _LINK.findall(pages.prose_of(page))


def anchors_of(page: Path) -> set[str]:
    """Headings as browsers of Markdown name them: lower case, punctuation gone, spaces to hyphens."""
    headings = re.findall(r"^#+ (.+)$", pages.prose_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", pages.all_pages(), ids=pages.name_of)
def test_links_between_pages_resolve(page: Path) -> None:
    broken = []
    for link in links_of(page):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            broken.append(link)
    assert broken == []


def test_every_page_can_be_reached_from_the_first_one() -> None:
    found: set[Path] = set()
    ahead = [pages.ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in found or page.suffix != ".md" or not page.exists():
            continue
        found.add(page)
        ahead += [
            (page.parent / link.partition("#")[0]).resolve() for link in links_of(page) if ":" not in link
        ]
    assert [pages.name_of(page) for page in pages.all_pages() if page not in found] == []


@pytest.mark.parametrize(
    "image", sorted((pages.ROOT / "docs" / "images").glob("*")), ids=lambda path: path.name
)
def test_images_are_small(image: Path) -> None:
    assert image.stat().st_size < 300_000
