"""Runs the benchmarks, or those named on the command line."""

import importlib
import sys

NAMES = (
    "cel",
    "manifests",
    "fleet",
    "rollouts",
    "libraries",
    "simulation",
    "workload",
    "graph",
    "service",
    "reports",
    "waits",
)


def main(names: list[str]) -> None:
    for name in names or NAMES:
        print(f"# {name}", flush=True)
        for line in importlib.import_module(f"bench.{name}").run():
            print(line, flush=True)


main(sys.argv[1:])
