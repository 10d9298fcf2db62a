"""Commands that ask a Kubernetes cluster themselves: how it is named, reached, and what its refusals mean."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click
import msgspec

from headgate.cli import exit_codes, failures
from headgate.kernel.problems import Rejected
from headgate.kubernetes import kubeconfig as kubeconfigs
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery
from headgate.kubernetes.errors import ApiError, ForbiddenError, UnauthorizedError, UnreachableError
from headgate.kubernetes.transport import Transport

R = TypeVar("R")


class AskedCluster(msgspec.Struct, frozen=True):
    """One that is reached; `namespace` is the one that was asked about."""

    client: Client
    discovery: Discovery
    namespace: str


class ClusterLocation(msgspec.Struct, frozen=True):
    """Which cluster, and where in it."""

    kubeconfig: str | None
    context: str | None
    namespace: str | None

    def ask(self, work: Callable[[AskedCluster], Awaitable[R]]) -> R:
        """Raises CommandFailure."""
        cluster_access = access(self.kubeconfig, self.context)

        async def asked() -> R:
            async with Client(Transport(cluster_access)) as client:
                return await work(
                    AskedCluster(
                        client, Discovery(client.transport), self.namespace or cluster_access.namespace
                    )
                )

        try:
            return asyncio.run(asked())
        except ApiError as error:
            raise failures.CommandFailure(f"the cluster: {error.message}", code_of(error)) from None


def with_place(function: Callable[..., R]) -> Callable[..., R]:
    """The command gets the place as its first argument."""

    @click.option("--kubeconfig", metavar="FILE", help="A kubeconfig; as kubectl finds it if absent.")
    @click.option("--context", metavar="NAME", help="Of the kubeconfig; its current one if absent.")
    @click.option("-n", "--namespace", metavar="NAMESPACE", help="The context's if absent.")
    @functools.wraps(function)
    def run(*, kubeconfig: str | None, context: str | None, namespace: str | None, **given: Any) -> R:
        return function(ClusterLocation(kubeconfig, context, namespace), **given)

    return run


def access(kubeconfig: str | None, context: str | None) -> ClusterAccess:
    try:
        return kubeconfigs.load(path=kubeconfig, context=context)
    except Rejected as rejected:
        raise failures.CommandFailure([*rejected.problems], exit_codes.UNREADABLE) from None


def code_of(error: ApiError) -> int:
    if isinstance(error, UnreachableError):
        return exit_codes.UNREACHABLE
    return (
        exit_codes.NOT_ALLOWED if isinstance(error, UnauthorizedError | ForbiddenError) else exit_codes.FAILED
    )
