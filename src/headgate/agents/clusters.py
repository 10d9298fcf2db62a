"""Clusters that agents work on: contexts of the kubeconfig of whoever runs the server, or the cluster it runs in.

Which of them a job agent may name is the server's to say: whoever may write an agent must not be able to use every
credential that lies beside the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any

from headgate.agents.port import Agent, Assignment, JobProgress, TryLaterError, shortened
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.kubernetes import in_cluster, kubeconfig
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery
from headgate.kubernetes.errors import (
    ApiError,
    ForbiddenError,
    InvalidError,
    TooManyRequestsError,
    UnauthorizedError,
    UnreachableError,
)
from headgate.kubernetes.resources import NAMESPACES, ApiResource, Document
from headgate.kubernetes.transport import Transport

OPTION = "--allow-cluster"
CURRENT = "current"
"""The name of the context that kubectl would use; one that is called so itself is shown beside it as the same."""
_FIELD = "config.kubeContext"
_LONGEST_ANSWER = 500
POLL_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)
WATCH_SECONDS = 60
"""Longer than anybody rests."""

Load = Callable[[str | None], ClusterAccess]


class ReachedCluster:
    """One that is reached."""

    def __init__(self, access: ClusterAccess) -> None:
        self.client = Client(Transport(access))
        self.namespace = access.namespace
        self._uid: str | None = None

    @functools.cached_property
    def discovery(self) -> Discovery:
        return Discovery(self.client.transport)

    async def uid(self) -> str:
        """That of its oldest namespace, which tells clusters apart whatever they are called."""
        if self._uid is None:
            namespace = await self.client.get(NAMESPACES, "kube-system")
            self._uid = str(namespace["metadata"]["uid"])
        return self._uid


class Clusters:
    """`allowed` are contexts, and `in-cluster`; None allows all that the server can reach."""

    def __init__(self, allowed: Iterable[str] | None = None, load: Load | None = None) -> None:
        self._allowed = None if allowed is None else tuple(allowed)
        self._load = load or _access
        self._reached: dict[str | None, ReachedCluster] = {}

    async def named(self, context: str | None) -> ReachedCluster:
        """Raises Rejected for one that may not be used, or that the server does not know."""
        wanted = self._wanted(context)
        if wanted not in self._reached:
            access = await asyncio.to_thread(self._load, wanted)
            self._reached.setdefault(wanted, ReachedCluster(access))
        return self._reached[wanted]

    def name_of(self, context: str | None) -> str:
        """What it is called where agents that name none are shown beside those that do."""
        if context is None and self._allowed is not None and len(self._allowed) == 1:
            return self._allowed[0]
        return CURRENT if context is None else context

    async def close(self) -> None:
        reached, self._reached = self._reached, {}
        for cluster in reached.values():
            await cluster.client.close()

    def _wanted(self, context: str | None) -> str | None:
        if self._allowed is None or context in self._allowed:
            return context
        if context is None and len(self._allowed) == 1:
            return self._allowed[0]
        problem = "is required" if context is None else f'is "{context[:80]}"'
        allowed = ", ".join(self._allowed) or "none"
        message = f"{problem}; allowed are {allowed}, and what whoever runs the server adds with {OPTION}"
        raise Rejected((Problem(_FIELD, message),))


def _access(context: str | None) -> ClusterAccess:
    if context != in_cluster.NAME:
        return kubeconfig.load(context=context)
    if not in_cluster.is_here(os.environ):
        raise Rejected((Problem(_FIELD, f'is "{context}", and the server does not run in a cluster'),))
    return in_cluster.load(os.environ)


class ObjectWatch:
    """An object of a cluster in one version."""

    def __init__(self, cluster: ReachedCluster, resource: ApiResource, metadata: Mapping[str, Any]) -> None:
        self._cluster, self._resource = cluster, resource
        self._metadata = metadata

    async def has_changed(self) -> bool:
        """Waits for it. False if the cluster does not tell: whoever may not watch looks from time to time."""
        events = self._cluster.client.watch(
            self._resource,
            self._metadata.get("namespace", ""),
            resource_version=self._metadata["resourceVersion"],
            fields=f"metadata.name={self._metadata['name']}",
            lasts_seconds=WATCH_SECONDS,
        )
        try:
            async with aclosing(events):
                async for event in events:
                    if event.kind != "bookmark":
                        return True
        except ApiError:
            pass
        return False


class PollPace:
    """How soon a job is looked at again: the later the more often nothing has changed."""

    def __init__(self) -> None:
        self._looks: dict[str, tuple[str, int]] = {}

    def seconds(self, job: str, message: str) -> float:
        last, looks = self._looks.get(job, ("", 0))
        looks = looks + 1 if last == message else 0
        self._looks[job] = (message, looks)
        return POLL_SECONDS[min(looks, len(POLL_SECONDS) - 1)]

    def forget(self, job: str) -> None:
        self._looks.pop(job, None)


class ClusterAgent(Agent):
    """Works by looking: each look reads the cluster, does what is still to do, and says how it is.

    So a start that is repeated after a crash, and every later look, are the same call.
    """

    is_told = True

    def __init__(self, clusters: Clusters, clock: Callable[[], Instant]) -> None:
        self._clusters = clusters
        self._clock = clock
        self._pace = PollPace()
        self._seen: dict[str, ObjectWatch] = {}
        """By job."""

    @abstractmethod
    async def _look(self, assignment: Assignment) -> JobProgress:
        """Raises ApiError."""

    @abstractmethod
    async def _end(self, assignment: Assignment) -> str | None:
        """As `stop`. Raises ApiError."""

    async def start(self, assignment: Assignment) -> JobProgress:
        """What the cluster refuses from the beginning, somebody has to put right; later on it may pass by itself."""
        try:
            return await self._look(assignment)
        except (UnauthorizedError, ForbiddenError, InvalidError) as error:
            if "exceeded quota" in error.message:
                raise _later(error) from None
            return JobProgress("invalidIntegration", shortened(f"the cluster refuses: {_message(error)}"))
        except ApiError as error:
            raise _later(error) from None

    async def follow(self, assignment: Assignment) -> JobProgress:
        """What was begun goes on in the cluster, also where a program that gives credentials fails for a moment: that it
        cannot be looked at is no end of it."""
        try:
            return await self._look(assignment)
        except Rejected as rejected:
            raise TryLaterError("; ".join(str(problem) for problem in rejected.problems)) from None
        except ApiError as error:
            raise _later(error) from None

    async def stop(self, assignment: Assignment) -> str | None:
        try:
            return await self._end(assignment)
        except ApiError as error:
            raise _later(error) from None

    def _has_seen(
        self, assignment: Assignment, cluster: ReachedCluster, resource: ApiResource, live: Document
    ) -> None:
        """What the job is about, as it was: a rest ends when it changes."""
        self._seen[assignment.job.id] = ObjectWatch(cluster, resource, live["metadata"])

    async def rest(self, assignment: Assignment, seconds: float) -> None:
        seen = self._seen.pop(assignment.job.id, None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                if seen is None or not await seen.has_changed():
                    await asyncio.sleep(seconds)

    async def forget(self, assignment: Assignment) -> None:
        self._pace.forget(assignment.job.id)
        self._seen.pop(assignment.job.id, None)

    async def close(self) -> None:
        await self._clusters.close()


async def check_is_of(cluster: ReachedCluster, resource: Mapping[str, object]) -> None:
    """A discovered resource says of which cluster it is: a context that leads to another one by now changes nothing
    there. Raises Rejected, ApiError."""
    config = resource.get("config")
    expected = config.get("clusterUid") if isinstance(config, Mapping) else None
    if not isinstance(expected, str) or not expected:
        return
    uid = await cluster.uid()
    if uid != expected:
        message = (
            f"leads to the cluster {uid}, and {resource.get('name')} is of the cluster {expected}; allowed is "
            "a context of that one"
        )
        raise Rejected((Problem(_FIELD, message),))


def _message(error: ApiError) -> str:
    return error.message[:_LONGEST_ANSWER]


def _later(error: ApiError) -> TryLaterError:
    if isinstance(error, UnreachableError):
        return TryLaterError(
            f"the cluster cannot answer: {_message(error)}", error.after_seconds, was_sent=error.was_sent
        )
    after = error.after_seconds if isinstance(error, TooManyRequestsError) else None
    return TryLaterError(f"the cluster refuses: {_message(error)}", after)
