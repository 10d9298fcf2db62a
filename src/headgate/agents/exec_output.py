"""The output of a command on its way into the job's log, as far as it was not printed yet.

How far it came is written down beside the output, so that a restart goes on there. Should it end in between, the same
lines are printed again with the same numbers, and are there once.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import BinaryIO

import msgspec

from headgate.agents import exec_run
from headgate.agents.log_lines import MOST_AT_ONCE, MOST_BYTES_AT_ONCE
from headgate.agents.port import Assignment

LEFT_OUT = "(here output is missing: there was more than could be kept)"


class PrintedOutput(msgspec.Struct, frozen=True):
    """How many bytes of the output and lines of the log; `is_full`: the log takes no more."""

    bytes: int = 0
    lines: int = 0
    is_full: bool = False


async def print_new(folder: Path, assignment: Assignment, *, has_ended: bool) -> None:
    """The last line is printed when it is complete, or when nothing more can come."""
    file = folder / "output"
    if not file.exists():
        return
    printed = _printed(folder)
    with open(file, "rb") as output:
        while not printed.is_full:
            lines, until = _next(output, printed.bytes, has_ended)
            if until == printed.bytes:
                return
            goes_on = await assignment.print(lines, printed.lines)
            printed = PrintedOutput(until, printed.lines + len(lines), not goes_on)
            exec_run.write(folder / "printed", msgspec.json.encode(printed).decode())


def _printed(folder: Path) -> PrintedOutput:
    try:
        return msgspec.json.decode((folder / "printed").read_bytes(), type=PrintedOutput)
    except (FileNotFoundError, msgspec.DecodeError):
        return PrintedOutput()


def _next(output: BinaryIO, begin: int, has_ended: bool) -> tuple[list[str], int]:
    """Lines, and the byte behind them. What is in the middle of a line that was too long for one reading is passed over:
    it may be the second half of a secret."""
    size = os.fstat(output.fileno()).st_size
    if size < begin:
        return [LEFT_OUT], size
    is_in_a_line = begin > 0 and _read(output, begin - 1, 1) != b"\n"
    piece = _read(output, begin, MOST_BYTES_AT_ONCE)
    if not (has_ended and begin + len(piece) >= size):
        piece = _complete(piece)
    lines = io.BytesIO(piece).readlines()[:MOST_AT_ONCE]
    texts = [line.decode("utf-8", "replace") for line in lines]
    return texts[1 if is_in_a_line else 0 :], begin + sum(map(len, lines))


def _complete(piece: bytes) -> bytes:
    """Up to its last whole line; all of it if it is a part of one that is longer than any is kept."""
    return (
        piece if len(piece) == MOST_BYTES_AT_ONCE and b"\n" not in piece else piece[: piece.rfind(b"\n") + 1]
    )


def _read(output: BinaryIO, begin: int, size: int) -> bytes:
    output.seek(begin)
    return output.read(size)
