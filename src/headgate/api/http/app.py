"""The ASGI application: from bytes to a checked call, from what the handler says or raises to an answer."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import time
import uuid
from collections.abc import Awaitable, Iterable, Iterator
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from headgate.api.http import (
    access,
    authentication,
    docs_page,
    openapi,
    problems,
    reading,
    replies,
    service_routes,
    sessions,
    tracing,
)
from headgate.api.http.calls import (
    Answer,
    Aside,
    Authenticate,
    ClientConnection,
    Finish,
    Principal,
    Refusal,
    Request,
    Route,
    Service,
)
from headgate.api.http.metrics import Metrics
from headgate.api.http.reading import BodyLimits, ClientGoneError
from headgate.api.http.routing import Match, Router
from headgate.store.port import UnavailableError

_ERRORS = logging.getLogger("headgate.api")
_ACCESS = logging.getLogger("headgate.access")
_OUTSIDE_API = "unmatched"
_AGENTS_PERMISSION = "job:run"
"""Agents wait for jobs, many of them with one token."""
STREAM_CHECK_SECONDS = 10.0
"""How long a stream may go on after its token was taken away."""


async def _finished(answering: Awaitable[Answer], finish: Finish, call: Request) -> Answer:
    return await finish(call, await answering)


class _Request(msgspec.Struct):
    """One request as it came, and what became known of it for the log."""

    id: str
    method: str
    raw_path: bytes
    query: bytes
    headers: Headers
    receive: Receive
    started: float
    route: Route | None = None
    operation: str = _OUTSIDE_API
    principal: Principal = authentication.ANONYMOUS
    workspace: str = ""


def create_app(
    service: Service,
    routes: Iterable[Route],
    authenticate: Authenticate,
    *,
    limits: BodyLimits | None = None,
    metrics: Metrics | None = None,
    ready: service_routes.Ready = tuple,
    fallback: ASGIApp | None = None,
) -> Application:
    """`fallback` answers what is not found outside of /v1: the console."""
    return Application(
        service, tuple(routes), authenticate, limits or BodyLimits(), metrics or Metrics(), ready, fallback
    )


class Application:
    def __init__(
        self,
        service: Service,
        routes: tuple[Route, ...],
        authenticate: Authenticate,
        limits: BodyLimits,
        metrics: Metrics,
        ready: service_routes.Ready,
        fallback: ASGIApp | None,
    ) -> None:
        self.metrics = metrics
        self._service = msgspec.structs.replace(service, authenticate=authenticate)
        self._authenticate = authenticate
        self._limits = limits
        self._fallback = fallback
        self._closing = asyncio.Event()
        self._requests = access.Crowd("requests", access.REQUESTS_EACH)
        self._of_agents = access.Crowd("requests of agents", access.REQUESTS_OF_AGENTS_EACH)
        self._waits = access.Crowd("requests that wait for jobs", access.WAITS_EACH)
        self._streams = access.Crowd("streams", access.STREAMS_EACH)
        self._without_token = access.Crowd("requests without a token", access.WITHOUT_TOKEN_EACH)
        about = service_routes.routes(ready, metrics, lambda: self.openapi_json, lambda: self._docs)
        self.routes = (*routes, *about)
        self._router = Router(self.routes)
        self._queries = {route.operation: access.declared_query(route) for route in self.routes}
        self._media_types = {route.operation: route.accepted_media_types for route in self.routes}

    @functools.cached_property
    def openapi(self) -> dict[str, Any]:
        return openapi.document(self.routes, self._service.public_url)

    @functools.cached_property
    def openapi_json(self) -> bytes:
        return msgspec.json.encode(self.openapi)

    @functools.cached_property
    def _docs(self) -> tuple[bytes, str]:
        return docs_page.render(self.openapi)

    def close(self) -> None:
        """Ends streams, which would otherwise keep the server from stopping. Whoever is cancelled afterwards was left by
        a server that hung up on them, and there is no more to say."""
        self._closing.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                try:
                    await self._http(scope, receive, send)
                except asyncio.CancelledError:
                    if not self._closing.is_set():
                        raise
            case "lifespan":
                await self._lifespan(receive, send)
            case "websocket":
                await send({"type": "websocket.close", "code": 1000})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            event = (await receive())["type"]
            if event == "lifespan.shutdown":
                self.close()
            await send({"type": f"{event}.complete"})
            if event == "lifespan.shutdown":
                return

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = _Request(
            id=str(uuid.uuid4()),
            method=scope["method"],
            raw_path=scope.get("raw_path") or quote(scope["path"]).encode(),
            query=scope.get("query_string", b""),
            headers=Headers(scope=scope),
            receive=receive,
            started=time.perf_counter(),
        )
        try:
            match = self._router.match(request.method, request.raw_path)
        except Refusal as refusal:
            if self._is_for_fallback(request, refusal):
                assert self._fallback is not None
                await self._fallback(scope, receive, send)
                return
            await self._send(request, replies.of_refusal(refusal, request.id), scope, send)
            return
        request.route = match.route
        request.operation = match.route.operation
        path = match.route.path
        with tracing.request_span(request.method, request.operation, path, request.headers) as span:
            try:
                answer = await self._answer(request, match)
            except ClientGoneError:
                return
            tracing.answered(span, answer.status)
            await self._send(request, answer, scope, send)

    def _is_for_fallback(self, request: _Request, refusal: Refusal) -> bool:
        """Who means the API and has a slash too many is answered as the API answers."""
        is_api = request.raw_path.lstrip(b"/").partition(b"/")[0] == b"v1"
        return self._fallback is not None and refusal.status == 404 and not is_api

    async def _answer(self, request: _Request, match: Match) -> Answer:
        try:
            with contextlib.ExitStack() as held:
                route = match.route
                aside = None if route.lane is None else self._aside_for(request, route)
                call = await self._call(request, match, held, aside)
                if aside is None or route.lane is None:
                    answering = route.handler(call)
                else:
                    answering = aside.answer(route.lane, route.operation, call)
                if route.finish is not None:
                    answering = _finished(answering, route.finish, call)
                answer = await (answering if aside is None else self._unless_over(request, answering))
                if answer.stream is not None:
                    self._streams.check(request.principal.identity, request.principal.user)
                return replies.encoded(answer)
        except ClientGoneError:
            raise
        except Exception as error:
            refusal = problems.refusal_for(error)
            if refusal is None:
                _ERRORS.exception("%s failed, request %s", request.operation, request.id)
                refusal = problems.unexpected(request.id)
            if refusal.status in problems.COME_BACK:
                await asyncio.sleep(problems.PAUSE_SECONDS)
            return replies.of_refusal(refusal, request.id)

    async def _unless_over(self, request: _Request, answering: Awaitable[Answer]) -> Answer:
        """Nobody works on for a client that hung up, nor keeps a server that is asked to end."""
        asked = asyncio.ensure_future(answering)
        gone = asyncio.create_task(replies.until_gone(request.receive))
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.wait({asked, gone, closing}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return asked.result()
            if gone.done():
                raise ClientGoneError
            raise problems.unavailable("the server is shutting down")
        finally:
            for task in (asked, gone, closing):
                task.cancel()
            await asyncio.gather(asked, gone, closing, return_exceptions=True)

    def _aside_for(self, request: _Request, route: Route) -> Aside | None:
        """Who answers beside the server, unless the route has a stream and that is asked for."""
        wants_json = "application/json" in request.headers.get("accept", "")
        return self._service.aside if wants_json or not route.streams else None

    async def _call(
        self, request: _Request, match: Match, held: contextlib.ExitStack, aside: Aside | None
    ) -> Request:
        """Who is asked first, so that strangers neither learn anything nor make the service read their bodies."""
        route, headers = match.route, request.headers
        if route.permission is not None:
            authorization = headers.get("authorization")
            if authorization is None:
                authorization = sessions.authorization(request.method, headers, self._service.public_url)
            request.principal = await self._authenticate(authorization)
        principal = request.principal
        query = reading.parse_query(
            request.query, self._queries[route.operation], takes_others=route.takes_other_query
        )
        workspace = access.default_workspace(principal)
        if route.scope == "workspace":
            workspace = query.pop("workspace", workspace)
            request.workspace = workspace
        access.check(route, principal, workspace)
        for crowd, identity, name in self._crowds_of(route, principal):
            held.enter_context(crowd.one_of(identity, name))
        if aside is not None and route.lane is not None:
            aside.check(route.lane, workspace, principal.user)
        key = headers.get("idempotency-key") if route.mutates else None
        if key is not None:
            reading.check_idempotency_key(key)
        if_match = reading.if_match(headers.get("if-match")) if route.conditional else None
        raw_body, body = await self._body(request, route, is_read=aside is None)
        idempotency = None
        if key is not None:
            fingerprint = reading.fingerprint(request.method, request.raw_path, request.query, raw_body)
            idempotency = reading.idempotency(principal.identity, key, fingerprint)
        return Request(
            service=self._service,
            principal=principal,
            workspace=workspace,
            path=match.parameters,
            query=query,
            body=body,
            headers=headers,
            if_match=if_match,
            idempotency=idempotency,
            request_id=request.id,
            trace_parent=tracing.current_trace_parent(),
            raw_body=raw_body,
            line=ClientConnection(functools.partial(replies.until_gone, request.receive), self._closing),
        )

    def _crowds_of(self, route: Route, principal: Principal) -> Iterator[tuple[access.Crowd, str, str]]:
        if route.permission is None:
            yield self._without_token, route.operation, route.operation
            return
        crowd = self._of_agents if route.permission == _AGENTS_PERMISSION else self._requests
        yield crowd, principal.identity, principal.user
        if route.waits:
            yield self._waits, principal.identity, principal.user

    async def _body(self, request: _Request, route: Route, *, is_read: bool) -> tuple[bytes, Any]:
        """As it came, and what it says where it `is_read` here."""
        if route.body is None:
            return b"", None
        headers = request.headers
        limits = self._limits if route.permission is not None else self._limits.of_stranger()
        raw = await reading.read_body(request.receive, headers.get("content-length"), limits)
        if not raw:
            if route.body_required:
                raise Refusal(400, "The body is missing", "a body is required")
            return b"", None
        allowed = self._media_types[route.operation]
        essence = reading.media_type(headers.get("content-type"), allowed, headers.get("content-encoding"))
        if not reading.is_json(essence) or route.reads_body or not is_read:
            return raw, None
        return raw, await reading.decode_json(raw, self._limits)

    async def _send(self, request: _Request, answer: Answer, scope: Scope, send: Send) -> None:
        headers = _headers(request, answer)
        if answer.stream is not None:
            self.metrics.stream_opened(request.operation)
            try:
                ends = (self._closing.wait(), self._until_refused(request))
                with self._streams.one_of(request.principal.identity, request.principal.user):
                    await replies.send_stream(answer, headers, scope, request.receive, send, ends)
            finally:
                self.metrics.stream_closed()
        else:
            await replies.send_body(answer, headers, scope, request.receive, send)
        seconds = time.perf_counter() - request.started
        if answer.stream is None:
            self.metrics.request_answered(request.operation, answer.status, seconds)
        if _ACCESS.isEnabledFor(logging.INFO):
            _ACCESS.info("%s", _line(request, answer, seconds))

    async def _until_refused(self, request: _Request) -> None:
        """Whoever may no longer look does not go on looking."""
        assert request.route is not None
        while True:
            await asyncio.sleep(STREAM_CHECK_SECONDS)
            try:
                principal = await self._authenticate(
                    sessions.authorization("GET", request.headers, self._service.public_url)
                )
                access.check(request.route, principal, request.workspace)
            except Refusal:
                return
            except UnavailableError:
                continue


def _headers(request: _Request, answer: Answer) -> dict[str, str]:
    caching = "no-store" if request.principal.user or answer.status >= 400 else "no-cache"
    return {
        "Cache-Control": caching,
        "X-Content-Type-Options": "nosniff",
        "Headgate-Request-Id": request.id,
        **answer.headers,
    }


def _line(request: _Request, answer: Answer, seconds: float) -> str:
    """The query is left out: it may hold what people search for."""
    return json.dumps(
        {
            "requestId": request.id,
            "method": request.method,
            "path": request.raw_path.decode("ascii", "backslashreplace"),
            "operation": request.operation,
            "status": answer.status,
            "milliseconds": round(seconds * 1000, 3),
            "bytes": len(answer.document or b""),
            "user": request.principal.user,
            "workspace": request.workspace,
        }
    )
