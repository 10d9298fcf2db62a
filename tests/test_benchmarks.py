"""Benchmarks are run now and then, by hand: a name that has changed meanwhile is noticed here."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
_IMPORT_ALL = """
import importlib, pathlib
for file in pathlib.Path("bench").glob("*.py"):
    if not file.stem.startswith("__"):
        importlib.import_module(f"bench.{file.stem}")
"""


def test_every_benchmark_finds_what_it_measures() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORT_ALL], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
