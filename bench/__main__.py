"""Runs the benchmarks, or those named on the command line.

`--size N` is for those that can be run smaller or larger, `--only PART,PART` for those that have parts.
"""

import argparse
import importlib
import inspect

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
    "console",
    "history",
    "reports",
    "waits",
    "kubernetes",
)


def main() -> None:
    parser = argparse.ArgumentParser("python -m bench")
    parser.add_argument("names", nargs="*", choices=(*NAMES, []), metavar="NAME")
    parser.add_argument("--size", type=int)
    parser.add_argument("--only")
    given = parser.parse_args()
    options = {name: value for name in ("size", "only") if (value := getattr(given, name)) is not None}
    for name in given.names or NAMES:
        print(f"# {name}", flush=True)
        run = importlib.import_module(f"bench.{name}").run
        known = inspect.signature(run).parameters
        for line in run(**{key: value for key, value in options.items() if key in known}):
            print(line, flush=True)


main()
