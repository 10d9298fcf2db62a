"""Lines of a job's log as they are kept: without secrets, colours and what no terminal or database takes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from headgate.fleet.model.scrubbing import Scrubber

MOST_AT_ONCE = 1_000
MOST_BYTES_AT_ONCE = 256 * 1024
LONGEST_LINE = 8_192
_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
"""Colours, movements and titles, as terminals take them."""


def kept(lines: Iterable[str], scrubber: Scrubber) -> tuple[str, ...]:
    """Cut after secrets are out, so that none is cut into a part that is not known for one."""
    return tuple(_cut(scrubber.text(_plain(line))) for line in lines)


def _plain(line: str) -> str:
    """Of what was written over itself, such as a bar of progress, the last is kept."""
    return printable(_SEQUENCES.sub("", line.rstrip("\r\n").rpartition("\r")[2]))


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 3] + "..."


def printable(text: str) -> str:
    return "".join(each for each in text if each in "\n\t" or unicodedata.category(each) not in ("Cc", "Cs"))
