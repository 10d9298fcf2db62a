"""One process of the operator after another, each killed in the midst of its work."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from headgate.cluster.port import ObjectChange
from headgate.kernel.objects import Object
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import NotFoundError
from headgate.kubernetes.reflector import Reflector
from headgate.kubernetes.resources import LEASES, ApiResource
from headgate.operator.installation import settings
from kube import ControlPlane

from .support import running

_NURSERY = Path(__file__).with_name("nursery.py")
_MOST_CHANGES = 8
"""A life ends after up to so many changes that it can have made."""
_LEASE_SECONDS = 3
_LONGEST_SECONDS = 2.0 * _LEASE_SECONDS
"""Or after so long, which on a busy machine may be before it has done anything at all."""


class _Changes:
    """Counts what happens to objects of a kind."""

    def __init__(self) -> None:
        self.count = 0

    def observe(self, change: ObjectChange) -> None:
        self.count += 1

    def replaced(self, group: str, kind: str, items: Iterable[Object]) -> None:
        self.count += 1


class Lives:
    """The next one leads when the lease of the last is over, by when all has arrived that it sent. `is_impatient` takes
    the lease away with it: then what it sent may arrive beside what the next one does."""

    def __init__(
        self, plane: ControlPlane, namespace: str, client: Client, changes: _Changes, *, is_impatient: bool
    ) -> None:
        self._is_impatient = is_impatient
        lease_seconds = 30 if is_impatient else _LEASE_SECONDS
        self._namespace = namespace
        self._client = client
        self._changes = changes
        self._chance = random.Random(namespace)
        self._command = shlex.join(
            [
                *("--kubeconfig", str(plane.kubeconfig), "--health-port", "0"),
                *("--lease-seconds", str(lease_seconds)),
                *("--namespace", namespace, "--lease-namespace", namespace),
            ]
        )
        self._nursery = subprocess.Popen(
            [sys.executable, str(_NURSERY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._pid = 0

    async def begin(self) -> None:
        if self._is_impatient:
            await self._take_the_lease_away()
        self._pid = await asyncio.to_thread(self._born)

    async def _take_the_lease_away(self) -> None:
        with contextlib.suppress(NotFoundError):
            await self._client.delete(LEASES, settings.LEASE, self._namespace)

    def _born(self) -> int:
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.write(f"{self._command}\n")
        self._nursery.stdin.flush()
        return int(self._nursery.stdout.readline())

    async def end(self) -> None:
        """At a moment that nobody can foresee."""
        enough = self._changes.count + self._chance.randrange(_MOST_CHANGES + 1)
        latest = time.monotonic() + _LONGEST_SECONDS
        while self._changes.count < enough and time.monotonic() < latest:
            await asyncio.sleep(0.01)
        await asyncio.sleep(self._chance.uniform(0, 0.05))
        os.kill(self._pid, signal.SIGKILL)

    async def pass_away(self, kills: int, meanwhile: Callable[[], Awaitable[None]]) -> None:
        """So many lives end, from the present one on; `meanwhile` sees to it that there is always something to do. The
        last one goes on."""
        for _ in range(kills):
            await meanwhile()
            await self.end()
            await self.begin()

    def close(self) -> None:
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.close()
        self._nursery.stdout.close()
        self._nursery.wait()


@asynccontextmanager
async def lives(
    plane: ControlPlane,
    namespace: str,
    client: Client,
    resource: ApiResource,
    *,
    is_impatient: bool = False,
) -> AsyncIterator[Lives]:
    """By changes of objects of a kind it is known how far they get."""
    changes = _Changes()
    found = Lives(plane, namespace, client, changes, is_impatient=is_impatient)
    try:
        async with running(Reflector(client, resource, changes, namespace=namespace).run()):
            yield found
    finally:
        found.close()
