"""JWTs of a configured OIDC issuer: its keys are fetched when they are needed and kept."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Callable, Iterable
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError

from headgate.api.http.authentication import refused
from headgate.api.http.calls import Principal
from headgate.api.http.oidc_config import OidcConfig, principal
from headgate.api.http.oidc_provider import KEEP_SECONDS, IdentityProviderError, KnownProvider, SigningKey
from headgate.api.http.problems import unavailable
from headgate.kernel import instants
from headgate.kernel.instants import MICROSECONDS_PER_SECOND, Instant

ALGORITHMS = {"RS256": "RSA", "ES256": "EC"}
"""Asymmetric ones only: with `none` or a shared secret anybody who knows the public key could sign."""
LONGEST_TOKEN = 16 * 1024
REFRESH_EVERY_SECONDS = 10


class OidcVerifier:
    def __init__(self, config: OidcConfig, clock: Callable[[], Instant]) -> None:
        self.provider = KnownProvider(config.issuer, clock)
        self._config = config
        self._clock = clock
        self._keys: list[SigningKey] = []
        self._fetched_at: Instant | None = None
        self._asked_at: Instant | None = None
        self._lock = asyncio.Lock()

    async def verify(self, token: str) -> Principal:
        try:
            return principal(self._config, await self.claims(token))
        except ValueError as error:
            raise refused(str(error)) from None

    async def claims(self, token: str) -> dict[str, Any]:
        """What the token says, once everything about it is proved. Raises `Refusal`."""
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

    def _checked(self, token: str, key: SigningKey, algorithm: str) -> dict[str, Any]:
        try:
            claims = jwt.decode(token, key, algorithms=[algorithm]).claims
            self._registry().validate(claims)
        except JoseError as error:
            raise refused(f"the token is not valid: {_reason(error)}") from None
        return claims

    def _registry(self) -> jwt.JWTClaimsRegistry:
        return jwt.JWTClaimsRegistry(
            now=self._clock() // MICROSECONDS_PER_SECOND,
            leeway=self._config.leeway_seconds,
            iss={"essential": True, "value": self._config.issuer},
            aud={"essential": True, "values": list(self._config.audiences)},
            exp={"essential": True},
        )

    async def _key_for(self, algorithm: str, kid: object) -> SigningKey | None:
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

    async def _refresh(self, known: SigningKey | None) -> None:
        """While the issuer is away, its old keys stay good for what they have signed."""
        self._asked_at = self._clock()
        try:
            self._keys = await self.provider.keys()
            self._fetched_at = self._clock()
        except IdentityProviderError as error:
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


def _pick(keys: Iterable[SigningKey], algorithm: str, kid: object) -> SigningKey | None:
    """Without a key id in the token there must be no choice."""
    fitting = [key for key in keys if key.key_type == ALGORITHMS[algorithm]]
    if kid is None:
        return fitting[0] if len(fitting) == 1 else None
    return next((key for key in fitting if key.kid == kid), None)


def _reason(error: JoseError) -> str:
    return error.description or error.error
