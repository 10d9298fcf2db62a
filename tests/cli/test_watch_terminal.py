"""`watch` in a real pseudo-terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from . import fleet
from .fake_api import FakeApi, Reply, event
from .test_watch import DONE


class Terminal:
    """A terminal of a given size with `headgate` in it; `text` is everything that it wrote."""

    def __init__(self, arguments: list[str], width: int, height: int, **environment: str) -> None:
        self._file, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        settings = {**os.environ, "TERM": "xterm-256color", **environment}
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            settings.pop(name, None)
        settings.update(environment)
        # Whoever started the tests in the background of a shell has Ctrl-C ignored, and so would be what they start.
        code = (
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
            "from headgate.cli.main import main; main()"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=inner, stdout=inner, stderr=inner, env=settings, start_new_session=True,
        )  # fmt: skip
        os.close(inner)
        self.text = ""

    def read_until(self, wanted: str, seconds: float = 30) -> str:
        until = time.monotonic() + seconds
        while wanted not in self.text:
            assert time.monotonic() < until, f"{wanted!r} did not come:\n{self.text}"
            if select.select([self._file], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self._file, 65_536).decode()
                except OSError:
                    break
        return self.text

    def close(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        code = self.process.wait(timeout=30)
        os.close(self._file)
        return code


@pytest.fixture
def rollout(api: FakeApi) -> threading.Event:
    """Two nodes are moving until the event is set."""
    ended = threading.Event()

    def stream() -> Iterator[bytes]:
        yield event(1, "kubelet-upgrade/prod/node-3", "started")
        ended.wait(30)
        yield event(2, "kubelet-upgrade/prod/node-3", "succeeded")
        yield b": still here\n\n"

    api.on("GET", "events", Reply(stream=stream))
    api.on("GET", "status", lambda _: Reply(DONE if ended.is_set() else fleet.STATUS))
    api.on(
        "GET", "jobs", lambda request: _page(fleet.JOBS if request.query["status"] == "inProgress" else [])
    )
    api.on("GET", "release-targets", lambda _: _page([]))
    api.on("GET", "budgets", lambda _: _page(fleet.BUDGETS))
    api.on("GET", "groups", lambda _: _page([]))
    return ended


def _page(items: list[dict[str, Any]]) -> Reply:
    return Reply({"items": items, "next": None})


def test_watch_draws_the_rollout_and_leaves_its_last_screen(api: FakeApi, rollout: threading.Event) -> None:
    terminal = Terminal(["watch", "--server", api.url, "--until", "converged"], 80, 24)
    try:
        terminal.read_until("draining 12 pods")
        assert "\x1b[?1049h" in terminal.text
        rollout.set()
        text = terminal.read_until("converged after")
        code = terminal.process.wait(timeout=30)
    finally:
        rollout.set()
        terminal.close()
    assert code == 0
    after = text[text.index("\x1b[?1049l") :]
    assert "api" in after
    assert "✓" in after


def test_watch_has_no_colour_for_those_who_want_none(api: FakeApi, rollout: threading.Event) -> None:
    rollout.set()
    terminal = Terminal(["watch", "--server", api.url, "--until", "converged"], 80, 24, NO_COLOR="1")
    try:
        terminal.read_until("converged after")
    finally:
        terminal.close()
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", terminal.text)


def test_ctrl_c_ends_watch_and_gives_the_terminal_back(api: FakeApi, rollout: threading.Event) -> None:
    terminal = Terminal(["watch", "--server", api.url], 80, 24)
    try:
        terminal.read_until("draining 12 pods")
        terminal.process.send_signal(signal.SIGINT)
        terminal.read_until("\x1b[?1049l")
        code = terminal.process.wait(timeout=30)
    finally:
        rollout.set()
        terminal.close()
    assert code == 130
