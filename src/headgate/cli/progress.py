"""A line on a terminal while something takes long; nothing in a pipe, and nothing of it stays."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

FIRST_AFTER_SECONDS = 1.0
_PACE_SECONDS = 0.5


class ProgressNote:
    """`say` may be called at any time; what was said last is shown with the seconds so far."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ProgressNote:
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def say(self, what: str) -> None:
        self._what = what

    def _run(self) -> None:
        was_shown = False
        wait = FIRST_AFTER_SECONDS
        while not self._ended.wait(wait):
            seconds = int(time.monotonic() - self._began)
            self._write(f"\r\x1b[K{self._what}, {seconds}s")
            was_shown, wait = True, _PACE_SECONDS
        if was_shown:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
