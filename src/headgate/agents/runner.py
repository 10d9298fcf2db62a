"""Takes dispatches from the outbox and has agents run them; any number of runners may share one store.

The store is the truth and is looked at every second; `wake` only makes that sooner.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Iterable

import msgspec

from headgate.agents.agent_shares import MOST_AT_ONCE, AgentKey, AgentShares
from headgate.agents.port import Agent, TryLaterError
from headgate.agents.work import (
    STOPPING_SECONDS,
    ClaimLostError,
    Report,
    Tools,
    Work,
    assignment_of,
    kept_of,
)
from headgate.kernel import instants
from headgate.kernel.backoffs import Backoff
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Rejected
from headgate.store.dispatches import Dispatch
from headgate.store.port import Store, UnavailableError

logger = logging.getLogger(__name__)

LEASE_SECONDS = 30.0
POLL_SECONDS = 1.0

Key = tuple[str, str]


class AgentRunner:
    """`refused` are types that have no agent here and shall be told so: their jobs end as `invalidJobAgent`."""

    def __init__(
        self,
        store: Store,
        report: Report,
        clock: Callable[[], Instant],
        holder: str,
        agents: Iterable[Agent],
        *,
        refused: Iterable[str] = (),
        most_at_once: int = MOST_AT_ONCE,
        lease_seconds: float = LEASE_SECONDS,
        poll_seconds: float = POLL_SECONDS,
        backoff: Backoff | None = None,
    ) -> None:
        by_type = {agent.type: agent for agent in agents}
        backoff = backoff or Backoff(chance=random.random)
        self._tools = Tools(store, report, clock, by_type, backoff, lease_seconds, self._has_room)
        self._holder = holder
        self.types = (*by_type, *(kind for kind in refused if kind not in by_type))
        self._most_at_once = most_at_once
        self._poll_seconds = poll_seconds
        self._held: dict[Key, tuple[Work, asyncio.Task[None]]] = {}
        self._stopping: dict[Key, tuple[AgentKey, asyncio.Task[None]]] = {}
        self._woken = asyncio.Event()
        self._is_closing = False
        self._looks_no_more = asyncio.Event()
        self._looks_no_more.set()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def held(self) -> int:
        """How many dispatches are being worked on."""
        return len(self._held)

    def _has_room(self) -> bool:
        return len(self._held) <= self._most_at_once // 4

    def wake(self) -> None:
        """Looks at once; may be called from any thread."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._woken.set)

    async def run(self) -> None:
        """Until `close`, or until it is cancelled, which leaves claims to their leases' ends."""
        self._loop = asyncio.get_running_loop()
        self._looks_no_more.clear()
        renewing = asyncio.create_task(self._renew())
        failures = 0
        try:
            while not self._is_closing:
                wait = self._poll_seconds
                try:
                    wait = 0.0 if await self._look() else wait
                    failures = 0
                except UnavailableError as error:
                    failures += 1
                    wait = self._tools.backoff.seconds(failures)
                    logger.warning("The store cannot be reached: %s", error)
                await self._rest(wait)
        finally:
            self._looks_no_more.set()
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            if not self._is_closing:
                await self._end_tasks()

    async def close(self, grace_seconds: float = 5.0) -> None:
        """Ends the steps under way and gives all claims back, so that another runner can go on at once."""
        self._is_closing = True
        self._woken.set()
        await self._looks_no_more.wait()
        works = list(self._held.values())
        for work, _ in works:
            work.close()
        if works:
            await asyncio.wait([task for _, task in works], timeout=grace_seconds)
        await self._end_tasks()
        for work, _ in works:
            with contextlib.suppress(ClaimLostError):
                await work.put_down(0)
        for agent in self._tools.agents.values():
            await agent.close()

    async def _end_tasks(self) -> None:
        tasks = [task for _, task in self._held.values()] + [task for _, task in self._stopping.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _rest(self, seconds: float) -> None:
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), seconds)
        self._woken.clear()

    async def _look(self) -> bool:
        """Whether there may be more to take at once."""
        await self._stop_cancelled()
        shares = AgentShares(
            self._most_at_once, (_agent_of(work.dispatch) for work, _ in self._held.values())
        )
        limit = shares.step
        if limit == 0 or self._is_closing:
            return False
        dispatches = await asyncio.to_thread(
            self._tools.store.claim_dispatches,
            types=self.types,
            holder=self._holder,
            now=self._tools.clock(),
            seconds=self._tools.lease_seconds,
            limit=limit,
            without=shares.full,
        )
        for dispatch in dispatches:
            self._take(dispatch)
        return len(dispatches) == limit

    def _take(self, dispatch: Dispatch) -> None:
        work = Work(dispatch, self._tools)
        before = self._held.get(work.key)
        task = asyncio.create_task(self._work(work, before[1] if before is not None else None))
        self._held[work.key] = (work, task)

    async def _work(self, work: Work, before: asyncio.Task[None] | None) -> None:
        """An earlier claim of the same dispatch is over; its work must have ended before there is new work on it."""
        try:
            if before is not None:
                before.cancel()
                await asyncio.gather(before, return_exceptions=True)
            await work.run()
        except ClaimLostError:
            logger.info("Job %s is not ours any more", work.dispatch.job)
        except Exception:
            logger.exception("The work on job %s broke off", work.dispatch.job)
        finally:
            held = self._held.get(work.key)
            if held is not None and held[0] is work and not self._is_closing:
                del self._held[work.key]
                self._woken.set()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._tools.lease_seconds / 3)
            works = list(self._held.values())
            renewed = await asyncio.gather(*(work.renew() for work, _ in works), return_exceptions=True)
            for (_, task), is_ours in zip(works, renewed, strict=True):
                if is_ours is not True:
                    task.cancel()

    async def _stop_cancelled(self) -> None:
        now = self._tools.clock()
        shares = AgentShares(self._most_at_once, (agent for agent, _ in self._stopping.values()))
        for dispatch in await asyncio.to_thread(self._tools.store.cancelled_dispatches, self.types):
            key = (dispatch.workspace, dispatch.job)
            is_others = (
                dispatch.claimed_by not in (None, self._holder) and (dispatch.claimed_until or 0) > now
            )
            agent = _agent_of(dispatch)
            if key not in self._stopping and not is_others and shares.take(agent):
                self._stopping[key] = (agent, asyncio.create_task(self._stop(key)))

    async def _stop(self, key: Key) -> None:
        try:
            held = self._held.get(key)
            if held is not None:
                held[1].cancel()
                await asyncio.gather(held[1], return_exceptions=True)
            dispatch = await asyncio.to_thread(self._tools.store.dispatch, *key)
            agent = self._tools.agents.get(dispatch.type) if dispatch is not None else None
            if dispatch is not None and (agent is None or await self._is_stopped(agent, dispatch)):
                await asyncio.to_thread(self._tools.store.finish_dispatch, *key)
        except UnavailableError as error:
            logger.warning("The store cannot be reached: %s", error)
        except Exception:
            logger.exception("Stopping job %s failed", key[1])
        finally:
            self._stopping.pop(key, None)

    async def _is_stopped(self, agent: Agent, dispatch: Dispatch) -> bool:
        """Also true when it is given up, long after anybody could wait for it."""
        try:
            assignment = assignment_of(dispatch, kept_of(dispatch).agent, None)
        except msgspec.DecodeError:
            return True
        now = self._tools.clock()
        given_up_at = max(dispatch.deadline_at or 0, now + instants.seconds(STOPPING_SECONDS))
        failures = 0
        while True:
            try:
                left = await agent.stop(assignment)
                if left:
                    logger.info("Job %s is stopped: %s", dispatch.job, assignment.scrubber.text(left))
                await agent.forget(assignment)
                return True
            except Rejected as rejected:
                logger.warning("Job %s cannot be stopped: %s", dispatch.job, rejected)
                return True
            except TryLaterError as error:
                failures += 1
                if self._tools.clock() >= given_up_at:
                    logger.error("Job %s is given up without being stopped: %s", dispatch.job, error.message)
                    return True
                wait = error.after_seconds or self._tools.backoff.seconds(failures)
                logger.warning("Job %s is not stopped yet: %s", dispatch.job, error.message)
                await asyncio.sleep(wait)


def _agent_of(dispatch: Dispatch) -> AgentKey:
    return dispatch.workspace, dispatch.agent
