"""What was: segments that begin with all there was at a moment, and go on with what changed."""

from __future__ import annotations

import base64
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import msgspec

from headgate.kernel.instants import Instant
from headgate.store.rows import Json


class HistoryPiece(msgspec.Struct, frozen=True):
    """A part of what was. The first piece of a segment, 0, has all there was at `at`, after entry `segment` of the log; the
    others have what changed from `at` on. It stands for the log up to `until`, whose moment is `until_at`."""

    segment: int
    piece: int
    at: Instant
    until: int
    until_at: Instant
    document: Json


class HistoryPieces(ABC):
    """Kept beside what is decided, and read for past moments."""

    @abstractmethod
    def add_history(self, workspace: str, pieces: Sequence[HistoryPiece]) -> None:
        """Those of the same segment and number are replaced."""

    @abstractmethod
    def drop_history_after(self, workspace: str, position: int) -> None:
        """Pieces that stand for later entries of the log."""

    @abstractmethod
    def history_span(self, workspace: str) -> tuple[Instant, HistoryPiece] | None:
        """The earliest moment, and the newest piece; None if there is nothing."""

    @abstractmethod
    def history_until(self, workspace: str, at: Instant) -> list[HistoryPiece]:
        """The pieces of the newest segment that begins by then, as far as they begin by then too."""

    @abstractmethod
    def history_between(self, workspace: str, since: Instant, until: Instant) -> Iterator[HistoryPiece]:
        """Pieces with changes of that time, the newest first: what a segment begins with is no change."""


def pack(document: Json) -> Json:
    """Much repeats itself in it; a database keeps it as text."""
    return msgspec.json.encode(base64.b64encode(zlib.compress(document, 1)).decode())


def unpack(text: str | bytes) -> Json:
    return zlib.decompress(base64.b64decode(msgspec.json.decode(text, type=str)))
