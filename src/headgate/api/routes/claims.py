"""Pull agents: they claim jobs with a lease, keep it up with heartbeats, and report."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

import msgspec

from headgate.api import finding
from headgate.api.documents import bodies, rollout_views
from headgate.api.http import access, problems, refusals, replies
from headgate.api.http.calls import Answer, Refusal, Request, Route
from headgate.api.http.reading import ClientGoneError
from headgate.api.routes import jobs
from headgate.fleet.engine import views
from headgate.fleet.model import kinds, records
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import JobReported
from headgate.kernel import documents, instants, rendering
from headgate.runtime import claims
from headgate.runtime.commands import ENGINE, CommandContext, Reply
from headgate.store.dispatches import Dispatch

CLAIMS_EACH = 1_000
"""Of one token in one workspace."""
NAP_SECONDS = 0.02
"""Events that bring no job must not make waiting agents ask all the time."""
LONGEST_NAP_SECONDS = 1.0
"""Dispatches may come from another process, which tells only by writing."""


async def claim_jobs(call: Request) -> Answer:
    """Whoever hung up while it waited is given nothing."""
    wanted = documents.read(bodies.ClaimInput, call.body if call.body is not None else {})
    agent = await _pull_agent(call)
    ends = time.monotonic() + wanted.wait_seconds
    nap = 0.0
    async with call.line as line:
        while not line.is_cut:
            seen = await asyncio.to_thread(call.service.store.newest_event, call.workspace)
            dispatches = await _claim(call, agent, wanted)
            if line.is_cut:
                await _give_back(call, dispatches)
                break
            left = ends - time.monotonic()
            if dispatches or left <= 0 or line.is_closing:
                return await _hand_out(call, dispatches)
            await call.service.worker_client.wait_for_events(
                call.workspace, seen, min(left, LONGEST_NAP_SECONDS)
            )
            await asyncio.sleep(nap)
            nap = NAP_SECONDS
    raise ClientGoneError


async def _pull_agent(call: Request) -> str:
    reference = call.path["agent"]
    agent = await replies.ask(call, lambda view: finding.required(view.engine, kinds.JOB_AGENT, reference))
    assert isinstance(agent, model.JobAgent)
    if call.principal.agents and agent.name not in call.principal.agents:
        names = ", ".join(sorted(call.principal.agents))
        raise Refusal(403, "Not allowed", f"this token is for {names}, not for {agent.name}")
    if agent.type != claims.PULL:
        raise refusals.conflict(
            "The agent is not polled", f"{agent.name} is of type {agent.type}; only agents of type pull claim"
        )
    return agent.name


async def _claim(call: Request, agent: str, wanted: bodies.ClaimInput) -> list[Dispatch]:
    store, now = call.service.store, call.service.clock()
    for workspace, lost_claim in await asyncio.to_thread(partial(claims.end_lost, store, now)):
        await call.service.worker_client.submit(workspace, partial(_report_all, [lost_claim]), ENGINE)
    dispatches = await asyncio.to_thread(
        partial(
            store.claim_dispatches,
            types=(claims.PULL,),
            workspace=call.workspace,
            agent=agent,
            holder=wanted.holder or call.principal.user,
            now=now,
            seconds=wanted.lease_seconds,
            limit=wanted.limit,
            note=partial(claims.begin, user=call.principal.user, lease_seconds=wanted.lease_seconds),
        )
    )
    return await _within_bound(call, dispatches) if dispatches else []


async def _within_bound(call: Request, dispatches: list[Dispatch]) -> list[Dispatch]:
    """Whoever holds as many as one may is given no more: what they do not work on would wait for them."""
    user, now = call.principal.user, call.service.clock()
    held = await asyncio.to_thread(claims.held_by, call.service.store, call.workspace, user, now)
    kept = dispatches[: max(0, len(dispatches) - max(0, held - CLAIMS_EACH))]
    await _give_back(call, dispatches[len(kept) :])
    if not kept:
        raise problems.busy(
            f"{user} holds {CLAIMS_EACH:,} jobs, as many as one token may, and has to report some"
        )
    return kept


async def _give_back(call: Request, dispatches: list[Dispatch]) -> None:
    for dispatch in dispatches:
        await asyncio.to_thread(call.service.store.give_back_dispatch, dispatch)


async def _hand_out(call: Request, dispatches: list[Dispatch]) -> Answer:
    """Whether anybody got them shows with the first heartbeat or report: until then they are queued. What was taken back
    while it was being claimed is not handed out."""
    try:
        taken = await _note(call, dispatches)
    except Exception:
        await _give_back(call, dispatches)
        raise
    return Answer(200, {"jobs": [_handed_out(dispatch) for dispatch in dispatches if dispatch.job in taken]})


async def _note(call: Request, dispatches: list[Dispatch]) -> frozenset[str]:
    """The jobs that are handed to the caller with this."""
    if not dispatches:
        return frozenset()
    reports = [
        JobReported(dispatch.job, "queued", f"handed to {dispatch.claimed_by}") for dispatch in dispatches
    ]
    return await call.service.worker_client.submit(call.workspace, partial(_report_all, reports), call.caller)


def _report_all(reports: list[JobReported], context: CommandContext) -> frozenset[str]:
    """The jobs that had not ended, and took the report."""
    taken = set()
    for report in reports:
        job = context.job(report.job)
        if job is not None and job.completed_at is None:
            context.apply(report)
            taken.add(report.job)
    return frozenset(taken)


def _handed_out(dispatch: Dispatch) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.json.decode(dispatch.document)
    claim = {"token": dispatch.token, "until": rendering.render(dispatch.claimed_until or 0)}
    return {"claim": claim, **document}


async def heartbeat(call: Request) -> Answer:
    given = documents.read(bodies.HeartbeatInput, call.body)
    dispatch = await claimed_dispatch(call)
    if dispatch is None:
        job = await jobs.stored(call)
        jobs.check_agent(call, job)
        raise refusals.conflict("The claim is lost", f"job {job.id} is {job.status} and no longer handed out")
    check_claim(call, dispatch, given.token)
    if not dispatch.cancelled:
        if await _is_first_word(call, dispatch):
            begun = JobReported(dispatch.job, "inProgress")
            await call.service.worker_client.submit(
                call.workspace, partial(_report_all, [begun]), call.caller
            )
        until = call.service.clock() + instants.seconds(claims.kept_of(dispatch).lease_seconds)
        if not await asyncio.to_thread(call.service.store.renew_dispatch, dispatch, until):
            dispatch = await claimed_dispatch(call)
            if dispatch is None or not dispatch.cancelled or dispatch.token != given.token:
                raise lost(call.path["job"])
    return Answer(
        200,
        {
            "cancelled": dispatch.cancelled,
            "until": rendering.render(dispatch.claimed_until or dispatch.created_at),
        },
    )


async def _is_first_word(call: Request, dispatch: Dispatch) -> bool:
    """With the first word of its holder a claim counts; one that was lost, and that nobody took, is taken up again."""
    if claims.is_heard_of(dispatch) and dispatch.claimed_by is not None:
        return False
    if not claims.is_heard_of(dispatch):
        claims.take_note(dispatch)
    dispatch.claimed_by = dispatch.claimed_by or call.principal.user
    if not await asyncio.to_thread(call.service.store.save_dispatch, dispatch):
        raise lost(dispatch.job)
    return True


async def claimed_dispatch(call: Request) -> Dispatch | None:
    dispatch = await asyncio.to_thread(call.service.store.dispatch, call.workspace, call.path["job"].lower())
    return dispatch if dispatch is None or dispatch.type == claims.PULL else None


def check_claim(call: Request, dispatch: Dispatch, token: int | None) -> None:
    if call.principal.agents and dispatch.agent not in call.principal.agents:
        names = ", ".join(sorted(call.principal.agents))
        raise Refusal(403, "Not allowed", f"the job is run by {dispatch.agent}; this token is for {names}")
    if token is None:
        raise refusals.conflict(
            "The claim is not named",
            f"job {dispatch.job} was claimed: this needs `token`, that of the claim",
        )
    if dispatch.claims == 0:
        raise refusals.conflict("The job is not claimed", f"nobody has claimed job {dispatch.job} yet")
    if token != dispatch.token:
        raise lost(dispatch.job)


def lost(job: str) -> Refusal:
    return refusals.conflict("The claim is lost", f"job {job} was offered again; stop working on it")


async def report(call: Request) -> Answer:
    given = documents.read(bodies.ClaimedReportInput, call.body)
    job = await jobs.stored(call)
    jobs.check_agent(call, job)
    dispatch = await claimed_dispatch(call)
    if job.completed_at is None:
        if dispatch is None:
            raise refusals.conflict("The job is not claimed", f"job {job.id} is not that of a pull agent")
        check_claim(call, dispatch, given.token)
        if given.status in model.JOB_LIVE:
            await _is_first_word(call, dispatch)
    change = jobs.reported(job, given, dispatch)
    if dispatch is None or not dispatch.cancelled:
        return await replies.submit(call, partial(_take_from_holder, change, job))
    answer = await replies.submit(call, partial(jobs.take_report, change, job))
    if given.status in model.JOB_TERMINAL:
        await asyncio.to_thread(call.service.store.finish_dispatch, call.workspace, dispatch.job)
    return answer


def _take_from_holder(change: JobReported, stored: records.Job, context: CommandContext) -> Reply:
    """Whoever says another end than the one that was taken has lost the claim, and is told so."""
    job = context.job(change.job) or stored
    if job.completed_at is not None and change.status in model.JOB_TERMINAL - {job.status}:
        message = f"job {job.id} has ended as {job.status}; that it is {change.status} comes too late"
        raise refusals.conflict("The claim is lost", message)
    return jobs.take_report(change, stored, context)


ROUTES = (
    Route(
        "POST", "/v1/job-agents/{agent}/claim", "claimJobs", "Claim jobs of a pull agent",
        claim_jobs, "job:run", "job-agents", {200: rollout_views.Claims},
        body=bodies.ClaimInput, body_required=False, problems=(409,), waits=True,
        description=(
            "Each job is handed to one caller, who keeps it with heartbeats until it reports. A claim that is not "
            "kept up is offered again, at most maxAttempts times (config of the agent, 3 if it says nothing). A claim "
            "counts from its first heartbeat or report: whoever hangs up is given nothing. One token has at most "
            f"{access.WAITS_EACH} of these requests open at once, and holds at most {CLAIMS_EACH:,} jobs of a workspace; "
            "beyond that it is answered 429."
        ),
    ),
    Route(
        "POST", "/v1/jobs/{job}/heartbeat", "heartbeatJob", "Keep a claimed job",
        heartbeat, "job:run", "jobs", {200: rollout_views.Heartbeat}, body=bodies.HeartbeatInput, problems=(409,),
    ),
    Route(
        "POST", "/v1/jobs/{job}/report", "reportJob", "Report how a claimed job is",
        report, "job:run", "jobs", {200: views.JobView},
        body=bodies.ClaimedReportInput, mutates=True, problems=(409,),
        description="Without the token of the claim, or with that of a lost one, it is refused; a job that has ended "
        "stays as it is.",
    ),
)  # fmt: skip
