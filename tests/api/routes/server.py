"""The whole service in this process: store in memory, worker, every route. Each answer is checked against OpenAPI."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

import jsonschema_rs
import msgspec

from api.machinery import Response, sending
from headgate.api.http.app import Application, create_app
from headgate.api.http.calls import Principal, Service
from headgate.api.http.permissions import BY_ROLE
from headgate.api.http.routing import Router
from headgate.api.routes import ALL
from headgate.kernel import instants
from headgate.runtime.wiring import WorkerClient
from headgate.runtime.worker import Worker, WorkerSettings
from headgate.store import Store, Workspace
from headgate.store.sql.opening import open_store

START = instants.parse("2026-03-01T09:00:00Z")
PATIENCE_SECONDS = 20.0


class Clock:
    """Stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def advance(self, duration: str) -> None:
        self.now += instants.parse_duration(duration)


class Server:
    def __init__(self) -> None:
        self.clock = Clock()
        self.store: Store = open_store("memory:")
        self.store.migrate()
        self.store.add_workspace(Workspace(str(uuid.uuid4()), "default", "", START))
        self.worker = Worker(self.store, WorkerSettings("test", poll_seconds=0.02), clock=self.clock)
        self.worker_client = WorkerClient(self.worker)
        self.worker.after_commit = lambda workspace, outcome: self.worker_client.committed(
            workspace, outcome.newest_event
        )
        self.service = Service(self.worker_client, self.store, self.clock, health=self.worker.health)
        self.admit = _admit
        self.app = create_app(self.service, ALL, self.admit)
        self.worker.start()
        until(lambda: any(lease.name == "engine/default" for lease, _ in self.store.leases()))

    def close(self) -> None:
        self.worker.stop()
        self.store.close()

    def client(self, who: str = "ana:admin@*") -> Client:
        return Client(self.app, who)


async def _admit(authorization: str | None) -> Principal:
    """`user:role@workspace`; a role of several permissions is written with `+`, agents behind `/`."""
    caller, _, agents = (authorization or "").removeprefix("Bearer ").partition("/")
    user, _, rest = caller.partition(":")
    role, _, workspace = rest.partition("@")
    granted = BY_ROLE[role] if role in BY_ROLE else frozenset(role.split("+"))
    return Principal(user, {workspace: granted}, frozenset(agents.split(",")) if agents else frozenset())


class Client:
    def __init__(self, app: Application, who: str) -> None:
        self.app = app
        self.who = who

    def get(self, path: str, headers: Mapping[str, str] | None = None, **query: Any) -> Response:
        return self.send("GET", path, headers=headers, **query)

    def post(
        self, path: str, body: Any = None, headers: Mapping[str, str] | None = None, **query: Any
    ) -> Response:
        return self.send("POST", path, body, headers, **query)

    def put(
        self, path: str, body: Any = None, headers: Mapping[str, str] | None = None, **query: Any
    ) -> Response:
        return self.send("PUT", path, body, headers, **query)

    def patch(
        self, path: str, body: Any = None, headers: Mapping[str, str] | None = None, **query: Any
    ) -> Response:
        return self.send("PATCH", path, body, headers, **query)

    def delete(self, path: str, headers: Mapping[str, str] | None = None, **query: Any) -> Response:
        return self.send("DELETE", path, headers=headers, **query)

    def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None, **query: Any
    ) -> Response:
        return asyncio.run(self.sending(method, path, body, headers, **query))

    async def sending(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None, **query: Any
    ) -> Response:
        target = f"{path}?{urlencode(query)}" if query else path
        sent = {"Authorization": f"Bearer {self.who}", **(headers or {})}
        content = b""
        if isinstance(body, bytes):
            content = body
        elif body is not None:
            content = json.dumps(body).encode()
            sent = {"Content-Type": "application/json", **sent}
        response = await sending(self.app, method, target, content, sent)
        check_answer(self.app, method, path, response)
        return response

    def items(self, path: str, **query: Any) -> list[Any]:
        """A page; events that are not asked for as JSON are a stream, and it has no end."""
        found: list[Any] = self.get(path, {"Accept": "application/json"}, **query).json["items"]
        return found


def check_answer(app: Application, method: str, path: str, response: Response) -> None:
    """What is not declared must never be answered."""
    route = Router(app.routes).match(method, path.encode()).route
    declared = app.openapi["paths"][route.path][method.lower()]["responses"]
    assert str(response.status) in declared, f"{method} {path} answered {response.status}: {response.body!r}"
    if response.status == 204:
        assert response.body == b""
        return
    if response.headers["content-type"].startswith("text/event-stream"):
        return
    validator = _validator(app, route.path, method.lower(), response.status)
    errors = [str(error) for error in validator.iter_errors(response.json)]
    assert not errors, f"{method} {path}: {errors[0]}\n{response.body!r}"


_VALIDATORS: dict[bytes, Any] = {}
"""By the schema of the answer: every server here has the same routes, and most answers say the same. By application
each of them would be kept, and all of its server with it."""


def _validator(app: Application, path: str, method: str, status: int) -> Any:
    described = app.openapi
    answer = described["paths"][path][method]["responses"][str(status)]
    if "$ref" in answer:
        answer = described["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    content = answer["content"]
    schema = content.get("application/json", next(iter(content.values())))["schema"]
    key = msgspec.json.encode(schema)
    if key not in _VALIDATORS:
        whole = {**schema, "components": described["components"]}
        _VALIDATORS[key] = jsonschema_rs.Draft202012Validator(whole)
    return _VALIDATORS[key]


def until(condition: Callable[[], Any]) -> Any:
    """What the condition gives once it holds."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < ends:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("it did not happen in time")


def segment(name: str) -> str:
    """A name as one segment of a path."""
    return quote(name, safe="")
