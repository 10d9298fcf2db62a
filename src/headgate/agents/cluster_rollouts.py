"""Jobs that apply an object of a cluster and follow what an operator makes of it there.

The object carries the job's id, so that whoever goes on after a crash finds whether it was applied. What one job applied,
the next job of the same target applies over; no other target's object is touched, and nobody else's. A job that ends
without success holds what it began: the fleet takes it for ended, so nothing more may move behind its back.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

import msgspec

from headgate.agents import job_marks
from headgate.agents.applied_objects import AppliedObject
from headgate.agents.clusters import ClusterAgent, Clusters, ReachedCluster, check_is_of
from headgate.agents.port import Assignment, JobProgress, TryLaterError, shortened
from headgate.kernel import instants
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.instants import Instant
from headgate.kubernetes.errors import ApplyConflictError, ConflictError
from headgate.kubernetes.resources import ApiResource, Document

PROGRESS_SECONDS = 600
_MOST_SEEN = 64
_MOST_TRIES = 8


class SeenRollout(msgspec.Struct, frozen=True):
    """Why an object of a cluster is where it is; of a set, how many of its pods are updated, of how many."""

    tree: ExplanationTree
    pods: tuple[int, int] = (0, 0)


Explain = Callable[[ReachedCluster, ApiResource, Document], Awaitable[SeenRollout | None]]
"""None if no level knows the object, or not any more. Raises ApiError."""


class RolloutProgress(msgspec.Struct, frozen=True):
    """How far what was applied is. `held`: somebody has ordered it to stay as it is, so nothing is expected of it.

    `measure` is what changes with every step forward.
    """

    state: Literal["done", "moving", "held", "failed"]
    message: str
    measure: str = ""


class RolloutAgent(ClusterAgent):
    def __init__(self, clusters: Clusters, clock: Callable[[], Instant], explain: Explain) -> None:
        super().__init__(clusters, clock)
        self._explain = explain

    @abstractmethod
    async def _wanted(self, assignment: Assignment) -> AppliedObject:
        """Raises Rejected, ApiError."""

    @abstractmethod
    async def _progress(self, wanted: AppliedObject, live: Document) -> RolloutProgress:
        """Raises ApiError."""

    @abstractmethod
    def _hold(self, wanted: AppliedObject, live: Document) -> tuple[Mapping[str, str], str] | None:
        """The annotations that keep it as it is until the next job, and what that means; None if nothing moves."""

    @abstractmethod
    def _progress_seconds(self, assignment: Assignment) -> int: ...

    @property
    def _manager(self) -> str:
        return f"headgate-{self.type}-agent"

    async def _look(self, assignment: Assignment) -> JobProgress:
        wanted = await self._wanted(assignment)
        if "uid" not in assignment.state:
            applied = await self._applied(wanted, assignment)
            if isinstance(applied, JobProgress):
                return applied
            await assignment.keep(uid=applied["metadata"]["uid"], isApplying=None)
            return await self._judged(wanted, applied, assignment)
        live = await wanted.live()
        problem = _problem(wanted, live, assignment)
        if problem is not None or live is None:
            return problem or _gone(wanted)
        return await self._judged(wanted, live, assignment)

    async def _applied(self, wanted: AppliedObject, assignment: Assignment) -> Document | JobProgress:
        """Over what is there as it was looked at: whoever has written it meanwhile may be the next job. What an operator
        writes of it meanwhile changes nothing, so it is tried again."""
        for _ in range(_MOST_TRIES):
            live = await wanted.live()
            refusal = _refusal(wanted, live)
            if refusal is not None:
                return JobProgress("failure", shortened(refusal), wanted.place)
            if live is not None and job_marks.job_of(live) == assignment.job.id:
                return live
            # Whoever has lost the job to another process learns of it here, before anything is written.
            await assignment.keep(isApplying=True)
            try:
                return await wanted.apply(self._manager, live)
            except ApplyConflictError as error:
                return _conflicting(wanted, error)
            except ConflictError:
                continue
        raise TryLaterError(f"{wanted} is being changed by others again and again")

    async def _judged(self, wanted: AppliedObject, live: Document, assignment: Assignment) -> JobProgress:
        if "deletionTimestamp" in live["metadata"]:
            return self._going_on(wanted, "is being deleted by somebody", assignment)
        progress = await self._progress(wanted, live)
        if progress.state == "failed":
            return await self._failed(wanted, progress.message, assignment)
        if progress.state == "done":
            return await self._done(wanted, live, progress, assignment)
        overdue = await self._overdue(progress, assignment)
        if overdue is not None:
            return await self._failed(wanted, overdue, assignment)
        self._has_seen(assignment, wanted.cluster, wanted.resource, live)
        return self._going_on(wanted, progress.message, assignment)

    async def _done(
        self, wanted: AppliedObject, live: Document, progress: RolloutProgress, assignment: Assignment
    ) -> JobProgress:
        """What is applied once more changes nothing, unless somebody has changed it meanwhile: then what is ready is not
        what this job is about."""
        try:
            again = await wanted.apply(self._manager, live)
        except ApplyConflictError as error:
            return _conflicting(wanted, error)
        except ConflictError:
            return self._going_on(wanted, "has just changed, and is looked at once more", assignment)
        if again["metadata"]["generation"] != live["metadata"]["generation"]:
            return self._going_on(wanted, "was changed by somebody, and is applied again", assignment)
        return JobProgress("successful", shortened(f"{wanted}: {progress.message}"), wanted.place)

    async def _overdue(self, progress: RolloutProgress, assignment: Assignment) -> str | None:
        """A step forward is something that was not seen before: what comes and goes is none."""
        now, state = self._clock(), assignment.state
        if progress.state == "held":
            if "since" in state:
                await assignment.keep(since=None)
            return None
        mark = hashlib.sha256(progress.measure.encode()).hexdigest()[:12]
        seen: list[str] = state.get("seen", [])
        if mark not in seen or "since" not in state:
            await assignment.keep(since=now, seen=[*(one for one in seen if one != mark), mark][-_MOST_SEEN:])
            return None
        seconds = self._progress_seconds(assignment)
        if now - state["since"] < instants.seconds(seconds):
            return None
        return f"no step forward for {seconds}s, {progress.message}"

    def _going_on(self, wanted: AppliedObject, message: str, assignment: Assignment) -> JobProgress:
        text = shortened(f"{wanted}: {message}")
        wait = self._pace.seconds(assignment.job.id, text)
        return JobProgress("inProgress", text, wanted.place, requeue_seconds=wait)

    async def _failed(self, wanted: AppliedObject, reason: str, assignment: Assignment) -> JobProgress:
        left = await self._held(wanted, assignment)
        message = f"{wanted}: {reason}" + (f"; {left}" if left else "")
        return JobProgress("failure", shortened(message), wanted.place)

    async def _end(self, assignment: Assignment) -> str | None:
        wanted = await self._wanted(assignment)
        return await self._held(wanted, assignment)

    async def _held(self, wanted: AppliedObject, assignment: Assignment) -> str | None:
        """What is not of this job any more is left to whose it is."""
        for _ in range(_MOST_TRIES):
            live = await wanted.live()
            if live is None or job_marks.job_of(live) != assignment.job.id:
                return None
            order = self._hold(wanted, live) if wanted.is_of_target(live) else None
            if order is None:
                return None
            annotations, comment = order
            try:
                await wanted.apply(self._manager, live, annotations)
            except ApplyConflictError as error:
                return f"it goes on, because it cannot be held: {error.message}"
            except ConflictError:
                continue
            return comment
        raise TryLaterError(f"{wanted} is being changed by others again and again")

    async def _cluster(self, context: str | None, assignment: Assignment) -> ReachedCluster:
        cluster = await self._clusters.named(context)
        await check_is_of(cluster, assignment.document.resource)
        return cluster


def _refusal(wanted: AppliedObject, live: Document | None) -> str | None:
    """Why it must not be applied over what is there."""
    if live is None:
        return None
    if "deletionTimestamp" in live["metadata"]:
        raise TryLaterError(f"{wanted} is being deleted, and is made again when it is gone")
    if wanted.is_of_target(live):
        return None
    marks = wanted.marks
    return (
        f"there is a {wanted} that is not of {marks[job_marks.TARGET]}; it is not touched. Whoever may edit it hands it "
        f"over with the annotations {job_marks.WORKSPACE}={marks[job_marks.WORKSPACE]} and "
        f"{job_marks.TARGET}={marks[job_marks.TARGET]}"
    )


def _problem(wanted: AppliedObject, live: Document | None, assignment: Assignment) -> JobProgress | None:
    """Why what was applied can be followed no more."""
    if live is None or live["metadata"]["uid"] != assignment.state["uid"]:
        return _gone(wanted)
    other = job_marks.job_of(live)
    if other == assignment.job.id:
        return None
    version = job_marks.annotations_of(live).get(job_marks.VERSION, "")
    taken = f"the job {other} with {version} took its place" if other else "somebody took the job's mark away"
    return JobProgress(
        "failure", shortened(f"{wanted}: {taken} before the end of this one was seen"), wanted.place
    )


def _gone(wanted: AppliedObject) -> JobProgress:
    return JobProgress("externalRunNotFound", f"{wanted} was deleted before its end was seen", wanted.place)


def _conflicting(wanted: AppliedObject, error: ApplyConflictError) -> JobProgress:
    message = f"{wanted} is not changed, because others hold fields of the template: {error.message}"
    return JobProgress("failure", shortened(message), wanted.place)
