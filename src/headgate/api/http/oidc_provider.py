"""What an OIDC provider says over HTTP: where its pages are, what its keys are, and whom a code is for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote_plus

import aiohttp
import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from headgate.api.http.oidc_config import address_problem
from headgate.kernel import instants
from headgate.kernel.instants import Instant

FETCH_SECONDS = 5.0
KEEP_SECONDS = 3600
"""How long what a provider says of itself is good; providers change it seldom, and anybody can make us ask."""
LARGEST_DOCUMENT_BYTES = 1024 * 1024

SigningKey = RSAKey | ECKey


class IdentityProviderError(Exception):
    """The provider is away, or says something that cannot be used; a sentence for the log."""


class ProviderMetadata(msgspec.Struct, frozen=True):
    """Its own addresses, each one checked."""

    document: Mapping[str, Any]

    def address(self, name: str) -> str:
        url = self.document.get(name)
        if not isinstance(url, str) or address_problem(url) is not None:
            raise IdentityProviderError(f"its discovery document has no {name} that can be used")
        return url


class KnownProvider:
    """One issuer. Its discovery document is fetched when it is needed, kept for a while, and fetched anew with its keys."""

    def __init__(self, issuer: str, clock: Callable[[], Instant]) -> None:
        self._issuer = issuer
        self._clock = clock
        self._metadata: ProviderMetadata | None = None
        self._fetched_at: Instant = 0
        self._lock = asyncio.Lock()

    async def metadata(self) -> ProviderMetadata:
        """However many ask at once, the provider is asked once."""
        async with self._lock:
            known = self._metadata
            if known is not None and self._clock() - self._fetched_at < instants.seconds(KEEP_SECONDS):
                return known
            async with _session() as session:
                return await self._discover(session)

    async def keys(self) -> list[SigningKey]:
        """With where they are: whoever asks has met a key that is not known."""
        async with self._lock, _session() as session:
            discovery = await self._discover(session)
            jwks = (await _fetch(session, "GET", discovery.address("jwks_uri"))).get("keys")
        if not isinstance(jwks, list):
            raise IdentityProviderError("its key set has no keys")
        return [key for key in map(_imported, jwks) if key is not None]

    async def redeem(self, form: Mapping[str, str], client: tuple[str, str] | None) -> str:
        """The ID token that the provider gives for a code. `client` is its id and secret, if it has one."""
        endpoint = (await self.metadata()).address("token_endpoint")
        proof = None if client is None else aiohttp.BasicAuth(*(quote_plus(part) for part in client))
        async with _session() as session:
            answer = await _fetch(session, "POST", endpoint, data=form, auth=proof)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise IdentityProviderError("it gives no ID token for the code; is openid among the scopes?")
        return token

    async def _discover(self, session: aiohttp.ClientSession) -> ProviderMetadata:
        address = self._issuer.rstrip("/") + "/.well-known/openid-configuration"
        document = await _fetch(session, "GET", address)
        if document.get("issuer") != self._issuer:
            raise IdentityProviderError("its discovery document names another issuer")
        self._metadata = ProviderMetadata(document)
        self._fetched_at = self._clock()
        return self._metadata


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=FETCH_SECONDS))


async def _fetch(
    session: aiohttp.ClientSession, method: str, address: str, **given: Any
) -> Mapping[str, Any]:
    try:
        async with session.request(method, address, allow_redirects=False, **given) as answer:
            if answer.status != 200:
                raise IdentityProviderError(f"{address} answers {answer.status}")
            body = await _limited(answer, address)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise IdentityProviderError(f"{address}: {error or type(error).__name__}") from None
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise IdentityProviderError(f"{address} answers no JSON") from None
    if not isinstance(document, dict):
        raise IdentityProviderError(f"{address} answers no JSON object")
    return document


async def _limited(answer: aiohttp.ClientResponse, address: str) -> bytes:
    body = bytearray()
    async for chunk in answer.content.iter_chunked(64 * 1024):
        body += chunk
        if len(body) > LARGEST_DOCUMENT_BYTES:
            raise IdentityProviderError(f"{address} answers more than {LARGEST_DOCUMENT_BYTES} bytes")
    return bytes(body)


def _imported(value: Any) -> SigningKey | None:
    """Keys that are for something else, or that cannot be read, are none of ours."""
    if not isinstance(value, dict) or value.get("use", "sig") != "sig":
        return None
    try:
        match value.get("kty"):
            case "RSA":
                return RSAKey.import_key(_public(value, ("n", "e")))
            case "EC" if value.get("crv") == "P-256":
                return ECKey.import_key(_public(value, ("crv", "x", "y")))
    except (JoseError, ValueError, TypeError, KeyError):
        return None
    return None


def _public(value: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {key: value[key] for key in ("kty", "kid", *fields) if key in value}
