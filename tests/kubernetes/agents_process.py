"""A runner with the agents of clusters in a process of its own, which kills itself at one of its requests.

Arguments are the store, a kubeconfig, a report file, and at which moment it ends: each request has two, before it is sent
and after it was answered.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time

from headgate.agents.clusters import Clusters
from headgate.agents.graph import GraphAgent
from headgate.agents.kubernetes_job import KubernetesJobAgent
from headgate.agents.kubernetes_node import KubernetesNodeAgent
from headgate.agents.runner import AgentRunner
from headgate.agents.workload import WorkloadAgent
from headgate.fleet.model.changes import JobReported
from headgate.kubernetes import kubeconfig
from headgate.kubernetes.transport import ApiAnswer, ApiRequest, Transport
from headgate.runtime import holders
from headgate.store.sql.opening import open_store
from kubernetes.rollouts import explained

moments_left = int(sys.argv[4])


def pass_a_moment() -> None:
    global moments_left
    moments_left -= 1
    if moments_left == 0:
        os.kill(os.getpid(), signal.SIGKILL)


_ask = Transport.ask


async def asked(transport: Transport, request: ApiRequest) -> ApiAnswer:
    pass_a_moment()
    answer = await _ask(transport, request)
    pass_a_moment()
    return answer


def now() -> int:
    return time.time_ns() // 1_000


async def main() -> None:
    url, config, reports, _ = sys.argv[1:]
    Transport.ask = asked  # type: ignore[method-assign]

    async def report(workspace: str, change: JobReported) -> None:
        with open(reports, "a", encoding="utf-8") as file:
            file.write(f"{change.job} {change.status}\n")

    store = open_store(url)
    for holder in store.claim_holders():
        if holders.has_ended(holder):
            store.release_claims(holder)
    clusters = Clusters(None, lambda context: kubeconfig.load(path=config, context=context))
    agents = (
        KubernetesJobAgent(clusters, now),
        KubernetesNodeAgent(clusters, now),
        GraphAgent(clusters, now, explained),
        WorkloadAgent(clusters, now, explained),
    )
    runner = AgentRunner(
        store, report, now, holders.this_process(), agents, lease_seconds=5, poll_seconds=0.05
    )
    await runner.run()


if __name__ == "__main__":
    asyncio.run(main())
