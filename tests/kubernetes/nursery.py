"""Starts processes of the operator without delay: it has read all of its code already, and each is a copy of itself.

Run as a program: each line on standard input is the arguments of `headgate operator run`, and is answered with the id of
the process. When its input ends, so do those that it started.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys

import headgate.cli.operator_process  # noqa: F401 - so that no copy has to read it
from headgate.cli.main import main


def _born(arguments: list[str]) -> int:
    """Leaves the copy in the life of an operator, and gives the id of it to the original."""
    pid = os.fork()
    if pid:
        return pid
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.argv = ["headgate", "operator", "run", *arguments]
    try:
        main()
    finally:
        os._exit(0)


def _serve() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Nobody waits for those that are killed.
    born: list[int] = []
    while line := sys.stdin.readline():
        born.append(_born(shlex.split(line)))
        sys.stdout.write(f"{born[-1]}\n")
        sys.stdout.flush()
    for pid in born:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    _serve()
