"""GitHub's REST API for workflows, as far as an agent uses it, with its moods."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from .support import drop

TOKEN = "ghp_0123456789"
Mood = Callable[[web.BaseRequest], web.StreamResponse | None]


class FakeGithub:
    """`moods` are asked first, one for each request; None from a mood means: as usual.

    `lost_answers` dispatches are carried out, but the connection breaks before the answer.
    """

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []
        self.dispatches: list[dict[str, Any]] = []
        self.cancelled: list[int] = []
        self.moods: list[Mood] = []
        self.lost_answers = 0
        self.knows_run_details = True
        self.names_runs = True
        self.shows_runs = True
        self.known_inputs: set[str] | None = None
        self.requests: list[tuple[str, str]] = []

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        self.requests.append((request.method, request.path))
        if self.moods:
            answer = self.moods.pop(0)(request)
            if answer is not None:
                return answer
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return _problem(401, "Bad credentials")
        assert request.headers["X-GitHub-Api-Version"] == "2022-11-28"
        return self._answer(request, json.loads(body) if body else {})

    def _answer(self, request: web.BaseRequest, body: dict[str, Any]) -> web.StreamResponse:
        path = request.path.removeprefix("/repos/acme/shop/actions")
        if path == request.path:
            return _problem(404, "Not Found")
        if path == "/workflows/deploy.yaml/dispatches" and request.method == "POST":
            return self._dispatch(request, body)
        if path == "/workflows/deploy.yaml/runs":
            return self._list(request)
        match = re.fullmatch(r"/runs/(\d+)(/cancel)?", path)
        run = self.run(int(match.group(1))) if match is not None else None
        if match is None or run is None:
            return _problem(404, "Not Found")
        return self._cancel(run) if match.group(2) else web.json_response(run)

    def _dispatch(self, request: web.BaseRequest, body: dict[str, Any]) -> web.StreamResponse:
        if "return_run_details" in body and not self.knows_run_details:
            return _problem(422, 'Invalid request.\n\n"return_run_details" is not a permitted key.')
        if self.known_inputs is not None and set(body["inputs"]) - self.known_inputs:
            unexpected = sorted(set(body["inputs"]) - self.known_inputs)
            return _problem(422, f"Unexpected inputs provided: {json.dumps(unexpected)}")
        if body["ref"] == "gone":
            return _problem(422, "No ref found for: gone")
        assert all(isinstance(value, str) for value in body["inputs"].values())
        self.dispatches.append(body)
        run = self.begin(body["inputs"].get("headgate_job_id", ""))
        if self.lost_answers > 0:
            self.lost_answers -= 1
            return drop(request)
        if body.get("return_run_details"):
            details = {
                "workflow_run_id": run["id"],
                "run_url": f"https://api.github.com/repos/acme/shop/actions/runs/{run['id']}",
                "html_url": run["html_url"],
            }
            return web.json_response(details)
        return web.Response(status=204)

    def begin(self, job: str, age_seconds: float = 0) -> dict[str, Any]:
        number = 9_000_000_000 + len(self.runs)
        created = datetime.now(UTC) - timedelta(seconds=age_seconds)
        run = {
            "id": number,
            "name": "deploy",
            "display_title": f"deploy {job}" if self.names_runs else "deploy",
            "event": "workflow_dispatch",
            "status": "queued",
            "conclusion": None,
            "created_at": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "html_url": f"https://github.com/acme/shop/actions/runs/{number}",
        }
        self.runs.append(run)
        return run

    def _list(self, request: web.BaseRequest) -> web.StreamResponse:
        since = request.query["created"].removeprefix(">=")
        assert request.query["event"] == "workflow_dispatch"
        found = [run for run in reversed(self.runs) if run["created_at"] >= since and self.shows_runs]
        size, page = int(request.query["per_page"]), int(request.query["page"])
        shown = found[size * (page - 1) : size * page]
        return web.json_response({"total_count": len(found), "workflow_runs": shown})

    def run(self, number: int) -> dict[str, Any] | None:
        return next((run for run in self.runs if run["id"] == number), None) if self.shows_runs else None

    def _cancel(self, run: dict[str, Any]) -> web.StreamResponse:
        if run["status"] == "completed":
            return _problem(409, "Cannot cancel a workflow run that is completed.")
        self.cancelled.append(run["id"])
        return web.json_response({}, status=202)


def _problem(status: int, message: str) -> web.Response:
    return web.json_response(
        {"message": message, "documentation_url": "https://docs.github.com"}, status=status
    )


def limited(status: int, **headers: str) -> Mood:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: web.json_response(
        {"message": "API rate limit exceeded"}, status=status, headers=names
    )


def broken(status: int) -> Mood:
    return lambda request: web.json_response({"message": "Server Error"}, status=status)


def cut(request: web.BaseRequest) -> web.StreamResponse:
    return drop(request)
