"""What was done and what was acknowledged, written down by whoever did it, one line each, before a kill can take it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from headgate.kernel.instants import Instant

Kind = Literal["began", "ended", "reported", "late", "asking", "acknowledged"]


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """`began` and `ended` are one run of a job's work by an agent; `ended` says that its claim was held all the time.

    `reported` is an end that was answered as taken; a `late` one was answered with how the job had ended before.
    """

    kind: Kind
    at: Instant
    job: str = ""
    run: str = ""
    target: str = ""
    status: str = ""
    step: str = ""


class Notebook:
    def __init__(self, file: Path) -> None:
        self._file = file

    def write(
        self, kind: Kind, *, job: str = "", run: str = "", target: str = "", status: str = "", step: str = ""
    ) -> None:
        line = b"\n" + msgspec.json.encode(Note(kind, now(), job, run, target, status, step)) + b"\n"
        descriptor = os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def read(self) -> Iterator[Note]:
        """Without what is being written, or was when its writer was killed: at the border of a page a line comes in two
        pieces. Each begins on a line of its own, so a torn one spoils no other."""
        lines = self._file.read_bytes().split(b"\n") if self._file.exists() else []
        for line in filter(None, lines):
            try:
                note = msgspec.json.decode(line, type=Note)
            except msgspec.DecodeError:
                continue
            yield note

    def acknowledged(self) -> dict[str, Instant]:
        return {note.step: note.at for note in self.read() if note.kind == "acknowledged"}


def now() -> Instant:
    return time.time_ns() // 1_000
