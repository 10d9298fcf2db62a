"""The documentation as data: pages, their fenced blocks, and a folder in which a page can be followed step by step."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click.testing
import msgspec

from headgate.cli import main

ROOT = Path(__file__).resolve().parents[2]
SHARED_FOLDERS = ("examples", "tests")
NEEDING_A_SERVER = {"README.md", "docs/first-rollout.md", "docs/service/api.md"}
"""Followed on one that has the demo's fleet."""
NEEDING_A_CLUSTER = {"docs/kubernetes/node-upgrades.md"}
"""Followed by the tests that have a control plane."""

_FENCE = re.compile(r"^```(\S*)[ ]?([^\n]*)\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"# ([\w./-]+\.ya?ml)")


class Block(msgspec.Struct, frozen=True):
    """A fenced block; `mark` is what follows the language, such as `rules` in ```yaml rules."""

    page: Path
    line: int
    language: str
    mark: str
    text: str

    @property
    def label(self) -> str:
        return f"{name_of(self.page)}:{self.line}"

    @property
    def file_name(self) -> str | None:
        """A block whose first line is a comment with a file name stands for that file."""
        first, _, _ = self.text.partition("\n")
        match = _FILE_NAME.fullmatch(first) if self.language == "yaml" else None
        return match.group(1) if match is not None else None


class Command(msgspec.Struct, frozen=True):
    """A line after `$ ` with the lines printed below it."""

    line: str
    printed: str


def all_pages() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(page, text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2), match.group(3))
        for match in _FENCE.finditer(text)
    ]


def all_blocks(language: str, *marks: str) -> list[Block]:
    return [
        block
        for page in all_pages()
        for block in blocks_of(page)
        if block.language == language and block.mark in marks
    ]


def prose_of(page: Path) -> str:
    """The page without its blocks."""
    return _FENCE.sub("", page.read_text("utf-8"))


def commands_of(block: Block) -> Iterator[Command]:
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, printed = part.partition("\n")
        yield Command(line, printed)


def furnish(folder: Path) -> None:
    """What a reader has before the first step of a page: the folders of the checkout that pages refer to."""
    for name in SHARED_FOLDERS:
        (folder / name).symlink_to(ROOT / name)


def write_file(block: Block, folder: Path) -> None:
    assert block.file_name is not None
    path = folder / block.file_name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, "utf-8")


def run(arguments: Sequence[str], folder: Path) -> tuple[int, str]:
    """Exit code and everything printed by the `headgate` command in that folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        result = click.testing.CliRunner().invoke(main.headgate, list(arguments), prog_name="headgate")
    finally:
        os.chdir(before)
    return result.exit_code, result.output


def is_printed(expected: str, actual: str) -> bool:
    """Line by line; a line `...` on the page stands for any number of lines."""
    return _matches(expected.splitlines(), actual.rstrip("\n").splitlines())


_CHANGING = (
    (re.compile(r"\d{4}-\d\d-\d\d(?:T| )?\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?"), "MOMENT"),
    (re.compile(r"\b\d\d:\d\d(?::\d\d)?\b"), "MOMENT"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"\bhg_[\w-]{43}"), "SECRET"),
    (re.compile(r'"[0-9a-f]{32}"'), "ETAG"),
    (re.compile(r"127\.0\.0\.1:\d+"), "SERVER"),
    (re.compile(r"\b(?:\d+[dhm])*\d+[dhms] ago\b|\bnow\b"), "AGO"),
    (re.compile(r"\b(?:\d+h)?(?:\d+m)?\d+s\b"), "DURATION"),
)
"""What is never the same twice."""


def is_printed_alike(expected: str, actual: str) -> bool:
    """Of a living server: moments, ids and ports are any, lines may be broken elsewhere, `...` stands for any text."""
    pieces = [" ".join(_settled(piece).split()) for piece in expected.split("...")]
    pattern = r"\s*.*?\s*".join(re.escape(piece) for piece in pieces)
    return re.fullmatch(pattern, " ".join(_settled(actual).split()), re.DOTALL) is not None


def _settled(text: str) -> str:
    for pattern, word in _CHANGING:
        text = pattern.sub(word, text)
    return text


def _matches(expected: list[str], actual: list[str]) -> bool:
    chunks: list[list[str]] = [[]]
    for line in expected:
        if line.strip() == "...":
            chunks.append([])
        else:
            chunks[-1].append(line.rstrip())
    lines = [line.rstrip() for line in actual]
    if len(chunks) == 1:
        return lines == chunks[0]
    first, *between, last = chunks
    if lines[: len(first)] != first or (last and lines[-len(last) :] != last):
        return False
    position, end = len(first), len(lines) - len(last)
    for chunk in between:
        found = next(
            (i for i in range(position, end - len(chunk) + 1) if lines[i : i + len(chunk)] == chunk), None
        )
        if found is None:
            return False
        position = found + len(chunk)
    return position <= end
