"""What a pull agent says to the server, and what it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from headgate.agents.port import JobProgress, TryLaterError
from headgate.agents.web import Web, WebAnswer

Token = int | str
"""Tells claims of the same job apart."""


class RefusedByServerError(Exception):
    """The server will not take this, now or later; `status` is its answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class AgentApiClient:
    """Claims, heartbeats and reports of one agent; TryLaterError where the same call may succeed later."""

    def __init__(self, url: str, token: str, agent: str, workspace: str | None, web: Web) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._agent = agent
        self._query = "?" + urlencode({"workspace": workspace}) if workspace else ""
        self._web = web

    async def claim(
        self, limit: int, holder: str, wait_seconds: float, lease_seconds: float
    ) -> list[dict[str, Any]]:
        body = {
            "limit": limit,
            "holder": holder,
            "waitSeconds": int(wait_seconds),
            "leaseSeconds": int(lease_seconds),
        }
        path = f"/v1/job-agents/{quote(self._agent, safe='')}/claim"
        answer = await self._post(path, body, timeout_seconds=wait_seconds + 30)
        jobs = answer.fields().get("jobs")
        return [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else []

    async def is_cancelled(self, job: str, token: Token) -> bool:
        """A heartbeat. Raises RefusedError when the claim is lost."""
        answer = await self._post(f"/v1/jobs/{quote(job, safe='')}/heartbeat", {"token": token})
        return bool(answer.fields().get("cancelled"))

    async def report(self, job: str, token: Token, progress: JobProgress) -> None:
        body = {
            "token": token,
            "status": progress.status,
            "message": progress.message or "",
            "externalId": progress.external_id,
            "links": dict(progress.links),
        }
        body = {key: value for key, value in body.items() if value is not None}
        await self._post(f"/v1/jobs/{quote(job, safe='')}/report", body)

    async def print(self, job: str, token: Token, lines: Sequence[str], offset: int) -> bool:
        """Whether the job's log takes more. How a job goes does not depend on its log, so a refusal is no error."""
        body = {"token": token, "lines": lines, "offset": offset}
        try:
            answer = await self._post(f"/v1/jobs/{quote(job, safe='')}/log", body)
        except RefusedByServerError:
            return False
        return answer.fields().get("isFull") is False

    async def _post(self, path: str, body: object, timeout_seconds: float = 30) -> WebAnswer:
        answer = await self._web.call(
            "POST",
            self._url + path + self._query,
            headers={**self._headers, "Content-Type": "application/json"},
            body=msgspec.json.encode(body),
            timeout_seconds=timeout_seconds,
        )
        if answer.is_good:
            return answer
        fields = answer.fields()
        message = f"the server answered {answer.status}: {fields.get('detail') or fields.get('title') or ''}"
        if answer.status in (408, 429) or answer.status >= 500:
            raise TryLaterError(message, answer.retry_after_seconds())
        raise RefusedByServerError(answer.status, message)
