"""HTTP to a Headgate server on the standard library alone: the command line has to start fast.

One connection is kept open. Every mutation carries an Idempotency-Key, so that a call whose answer got lost can be made
again without being done twice.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import secrets
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from headgate.cli import exit_codes, failures, refusals
from headgate.cli.contexts import Connection

ATTEMPTS = 4
TIMEOUT_SECONDS = 30.0
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 5.0
PAGE_SIZE = 1000
LONGEST_TARGET = 32_000
"""Servers and proxies refuse what is much longer, each in its own words."""
_TRY_AGAIN = frozenset({429, 502, 503, 504})
_CONNECTION_ERRORS = (OSError, http.client.HTTPException)

Query = Mapping[str, object]


def path(*segments: str) -> str:
    """`/v1/...` with each segment encoded, because names may have slashes."""
    if "" in segments:
        raise failures.misused("a name is empty; allowed is the name or the id of something")
    return "/v1/" + "/".join(quote(segment, safe="") for segment in segments)


class Stream:
    def __init__(
        self,
        connection: http.client.HTTPConnection,
        response: http.client.HTTPResponse,
        underneath: socket.socket,
    ) -> None:
        self._connection = connection
        self._response = response
        self._underneath = underneath

    def lines(self) -> Iterator[bytes]:
        return iter(self._response.readline, b"")

    def interrupt(self) -> None:
        """Ends a `readline` that another thread is waiting in."""
        with contextlib.suppress(OSError):
            self._underneath.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._response.close()
        self._connection.close()


class ApiClient:
    def __init__(
        self, connection: Connection, *, timeout_seconds: float = TIMEOUT_SECONDS, attempts: int = ATTEMPTS
    ) -> None:
        self.connection = connection
        self._timeout_seconds = timeout_seconds
        self.attempts = attempts
        self._open: http.client.HTTPConnection | None = None

    def __enter__(self) -> ApiClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def get(self, place: str, query: Query | None = None, *, scoped: bool = True) -> Any:
        return self._call("GET", place, query, None, {}, scoped)

    def send(
        self,
        method: str,
        place: str,
        body: object = None,
        *,
        query: Query | None = None,
        scoped: bool = True,
        timeout_seconds: float | None = None,
    ) -> Any:
        headers = {"Idempotency-Key": secrets.token_hex(16)}
        return self._call(method, place, query, body, headers, scoped, timeout_seconds)

    def pages(
        self, place: str, query: Query | None = None, *, scoped: bool = True, cursor_name: str = "cursor"
    ) -> Iterator[dict[str, Any]]:
        """The items of all pages; an explicit `limit` is how many are wanted in total."""
        query = dict(query or {})
        left = query.pop("limit", None)
        cursor: str | None = None
        while True:
            size = PAGE_SIZE if left is None else min(PAGE_SIZE, int(str(left)))
            page = self.get(place, {**query, "limit": size, cursor_name: cursor}, scoped=scoped)
            yield from page["items"]
            before, cursor = cursor, page.get("next")
            if left is not None:
                left = int(str(left)) - len(page["items"])
            if not cursor or cursor == before or (left is not None and left <= 0):
                return

    def stream(
        self, place: str, headers: Mapping[str, str], timeout_seconds: float, query: Query | None = None
    ) -> Stream:
        """An answer that is read as it comes, on a connection of its own."""
        connection = self._connect(timeout_seconds)
        try:
            connection.request("GET", self._target(place, query or {}, True), headers=self._headers(headers))
            underneath = connection.sock
            response = connection.getresponse()
            if response.status != 200:
                raise refusals.from_answer(
                    self.connection.url, response.status, response.headers, response.read()
                )
        except BaseException:
            connection.close()
            raise
        return Stream(connection, response, underneath)

    def _call(
        self,
        method: str,
        place: str,
        query: Query | None,
        body: object,
        headers: Mapping[str, str],
        scoped: bool,
        timeout_seconds: float | None = None,
    ) -> Any:
        content = None if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        target = self._target(place, query or {}, scoped)
        sent = self._headers({**headers, **({} if content is None else {"Content-Type": "application/json"})})
        for attempt in range(1, self.attempts + 1):
            is_last = attempt == self.attempts
            try:
                status, answered, read = self._once(method, target, content, sent, timeout_seconds)
            except ssl.SSLCertVerificationError as error:
                raise self._unreachable(error) from None
            except _CONNECTION_ERRORS as error:
                if is_last:
                    raise self._unreachable(error) from None
                pause(attempt, None)
                continue
            if status in _TRY_AGAIN and not is_last:
                pause(attempt, answered.get("Retry-After"))
                continue
            if not 200 <= status < 300:
                raise refusals.from_answer(self.connection.url, status, answered, read)
            return self._decoded(read, answered)
        raise AssertionError("a call ends in the loop")

    def _once(
        self,
        method: str,
        target: str,
        content: bytes | None,
        headers: Mapping[str, str],
        timeout_seconds: float | None,
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Any trouble closes the connection, so that what comes late is never taken for the next answer."""
        if self._open is None:
            self._open = self._connect(self._timeout_seconds)
        try:
            if timeout_seconds is not None:
                self._open.timeout = timeout_seconds
                if self._open.sock is not None:
                    self._open.sock.settimeout(timeout_seconds)
            self._open.request(method, target, body=content, headers=dict(headers))
            response = self._open.getresponse()
            return response.status, response.headers, response.read()
        except BaseException:
            self.close()
            raise

    def _connect(self, timeout_seconds: float) -> http.client.HTTPConnection:
        parts = urlsplit(self.connection.url)
        assert parts.hostname is not None
        if parts.scheme == "https":
            return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout_seconds)
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout_seconds)

    def _target(self, place: str, query: Query, scoped: bool) -> str:
        given = {key: _text(value) for key, value in query.items() if value is not None}
        if scoped and self.connection.workspace:
            given["workspace"] = self.connection.workspace
        target = urlsplit(self.connection.url).path.rstrip("/") + place
        target = f"{target}?{urlencode(given, quote_via=quote)}" if given else target
        if len(target) > LONGEST_TARGET:
            raise failures.misused(
                f"a name or an option is too long: it makes an address of {len(target):,} characters; "
                f"allowed are {LONGEST_TARGET:,}"
            )
        return target

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        common = {"Accept": "application/json", "User-Agent": "headgate-cli"}
        if self.connection.token:
            common["Authorization"] = f"Bearer {self.connection.token}"
        return {**common, **headers}

    def _decoded(self, read: bytes, headers: http.client.HTTPMessage) -> Any:
        if not read:
            return None
        if headers.get_content_type() != "application/json":
            raise refusals.not_headgate(self.connection.url, headers.get_content_type())
        try:
            return json.loads(read)
        except ValueError:
            raise refusals.not_headgate(self.connection.url, "something that is not JSON") from None

    def _unreachable(self, error: Exception) -> failures.CommandFailure:
        return failures.CommandFailure(
            f"{self.connection.url} cannot be reached: {_reason(error)}; is the server running there? "
            "Another one is chosen with --server, HEADGATE_URL or `headgate context use`",
            exit_codes.UNREACHABLE,
        )


def pause(attempt: int, retry_after: str | None) -> None:
    """Longer each time, with chance in it so that many callers do not come back together."""
    seconds = FIRST_PAUSE_SECONDS * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)
    if retry_after is not None and retry_after.isdecimal():
        seconds = max(seconds, float(retry_after))
    time.sleep(min(seconds, LONGEST_PAUSE_SECONDS))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    if isinstance(error, socket.gaierror):
        return "its name is not known"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    if isinstance(error, http.client.RemoteDisconnected):
        return "it closed the connection without an answer"
    if isinstance(error, OSError):
        return error.strerror or str(error) or type(error).__name__
    return f"its answer is not HTTP ({type(error).__name__})"
