"""Runs one command apart from the process that asked for it, and writes down how it ended.

Started as a plain script, isolated and without site packages, so that it starts quickly and imports nothing of the
application. Arguments: the job's folder, then the command. The folder then holds

    lock    locked while this or the command lives; the command inherits it
    begun   made once: whoever makes it may run the command, or has taken care that nobody does
    pid     of the command, which leads a process group
    stopping  made by whoever stops the command: what is left of its group ends with it
    output  what the command printed, the end of it when it is long
    exit    the exit code; 128 and the signal's number when a signal ended it
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

LARGEST_OUTPUT_BYTES = 8 * 1024 * 1024
KEPT_OUTPUT_BYTES = 256 * 1024
CANNOT_RUN = 127
POLL_SECONDS = 0.05
LOOKS_PER_SHORTENING = 20


def main() -> None:
    folder, command = Path(sys.argv[1]), sys.argv[2:]
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    if make_once(folder / "begun"):
        write(folder / "exit", str(_run(folder, command, lock)))


def make_once(path: Path) -> bool:
    """Whether this call made the file; it is on the disk before anybody acts on that."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return False
    os.fsync(descriptor)
    os.close(descriptor)
    return True


def write(path: Path, text: str) -> None:
    """All of it or nothing."""
    draft = path.with_name(path.name + ".draft")
    with open(draft, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


def _run(folder: Path, command: list[str], lock: int) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    output = os.open(folder / "output", flags, 0o600)
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            pass_fds=(lock,),
        )
    except OSError as error:
        os.write(output, f"{command[0]}: {error.strerror}\n".encode())
        return CANNOT_RUN
    write(folder / "pid", str(process.pid))
    looks = 0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(POLL_SECONDS)
        looks += 1
        if looks % LOOKS_PER_SHORTENING == 0:
            _shorten(output)
    if (folder / "stopping").exists():
        _end_group(process.pid)
    code = process.wait()
    return code if code >= 0 else 128 - code


def _end_group(leader: int) -> None:
    """The leader is not reaped yet, so its number cannot be another group's."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _shorten(output: int) -> None:
    """Appending goes on at the new end, because the file is open for appending."""
    size = os.fstat(output).st_size
    if size > LARGEST_OUTPUT_BYTES:
        end = os.pread(output, KEPT_OUTPUT_BYTES, size - KEPT_OUTPUT_BYTES)
        os.ftruncate(output, 0)
        os.write(output, end)


if __name__ == "__main__":
    main()
