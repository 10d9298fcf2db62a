"""Agents of clusters when they cannot look: what was begun is not given up."""

from __future__ import annotations

import asyncio

import pytest

from agents.support import Shelf, clock
from headgate.agents.clusters import Clusters
from headgate.agents.kubernetes_job import KubernetesJobAgent
from headgate.agents.port import TryLaterError
from headgate.kernel.problems import Problem, Rejected
from headgate.kubernetes.access import ClusterAccess

CONFIG = {"jobTemplate": {"spec": {"template": {"spec": {"containers": []}}}}}


def no_credentials(context: str | None) -> ClusterAccess:
    raise Rejected((Problem("users[0].user.exec.command", '"get-token" ended with 1'),))


def test_a_job_that_runs_is_not_over_because_nobody_gives_credentials_for_a_moment() -> None:
    agent = KubernetesJobAgent(Clusters(None, no_credentials), clock)
    shelf = Shelf()
    with pytest.raises(Rejected):
        asyncio.run(agent.start(shelf.assignment(CONFIG)))
    with pytest.raises(TryLaterError) as caught:
        asyncio.run(agent.follow(shelf.assignment(CONFIG)))
    assert "ended with 1" in caught.value.message
