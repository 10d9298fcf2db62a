"""Pull agents: they claim jobs with a lease, keep it up with heartbeats, and report."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

import msgspec

from headgate.api import (
    bodies,
    finding,
    kinds,
    objects,
    refusals,
    replies,
    rollout_shapes,
)
from headgate.api.calls import Answer, Call, Refusal, Route
from headgate.api.routes import jobs
from headgate.fleet import model
from headgate.fleet.changes import JobReported
from headgate.kernel import documents, instants
from headgate.runtime.commands import Context
from headgate.store.port import Order

PULL = "pull"
DEFAULT_ATTEMPTS = 3
DEFAULT_LEASE_SECONDS = 60
NAP_SECONDS = 0.02
"""Events that bring no job must not make waiting agents ask all the time."""
LONGEST_NAP_SECONDS = 1.0
"""Orders may come from another process, which tells only by writing."""


class _State(msgspec.Struct, rename="camel"):
    """What is remembered of a claim beside the order's own columns."""

    lease_seconds: int = DEFAULT_LEASE_SECONDS


class _Document(msgspec.Struct):
    config: dict[str, Any] = {}


async def claim_jobs(call: Call) -> Answer:
    wanted = documents.read(bodies.ClaimInput, call.body if call.body is not None else {})
    agent = await _pull_agent(call)
    ends = time.monotonic() + wanted.wait_seconds
    nap = 0.0
    while True:
        seen = await replies.in_thread(call.service.store.newest_event, call.workspace)
        orders = await _claim(call, agent, wanted)
        left = ends - time.monotonic()
        if orders or left <= 0:
            return Answer(200, {"jobs": [_handed_out(order) for order in orders]})
        await call.service.desk.wait_for_events(call.workspace, seen, min(left, LONGEST_NAP_SECONDS))
        await asyncio.sleep(nap)
        nap = NAP_SECONDS


async def _pull_agent(call: Call) -> str:
    reference = call.path["agent"]
    found = await replies.ask(
        call, lambda view: finding.required(view.engine.state, kinds.JOB_AGENT, reference)
    )
    assert isinstance(found, model.JobAgent)
    if call.principal.agents and found.name not in call.principal.agents:
        names = ", ".join(sorted(call.principal.agents))
        raise Refusal(403, "Not allowed", f"this token is for {names}, not for {found.name}")
    if found.type != PULL:
        raise refusals.conflict(
            "The agent is not polled", f"{found.name} is of type {found.type}; only agents of type pull claim"
        )
    return found.name


async def _claim(call: Call, agent: str, wanted: bodies.ClaimInput) -> list[Order]:
    store = call.service.store
    claimed = await replies.in_thread(
        partial(
            store.claim_orders,
            types=(PULL,),
            workspace=call.workspace,
            agent=agent,
            holder=wanted.holder or call.principal.user,
            now=call.service.clock(),
            seconds=wanted.lease_seconds,
            limit=wanted.limit,
        )
    )
    handed_out = [order for order in claimed if order.claims <= _most_claims(order)]
    given_up = [order for order in claimed if order.claims > _most_claims(order)]
    reports = [JobReported(order.job, "inProgress") for order in handed_out] + [
        JobReported(order.job, "failure", f"claimed {order.claims - 1} times and lost each time")
        for order in given_up
    ]
    for order in handed_out:
        if wanted.lease_seconds != DEFAULT_LEASE_SECONDS:
            order.state = msgspec.json.encode(_State(wanted.lease_seconds))
            await replies.in_thread(store.save_order, order)
    if reports:
        await call.service.desk.submit(call.workspace, partial(_report_all, reports), call.caller)
    return handed_out


def _report_all(reports: list[JobReported], context: Context) -> None:
    for report in reports:
        job = context.engine.state.jobs.get(report.job)
        if job is not None and job.completed_at is None:
            context.apply(report)


def _most_claims(order: Order) -> int:
    config = msgspec.json.decode(order.document, type=_Document).config
    given = config.get("maxAttempts", DEFAULT_ATTEMPTS)
    return given if isinstance(given, int) and not isinstance(given, bool) else DEFAULT_ATTEMPTS


def _handed_out(order: Order) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.json.decode(order.document)
    claim = {"token": order.token, "until": objects.shown(order.claimed_until or 0)}
    return {"claim": claim, **document}


async def heartbeat(call: Call) -> Answer:
    given = documents.read(bodies.HeartbeatInput, call.body)
    order = await _order(call)
    if order is None:
        job = await jobs.stored(call)
        jobs.check_agent(call, job)
        raise refusals.conflict("The claim is lost", f"job {job.id} is {job.status} and no longer handed out")
    _check_claim(call, order, given.token)
    if not order.cancelled:
        until = call.service.clock() + instants.seconds(_lease_seconds(order))
        if not await replies.in_thread(call.service.store.renew_order, order, until):
            order = await _order(call)
            if order is None or not order.cancelled or order.token != given.token:
                raise _lost(call.path["job"])
    return Answer(
        200, {"cancelled": order.cancelled, "until": objects.shown(order.claimed_until or order.created_at)}
    )


def _lease_seconds(order: Order) -> int:
    return msgspec.json.decode(order.state, type=_State).lease_seconds


async def _order(call: Call) -> Order | None:
    order = await replies.in_thread(call.service.store.order, call.workspace, call.path["job"].lower())
    return order if order is None or order.type == PULL else None


def _check_claim(call: Call, order: Order, token: int | None) -> None:
    if call.principal.agents and order.agent not in call.principal.agents:
        names = ", ".join(sorted(call.principal.agents))
        raise Refusal(403, "Not allowed", f"the job is run by {order.agent}; this token is for {names}")
    if token is not None and token != order.token:
        raise _lost(order.job)


def _lost(job: str) -> Refusal:
    return refusals.conflict("The claim is lost", f"job {job} was offered again; stop working on it")


async def report(call: Call) -> Answer:
    given = documents.read(bodies.ClaimedReportInput, call.body)
    job = await jobs.stored(call)
    jobs.check_agent(call, job)
    order = await _order(call)
    if order is not None and job.completed_at is None:
        _check_claim(call, order, given.token)
    change = JobReported(job.id, given.status, given.message, given.external_id, given.links)
    answer = await replies.submit(call, partial(jobs.take_report, change, job))
    if order is not None and order.cancelled and given.status in model.JOB_TERMINAL:
        await replies.in_thread(call.service.store.finish_order, call.workspace, order.job)
    return answer


ROUTES = (
    Route(
        "POST", "/v1/job-agents/{agent}/claim", "claimJobs", "Claim jobs of a pull agent",
        claim_jobs, "job:run", "job-agents", {200: rollout_shapes.Claims},
        body=bodies.ClaimInput, body_required=False, problems=(409,),
        description=(
            "Each job is handed to one caller, who keeps it with heartbeats until it reports. A claim that is not "
            "kept up is offered again, at most maxAttempts times (config of the agent, 3 if it says nothing)."
        ),
    ),
    Route(
        "POST", "/v1/jobs/{job}/heartbeat", "heartbeatJob", "Keep a claimed job",
        heartbeat, "job:run", "jobs", {200: rollout_shapes.Heartbeat}, body=bodies.HeartbeatInput, problems=(409,),
    ),
    Route(
        "POST", "/v1/jobs/{job}/report", "reportJob", "Report how a claimed job is",
        report, "job:run", "jobs", {200: rollout_shapes.Job},
        body=bodies.ClaimedReportInput, mutates=True, problems=(409,),
        description="With the token of a lost claim it is refused; a job that has ended stays as it is.",
    ),
)  # fmt: skip
