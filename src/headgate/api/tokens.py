"""API tokens. The secret is shown once; only its hash is kept, which is enough because the secret is random.

When each was used last is kept to the minute or so: whoever cleans up wants to know which ones nobody needs.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import secrets
import unicodedata
import uuid
from collections.abc import Callable, Iterable

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.runtime.commands import ENGINE
from headgate.store.port import Store, Token, UnavailableError

PREFIX = "hg_"
_RANDOM_BYTES = 32
PERSON_SIGN = "@"
"""In the name of every person that an OIDC provider vouches for, and of no token: nobody takes the other's name."""
_NAME = re.compile(r"[A-Za-z0-9](?:[ ]?[A-Za-z0-9._:/+-])*", re.ASCII)
"""No two that differ look the same, as those with letters of several alphabets or with double spaces would."""
_SECRET = re.compile(r"hg_[A-Za-z0-9_-]{43}", re.ASCII)

_NOTED_EVERY_SECONDS = 60
_USE_KIND = "TokenUse"
_EVERYWHERE = ""
"""They are kept beside all workspaces: a token may be good for several."""
_log = logging.getLogger("headgate.tokens")


def issue(
    *,
    name: str,
    workspace: str | None,
    role: str | None,
    now: Instant,
    permissions: Iterable[str] = (),
    agents: Iterable[str] = (),
    created_by: str = "",
    expires_at: Instant | None = None,
) -> tuple[str, Token]:
    """The secret, and what to store of it."""
    secret = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    token = Token(
        id=str(uuid.uuid4()),
        name=name,
        hash=digest(secret),
        workspace=workspace,
        role=role,
        permissions=tuple(permissions),
        agents=tuple(agents),
        created_at=now,
        created_by=created_by,
        expires_at=expires_at,
    )
    return secret, token


def name_flaw(name: str) -> str | None:
    """The name of a token is a user's name in approvals, audit log and events."""
    if PERSON_SIGN in unicodedata.normalize("NFKC", name):
        return f"is {name!r}; allowed is any name without {PERSON_SIGN!r}, which is in the names of people"
    if sounds_like(name) == sounds_like(ENGINE.user):
        return f"is {name!r}, which is the engine's own name; allowed is any other"
    if not _NAME.fullmatch(name):
        return (
            f"is {name!a}; allowed are letters a to z, digits, single spaces and . _ : / + -, beginning with a "
            "letter or digit, so that nobody is taken for somebody else"
        )
    return None


def sounds_like(name: str) -> str:
    """Names that people take for the same have the same."""
    return unicodedata.normalize("NFKC", name).casefold()


def digest(secret: str) -> str:
    """Looked up by this, so that no comparison of secrets can be timed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def looks_like_secret(text: str) -> bool:
    return _SECRET.fullmatch(text) is not None


def has_expired(token: Token, now: Instant) -> bool:
    return token.expires_at is not None and token.expires_at <= now


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


def last_uses(store: Store) -> dict[str, Instant]:
    """By the token's id."""
    found = store.documents(_EVERYWHERE, _USE_KIND)
    return {token: msgspec.json.decode(document, type=int) for token, document in found.items()}


def forget_use(store: Store, token: str) -> None:
    store.remove_document(_EVERYWHERE, _USE_KIND, token)
