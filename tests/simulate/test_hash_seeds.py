"""What is decided and said does not hang on the order in which Python iterates over sets, another one in each process."""

import os
import subprocess
import sys
from pathlib import Path

SCENARIOS = Path(__file__).parents[1] / "scenarios"

PLAY = """
import hashlib, sys
from pathlib import Path
from headgate.screens import timeline_text
from headgate.simulate import run, scenario

for file in sys.argv[1:]:
    for loaded in scenario.load_all(Path(file)):
        result = run.simulate(loaded)
        shown = result.to_json() + timeline_text.render(result)
        print(file, hashlib.sha256(shown.encode()).hexdigest())
"""
EVERY = {"explain": 1, "rollback": 4, "brackets": 12, "graph": 24, "workload": 48}
"""Of each folder, one file in so many."""


def test_another_hash_seed_gives_equal_bytes() -> None:
    files = [
        str(file)
        for folder, step in EVERY.items()
        for file in sorted((SCENARIOS / folder).rglob("*.yaml"))[::step]
    ]
    first, second = (start("1", files), start("2", files))
    shown = [(process.communicate()[0], process.returncode) for process in (first, second)]
    assert [code for _, code in shown] == [0, 0]
    assert shown[0][0].splitlines() == shown[1][0].splitlines()
    assert len(shown[0][0].splitlines()) >= len(files)


def start(seed: str, files: list[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PLAY, *files],
        env={**os.environ, "PYTHONHASHSEED": seed},
        stdout=subprocess.PIPE,
        text=True,
    )
