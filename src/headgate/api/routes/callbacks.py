"""How a system that was called by the http agent says what became of the job: signed, without a token."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import msgspec

from headgate.agents import signing
from headgate.api.documents import bodies
from headgate.api.http import large_bodies, replies
from headgate.api.http.calls import Answer, Refusal, Request, Route
from headgate.api.routes import jobs
from headgate.fleet.engine import views
from headgate.fleet.engine.queries import lookup
from headgate.fleet.model import records
from headgate.kernel import documents
from headgate.kernel.problems import Rejected
from headgate.runtime.commands import EngineView
from headgate.store.dispatches import Dispatch


class _Document(msgspec.Struct):
    config: dict[str, Any] = {}


async def take_callback(call: Request) -> Answer:
    """Whoever cannot sign learns nothing: an unknown job and a wrong signature are refused alike.

    The signature is of the bytes, and looked at before anything is made of them.
    """
    row = await asyncio.to_thread(call.service.store.job, call.workspace, call.path["job"])
    job = None if row is None else jobs.from_row(row)
    dispatch = (
        await asyncio.to_thread(call.service.store.dispatch, call.workspace, job.id)
        if job is not None
        else None
    )
    secret = None if job is None else await _secret(call, job, dispatch)
    if job is None or secret is None or not _is_signed(call, job.id, secret):
        raise Refusal(
            401,
            "The signature is not valid",
            "Headgate-Signature must be v1= and the HMAC-SHA256 of Headgate-Timestamp, the job's id and the body, with "
            "dots between, by the secret of the job's agent",
        )
    given = documents.read(bodies.ReportInput, large_bodies.decoded(call))
    change = jobs.reported(job, given, dispatch)
    return await replies.submit(call, partial(jobs.take_report, change, job))


def _is_signed(call: Request, job: str, secret: str) -> bool:
    headers = {name.lower(): value for name, value in call.headers.items()}
    return signing.is_valid(
        secret,
        headers.get(signing.TIMESTAMP_HEADER.lower(), ""),
        job,
        call.raw_body,
        headers.get(signing.SIGNATURE_HEADER.lower(), ""),
        call.service.clock(),
    )


async def _secret(call: Request, job: records.Job, dispatch: Dispatch | None) -> str | None:
    """Of the dispatch that was sent; of a job that has ended, what its agent has by now."""
    if dispatch is not None:
        config = msgspec.json.decode(dispatch.document, type=_Document).config
        return _secret_in(call, config) if dispatch.type == "http" else None
    config = await replies.ask(call, partial(_config_of_agent, job.agent or ""))
    return _secret_in(call, config)


def _config_of_agent(name: str, view: EngineView) -> dict[str, Any]:
    agent = lookup.job_agent(view.engine, name)
    return agent.config if agent is not None and agent.type == "http" else {}


def _secret_in(call: Request, config: dict[str, Any]) -> str | None:
    try:
        given = call.service.credentials.find(config.get("secret"), config.get("secretEnv"), field="secret")
    except Rejected:
        return None
    return given if isinstance(given, str) else None


ROUTES = (
    Route(
        "POST", "/v1/jobs/{job}/callback", "callbackJob", "Report a job that was sent by webhook",
        take_callback, None, "jobs", {200: views.JobView},
        body=bodies.ReportInput, problems=(401,), reads_body=True,
        description=(
            "Signed with the secret of the http agent instead of a token: the header Headgate-Timestamp holds the "
            "seconds since 1970, Headgate-Signature holds v1= and the hexadecimal HMAC-SHA256 of the timestamp, the "
            "job's id and the body, with dots between. The body has at most 1 MiB."
        ),
    ),
)  # fmt: skip
