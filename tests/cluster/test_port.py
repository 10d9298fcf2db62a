"""The simulated cluster by the suite of the port; a real one by the same suite in `tests/kubernetes`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import pytest

from headgate.cluster import port
from headgate.cluster.simulated.store import ObjectStore
from headgate.cluster.simulated.writing import StoreWriter
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Action, Object

from .port_cases import CASES, NAMES, WRITER, Case

NOW = 0


class SimulatedCluster:
    """There is no lag: whoever writes knows all that is there."""

    gates = "example.com/v1"
    namespace = "default"

    def __init__(self) -> None:
        self.heard = self.listened = ObjectStore(NamedIds(""))

    async def write(self, action: Action) -> None:
        port.write(StoreWriter(self.heard, NOW, WRITER, _refusal), action)

    async def annotate(self, item: Object) -> None:
        annotated = msgspec.structs.replace(item, annotations={"example.com/seen": "yes"})
        self.heard.update(annotated, NOW, "somebody")

    async def remove(self, item: Object) -> None:
        self.heard.delete(item.key, item.uid, NOW, "somebody")

    async def listed(self) -> Sequence[Object]:
        return list(self.heard)

    async def until(self, condition: Callable[[], bool]) -> None:
        assert condition()


def _refusal(item: Object) -> str | None:
    if item.kind != "Gate" or isinstance(item.spec["host"], str):
        return None
    return "spec.host: Invalid value: must be of type string"


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_simulated_cluster(case: Case) -> None:
    asyncio.run(case(SimulatedCluster()))
