"""The other end of a `pull` agent: claims jobs over the API, runs them with any agent, and says how they go.

A claim is kept with heartbeats. When the server says that the job is cancelled, or that the claim is lost, the work is
stopped: somebody else may have the job by then.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from headgate.agents import addresses
from headgate.agents.agent_api_client import AgentApiClient, RefusedByServerError, Token
from headgate.agents.port import Agent, Assignment, DispatchDocument, JobProgress, TryLaterError, invalid
from headgate.agents.web import Web
from headgate.kernel.backoffs import Backoff
from headgate.kernel.problems import Rejected

logger = logging.getLogger(__name__)

LONG_POLL_SECONDS = 25
SHORTEST_POLL_SECONDS = 1.0
"""Between two claims that brought nothing, should the server not wait."""
LEASE_SECONDS = 60
DRAIN_SECONDS = 30.0
OWN_KEYS = ("maxAttempts",)


class Claim(msgspec.Struct, frozen=True):
    token: Token


class Offer(msgspec.Struct, frozen=True):
    claim: Claim


class PullAgent:
    """`handler` runs the jobs, as it would in the server."""

    def __init__(
        self,
        url: str,
        token: str,
        agent: str,
        handler: Agent,
        concurrency: int = 1,
        *,
        workspace: str | None = None,
        holder: str = "",
        lease_seconds: float = LEASE_SECONDS,
        heartbeat_seconds: float | None = None,
        backoff: Backoff | None = None,
        noticed: Callable[[str, JobProgress], None] | None = None,
    ) -> None:
        self._web = Web(addresses.ANYWHERE)
        self._api = AgentApiClient(url, token, agent, workspace, self._web)
        self._workspace = workspace or ""
        self._handler = handler
        self._holder = holder
        self._lease_seconds = lease_seconds
        self._heartbeat_seconds = heartbeat_seconds or lease_seconds / 3
        self._backoff = backoff or Backoff(chance=random.random)
        self._noticed = noticed
        self._free = asyncio.Semaphore(concurrency)
        self._jobs: dict[str, asyncio.Task[None]] = {}
        self._started: set[str] = set()
        self._ended: set[str] = set()
        self._claiming: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Until `close`, or until the server refuses the token or the agent's name, which is raised."""
        self._claiming = asyncio.create_task(self._claim())
        try:
            await asyncio.shield(self._claiming)
        except asyncio.CancelledError:
            if not self._claiming.cancelled():
                await self.close(0)
                raise

    async def close(self, drain_seconds: float = DRAIN_SECONDS) -> None:
        """Takes no more jobs, waits for those that run, and stops what has not ended by then."""
        if self._claiming is not None:
            self._claiming.cancel()
            await asyncio.gather(self._claiming, return_exceptions=True)
        tasks = list(self._jobs.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=drain_seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await self._web.close()
        await self._handler.close()

    async def _claim(self) -> None:
        failures = 0
        while True:
            await self._free.acquire()
            asked_at = asyncio.get_running_loop().time()
            try:
                offers = await self._api.claim(1, self._holder, LONG_POLL_SECONDS, self._lease_seconds)
                failures = 0
            except TryLaterError as error:
                self._free.release()
                failures += 1
                wait = self._backoff.seconds(failures) if error.after_seconds is None else error.after_seconds
                logger.warning("%s; tried again in %.0f s", error.message, wait)
                await asyncio.sleep(wait)
                continue
            except BaseException:
                self._free.release()
                raise
            if not offers:
                self._free.release()
                took = asyncio.get_running_loop().time() - asked_at
                await asyncio.sleep(max(0.0, SHORTEST_POLL_SECONDS - took))
            for offer in offers[:1]:
                self._take(offer)

    def _take(self, offer: dict[str, Any]) -> None:
        try:
            token = msgspec.convert(offer, Offer).claim.token
            document = _without_own_keys(msgspec.convert(offer, DispatchDocument))
        except msgspec.ValidationError as error:
            self._free.release()
            logger.error("A job that was offered cannot be read: %s", error)
            return
        before = self._jobs.get(document.job.id)
        task = asyncio.create_task(self._run(document, token, before))
        self._jobs[document.job.id] = task

    async def _run(self, document: DispatchDocument, token: Token, before: asyncio.Task[None] | None) -> None:
        job = document.job.id
        try:
            if before is not None:
                before.cancel()
                await asyncio.gather(before, return_exceptions=True)
            print_lines = partial(self._api.print, job, token)
            await self._work(Assignment(self._workspace, document, print_lines=print_lines), token)
        except RefusedByServerError as error:
            logger.warning("Job %s: %s", job, error)
        except Exception:
            logger.exception("The work on job %s broke off", job)
        finally:
            self._free.release()
            if self._jobs.get(job) is asyncio.current_task():
                del self._jobs[job]

    async def _work(self, assignment: Assignment, token: Token) -> None:
        """Runs beside its heartbeat; whichever ends first ends the other.

        What has ended but could not be reported is left as it is: should the job be offered again, its end is found.
        """
        job = assignment.job.id
        doing = asyncio.create_task(self._do(assignment, token))
        beating = asyncio.create_task(self._beat(job, token))
        try:
            await asyncio.wait((doing, beating), return_when=asyncio.FIRST_COMPLETED)
        finally:
            doing.cancel()
            beating.cancel()
            done, is_cancelled = await asyncio.gather(doing, beating, return_exceptions=True)
            is_reported = done is None
            if is_reported:
                await self._handler.forget(assignment)
            elif job not in self._ended:
                await self._stop(assignment)
            self._ended.discard(job)
            self._started.discard(job)
        if is_cancelled is True and not is_reported:
            await self._tell(job, token, JobProgress("cancelled", "stopped"))
        elif isinstance(done, Exception):
            raise done

    async def _beat(self, job: str, token: Token) -> bool:
        """Returns when the work must stop: true if it was cancelled, false if the claim is lost."""
        loop = asyncio.get_running_loop()
        ours_until = loop.time() + self._lease_seconds
        while loop.time() < ours_until:
            await asyncio.sleep(self._heartbeat_seconds)
            asked_at = loop.time()
            try:
                if await self._api.is_cancelled(job, token):
                    return True
                ours_until = asked_at + self._lease_seconds
            except RefusedByServerError as error:
                logger.warning("Job %s is not ours any more: %s", job, error)
                return False
            except TryLaterError as error:
                logger.warning("Heartbeat of job %s: %s", job, error.message)
        return False

    async def _do(self, assignment: Assignment, token: Token) -> None:
        is_started, failures = False, 0
        latest: JobProgress | None = None
        while True:
            try:
                act = self._handler.follow if is_started else self._handler.start
                progress = await act(assignment) or latest or JobProgress("inProgress", requeue_seconds=5)
                is_started, failures = True, 0
                self._started.add(assignment.job.id)
            except Rejected as rejected:
                progress = invalid(rejected)
            except TryLaterError as error:
                failures += 1
                wait = self._backoff.seconds(failures) if error.after_seconds is None else error.after_seconds
                status = latest.status if latest is not None else "queued"
                progress = JobProgress(status, error.message, requeue_seconds=wait)
            if progress.has_ended:
                self._ended.add(assignment.job.id)
            if latest is None or _news(progress) != _news(latest):
                await self._tell(assignment.job.id, token, progress.scrubbed(assignment.scrubber))
                latest = progress
            if progress.has_ended:
                return
            await asyncio.sleep(5 if progress.requeue_seconds is None else progress.requeue_seconds)

    async def _tell(self, job: str, token: Token, progress: JobProgress) -> None:
        """Until it is taken, or refused for good."""
        failures = 0
        while True:
            try:
                await self._api.report(job, token, progress)
                if self._noticed is not None:
                    self._noticed(job, progress)
                return
            except TryLaterError as error:
                failures += 1
                logger.warning("The report of job %s is not taken yet: %s", job, error.message)
                await asyncio.sleep(self._backoff.seconds(failures))

    async def _stop(self, assignment: Assignment) -> None:
        """With nothing left behind, so that the job can begin afresh should it be offered again.

        Work that came to its end unseen is left, so that its end is found then and it does not begin afresh.
        """
        failures = 0
        while True:
            try:
                if await self._has_ended_by_itself(assignment):
                    return
                await self._handler.stop(assignment)
                await self._handler.forget(assignment)
                return
            except Rejected:
                return
            except TryLaterError as error:
                failures += 1
                logger.warning("Job %s is not stopped yet: %s", assignment.job.id, error.message)
                await asyncio.sleep(self._backoff.seconds(failures))

    async def _has_ended_by_itself(self, assignment: Assignment) -> bool:
        if assignment.job.id not in self._started:
            return False
        progress = await self._handler.follow(assignment)
        return progress is not None and progress.has_ended


def _without_own_keys(document: DispatchDocument) -> DispatchDocument:
    """Keys that are the server's business would be unknown to the handler."""
    config = {key: value for key, value in document.config.items() if key not in OWN_KEYS}
    return msgspec.structs.replace(document, config=config)


def _news(progress: JobProgress) -> tuple[object, ...]:
    return (progress.status, progress.message, progress.external_id, dict(progress.links))
