"""`headgate up` in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from .client import Client

_END_SECONDS = 60.0


class Server:
    """Keeps its port when it comes back, as a service would."""

    def __init__(self, folder: Path, *options: str, environment: Mapping[str, str] | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._options = options
        self._environment = {**os.environ, **(environment or {})}
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self.address = ""
        self.token = ""
        self.exit_code: int | None = None
        """Of the last one that was stopped."""

    def start(self) -> None:
        port = self.address.rpartition(":")[2] or "0"
        command = [sys.executable, "-m", "headgate", "up", "--data", str(self._folder / "data")]
        with self.log.open("a") as errors:
            self._process = subprocess.Popen(
                [*command, "--port", port, "--lease", "2", *self._options],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=self._environment,
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("Headgate is at "), f"it said {line!r}, and {self.log.read_text()}"
        self.address = line.split()[3]
        if not self.token:
            self.token = self._process.stdout.readline().split()[-1]

    @property
    def log(self) -> Path:
        return self._folder / "log"

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def kill(self) -> None:
        """As a crash would end it."""
        process, self._process = self._process, None
        assert process is not None
        process.kill()
        process.communicate()

    def stop(self) -> float:
        """How many seconds it took."""
        process, self._process = self._process, None
        if process is None:
            return 0.0
        begin = time.monotonic()
        process.terminate()
        try:
            process.communicate(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        self.exit_code = process.returncode
        return time.monotonic() - begin

    def admin(self, workspace: str | None = None) -> Client:
        return Client(self.address, self.token, workspace)

    def anybody(self) -> Client:
        return Client(self.address, None)

    def resident_megabytes(self) -> float:
        pages = int(Path(f"/proc/{self.process_id}/statm").read_text().split()[1])
        return pages * 4096 / 1_000_000

    def is_healthy(self) -> bool:
        with urllib.request.urlopen(f"{self.address}/readyz", timeout=10) as answer:
            return bool(answer.status == 200)
