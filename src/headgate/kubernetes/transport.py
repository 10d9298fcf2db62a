"""Requests to one API server: one pool of connections, credentials asked for each time, time-outs, and reads repeated."""

from __future__ import annotations

import asyncio
import base64
import random
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec
from yarl import URL

from headgate.kernel.backoffs import Backoff
from headgate.kubernetes import errors
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.errors import NonsenseError, UnreachableError
from headgate.kubernetes.identities import ApiIdentity, ClientCertificate

TIMEOUT_SECONDS = 30.0
CONNECT_SECONDS = 10.0
MOST_READS = 5
"""How often a read is tried at most, the first time included."""
MOST_CONNECTIONS = 100
LONGEST_WAIT_SECONDS = 30.0
JSON = "application/json"
_GOODBYE_SECONDS = 0.25

Sleep = Callable[[float], Awaitable[None]]


class ApiRequest(msgspec.Struct, frozen=True):
    method: str
    path: str
    query: Mapping[str, str] = {}
    body: bytes | None = None
    content_type: str = JSON
    accept: str = JSON
    headers: Mapping[str, str] = {}
    timeout_seconds: float = TIMEOUT_SECONDS
    read_seconds: float | None = None
    """The longest silence, for answers without an end; these have no time-out otherwise."""

    @property
    def is_read(self) -> bool:
        return self.method == "GET"


class ApiAnswer(msgspec.Struct, frozen=True):
    """`headers` by lower-case name."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def document(self) -> Any:
        """Raises NonsenseError."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            message = f"the API server's answer with status {self.status} is not JSON"
            raise NonsenseError(message, status=self.status) from None


class Transport:
    """`sleep` and `backoff` are how it waits between two reads; tests bring their own."""

    def __init__(
        self,
        access: ClusterAccess,
        *,
        backoff: Backoff | None = None,
        sleep: Sleep = asyncio.sleep,
        user_agent: str = "headgate",
    ) -> None:
        self.access = access
        self._backoff = backoff or Backoff(first_seconds=0.2, most_seconds=10.0, chance=random.random)
        self._sleep = sleep
        self._user_agent = user_agent
        self._session: aiohttp.ClientSession | None = None
        self._was_cut_off = False
        self._trust: tuple[ClientCertificate | None, ssl.SSLContext] | None = None

    async def __aenter__(self) -> Transport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
            if self._was_cut_off:
                # A connection that was left in the middle of an answer is not in the pool any more. It says goodbye by
                # itself, and needs a moment for it, in a loop that may end now.
                await asyncio.sleep(_GOODBYE_SECONDS)

    async def ask(self, request: ApiRequest) -> ApiAnswer:
        """A good answer, or one of the errors. Reads are tried again while the server cannot be reached or asks for
        patience; writes are not, since only whoever wrote knows whether they may be repeated."""
        failures = 0
        while True:
            try:
                return await self._asked(request)
            except (UnreachableError, errors.TooManyRequestsError) as error:
                failures += 1
                if not request.is_read or failures >= MOST_READS:
                    raise
                wait = error.after_seconds or self._backoff.seconds(failures)
            await self._sleep(min(wait, LONGEST_WAIT_SECONDS))

    async def _asked(self, request: ApiRequest) -> ApiAnswer:
        async with self.open(request) as response:
            body = await response.read()
            headers = {name.lower(): value for name, value in response.headers.items()}
            return ApiAnswer(response.status, headers, body)

    @asynccontextmanager
    async def open(self, request: ApiRequest) -> AsyncIterator[aiohttp.ClientResponse]:
        """A good answer whose body the caller reads; what breaks meanwhile is one of the errors too. A server that
        does not know the caller is asked once more, with credentials made anew."""
        is_second = False
        while True:
            async with self._opened(request) as response:
                if response.status == 401 and not is_second:
                    self.access.identities.expire()
                    is_second = True
                    continue
                if response.status >= 300:
                    raise await _error(response)
                yield response
                return

    @asynccontextmanager
    async def _opened(self, request: ApiRequest) -> AsyncIterator[aiohttp.ClientResponse]:
        identity = await self.access.identities.identity()
        place = URL(self.access.server).host or self.access.server
        is_sent = False
        try:
            async with self._sending(request, identity) as response:
                is_sent = True
                yield response
        except (asyncio.CancelledError, GeneratorExit):
            self._was_cut_off = self.access.is_encrypted
            raise
        except TimeoutError as error:
            was_sent = not isinstance(error, aiohttp.ConnectionTimeoutError)
            seconds = request.read_seconds if request.read_seconds is not None else request.timeout_seconds
            raise UnreachableError(f"{place} is silent for {seconds:g} s", was_sent=was_sent) from None
        except aiohttp.ClientConnectorError as error:
            raise UnreachableError(f"{place} cannot be reached: {_cause(error)}", was_sent=False) from None
        except (aiohttp.ClientError, OSError) as error:
            verb = "broke the answer off" if is_sent else "broke the connection off"
            raise UnreachableError(f"{place} {verb}: {_cause(error)}") from None

    def _sending(self, request: ApiRequest, identity: ApiIdentity) -> aiohttp.client._RequestContextManager:
        address = URL(self.access.server + request.path, encoded=True)
        timeout = aiohttp.ClientTimeout(
            total=request.timeout_seconds if request.read_seconds is None else None,
            sock_connect=min(CONNECT_SECONDS, request.timeout_seconds),
            sock_read=request.read_seconds,
        )
        return self._pool().request(
            request.method,
            address.with_query(dict(request.query)) if request.query else address,
            data=request.body,
            headers=self._headers(request, identity),
            timeout=timeout,
            allow_redirects=False,
            proxy=self.access.proxy or None,
            ssl=self._trusted(identity.certificate) if self.access.is_encrypted else True,
            server_hostname=self.access.server_name or None,
        )

    def _headers(self, request: ApiRequest, identity: ApiIdentity) -> list[tuple[str, str]]:
        headers = [("Accept", request.accept), ("User-Agent", self._user_agent), *self.access.headers]
        if request.body is not None:
            headers.append(("Content-Type", request.content_type))
        if not self.access.is_compressed:
            headers.append(("Accept-Encoding", "identity"))
        if identity.token:
            headers.append(("Authorization", f"Bearer {identity.token}"))
        elif identity.basic is not None:
            basic = base64.b64encode(":".join(identity.basic).encode()).decode()
            headers.append(("Authorization", f"Basic {basic}"))
        return [*headers, *request.headers.items()]

    def _trusted(self, certificate: ClientCertificate | None) -> ssl.SSLContext:
        """One context, and so one pool of connections, until the certificate is another."""
        if self._trust is None or self._trust[0] != certificate:
            self._trust = (certificate, self.access.trust(certificate))
        return self._trust[1]

    def _pool(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=MOST_CONNECTIONS), cookie_jar=aiohttp.DummyCookieJar()
            )
        return self._session


async def _error(response: aiohttp.ClientResponse) -> errors.ApiError:
    body = await response.read()
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        document = None
    after = response.headers.get("Retry-After", "").strip()
    after_seconds = float(after[:6]) if after.isascii() and after.isdigit() else None
    return errors.of_answer(response.status, document, after_seconds)


def _cause(error: BaseException) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"its certificate is not trusted: {error.certificate_error}"
    inner = getattr(error, "os_error", None) or error
    text = getattr(inner, "strerror", None)
    return str(text).lower() if text else (str(inner) or type(inner).__name__)
