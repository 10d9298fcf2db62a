"""Who holds a lease or a claim: a name that tells, on the same machine, whether that process still lives.

After a crash the next start need not wait for leases to run out. Where it cannot be told, they run out; fencing tokens
keep a mistake harmless.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

_SEPARATOR = "/"


def this_process() -> str:
    """Host, machine since its start, process namespace, process, and when that began."""
    pid = os.getpid()
    return _SEPARATOR.join((socket.gethostname(), _machine(), str(pid), _began(pid)))


def has_ended(holder: str) -> bool:
    """Only True if it is certain."""
    parts = holder.split(_SEPARATOR)
    if len(parts) != 4 or not parts[2].isdigit():
        return False
    _, machine, pid, began = parts
    if not machine or machine != _machine():
        return False
    return _began(int(pid)) != began


def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot[:8]}-{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _began(pid: int) -> str:
    """Empty for a process that is not there, or is dead and only not collected yet."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text("ascii", "replace")
    except OSError:
        return ""
    state, *fields = status.rpartition(")")[2].split()
    return "" if state in "ZX" else fields[18]
