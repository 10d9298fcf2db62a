"""A whole node upgrade in virtual time, promises checked: jobs per second of real time."""

import time
from collections.abc import Iterator

from bench import fleets
from headgate.simulate import run as simulation
from headgate.simulate import scenario

DEPLOYMENTS = 5
SIZES = (100, 1_000)


def run() -> Iterator[str]:
    rates = []
    for nodes in SIZES:
        plan = scenario.read(_document(nodes))
        started = time.perf_counter()
        result = simulation.simulate(plan)
        seconds = time.perf_counter() - started
        rates.append(len(result.jobs) / seconds)
        yield (
            f"node upgrade of {nodes} nodes x {DEPLOYMENTS} deployments: {len(result.jobs)} jobs in {seconds:.2f} s, "
            f"{rates[-1]:.0f} jobs/s (target: 2000)"
        )
    yield f"jobs/s, {SIZES[0]} to {SIZES[1]} nodes: {rates[0] / rates[1]:.2f} times slower (target: 1, linear)"


def _document(nodes: int) -> dict[str, object]:
    steps = [
        {"at": f"+{number}h", "publish": {"deployment": name, "tag": "v1"}}
        for number, name in enumerate(fleets.names(DEPLOYMENTS))
    ]
    return {
        "apiVersion": "headgate.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": f"upgrade-of-{nodes}-nodes"},
        "spec": {
            "start": "2026-03-01T09:00:00Z",
            "objects": fleets.documents(DEPLOYMENTS, nodes, interval_seconds=60),
            "agents": [
                {"match": "deployment.name == 'node-drain'", "duration": "8m"},
                {"match": "true", "duration": "3m"},
            ],
            "timeline": steps,
        },
    }
