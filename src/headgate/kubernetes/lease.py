"""One leader among several processes, by a Lease that the leader renews.

A leader counts from the moment it sent its last renewal, the others from when they saw it: so the leader knows first
that its time is over, whatever the clocks say, as long as they run equally fast. What it sent before and arrives after
is what `fencing` is for.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from typing import Any

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import AlreadyExistsError, ApiError, ConflictError, NotFoundError
from headgate.kubernetes.resources import LEASES, Document
from headgate.kubernetes.transport import Sleep

logger = logging.getLogger(__name__)

DURATION_SECONDS = 15
RENEWING_SHARE = 2 / 3
"""Of its time, a leader that could not renew acts for this share; the rest is for what it sent to arrive."""
RETRY_SHARE = 1 / 7


class DeposedError(ConflictError):
    """This process does not lead, or cannot be sure that it does: nothing was written."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=409, reason="Deposed")


class Leadership:
    """One term of one leader. `term` grows with every change of the leader."""

    def __init__(self, term: int, duration_seconds: float, steady: Callable[[], float]) -> None:
        self.term = term
        self._duration = duration_seconds
        self._steady = steady
        self._renewed_at = steady()
        self.lost = asyncio.Event()
        """Set when somebody else leads, or when renewing took too long. Time alone ends the right to write before."""

    def renewed(self, sent_at: float) -> None:
        self._renewed_at = sent_at

    @property
    def remaining_seconds(self) -> float:
        """How long nobody else can lead, whatever happens."""
        return self._renewed_at + self._duration - self._steady()

    @property
    def is_certain(self) -> bool:
        return not self.lost.is_set() and self.remaining_seconds > self._duration * (1 - RENEWING_SHARE)

    def check(self) -> None:
        """Raises DeposedError."""
        if not self.is_certain:
            raise DeposedError(f"the leadership of term {self.term} is over: nothing is written any more")


class _SeenLease(msgspec.Struct, frozen=True):
    """What a Lease said, and when that was news here."""

    holder: str
    version: str
    duration_seconds: float
    at: float


class Election:
    """A candidate. `identity` names this life of this process and is never used again: a process that starts anew is
    another candidate."""

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        name: str,
        identity: str,
        duration_seconds: int = DURATION_SECONDS,
        manager: str = "headgate",
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], Instant] = lambda: time.time_ns() // 1_000,
        steady: Callable[[], float] = lambda: time.clock_gettime(time.CLOCK_BOOTTIME),
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`steady` counts seconds, also while the machine sleeps; `clock` is written into the Lease for people."""
        self._client = client.within(duration_seconds * (1 - RENEWING_SHARE))
        self._namespace, self._name, self.identity = namespace, name, identity
        self._duration = duration_seconds
        self._manager = manager
        self._sleep, self._clock, self._steady, self._chance = sleep, clock, steady, chance
        self._lease: Document | None = None
        self._seen: _SeenLease | None = None
        self._leadership: Leadership | None = None
        self._elected = asyncio.Event()

    @property
    def leadership(self) -> Leadership | None:
        """This process's, if it leads for certain."""
        leadership = self._leadership
        return leadership if leadership is not None and leadership.is_certain else None

    @property
    def leader(self) -> str:
        """Who leads, as far as known."""
        return self._seen.holder if self._seen is not None else ""

    async def elected(self) -> Leadership:
        """Waits for it. Somebody must `run` the election meanwhile."""
        while (leadership := self.leadership) is None:
            self._elected.clear()
            await self._elected.wait()
        return leadership

    async def run(self) -> None:
        """Until it is cancelled; the leadership is given back then, so that nobody has to wait for its end."""
        try:
            while True:
                await self.step()
                await self._sleep(self._duration * RETRY_SHARE * (0.8 + 0.4 * self._chance()))
        finally:
            await self.release()

    async def step(self) -> None:
        """Renews, takes what nobody has, or looks who has it."""
        sent_at = self._steady()
        try:
            is_leader = await self._hold()
        except ApiError as error:
            logger.warning("the lease %s cannot be asked for: %s", self._name, error)
            self._lease = None
            if self._leadership is not None and not self._leadership.is_certain:
                self._depose()
            return
        if not is_leader:
            self._depose()
            return
        if self._leadership is None:
            term = int((self._lease or {}).get("spec", {}).get("leaseTransitions") or 0)
            self._leadership = Leadership(term, self._duration, self._steady)
            logger.info("%s leads by the lease %s, term %s", self.identity, self._name, term)
        self._leadership.renewed(sent_at)
        self._elected.set()

    async def release(self) -> None:
        """Does nothing if somebody else leads, or if the server cannot be asked: time does it then."""
        if self._leadership is None:
            return
        self._depose()
        if self._lease is None:
            return
        try:
            await self._write(self._lease, {"holderIdentity": "", "leaseDurationSeconds": 1})
        except ApiError as error:
            logger.info("the lease %s was not given back: %s", self._name, error)
        self._lease = None

    def _depose(self) -> None:
        if self._leadership is not None:
            logger.info("%s does not lead any more by the lease %s", self.identity, self._name)
            self._leadership.lost.set()
            self._leadership = None

    async def _hold(self) -> bool:
        if (self._lease is None or self.leader != self.identity) and not await self._look():
            return await self._create()
        if self.leader != self.identity and not self._is_free():
            return False
        return await self._take()

    async def _look(self) -> bool:
        """Whether there is a Lease."""
        try:
            self._lease = await self._client.get(LEASES, self._name, self._namespace)
        except NotFoundError:
            self._lease = None
            return False
        self._see(self._lease)
        return True

    def _is_free(self) -> bool:
        seen = self._seen
        return seen is None or not seen.holder or self._steady() - seen.at >= seen.duration_seconds

    def _see(self, lease: Document) -> None:
        """A Lease that has not changed is not seen anew: its time runs from when its answer was here, which is later
        than its holder sent it."""
        version = str(lease["metadata"]["resourceVersion"])
        if self._seen is None or self._seen.version != version:
            spec = lease.get("spec") or {}
            duration = float(spec.get("leaseDurationSeconds") or self._duration)
            self._seen = _SeenLease(str(spec.get("holderIdentity") or ""), version, duration, self._steady())

    async def _create(self) -> bool:
        moment = _micro_time(self._clock())
        lease = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": self._claim(moment) | {"acquireTime": moment, "leaseTransitions": 0},
        }
        try:
            self._lease = await self._client.create(LEASES, lease, manager=self._manager)
        except AlreadyExistsError:
            return False
        self._see(self._lease)
        return True

    async def _take(self) -> bool:
        """With the version that was seen: of two who try, one succeeds."""
        assert self._lease is not None
        moment = _micro_time(self._clock())
        spec = self._claim(moment)
        if self._leadership is None:
            before = int((self._lease.get("spec") or {}).get("leaseTransitions") or 0)
            spec |= {"acquireTime": moment, "leaseTransitions": before + 1}
        try:
            await self._write(self._lease, spec)
        except (ConflictError, NotFoundError):
            await self._look()
            return False
        return True

    def _claim(self, moment: str) -> dict[str, Any]:
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": self._duration,
            "renewTime": moment,
        }

    async def _write(self, lease: Document, spec: dict[str, Any]) -> None:
        changed = {**lease, "spec": {**(lease.get("spec") or {}), **spec}}
        self._lease = await self._client.update(LEASES, changed, manager=self._manager)
        self._see(self._lease)


def _micro_time(now: Instant) -> str:
    """The server takes six digits, and no others."""
    moment = instants.to_datetime(now)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
