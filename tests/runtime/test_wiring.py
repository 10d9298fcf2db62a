"""What follows a commit reaches those whom it concerns, and nobody else."""

import asyncio
from typing import Any, cast

import pytest

from headgate.runtime.wiring import Wiring, WorkerClient
from headgate.runtime.worker import Worker
from headgate.runtime.workspace_engine import AfterCommit


async def nothing_measured(*_: object) -> Any:
    raise AssertionError


@pytest.mark.parametrize(
    ("concerned", "woken"), [({"exec"}, 1), ({"exec", "pull"}, 1), ({"pull"}, 0), (set(), 0)]
)
def test_agents_are_woken_if_one_that_runs_here_has_something_to_do(concerned: set[str], woken: int) -> None:
    calls: list[None] = []

    async def story() -> None:
        wiring = Wiring(WorkerClient(cast(Worker, None)), lambda job, trace: None)
        wiring.start(nothing_measured)
        wiring.agent_types, wiring.wake_agents = ("exec", "http"), lambda: calls.append(None)
        wiring.committed("default", AfterCommit(has_written=True, agent_types=frozenset(concerned)))

    asyncio.run(story())
    assert len(calls) == woken
