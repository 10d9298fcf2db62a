"""What the terminal can do: colour on a terminal only, and never for people who asked for none; its width."""

import os
import shutil
import sys

import click

_GOOD = frozenset(
    {"upToDate", "successful", "completed", "approved", "passed", "created", "ready", "allowed"}
)
_MOVING = frozenset(
    {"running", "verifying", "inProgress", "executing", "configured", "queued", "collecting", "building"}
)
_BAD = frozenset(
    {
        "failed",
        "failure",
        "rejected",
        "aborted",
        "deleted",
        "invalidJobAgent",
        "invalidIntegration",
        "externalRunNotFound",
        "timedOut",
        "denied",
    }
)
_HELD = frozenset({"waiting", "frozen", "pending", "paused"})


def wanted() -> bool:
    """https://no-color.org: any value that is not empty means none."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def of_state(word: str) -> str:
    if not wanted():
        return word
    for words, colour in ((_GOOD, "green"), (_MOVING, "cyan"), (_BAD, "red"), (_HELD, "yellow")):
        if word in words:
            return click.style(word, fg=colour)
    return word


def width() -> int | None:
    """None when the output is no terminal: then nothing is cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def can_move() -> bool:
    """Whether the terminal can be drawn on, not only written to."""
    return os.environ.get("TERM", "") not in ("", "dumb")
