"""Argo CD's API of one application, `shop`, with a controller that acts when the test says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from .support import drop

TOKEN = "argo-0123456789"
Mood = Callable[[web.BaseRequest], web.StreamResponse | None]


class FakeArgocd:
    def __init__(self) -> None:
        self.operation: dict[str, Any] | None = None
        self.status: dict[str, Any] = {
            "sync": {"status": "Synced", "revision": "old"},
            "health": {"status": "Healthy"},
            "reconciledAt": "2026-03-01T09:00:00Z",
        }
        self.syncs: list[dict[str, Any]] = []
        self.terminated = 0
        self.lost_answers = 0
        self.moods: list[Mood] = []
        self.queries: list[dict[str, str]] = []
        self.refreshed_health: str | None = None

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        self.queries.append(dict(request.query))
        if self.moods:
            answer = self.moods.pop(0)(request)
            if answer is not None:
                return answer
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return _problem(401, 16, "invalid session: token signature is invalid")
        path = request.path.removeprefix("/api/v1/applications/shop")
        if path == request.path:
            return _problem(403, 7, "permission denied")
        if request.method == "POST" and path == "/sync":
            return self._sync(request, json.loads(body))
        if request.method == "DELETE" and path == "/operation":
            self.terminated += 1
            return web.json_response({})
        assert (request.method, path) == ("GET", "")
        if request.query.get("refresh"):
            self.reconcile(self.refreshed_health)
        return web.json_response(self.application())

    def application(self) -> dict[str, Any]:
        found: dict[str, Any] = {"metadata": {"name": "shop"}, "spec": {}, "status": self.status}
        return found | ({"operation": self.operation} if self.operation is not None else {})

    def _sync(self, request: web.BaseRequest, body: dict[str, Any]) -> web.StreamResponse:
        if self.operation is not None:
            return _problem(400, 9, "another operation is already in progress")
        self.syncs.append(body)
        self.operation = {
            "sync": {"revision": body.get("revision", ""), "prune": body["prune"]},
            "info": body["infos"],
            "initiatedBy": {"username": "headgate"},
        }
        self.status.pop("operationState", None)
        if self.lost_answers > 0:
            self.lost_answers -= 1
            return drop(request)
        return web.json_response(self.application())

    def take_up(self, phase: str = "Running", message: str = "", revision: str | None = None) -> None:
        """The controller works on the operation; an end takes it off the application."""
        operation = self.operation or self.status["operationState"]["operation"]
        state = {"operation": operation, "phase": phase, "message": message}
        state["syncResult"] = {"revision": revision or operation["sync"]["revision"]}
        if phase not in ("Running", "Terminating"):
            state["finishedAt"] = "2026-03-01T10:00:00Z"
            self.operation = None
        self.status["operationState"] = state

    def reconcile(self, health: str | None = None, message: str = "") -> None:
        self.status["reconciledAt"] = "2026-03-01T10:00:30Z"
        if health is not None:
            self.status["health"] = {"status": health, "message": message}


def _problem(status: int, code: int, message: str) -> web.Response:
    return web.json_response({"error": message, "code": code, "message": message}, status=status)


def broken(status: int) -> Mood:
    return lambda request: web.Response(status=status, text="upstream", headers={"Retry-After": "9"})


def cut(request: web.BaseRequest) -> web.StreamResponse:
    return drop(request)
