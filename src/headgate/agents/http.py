"""`http`: the dispatch is sent, signed, to an address; how the job goes comes back by callback or is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import quote

import msgspec

from headgate.agents import signing
from headgate.agents.credentials import Credentials
from headgate.agents.log_lines import printable
from headgate.agents.port import (
    Agent,
    Assignment,
    JobProgress,
    TimeoutSeconds,
    TryLaterError,
    shortened,
)
from headgate.agents.web import Web, WebAnswer, place_of, segment
from headgate.fleet.model import objects as model
from headgate.fleet.rules.verification import Address, check_headers
from headgate.kernel.documents import Checked
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem

EXTERNAL_ID = "{externalId}"
LARGEST_ANSWER_BYTES = 64 * 1024
NOT_SENT = ("secret", "secretEnv", "headers")


def _check_place_of_id(url: str, path: str, problems: list[Problem]) -> None:
    host = url.partition("://")[2].partition("/")[0]
    if EXTERNAL_ID in host:
        problems.append(
            Problem(path, f"has {EXTERNAL_ID} in its host; allowed is it in the path or the query")
        )


AddressOfJob = Annotated[Address, Checked(_check_place_of_id)]


class HttpConfig(msgspec.Struct, frozen=True, rename="camel"):
    """`status_url` and `cancel_url` may hold {externalId}, which the answer to the dispatch gave."""

    url: Address
    secret: str | None = None
    secret_env: str | None = None
    headers: Annotated[dict[str, str], Checked(check_headers)] = {}
    parameters: dict[str, object] = {}
    """For the receiver, in the config that is sent."""
    status_url: AddressOfJob | None = None
    poll_seconds: Annotated[int, msgspec.Meta(ge=1, le=3_600)] = 10
    cancel_url: AddressOfJob | None = None
    request_timeout_seconds: Annotated[int, msgspec.Meta(ge=1, le=300)] = 30
    timeout_seconds: TimeoutSeconds | None = None


class HttpAgent(Agent):
    """`public_url` is where this server can be called back."""

    type = "http"

    def __init__(
        self,
        clock: Callable[[], Instant],
        public_url: str = "",
        web: Web | None = None,
        credentials: Credentials | None = None,
    ) -> None:
        self._clock = clock
        self._credentials = credentials or Credentials()
        self._public_url = public_url.rstrip("/")
        self._web = web or Web()

    async def start(self, assignment: Assignment) -> JobProgress:
        """The receiver tells a repeated dispatch by its Idempotency-Key."""
        config = assignment.config(HttpConfig)
        answer = await self._send(config, assignment, "POST", config.url, self._body(assignment))
        _refuse_busy(answer)
        if not answer.is_good:
            message = f"{place_of(config.url)} answered {answer.status}{_reason(assignment, answer)}"
            return JobProgress("invalidIntegration", shortened(message))
        progress = _progress(config, assignment, answer)
        if progress.external_id:
            await assignment.keep(externalId=progress.external_id)
        return progress

    async def follow(self, assignment: Assignment) -> JobProgress | None:
        config = assignment.config(HttpConfig)
        if config.status_url is None:
            return None
        answer = await self._send(config, assignment, "GET", _address(config.status_url, assignment), b"")
        _refuse_busy(answer)
        if answer.status in (404, 410):
            return JobProgress("externalRunNotFound", f"the status address answered {answer.status}")
        if not answer.is_good:
            raise TryLaterError(f"the status address answered {answer.status}{_reason(assignment, answer)}")
        return _progress(config, assignment, answer)

    async def stop(self, assignment: Assignment) -> None:
        config = assignment.config(HttpConfig)
        if config.cancel_url is None:
            return
        body = msgspec.json.encode({"job": assignment.job, "cancelled": True})
        answer = await self._send(config, assignment, "POST", _address(config.cancel_url, assignment), body)
        _refuse_busy(answer)

    async def close(self) -> None:
        await self._web.close()

    async def _send(
        self, config: HttpConfig, assignment: Assignment, method: str, url: str, body: bytes
    ) -> WebAnswer:
        secret = self._secret(config)
        headers = {
            **config.headers,
            "Accept": "application/json",
            "Headgate-Job": assignment.job.id,
            "Idempotency-Key": assignment.job.id,
            **signing.headers(secret, self._clock(), assignment.job.id, body),
        }
        if body:
            headers["Content-Type"] = "application/json"
        if assignment.document.trace_parent:
            headers["traceparent"] = assignment.document.trace_parent
        return await self._web.call(
            method,
            url,
            headers=headers,
            body=body or None,
            timeout_seconds=config.request_timeout_seconds,
            largest_bytes=LARGEST_ANSWER_BYTES,
        )

    def _secret(self, config: HttpConfig) -> str:
        return self._credentials.find(config.secret, config.secret_env, field="secret")

    def _body(self, assignment: Assignment) -> bytes:
        document: dict[str, Any] = msgspec.to_builtins(assignment.document)
        document["config"] = {k: v for k, v in document["config"].items() if k not in NOT_SENT}
        document["workspace"] = assignment.workspace
        if self._public_url:
            job, workspace = quote(assignment.job.id, safe=""), quote(assignment.workspace, safe="")
            document["callbackUrl"] = f"{self._public_url}/v1/jobs/{job}/callback?workspace={workspace}"
        return msgspec.json.encode(document)


def _reason(assignment: Assignment, answer: WebAnswer) -> str:
    """The first line of what it says."""
    fields = answer.fields()
    text = str(fields.get("detail") or fields.get("message") or answer.text().strip())
    lines = assignment.scrubber.text(text)[:200].splitlines()
    return f": {lines[0]}" if lines else ""


def _address(url: str, assignment: Assignment) -> str:
    """What the receiver called the job is a name in the path or the query, and never a way to elsewhere."""
    if EXTERNAL_ID not in url:
        return url
    return url.replace(EXTERNAL_ID, segment(str(assignment.state.get("externalId", "")), "externalId"))


def _refuse_busy(answer: WebAnswer) -> None:
    if answer.status in (408, 425, 429) or answer.status >= 500:
        raise TryLaterError(f"the other side answered {answer.status}", answer.retry_after_seconds())


def _progress(config: HttpConfig, assignment: Assignment, answer: WebAnswer) -> JobProgress:
    """An answer may say how the job is; without that it runs."""
    given = answer.fields()
    status = given.get("status", "inProgress")
    requeue_seconds = config.poll_seconds if config.status_url is not None else None
    if status not in model.JOB_LIVE | model.JOB_TERMINAL:
        scrub = assignment.scrubber.text
        allowed = ", ".join(sorted(model.JOB_LIVE | model.JOB_TERMINAL))
        message = f'the other side says the status is "{scrub(str(status))[:80]}"; allowed are {allowed}'
        return JobProgress("inProgress", message, requeue_seconds=requeue_seconds)
    external_id, links = given.get("externalId"), given.get("links")
    comment = given.get("message")
    return JobProgress(
        status,
        shortened(assignment.scrubber.text(comment)) if isinstance(comment, str) else None,
        printable(str(external_id))[:500] if external_id else None,
        _links(links),
        requeue_seconds,
    )


def _links(given: object) -> dict[str, str]:
    if not isinstance(given, dict):
        return {}
    links = {name: printable(url) for name, url in given.items() if isinstance(url, str)}
    good = [(name, url) for name, url in links.items() if model.is_web_address(url)]
    return {printable(name)[:100]: url[:2_000] for name, url in good[:20]}
