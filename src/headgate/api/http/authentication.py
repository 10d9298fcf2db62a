"""Who calls: the bearer of an API token, or of a JWT that an OIDC provider has signed.

When each token was used last is kept to the minute or so: whoever cleans up wants to know which ones nobody needs.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections.abc import Callable
from typing import Protocol

import msgspec

from headgate.api.http import permissions
from headgate.api.http.calls import Principal, Refusal
from headgate.api.http.problems import RefusalWithHeaders
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.store.port import Store, Token, UnavailableError

REMEMBERED_SECONDS = 5
MOST_REMEMBERED = 10_000
ANONYMOUS = Principal("", {})
PREFIX = "hg_"
_SECRET = re.compile(r"hg_[A-Za-z0-9_-]{43}", re.ASCII)
_CHALLENGE = 'Bearer realm="headgate"'
_NOTED_EVERY_SECONDS = 60
_USE_KIND = "TokenUse"
_EVERYWHERE = ""
"""They are kept beside all workspaces: a token may be good for several."""
_log = logging.getLogger("headgate.tokens")


class JwtVerifier(Protocol):
    async def verify(self, token: str) -> Principal:
        """Raises `Refusal`."""
        ...


class _Remembered(msgspec.Struct, frozen=True):
    principal: Principal
    until: Instant


class TokenUses:
    """Nobody waits for what it writes down, and a database that is away loses a minute of it."""

    def __init__(self, store: Store, clock: Callable[[], Instant]) -> None:
        self._store = store
        self._clock = clock
        self._written: dict[str, Instant] = {}
        self._writing: set[asyncio.Task[None]] = set()

    def note(self, token: str) -> None:
        now = self._clock()
        if now - self._written.get(token, 0) < instants.seconds(_NOTED_EVERY_SECONDS):
            return
        self._written[token] = now
        task = asyncio.create_task(self._write(token, now))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _write(self, token: str, now: Instant) -> None:
        try:
            await asyncio.to_thread(
                self._store.put_document, _EVERYWHERE, _USE_KIND, token, msgspec.json.encode(now)
            )
        except UnavailableError as error:
            _log.warning("that the token %s was used is not written down: %s", token, error)


class Authenticator:
    """Looks a token up at most once every few seconds; `forget` makes a removal count at once in this process."""

    def __init__(self, store: Store, clock: Callable[[], Instant], oidc: JwtVerifier | None = None) -> None:
        self._store = store
        self._clock = clock
        self._oidc = oidc
        self._uses = TokenUses(store, clock)
        self._remembered: dict[str, _Remembered] = {}

    async def __call__(self, authorization: str | None) -> Principal:
        secret = _bearer(authorization)
        if secret.startswith(PREFIX):
            return await self._by_token(secret)
        if self._oidc is not None and secret.count(".") == 2:
            return await self._oidc.verify(secret)
        raise refused("the token is not one of this service")

    def forget(self) -> None:
        self._remembered.clear()

    async def _by_token(self, secret: str) -> Principal:
        if not _SECRET.fullmatch(secret):
            raise refused("the token is not one of this service")
        hashed, now = digest(secret), self._clock()
        known = self._remembered.get(hashed)
        principal = (
            known.principal if known is not None and now < known.until else await self._look_up(hashed, now)
        )
        if principal is None:
            raise refused("the token is unknown, or was removed")
        if principal.expires_at is not None and principal.expires_at <= self._clock():
            raise refused(f"the token {principal.user} has expired")
        self._uses.note(principal.token)
        return principal

    async def _look_up(self, hashed: str, now: Instant) -> Principal | None:
        self._remembered.pop(hashed, None)
        token = await asyncio.to_thread(self._store.token_by_hash, hashed)
        if token is None:
            return None
        if len(self._remembered) >= MOST_REMEMBERED:
            self._remembered.clear()
        principal = principal_of(token)
        self._remembered[hashed] = _Remembered(principal, now + instants.seconds(REMEMBERED_SECONDS))
        return principal


def principal_of(token: Token) -> Principal:
    granted = permissions.granted(token.role, token.permissions)
    roles = {token.workspace or "*": frozenset({token.role})} if token.role is not None else {}
    return Principal(
        token.name,
        {token.workspace or "*": granted},
        frozenset(token.agents),
        roles,
        token.expires_at,
        token.id,
    )


def _bearer(authorization: str | None) -> str:
    if not authorization:
        raise RefusalWithHeaders(
            401,
            "A token is required",
            "send the header Authorization: Bearer with an API token",
            {"WWW-Authenticate": _CHALLENGE},
        )
    scheme, _, credentials = authorization.strip().partition(" ")
    if scheme.lower() != "bearer" or not credentials.strip():
        raise refused("the header Authorization must be Bearer, a space and the token")
    return credentials.strip()


def refused(detail: str) -> Refusal:
    quoted = detail.replace("\\", "").replace('"', "'").encode("ascii", "replace").decode()
    challenge = f'{_CHALLENGE}, error="invalid_token", error_description="{quoted}"'
    return RefusalWithHeaders(401, "The token is not valid", detail, {"WWW-Authenticate": challenge})


def digest(secret: str) -> str:
    """Looked up by this, so that no comparison of secrets can be timed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def last_uses(store: Store) -> dict[str, Instant]:
    """By the token's id."""
    uses = store.documents(_EVERYWHERE, _USE_KIND)
    return {token: msgspec.json.decode(document, type=int) for token, document in uses.items()}


def forget_use(store: Store, token: str) -> None:
    store.remove_document(_EVERYWHERE, _USE_KIND, token)
