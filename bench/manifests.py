"""Figures for manifests: what it takes to read one, and what the library that checks types alone would take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import msgspec

from headgate.fleet.engine import manifests
from headgate.fleet.model import objects as model
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds

ROUNDS = 15
REPETITIONS = 200
NOW = instants.parse("2026-03-01T09:00:00Z")
LABELS = (2, 20)


def run() -> Iterator[str]:
    for count in LABELS:
        yield from _resource(count)


def _resource(labels: int) -> Iterator[str]:
    """The least processor time counts; what is compared is measured in turns."""
    ids = NamedIds("bench")
    spec = {"kind": "Host", "metadata": {f"label-{number}": f"value-{number}" for number in range(labels)}}
    document = {
        "apiVersion": manifests.API_VERSION,
        "kind": "Resource",
        "metadata": {"name": "host-000001"},
        "spec": spec,
    }
    plain = {"id": ids.new("Resource", "host-000001"), "name": "host-000001", **spec}
    ours, by_type = _seconds(
        lambda: manifests.parse(document, ids, NOW), lambda: msgspec.convert(plain, model.Resource)
    )
    yield (
        f"manifests: a resource with {labels} labels: {ours * 1e6:.0f} us (target 60); its types alone by msgspec "
        f"{by_type * 1e6:.1f} us"
    )


def _seconds(*actions: Callable[[], object]) -> list[float]:
    least = [float("inf")] * len(actions)
    for _ in range(ROUNDS):
        for place, action in enumerate(actions):
            begin = time.process_time()
            for _ in range(REPETITIONS):
                action()
            least[place] = min(least[place], (time.process_time() - begin) / REPETITIONS)
    return least
