"""Long work is told on a terminal, and leaves nothing behind."""

import io

import pytest

from headgate.cli import progress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_takes_long_is_told_and_wiped_away(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "FIRST_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_PACE_SECONDS", 0.001)
    with progress.ProgressNote("first") as shown:
        while "first" not in screen.getvalue():
            pass
        shown.say("second")
        while "second" not in screen.getvalue():
            pass
    assert screen.getvalue().endswith("\r\x1b[K")


def test_what_is_quick_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    with progress.ProgressNote("first"):
        pass
    assert screen.getvalue() == ""


def test_nothing_is_told_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr("sys.stderr", pipe)
    monkeypatch.setattr(progress, "FIRST_AFTER_SECONDS", 0.0)
    with progress.ProgressNote("first"):
        pass
    assert pipe.getvalue() == ""
