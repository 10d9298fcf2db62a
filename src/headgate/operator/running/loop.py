"""Drives one controller on a real cluster: what is heard becomes passes, plans become writes, refusals become patience.

The simulated cluster drives the same runner. Here time passes while something is written, and news come meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, Generic

from headgate.cluster import port, refusals
from headgate.cluster.controller import Announced, PlanT
from headgate.cluster.port import Conflict, NotNow, ObjectChange, WriteRefused
from headgate.cluster.refusals import Untaken
from headgate.cluster.runner import Runner
from headgate.kernel import instants
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Key, Object, UpdateStatus
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.lease import DeposedError
from headgate.operator.running import events
from headgate.operator.running.costly_passes import CostlyPasses
from headgate.operator.running.events import EventRecorder, ObjectEvent
from headgate.operator.running.meter import OperatorMeter
from headgate.operator.running.resting import RestingStatuses
from headgate.operator.running.writing import ObjectWriter

logger = logging.getLogger(__name__)

GATHERING_SECONDS = 0.01
"""News come in bursts: after the first of them so long is waited for the others."""
PASSES_AT_ONCE = 8
MOST_AT_ONCE = 16
"""How many writes of one plan are under way together, if they are alike."""
LONGEST_REST_SECONDS = 60.0
RESTORED_SECONDS = 5.0
"""A cluster that was restored from an older copy is heard of kind by kind: so long nothing is planned."""

Prepare = Callable[[Key], Awaitable[bool]]
"""Sees to it that a request can be looked at. If not, it is asked for again when it can."""


async def always(_: Key) -> bool:
    return True


class ControllerLoop(Generic[PlanT]):
    def __init__(
        self,
        name: str,
        runner: Runner[PlanT],
        writer: ObjectWriter,
        recorder: EventRecorder,
        meter: OperatorMeter,
        clock: Callable[[], Instant],
        prepare: Prepare = always,
        is_alone: Callable[[Key], bool] = lambda _: False,
        *,
        resting: RestingStatuses | None = None,
    ) -> None:
        """`is_alone` says which requests are looked at while no other is; `resting`, that statuses may wait."""
        self._name = name
        self.runner = runner
        self._is_alone = is_alone
        self._prepare = prepare
        self._writer = writer
        self._recorder = recorder
        self._meter = meter
        self._clock = clock
        self._heard = asyncio.Event()
        self._held_until = 0.0
        """By the clock that nobody sets."""
        self._is_waiting = False
        self._resting = resting
        self._costs = {True: CostlyPasses(0.002, 50), False: CostlyPasses(0.02, 2)}
        """One that is made alone keeps all others waiting, so that is done seldom."""

    def observe(self, change: ObjectChange) -> None:
        if self.runner.controller.watches(change.object):
            self.runner.observe(change)
            self._heard.set()

    def replaced(self, group: str, kind: str, items: Iterable[Object]) -> None:
        """The others may still be those of before: a set that was new then, with the pods of now, would look outdated."""
        self.runner.replaced(group, kind, items)
        self._held_until = time.monotonic() + RESTORED_SECONDS
        self._heard.set()

    def ask(self, request: Key, in_seconds: float = 0.0) -> None:
        """For a look at it in a while; or now, whatever it was put off for."""
        if in_seconds:
            self.runner.queue.requeue(request, self._clock() + instants.seconds(in_seconds))
        else:
            if self._resting is not None:
                self._resting.end(request)
            self._costs[self._is_alone(request)].forget(request)
            self.runner.queue.add(request)
        self._heard.set()

    @property
    def is_resting(self) -> bool:
        """Nothing is under way, nothing was heard that is not looked at yet, and nothing waits to be tidied up."""
        return self._is_waiting and not self._heard.is_set() and self._writer.tidies_in_seconds() is None

    def hurry(self) -> None:
        """What waits for more of its kind waits no longer."""
        if self._writer.tidies_in_seconds() is not None:
            self._writer.hurry()
            self._heard.set()

    def wake(self) -> None:
        """It may be time for something."""
        self._heard.set()

    async def run(self) -> None:
        """Until it is cancelled, or does not lead any more: then it raises DeposedError."""
        while True:
            await self._hold()
            self.runner.queue.wake(self._clock())
            await self._round()
            await self._writer.tidy()
            await self._rest()

    async def _hold(self) -> None:
        while (left := self._held_until - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def _round(self) -> None:
        """All requests that were ready when it began, and each once: while one waits for its writes, others are
        planned."""
        under_way: set[asyncio.Task[None]] = set()
        try:
            for request in self.runner.queue.take():
                is_alone = self._is_alone(request)
                free_at = self._costs[is_alone].until(request, self._clock())
                if free_at is not None:
                    self.runner.queue.requeue(request, free_at)
                    continue
                await _fewer_than(1 if is_alone else PASSES_AT_ONCE, under_way)
                if is_alone:
                    await self._pass(request)
                else:
                    under_way.add(asyncio.create_task(self._pass(request)))
            await _fewer_than(1, under_way)
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _rest(self) -> None:
        if self.runner.queue:
            return
        self._heard.clear()
        due = min(self.runner.queue.requeues.values(), default=None)
        seconds = LONGEST_REST_SECONDS
        if due is not None:
            wait = (due - self._clock()) / instants.MICROSECONDS_PER_SECOND
            seconds = min(max(wait, 0.0), LONGEST_REST_SECONDS)
        tidies_in = self._writer.tidies_in_seconds()
        if tidies_in is not None:
            seconds = min(seconds, tidies_in)
        self._is_waiting = True
        try:
            async with asyncio.timeout(seconds):
                await self._heard.wait()
        except TimeoutError:
            return
        finally:
            self._is_waiting = False
        await asyncio.sleep(GATHERING_SECONDS)

    async def _pass(self, request: Key) -> None:
        try:
            if not await self._prepare(request):
                return
        except ApiError as error:
            logger.warning("%s %s cannot be prepared: %s", request.kind, request.name, error)
            self.runner.failed(request, self._clock())
            return
        begin = time.thread_time()
        try:
            plan = self.runner.plan(request, self._clock())
        except Exception:
            # One object that cannot be planned must not keep the others from it.
            logger.exception("%s %s/%s cannot be planned", request.kind, request.namespace, request.name)
            self._meter.failed(self._name)
            self.runner.failed(request, self._clock())
            return
        self._costs[self._is_alone(request)].took(request, time.thread_time() - begin, self._clock())
        self._meter.passed(self._name)
        self._meter.waits(self._name, request, plan.waiting() if plan is not None else ())
        if plan is None:
            self._forget(request)
            return
        self._announce(plan.events)
        actions = plan.actions
        resting = self._resting
        until = resting.rests(request, actions, self._clock()) if resting is not None else None
        if until is not None:
            actions = actions[:-1]
            self.runner.queue.requeue(request, until)
        for batch in _batches(actions):
            untaken = await self._write(request, batch)
            if untaken is not None:
                await self._not_written(request, *untaken)
                return
        for taken_back in self.runner.written(request):
            if await self._write_action(taken_back) is None:
                self.runner.queue.add(request)
            else:
                self.runner.failed(request, self._clock())

    def _forget(self, request: Key) -> None:
        """It is gone, and may come back as another."""
        if self._resting is not None:
            self._resting.forget(request)
        self._costs[self._is_alone(request)].forget(request)

    async def _write(self, request: Key, batch: Sequence[Action]) -> tuple[Action, Untaken] | None:
        """The first that went wrong, and how; what was under way beside it is waited for."""
        for start in range(0, len(batch), MOST_AT_ONCE):
            part = batch[start : start + MOST_AT_ONCE]
            seen = [self._before(request, action) for action in part]
            if len(part) == 1:
                problems: list[Untaken | None] = [await self._write_action(part[0])]
            else:
                problems = await asyncio.gather(*(self._write_action(action) for action in part))
            for action, before, problem in zip(part, seen, problems, strict=True):
                if problem is None and before is not None and isinstance(action, UpdateStatus):
                    event = events.of_conditions(before, action.status)
                    if event is not None:
                        self._recorder.tell(event)
            for action, problem in zip(part, problems, strict=True):
                if problem is not None:
                    return action, problem
        return None

    def _before(self, request: Key, action: Action) -> Object | None:
        """What the pass is about, before its status is written: its conditions say what becomes of its parts too, whose
        own conditions come and go with every pod."""
        is_about = isinstance(action, UpdateStatus) and action.key == request
        return self.runner.cache.get(request) if is_about else None

    async def _write_action(self, action: Action) -> Untaken | None:
        try:
            await port.write(self._writer, action)
        except (Conflict, WriteRefused) as problem:
            self._meter.wrote(self._name, _verb(action), getattr(problem, "reason", "") or "Conflict")
            return problem
        self._meter.wrote(self._name, _verb(action), "")
        return None

    async def _not_written(self, request: Key, action: Action, problem: Untaken) -> None:
        name = f"{request.namespace}/{request.name}" if request.namespace else request.name
        logger.info("a write for %s %s was refused: %s", request.kind, name, problem)
        if isinstance(problem, DeposedError):
            raise problem
        about = self.runner.cache.get(request)
        if about is not None and not refusals.is_for_news(problem) and not isinstance(problem, NotNow):
            message = f"a write was refused: {problem}"
            self._recorder.tell(ObjectEvent(about, "Warning", Reason.WRITE_REFUSED, message))
        for status_write in self.runner.not_written(request, action, problem, self._clock()):
            await self._write_action(status_write)

    def _announce(self, announced: Iterable[Announced]) -> None:
        for each in announced:
            about = self.runner.cache.get(each.object)
            if about is not None:
                self._recorder.tell(ObjectEvent(about, "Warning", each.reason, each.message))


AnyLoop = ControllerLoop[Any]


async def _fewer_than(count: int, under_way: set[asyncio.Task[None]]) -> None:
    """Waits until fewer are under way. Raises what one of them raised."""
    while len(under_way) >= count:
        done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
        under_way -= done
        for error in [task.exception() for task in done]:
            if error is not None:
                raise error


def _batches(actions: Sequence[Action]) -> Iterator[Sequence[Action]]:
    """Writes that follow each other and are alike, about different objects: their order among themselves is free."""
    batch: list[Action] = []
    keys: set[Key] = set()
    for action in actions:
        key = port.key_of(action)
        if batch and (_likeness(batch[-1]) != _likeness(action) or key in keys):
            yield batch
            batch, keys = [], set()
        batch.append(action)
        keys.add(key)
    if batch:
        yield batch


def _likeness(action: Action) -> tuple[str, str, str]:
    key = port.key_of(action)
    return type(action).__name__, key.group, key.kind


def _verb(action: Action) -> str:
    return {"Create": "create", "Update": "update", "UpdateStatus": "status", "DeleteObject": "delete"}[
        type(action).__name__
    ]
