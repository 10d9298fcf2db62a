"""JWTs of a configured OIDC issuer: its keys are fetched when they are needed and kept."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import aiohttp
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, RSAKey

from headgate.api.authentication import refused
from headgate.api.calls import Principal
from headgate.api.oidc_config import OidcConfig, address_flaw, principal
from headgate.api.problems import unavailable
from headgate.kernel import instants
from headgate.kernel.instants import MICROSECONDS_PER_SECOND, Instant

ALGORITHMS = {"RS256": "RSA", "ES256": "EC"}
"""Asymmetric ones only: with `none` or a shared secret anybody who knows the public key could sign."""
LONGEST_TOKEN = 16 * 1024
FETCH_SECONDS = 5.0
LARGEST_DOCUMENT_BYTES = 1024 * 1024
KEEP_SECONDS = 3600
REFRESH_EVERY_SECONDS = 10

Key = RSAKey | ECKey


class _FetchError(Exception):
    pass


class OidcVerifier:
    def __init__(self, config: OidcConfig, clock: Callable[[], Instant]) -> None:
        self._config = config
        self._clock = clock
        self._keys: list[Key] = []
        self._fetched_at: Instant | None = None
        self._asked_at: Instant | None = None
        self._lock = asyncio.Lock()

    async def verify(self, token: str) -> Principal:
        header, claims = _peek(token)
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            raise refused(
                f"the token is signed with {str(algorithm)[:20]}; allowed are {', '.join(ALGORITHMS)}"
            )
        if claims.get("iss") != self._config.issuer:
            raise refused("the token is of another issuer")
        key = await self._key_for(str(algorithm), header.get("kid"))
        if key is None:
            raise refused("the token is signed with a key that its issuer does not have")
        return self._checked(token, key, str(algorithm))

    def _checked(self, token: str, key: Key, algorithm: str) -> Principal:
        try:
            claims = jwt.decode(token, key, algorithms=[algorithm]).claims
            self._registry().validate(claims)
        except JoseError as error:
            raise refused(f"the token is not valid: {_reason(error)}") from None
        try:
            return principal(self._config, claims)
        except ValueError as error:
            raise refused(str(error)) from None

    def _registry(self) -> jwt.JWTClaimsRegistry:
        return jwt.JWTClaimsRegistry(
            now=self._clock() // MICROSECONDS_PER_SECOND,
            leeway=self._config.leeway_seconds,
            iss={"essential": True, "value": self._config.issuer},
            aud={"essential": True, "value": self._config.audience},
            exp={"essential": True},
        )

    async def _key_for(self, algorithm: str, kid: object) -> Key | None:
        """A key that is not known may be new: then the issuer is asked again, but not for every such token."""
        key = _pick(self._keys, algorithm, kid)
        if key is not None and not self._is_older_than(self._fetched_at, KEEP_SECONDS):
            return key
        async with self._lock:
            known = _pick(self._keys, algorithm, kid)
            if self._is_older_than(self._asked_at, REFRESH_EVERY_SECONDS):
                await self._refresh(known)
            elif self._fetched_at is None:
                raise self._unreachable("it did not answer a moment ago")
        return _pick(self._keys, algorithm, kid)

    async def _refresh(self, known: Key | None) -> None:
        """While the issuer is away, its old keys stay good for what they have signed."""
        self._asked_at = self._clock()
        try:
            self._keys = await _fetch_keys(self._config.issuer)
            self._fetched_at = self._clock()
        except _FetchError as error:
            if known is None:
                raise self._unreachable(str(error)) from None

    def _unreachable(self, reason: str) -> Exception:
        return unavailable(f"the token cannot be checked: {self._config.issuer} gives no keys: {reason}")

    def _is_older_than(self, moment: Instant | None, seconds: int) -> bool:
        return moment is None or self._clock() - moment >= instants.seconds(seconds)


def _peek(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims before anything is proved: only to know which key to look for."""
    if len(token) > LONGEST_TOKEN:
        raise refused(f"the token is longer than {LONGEST_TOKEN} characters")
    try:
        header, claims = (json.loads(_decoded(part)) for part in token.split(".")[:2])
    except (ValueError, RecursionError):
        raise refused("the token is not a JWT") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise refused("the token is not a JWT")
    return header, claims


def _decoded(part: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(part.encode("ascii") + b"=" * (-len(part) % 4))
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError(str(error)) from None


def _pick(keys: Iterable[Key], algorithm: str, kid: object) -> Key | None:
    """Without a key id in the token there must be no choice."""
    fitting = [key for key in keys if key.key_type == ALGORITHMS[algorithm]]
    if kid is None:
        return fitting[0] if len(fitting) == 1 else None
    return next((key for key in fitting if key.kid == kid), None)


async def _fetch_keys(issuer: str) -> list[Key]:
    timeout = aiohttp.ClientTimeout(total=FETCH_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        discovery = await _fetch(session, issuer.rstrip("/") + "/.well-known/openid-configuration")
        if discovery.get("issuer") != issuer:
            raise _FetchError("its discovery document names another issuer")
        address = discovery.get("jwks_uri")
        if not isinstance(address, str) or address_flaw(address) is not None:
            raise _FetchError("its discovery document has no jwks_uri that can be used")
        found = (await _fetch(session, address)).get("keys")
    if not isinstance(found, list):
        raise _FetchError("its key set has no keys")
    return [key for key in map(_imported, found) if key is not None]


async def _fetch(session: aiohttp.ClientSession, address: str) -> Mapping[str, Any]:
    try:
        async with session.get(address, allow_redirects=False) as answer:
            if answer.status != 200:
                raise _FetchError(f"{address} answers {answer.status}")
            body = await _limited(answer, address)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise _FetchError(f"{address}: {error or type(error).__name__}") from None
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise _FetchError(f"{address} answers no JSON") from None
    if not isinstance(document, dict):
        raise _FetchError(f"{address} answers no JSON object")
    return document


async def _limited(answer: aiohttp.ClientResponse, address: str) -> bytes:
    body = bytearray()
    async for chunk in answer.content.iter_chunked(64 * 1024):
        body += chunk
        if len(body) > LARGEST_DOCUMENT_BYTES:
            raise _FetchError(f"{address} answers more than {LARGEST_DOCUMENT_BYTES} bytes")
    return bytes(body)


def _imported(value: Any) -> Key | None:
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


def _reason(error: JoseError) -> str:
    return error.description or error.error
