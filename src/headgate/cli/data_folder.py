"""The folder where a process keeps what is its own: readable by its owner alone, and served by one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
from pathlib import Path

import msgspec

_log = logging.getLogger("headgate")
_LOCK = "lock"
_LOCAL = "local.json"


def prepare(folder: Path) -> None:
    """One that was there before is closed to others, unless somebody works in it: that may hold more than ours."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        if Path.cwd().is_relative_to(folder.resolve()):
            _log.warning(
                "%s can be read by others than its owner; use a folder of its own for --data", folder
            )
        else:
            folder.chmod(0o700)
    for file in folder.glob("headgate.db*"):
        if file.stat().st_mode & 0o077:
            file.chmod(0o600)


class Lock:
    """Held until the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.is_ours = True
        except OSError:
            self.is_ours = False


def remembered_address(folder: Path) -> str | None:
    """Where the server of this folder said that it is."""
    return _known(folder).get("url")


def remembered_token(folder: Path) -> str | None:
    return _known(folder).get("token")


def remember(folder: Path, address: str, token: str | None) -> None:
    """So that commands in this folder find the server; readable by its owner alone."""
    known = _known(folder) | {"url": address}
    if token is not None:
        known["token"] = token
    descriptor = os.open(folder / _LOCAL, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as output:
        output.write(msgspec.json.encode(known))


def _known(folder: Path) -> dict[str, str]:
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((folder / _LOCAL).read_bytes(), type=dict[str, str])
    return {}
