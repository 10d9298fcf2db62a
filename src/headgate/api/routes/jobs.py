"""Jobs: their history, and what agents and pipelines report of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, get_args

import msgspec

from headgate.agents import credentials
from headgate.agents.port import JobProgress
from headgate.api import evidence, finding
from headgate.api.documents import bodies
from headgate.api.http import filters, lists, pages, refusals, replies
from headgate.api.http.calls import Answer, Parameter, Refusal, Request, Route
from headgate.api.http.lists import Listing
from headgate.api.http.pages import Key, Page
from headgate.api.http.schemas import PageSchema
from headgate.fleet.engine import views
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import kinds, records
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import JobReported
from headgate.kernel import documents
from headgate.runtime import claims
from headgate.runtime.commands import CommandContext, Reply
from headgate.store.dispatches import Dispatch
from headgate.store.rows import Row

HISTORY_STEP = 500
_DECODER = msgspec.json.Decoder(records.Job)
_TEXT = {"type": "string"}

FILTERS = tuple(
    Parameter(name, schema, description)
    for name, schema, description in (
        ("deployment", _TEXT, "Of this deployment, by id or name."),
        ("environment", _TEXT, "In this environment, by id or name."),
        ("resource", _TEXT, "On this resource, by id or name."),
        ("status", {"type": "string", "enum": list(get_args(model.JobStatus))}, "With this status."),
        ("agent", _TEXT, "Of this job agent."),
        ("group", _TEXT, "Of this group."),
    )
)


def document(job: records.Job, *, whole: bool = False) -> dict[str, Any]:
    """`whole`: with the providers' answers as far as they are kept."""
    return views.of_job(job, metrics=evidence.of_job(job, whole=whole))


def from_row(row: Row) -> records.Job:
    written = row["document"]
    assert isinstance(written, bytes)
    return _DECODER.decode(written)


async def list_jobs(call: Request) -> Answer:
    given = {name: str(call.query[name]) for name in _COLUMNS if call.query.get(name) is not None}
    return await answer_list(call, await _by_name(call, given))


async def _by_name(call: Request, given: Mapping[str, str]) -> dict[str, str]:
    return await replies.ask(call, lambda view: _columns(view.engine, given))


_COLUMNS = {
    "deployment": "deployment",
    "environment": "environment",
    "resource": "resource",
    "status": "status",
    "agent": "agent",
    "group": "group_id",
}
_KINDS = {kind.parameter: kind for kind in kinds.NAMED}


def _columns(engine: Engine, given: Mapping[str, str]) -> dict[str, str]:
    """History may name what is gone by now, so a name that is not there is looked for as it is."""
    return {
        _COLUMNS[name]: finding.name_or_same(engine, _KINDS[name], value) if name in _KINDS else value
        for name, value in given.items()
    }


async def answer_list(call: Request, equal: Mapping[str, str]) -> Answer:
    whole = evidence.sees_answers(call)

    async def fetch(page: Page, position: Key | None, count: int) -> Sequence[tuple[Key, Row]]:
        after = None if position is None else (position[0], position[1])
        rows = await asyncio.to_thread(call.service.store.jobs_before, call.workspace, after, count, equal)
        return [((row["created_at"], row["id"]), row) for row in rows]

    listing = Listing(
        "job",
        fetch,
        lambda row: document(from_row(row), whole=whole),
        lambda row: filters.with_times(document(from_row(row))),
        HISTORY_STEP,
        pages.NEWEST_FIRST[0],
    )
    return await lists.answer(call, listing)


async def get_job(call: Request) -> Answer:
    return replies.object_answer(document(await stored(call), whole=evidence.sees_answers(call)))


async def stored(call: Request) -> records.Job:
    """The job of the path, as the store has it. Live ones are newer in the engine, but not by much."""
    reference = call.path["job"]
    row = await asyncio.to_thread(call.service.store.job, call.workspace, reference)
    if row is None:
        raise refusals.not_found("job", reference)
    return from_row(row)


async def report_job(call: Request) -> Answer:
    given = documents.read(bodies.ReportInput, call.body)
    job = await stored(call)
    check_agent(call, job)
    await _check_nobody_has_it(call, job)
    change = reported(job, given)
    return await replies.submit(call, partial(take_report, change, job))


async def _check_nobody_has_it(call: Request, job: records.Job) -> None:
    """Of a claimed job its holder reports, with the token of the claim; a person who may act on targets decides."""
    if job.completed_at is not None or call.principal.allows("target:act", call.workspace):
        return
    dispatch = await asyncio.to_thread(call.service.store.dispatch, call.workspace, job.id)
    if dispatch is not None and dispatch.type == claims.PULL and dispatch.claimed_by is not None:
        raise refusals.conflict(
            "The job is claimed",
            f"{dispatch.claimed_by} has claimed job {job.id} and reports it by POST /v1/jobs/{job.id}/report with the "
            "token of its claim",
        )


def check_agent(call: Request, job: records.Job) -> None:
    if call.principal.agents and job.agent not in call.principal.agents:
        raise Refusal(
            403,
            "Not allowed",
            f"the job is run by {job.agent or 'no agent'}; this token is for {', '.join(sorted(call.principal.agents))}",
        )


def reported(
    job: records.Job, given: bodies.ReportInput | bodies.ClaimedReportInput, dispatch: Dispatch | None = None
) -> JobReported:
    """What is said at great length is cut, and taken all the same: the end of a job must not get lost for that. The
    secrets that the dispatch held are taken out."""
    document = msgspec.json.decode(dispatch.document) if dispatch is not None else {}
    progress = JobProgress(given.status, given.message, given.external_id, given.links)
    progress = progress.scrubbed(credentials.scrubber_of(document))
    return JobReported(job.id, progress.status, progress.message, progress.external_id, dict(progress.links))


def take_report(change: JobReported, stored_job: records.Job, context: CommandContext) -> Reply:
    """A job that the engine has put away has ended long ago: the report changes nothing."""
    job = context.job(change.job)
    if job is None:
        return replies.object_reply(200, msgspec.json.encode(document(stored_job)))
    if job.completed_at is None:
        context.apply(change)
    return replies.object_reply(200, msgspec.json.encode(document(job)))


ROUTES = (
    Route(
        "GET", "/v1/jobs", "listJobs", "List jobs, newest first",
        list_jobs, "read", "jobs", {200: PageSchema(views.JobView)},
        query=(*pages.parameters("job", pages.NEWEST_FIRST, pages.NEWEST_FIRST[0]), *FILTERS), problems=(422,),
    ),
    Route("GET", "/v1/jobs/{job}", "getJob", "Get a job", get_job, "read", "jobs", {200: views.JobView}),
    Route(
        "PATCH", "/v1/jobs/{job}", "patchJob", "Report how a job is",
        report_job, "job:report", "jobs", {200: views.JobView},
        body=bodies.ReportInput, mutates=True, problems=(409,),
        description="What arrives after a terminal status changes nothing; the answer is the job as it is.",
    ),
)  # fmt: skip
