"""One dispatch in the runner's hands: started or followed, reported, and put down until it is due again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from headgate.agents.port import (
    Agent,
    Assignment,
    DispatchDocument,
    JobProgress,
    Keep,
    Print,
    State,
    TryLaterError,
    invalid,
    shortened,
)
from headgate.fleet.model.changes import JobReported
from headgate.kernel import instants
from headgate.kernel.backoffs import Backoff
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Rejected
from headgate.store.dispatches import Dispatch
from headgate.store.job_lines import JobLines
from headgate.store.port import Store, UnavailableError

logger = logging.getLogger(__name__)

Report = Callable[[str, JobReported], Awaitable[object]]
Result = TypeVar("Result")

HELD_SECONDS = 2.0
"""Work that is due again this soon is not put down in between."""
WATCHED_SECONDS = 5.0
"""The same for work whose agent is told when something is new."""

STOPPING_SECONDS = 600.0
"""How long a job that cannot be stopped is tried, at least."""
TIMED_OUT = "it did not end in time"
_STOPPING = "; stopping it: "


class ClaimLostError(Exception):
    """Somebody else has the dispatch now, or it is gone or cancelled: nothing more may be done here."""


class SentReport(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A report, to tell whether the next one is news."""

    status: str
    message: str = ""
    external_id: str | None = None
    links: dict[str, str] = {}


class DispatchState(msgspec.Struct, rename="camel", omit_defaults=True):
    """The state of a dispatch: the agent's own, and what the runner must know of it after a restart."""

    is_started: bool = False
    failures: int = 0
    said: SentReport | None = None
    end: SentReport | None = None
    agent: State = {}


class Tools(msgspec.Struct, frozen=True):
    """What all work of a runner shares."""

    store: Store
    report: Report
    clock: Callable[[], Instant]
    agents: Mapping[str, Agent]
    backoff: Backoff
    lease_seconds: float
    has_room: Callable[[], bool] = lambda: True
    """Whether more jobs can be kept in hand while nothing is to do for them."""


class Work:
    def __init__(self, dispatch: Dispatch, tools: Tools) -> None:
        self.dispatch = dispatch
        self.key = (dispatch.workspace, dispatch.job)
        self.is_put_down = False
        self._tools = tools
        self._kept = kept_of(dispatch)
        self._closing = asyncio.Event()
        self._lock = asyncio.Lock()

    def close(self) -> None:
        """The step under way is the last one here."""
        self._closing.set()

    async def run(self) -> None:
        if self._kept.end is not None:
            await self._conclude(self._kept.end, None)
            return
        agent = self._tools.agents.get(self.dispatch.type)
        if agent is None:
            known = ", ".join(sorted(self._tools.agents))
            message = f'the job agent\'s type is "{self.dispatch.type}"; this server runs {known or "none"}'
            await self._conclude(SentReport("invalidJobAgent", message), None)
            return
        try:
            assignment = assignment_of(self.dispatch, self._kept.agent, self._keep, self._print)
        except msgspec.DecodeError as error:
            await self._conclude(SentReport("invalidIntegration", f"the order cannot be read: {error}"), None)
            return
        await self._carry_on(agent, assignment)

    async def _carry_on(self, agent: Agent, assignment: Assignment) -> None:
        while True:
            if self.dispatch.deadline_at is not None and self.dispatch.deadline_at <= self._tools.clock():
                await self._time_out(agent, assignment)
                return
            progress = await self._step(agent, assignment)
            if progress is None:
                await self.put_down(None)
                return
            report = _report_of(progress.scrubbed(assignment.scrubber))
            if progress.has_ended:
                await self._conclude(report, (agent, assignment))
                return
            await self._say(report)
            wait = progress.requeue_seconds
            if wait is None or wait > self._held_seconds(agent):
                await self.put_down(wait)
                return
            if await self._is_closing_while(agent.rest(assignment, self._until_deadline(wait))):
                await self.put_down(wait)
                return

    async def _step(self, agent: Agent, assignment: Assignment) -> JobProgress | None:
        """Whatever goes wrong, the job says what and when it is tried again."""
        try:
            if self._kept.is_started:
                progress = await agent.follow(assignment)
            else:
                progress = await agent.start(assignment)
        except ClaimLostError:
            raise
        except Rejected as rejected:
            return invalid(rejected)
        except TryLaterError as error:
            return self._later(error.message, error.after_seconds)
        except Exception as error:
            logger.exception("The %s agent failed on job %s", agent.type, self.dispatch.job)
            return self._later(f"the {agent.type} agent failed: {type(error).__name__}", None)
        self._kept.is_started = True
        self._kept.failures = 0
        return progress

    def _later(self, message: str, after_seconds: float | None) -> JobProgress:
        self._kept.failures += 1
        wait = self._tools.backoff.seconds(self._kept.failures) if after_seconds is None else after_seconds
        at = instants.show_to_the_second(self._tools.clock() + instants.seconds(wait))
        report = self._kept.said
        status = report.status if report is not None and self._kept.is_started else "queued"
        return JobProgress(status, f"{message}; tried again at {at} UTC", requeue_seconds=wait)

    async def _time_out(self, agent: Agent, assignment: Assignment) -> None:
        """What cannot be stopped now is tried again; the job is over for everybody else."""
        assert self.dispatch.deadline_at is not None
        given_up_at = self.dispatch.deadline_at + instants.seconds(STOPPING_SECONDS)
        reason, left = self._time_out_reason(), None
        try:
            left = await agent.stop(assignment)
        except Rejected as rejected:
            logger.warning("Job %s cannot be stopped: %s", self.dispatch.job, rejected)
        except TryLaterError as error:
            if self._tools.clock() < given_up_at:
                self._kept.failures += 1
                if self._kept.said is None or self._kept.said.status != "timedOut":
                    await self._say(SentReport("timedOut", shortened(f"{reason}{_STOPPING}{error.message}")))
                await self._put_down_late(self._tools.backoff.seconds(self._kept.failures))
                return
        message = f"{reason}; {assignment.scrubber.text(left)}" if left else reason
        await self._conclude(SentReport("timedOut", shortened(message)), (agent, assignment))

    def _time_out_reason(self) -> str:
        """With what it said last, which is what it waited for."""
        report = self._kept.said
        if report is None or not report.message:
            return TIMED_OUT
        if report.status == "timedOut":
            return report.message.partition(_STOPPING)[0]
        return f"{TIMED_OUT}; the last it said: {report.message}"

    async def _conclude(self, end: SentReport, done: tuple[Agent, Assignment] | None) -> None:
        """The end is kept before it is reported, so that nothing is begun again should the report be cut off."""
        self._kept.end = end
        await self._save()
        await self._tell(end)
        await self._stored(self._tools.store.finish_dispatch, *self.key)
        self.is_put_down = True
        if done is not None:
            agent, assignment = done
            await agent.forget(assignment)

    async def _say(self, report: SentReport) -> None:
        if report != self._kept.said:
            await self._tell(report)
            self._kept.said = report
        await self._save()

    async def _tell(self, report: SentReport) -> None:
        """Until it is taken: what an agent did must not be lost because nobody listened for a moment."""
        change = JobReported(
            self.dispatch.job, report.status, report.message, report.external_id, report.links
        )
        failures = 0
        while True:
            try:
                await self._tools.report(self.dispatch.workspace, change)
                return
            except Rejected as rejected:
                logger.error(
                    "The report %s of job %s is refused: %s", report.status, self.dispatch.job, rejected
                )
                return
            except Exception as error:
                failures += 1
                name = type(error).__name__
                logger.warning("The report of job %s is not taken yet: %s", self.dispatch.job, name)
                await asyncio.sleep(self._tools.backoff.seconds(failures))

    async def put_down(self, wait_seconds: float | None) -> None:
        """Gives the claim back; whoever looks first after the wait goes on."""
        await self._put_down(self._due_at(wait_seconds))

    async def _put_down_late(self, wait_seconds: float) -> None:
        await self._put_down(self._tools.clock() + instants.seconds(wait_seconds))

    async def _put_down(self, due_at: Instant) -> None:
        dispatch = self.dispatch
        async with self._lock:
            if self.is_put_down:
                return
            dispatch.not_before = due_at
            dispatch.claimed_by = dispatch.claimed_until = None
            dispatch.state = msgspec.json.encode(self._kept)
            await self._stored(self._tools.store.save_dispatch, dispatch)
            self.is_put_down = True

    def _due_at(self, wait_seconds: float | None) -> Instant:
        deadline = self.dispatch.deadline_at
        if wait_seconds is None:
            return deadline if deadline is not None else self._tools.clock() + instants.hours(1)
        due_at = self._tools.clock() + instants.seconds(float(wait_seconds))
        return due_at if deadline is None else min(due_at, deadline)

    async def renew(self) -> bool:
        """False once the claim is lost, or over because the store could not be reached in time."""
        async with self._lock:
            if self.is_put_down:
                return True
            until = self._tools.clock() + instants.seconds(self._tools.lease_seconds)
            try:
                return await asyncio.to_thread(self._tools.store.renew_dispatch, self.dispatch, until)
            except UnavailableError:
                return (self.dispatch.claimed_until or 0) > self._tools.clock()

    async def _keep(self, state: State) -> None:
        self._kept.agent = state
        await self._save()

    async def _print(self, lines: Sequence[str], offset: int) -> bool:
        dispatch = self.dispatch
        given = JobLines(dispatch.workspace, dispatch.job, self._tools.clock(), tuple(lines), offset)
        end = await self._stored(self._tools.store.append_job_lines, given, dispatch.token)
        return end is not None and not end.is_full

    async def _save(self) -> None:
        encoded = msgspec.json.encode(self._kept)
        if encoded == self.dispatch.state:
            return
        async with self._lock:
            self.dispatch.state = encoded
            if not await self._stored(self._tools.store.save_dispatch, self.dispatch):
                raise ClaimLostError

    async def _stored(self, call: Callable[..., Result], *arguments: Any) -> Result:
        """Tried again for as long as the claim can be ours."""
        failures = 0
        while True:
            try:
                return await asyncio.to_thread(call, *arguments)
            except UnavailableError:
                failures += 1
                if (self.dispatch.claimed_until or 0) <= self._tools.clock():
                    raise ClaimLostError from None
                await asyncio.sleep(min(self._tools.backoff.seconds(failures), self._tools.lease_seconds / 3))

    def _held_seconds(self, agent: Agent) -> float:
        """A job that is watched is kept for longer, unless others need the room."""
        return WATCHED_SECONDS if agent.is_told and self._tools.has_room() else HELD_SECONDS

    def _until_deadline(self, seconds: float) -> float:
        deadline = self.dispatch.deadline_at
        if deadline is None:
            return seconds
        return max(0.0, min(seconds, (deadline - self._tools.clock()) / instants.seconds(1)))

    async def _is_closing_while(self, rest: Coroutine[Any, Any, None]) -> bool:
        resting = asyncio.create_task(rest)
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait((resting, closing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            resting.cancel()
            closing.cancel()
            await asyncio.gather(resting, closing, return_exceptions=True)
        return self._closing.is_set()


def kept_of(dispatch: Dispatch) -> DispatchState:
    return msgspec.json.decode(dispatch.state or b"{}", type=DispatchState)


def assignment_of(
    dispatch: Dispatch, state: State, keep: Keep | None, print_lines: Print | None = None
) -> Assignment:
    """Raises msgspec.DecodeError."""
    document = msgspec.json.decode(dispatch.document, type=DispatchDocument)
    return Assignment(
        dispatch.workspace,
        document,
        state=state,
        deadline_at=dispatch.deadline_at,
        keep=keep,
        print_lines=print_lines,
    )


def _report_of(progress: JobProgress) -> SentReport:
    message = shortened(progress.message or "")
    return SentReport(progress.status, message, progress.external_id, dict(progress.links))
