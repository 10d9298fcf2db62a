"""The map of the code names files that there are, and every package is on it."""

import re

import pytest

from . import pages

PAGE = pages.ROOT / "docs" / "architecture.md"
SOURCE = pages.ROOT / "src" / "headgate"
PLACES = (
    pages.ROOT,
    SOURCE.parent,
    *sorted(path for path in (SOURCE, *SOURCE.rglob("*")) if (path / "__init__.py").exists()),
)
TO_BE_WRITTEN = re.compile(r"my[-_]?rule", re.IGNORECASE)
NAMED = sorted(
    name
    for name in set(re.findall(r"`([\w./-]+(?:\.(?:py|md|toml|yaml)|/))`", PAGE.read_text("utf-8")))
    if not TO_BE_WRITTEN.search(name)
)


@pytest.mark.parametrize("name", NAMED)
def test_every_file_that_the_page_names_exists(name: str) -> None:
    assert any((place / name).exists() for place in PLACES)


def test_many_files_are_named() -> None:
    assert len(NAMED) > 60


def test_every_package_has_its_line_among_the_layers() -> None:
    layers = re.search(r"## Layers\n\n```\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert layers is not None
    listed = {line.split()[0] for line in layers.group(1).splitlines()}
    assert listed == {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}


def test_the_picture_names_files_that_there_are() -> None:
    picture = (pages.ROOT / "docs" / "images" / "publish.svg").read_text("utf-8")
    lines = re.findall(r'<text class="file"[^>]*>([^<]+)</text>', picture)
    named = [name for line in lines for name in line.split() if name.endswith(".py")]
    assert [name for name in named if not any((place / name).exists() for place in PLACES)] == []
