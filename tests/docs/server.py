"""A server with the demo's fleet, all of it up to date: what a reader has after `make demo`, only quicker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import msgspec

from headgate.cli.demo import VERSIONS

from . import pages

START_SECONDS = 60.0
END_SECONDS = 20.0
_FLEET = "quick-fleet.yaml"


class Server(msgspec.Struct, frozen=True):
    folder: Path
    url: str
    token: str

    def environment(self) -> dict[str, str]:
        """For commands other than `headgate`, which find the server by themselves."""
        return {**private_environment(self.folder), "HEADGATE_URL": self.url, "HEADGATE_TOKEN": self.token}


def private_environment(folder: Path) -> dict[str, str]:
    """Nothing of the machine's own settings is seen."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HEADGATE_", "OTEL_"))}
    programs = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
    return {**kept, "PATH": programs, "HEADGATE_CONFIG": str(folder / "config.yaml"), "NO_COLOR": "1"}


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "headgate", "up", "--port", "0"],
            cwd=folder,
            env=private_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield _started(folder, process, log)
    finally:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _started(folder: Path, process: subprocess.Popen[bytes], log: Path) -> Server:
    deadline = time.monotonic() + START_SECONDS
    while "Headgate is at" not in log.read_text("utf-8"):
        assert process.poll() is None, log.read_text("utf-8")
        assert time.monotonic() < deadline, log.read_text("utf-8")
        time.sleep(0.05)
    known: Mapping[str, str] = json.loads((folder / ".headgate" / "local.json").read_text("utf-8"))
    return Server(folder, known["url"], known["token"])


@contextmanager
def with_demo(folder: Path) -> Iterator[Server]:
    """Its first rollout is over; in those that follow a window stays open long enough to be looked at."""
    with running(folder) as server:
        _apply_fleet(folder, window_seconds=1)
        for deployment, tag in VERSIONS.items():
            _headgate(folder, "publish", deployment, tag)
        _headgate(folder, "watch", "--until", "converged", "--timeout", "60s")
        _apply_fleet(folder, window_seconds=5)
        yield server


def _apply_fleet(folder: Path, *, window_seconds: int) -> None:
    text = (resources.files("headgate.cli") / "demo_files" / "fleet.yaml").read_text("utf-8")
    for slow, quick in (
        ("; sleep ${variables.seconds}", ""),
        ("readinessWindowSeconds: 10", f"readinessWindowSeconds: {window_seconds}"),
        ("timeScaleInterval: 3", "timeScaleInterval: 0"),
    ):
        assert slow in text, f"the demo's fleet no longer says {slow}"
        text = text.replace(slow, quick)
    (folder / _FLEET).write_text(text, "utf-8")
    _headgate(folder, "apply", "-f", _FLEET)


def _headgate(folder: Path, *arguments: str) -> None:
    code, printed = pages.run(arguments, folder)
    assert code == 0, f"headgate {' '.join(arguments)}: {printed}"
