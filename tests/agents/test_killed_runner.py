"""A runner that is killed at any moment: the command goes on, and the next runner finds it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .support import HOME, opened, order, play, put, until

SCRIPT = Path(__file__).with_name("runner_process.py")


@contextmanager
def runner_process(url: str, tmp_path: Path) -> Iterator[None]:
    arguments = [sys.executable, str(SCRIPT), url, str(tmp_path / "exec"), str(tmp_path / "reports")]
    process = subprocess.Popen(arguments)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def test_a_command_runs_once_though_its_runner_is_killed(tmp_path: Path) -> None:
    gate, runs, reports = tmp_path / "gate", tmp_path / "runs", tmp_path / "reports"
    command = f"echo x >> {runs}; while [ ! -e {gate} ]; do sleep 0.05; done; exit 5"

    async def story() -> None:
        url = f"sqlite:///{tmp_path / 'headgate.db'}"
        store = opened(url)
        put(store, order(type="exec", config={"command": command, "successExitCodes": [5]}))
        with runner_process(url, tmp_path):
            await until(lambda: runs.exists() and reports.exists())
        gate.touch()
        with runner_process(url, tmp_path):
            await until(lambda: store.dispatch(HOME, "job-1") is None)
        assert runs.read_text() == "x\n"
        assert reports.read_text().splitlines()[-1] == "successful"
        store.close()

    play(story())
