"""An application with routes of the test's own, called in this process; and what is needed to make one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, cast

import msgspec

from headgate.api.http.app import Application, create_app
from headgate.api.http.calls import Answer, Principal, Request, Route, Service
from headgate.api.http.permissions import BY_ROLE

NOW = 1_800_000_000_000_000
Handler = Callable[[Request], Awaitable[Answer]]


class Response(msgspec.Struct):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class HealthyStore:
    def ping(self) -> None:
        return


def service(store: object | None = None) -> Service:
    return Service(
        worker_client=cast(Any, None),
        store=cast(Any, store or HealthyStore()),
        clock=lambda: NOW,
        public_url="",
    )


async def admit(authorization: str | None) -> Principal:
    """The caller that `Authorization` names: a role, in the workspace `default` unless it says another."""
    role, _, workspace = (authorization or "admin *").partition(" ")
    return Principal(role, {workspace or "default": BY_ROLE[role]})


async def echo(call: Request) -> Answer:
    return Answer(
        200, {"path": call.path, "query": call.query, "body": call.body, "workspace": call.workspace}
    )


def route(method: str, path: str, handler: Handler = echo, **declared: Any) -> Route:
    declared.setdefault("permission", "read")
    declared.setdefault("answers", {200: {"type": "object"}})
    operation = declared.pop("operation", f"{method} {path}")
    return Route(
        method=cast(Any, method), path=path, operation=operation, summary="A test", handler=handler, tag="test",
        **declared,
    )  # fmt: skip


def app_of(*routes: Route, authenticate: Any = admit, **options: Any) -> Application:
    return create_app(options.pop("service", service()), routes, authenticate, **options)


def send(
    app: Application,
    method: str,
    target: str,
    body: bytes | Iterable[bytes] = b"",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """`target` is the path as it would stand in the request line, with its query; without any chunk it hangs up."""
    return asyncio.run(sending(app, method, target, body, headers))


async def sending(
    app: Application,
    method: str,
    target: str,
    body: bytes | Iterable[bytes] = b"",
    headers: Mapping[str, str] | None = None,
) -> Response:
    raw_path, _, query = target.partition("?")
    chunks = [body] if isinstance(body, bytes) else list(body)
    incoming = [
        {"type": "http.request", "body": chunk, "more_body": index < len(chunks) - 1}
        for index, chunk in enumerate(chunks)
    ]
    outgoing: list[Any] = []
    is_answered = asyncio.Event()

    async def receive() -> Any:
        if incoming:
            return incoming.pop(0)
        if chunks:
            await is_answered.wait()
        return {"type": "http.disconnect"}

    async def collect(message: Any) -> None:
        outgoing.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            is_answered.set()

    scope = {
        "type": "http",
        "method": method,
        "path": raw_path,
        "raw_path": raw_path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "headers": [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()],
    }
    await app(scope, receive, collect)
    return response_of(outgoing)


def response_of(messages: list[Any]) -> Response:
    start, *parts = messages
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    return Response(start["status"], headers, b"".join(part.get("body", b"") for part in parts))


def post_json(app: Application, target: str, text: str | bytes, **headers: str) -> Response:
    body = text if isinstance(text, bytes) else text.encode()
    return send(app, "POST", target, body, {"Content-Type": "application/json", **headers})
