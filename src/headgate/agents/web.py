"""Requests to other systems, bounded in time, size and redirects."""

from __future__ import annotations

import email.utils
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import aiohttp
import msgspec
from yarl import URL

from headgate.agents.addresses import OUTSIDE, Addresses, AddressRefusedError, CheckedResolver
from headgate.agents.port import TryLaterError
from headgate.fleet.model import hiding
from headgate.kernel.problems import Problem, Rejected

DEFAULT_TIMEOUT_SECONDS = 30.0
CONNECT_TIMEOUT_SECONDS = 10.0
LARGEST_ANSWER_BYTES = 8 * 1024 * 1024
MOST_REDIRECTS = 5
LONGEST_WAIT_SECONDS = 3_600.0


class WebAnswer(msgspec.Struct, frozen=True):
    """`headers` by lower-case name; `body` is cut at the limit, and then `is_cut`."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool = False

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    def document(self) -> Any:
        """The body as JSON; None when it is something else."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def fields(self) -> dict[str, Any]:
        document = self.document()
        return document if isinstance(document, dict) else {}

    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def retry_after_seconds(self) -> float | None:
        given = self.headers.get("retry-after", "").strip()
        if not given:
            return None
        if given.isascii() and given.isdigit():
            return min(float(given[:9]), LONGEST_WAIT_SECONDS)
        try:
            moment = email.utils.parsedate_to_datetime(given)
        except ValueError:
            return None
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        wait = (moment - datetime.now(UTC)).total_seconds()
        return min(max(wait, 0.0), LONGEST_WAIT_SECONDS)


class Web:
    """One pool of connections, made on first use, to addresses that may be reached."""

    def __init__(self, addresses: Addresses | None = None) -> None:
        self._addresses = addresses or Addresses(OUTSIDE)
        self._session: aiohttp.ClientSession | None = None

    async def call(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        largest_bytes: int = LARGEST_ANSWER_BYTES,
        verify: bool = True,
    ) -> WebAnswer:
        """Raises TryLaterError when there is no answer, Rejected for an address that may not be reached.

        Redirects are followed on the same host only, which is looked at anew.
        """
        address = _parsed(url)
        for _ in range(MOST_REDIRECTS):
            answer = await self._once(
                method, address, dict(headers or {}), body, timeout_seconds, largest_bytes, verify
            )
            onward = _onward(method, address, answer)
            if onward is None:
                return answer
            address = onward
        raise TryLaterError(f"{place_of(address)} redirects more than {MOST_REDIRECTS} times")

    async def _once(
        self,
        method: str,
        address: URL,
        headers: dict[str, str],
        body: bytes | None,
        timeout_seconds: float,
        largest_bytes: int,
        verify: bool,
    ) -> WebAnswer:
        timeout = aiohttp.ClientTimeout(
            total=timeout_seconds, sock_connect=min(CONNECT_TIMEOUT_SECONDS, timeout_seconds)
        )
        _refuse_two_credentials(address, headers)
        try:
            self._addresses.check_literal(address)
            async with self._opened().request(
                method,
                address,
                headers=headers,
                data=body,
                timeout=timeout,
                allow_redirects=False,
                ssl=verify,
            ) as response:
                content, is_cut = await _content(response, largest_bytes)
                names = {name.lower(): value for name, value in response.headers.items()}
                return WebAnswer(response.status, names, content, is_cut)
        except aiohttp.InvalidURL:
            raise _unusable(address) from None
        except AddressRefusedError as error:
            raise Rejected((Problem("config", str(error)),)) from None
        except TimeoutError as error:
            was_sent = not isinstance(error, aiohttp.ConnectionTimeoutError)
            message = f"{place_of(address)} did not answer within {timeout_seconds:g} s"
            raise TryLaterError(message, was_sent=was_sent) from None
        except aiohttp.ClientConnectorError as error:
            message = f"{place_of(address)} cannot be reached: {_cause(error)}"
            raise TryLaterError(message, was_sent=False) from None
        except ValueError as error:
            message = f"{place_of(address)} cannot be asked like this: {type(error).__name__}"
            raise Rejected((Problem("config", message),)) from None
        except (aiohttp.ClientError, OSError) as error:
            message = f"{place_of(address)} broke the connection off: {_cause(error)}"
            raise TryLaterError(message) from None

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            connector = aiohttp.TCPConnector(resolver=CheckedResolver(self._addresses), use_dns_cache=False)
            self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), headers={"User-Agent": "headgate"}
            )
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


async def _content(response: aiohttp.ClientResponse, largest_bytes: int) -> tuple[bytes, bool]:
    content = bytearray()
    async for chunk in response.content.iter_chunked(65_536):
        content += chunk
        if len(content) > largest_bytes:
            response.close()
            return bytes(content[:largest_bytes]), True
    return bytes(content), False


def _onward(method: str, address: URL, answer: WebAnswer) -> URL | None:
    """Where a redirect leads; credentials must not follow it to another host, nor a body be lost on the way."""
    if answer.status not in (301, 302, 303, 307, 308) or "location" not in answer.headers:
        return None
    if method not in ("GET", "HEAD") and answer.status not in (307, 308):
        return None
    try:
        onward = address.join(URL(answer.headers["location"]))
    except ValueError:
        return None
    return onward if onward.origin() == address.origin() else None


def _parsed(url: str) -> URL:
    try:
        address = URL(url)
    except ValueError:
        raise _unusable(url) from None
    if address.scheme not in ("http", "https") or not address.host:
        raise _unusable(url)
    return address


def _refuse_two_credentials(address: URL, headers: Mapping[str, str]) -> None:
    if (address.user or address.password) and any(name.lower() == "authorization" for name in headers):
        message = f"the address of {place_of(address)} has a user beside a header Authorization; allowed is one of them"
        raise Rejected((Problem("config", message),))


def _unusable(address: URL | str) -> Rejected:
    hidden_address = hiding.of_address(str(address)).split("?")[0][:80]
    return Rejected(
        (
            Problem(
                "config",
                f'has the address "{hidden_address}"; allowed is one that begins with http:// or https://',
            ),
        )
    )


def segment(value: str, field: str) -> str:
    """A value as one segment of a path, and never a step to another place. Raises Rejected."""
    if value in ("", ".", ".."):
        message = f'is "{value}", which would lead to another address; allowed is any other name'
        raise Rejected((Problem(f"config.{field}", message),))
    return quote(value, safe="")


def place_of(address: URL | str) -> str:
    """Host and port alone: the rest of an address may hold a secret."""
    address = _parsed(address) if isinstance(address, str) else address
    return f"{address.host}:{address.port}"


def _cause(error: BaseException) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return "its certificate is not trusted"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it closed the connection without an answer"
    inner = getattr(error, "os_error", None) or error
    text = getattr(inner, "strerror", None)
    return str(text).lower() if text else type(inner).__name__
