"""Resources of a cluster, handed in once or for as long as the command runs."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import click
import msgspec

from headgate.agents import cluster_resources
from headgate.agents.cluster_resources import ClusterFacts, Nodes
from headgate.cli import clusters, exit_codes, failures
from headgate.cli.client import ApiClient, path
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.transport import Transport

SET_SECONDS = 300.0
"""A large set is taken in steps."""
RETRY_SECONDS = 5.0

Result = dict[str, Any]
SayResult = Callable[[Result], None]


class Wish(msgspec.Struct, frozen=True):
    """What is discovered, where, and under which names."""

    context: str | None
    kubeconfig: str | None
    has_nodes: bool
    has_cluster: bool
    labels: str
    cluster: str | None
    prefix: str
    provider: str | None
    is_empty_allowed: bool


def run(wish: Wish, server: ApiClient, say: SayResult, *, watch: bool) -> None:
    access = clusters.access(wish.kubeconfig, wish.context)
    name = wish.cluster or access.context
    if not name:
        raise failures.misused("--cluster: is required, because the kubeconfig has no name for it")

    async def discover() -> None:
        async with Client(Transport(access)) as cluster:
            facts = await cluster_resources.facts_of(cluster, name, wish.prefix)
            handing = _Handing(wish, facts, server, say)
            if watch:
                await _until_asked(_follow(cluster, wish, handing))
            else:
                nodes = await cluster_resources.nodes_of(cluster, wish.labels) if wish.has_nodes else {}
                await handing.hand_in(nodes)

    try:
        asyncio.run(discover())
    except ApiError as error:
        raise failures.CommandFailure(
            f"the cluster {name}: {error.message}", clusters.code_of(error)
        ) from None


def sentence(result: Result) -> str:
    counts = [
        f"{len(result[key])} {word}"
        for key, word in (("created", "new"), ("updated", "changed"), ("deleted", "gone"))
        if result[key]
    ]
    total = sum(len(result[key]) for key in ("created", "updated", "unchanged"))
    return f"{result['provider']}: {total} resources" + (f", {', '.join(counts)}" if counts else "")


class _Handing:
    """Hands in what is not handed in yet."""

    def __init__(self, wish: Wish, facts: ClusterFacts, server: ApiClient, say: SayResult) -> None:
        self._wish = wish
        self._facts = facts
        self._server = server
        self._say = say
        self._last: list[dict[str, Any]] | None = None

    @property
    def provider(self) -> str:
        return self._wish.provider or f"kubernetes-{self._facts.name}"

    async def hand_in(self, nodes: Nodes) -> None:
        """A cluster without nodes is more likely one that answers wrongly: nothing is taken away for it. Raises
        CommandFailure."""
        if self._wish.has_nodes and not nodes and not self._wish.is_empty_allowed:
            raise failures.CommandFailure(
                f"the cluster {self._facts.name} has no nodes, or none with these labels; nothing was handed in; "
                "--allow-empty hands it in all the same"
            )
        resources = cluster_resources.of_nodes(nodes.values(), self._facts)
        if self._wish.has_cluster:
            resources.append(cluster_resources.of_cluster(self._facts))
        if resources == self._last:
            return
        body = {"provider": self.provider, "resources": resources}
        answer = await asyncio.to_thread(self._put, body)
        self._last = resources
        self._say({"provider": self.provider, **answer})

    def _put(self, body: object) -> Result:
        result: Result = self._server.send("PUT", path("resources", "set"), body, timeout_seconds=SET_SECONDS)
        return result


async def _follow(cluster: Client, wish: Wish, handing: _Handing) -> None:
    if not wish.has_nodes:
        await handing.hand_in({})
        return

    def notice(error: ApiError) -> None:
        click.echo(f"the cluster cannot be asked, and is asked again: {error.message}", err=True)

    async with aclosing(cluster_resources.following(cluster, wish.labels, noticed=notice)) as states:
        async for nodes in states:
            await _handed_in(handing, nodes)


async def _handed_in(handing: _Handing, nodes: Nodes) -> None:
    """A server that is away is waited for; it would not learn of this change otherwise."""
    while True:
        try:
            await handing.hand_in(nodes)
            return
        except failures.CommandFailure as failure:
            if failure.code == exit_codes.NOT_ALLOWED:
                raise
            click.echo("\n".join(failure.sentences), err=True)
            if failure.code != exit_codes.UNREACHABLE:
                return
        await asyncio.sleep(RETRY_SECONDS)


async def _until_asked(work: Any) -> None:
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, asked.set)
    working, waiting = asyncio.create_task(work), asyncio.create_task(asked.wait())
    try:
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
    finally:
        working.cancel()
        waiting.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)
    if not asked.is_set():
        working.result()
