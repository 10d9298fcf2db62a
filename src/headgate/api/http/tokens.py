"""API tokens as they are made. The secret is shown once; only its hash is kept, which is enough because the secret is random."""

from __future__ import annotations

import re
import secrets
import unicodedata
import uuid
from collections.abc import Iterable

from headgate.api.http import authentication
from headgate.kernel.instants import Instant
from headgate.runtime.commands import ENGINE
from headgate.store.port import Token

_RANDOM_BYTES = 32
PERSON_SIGN = "@"
"""In the name of every person that an OIDC provider vouches for, and of no token: nobody takes the other's name."""
_NAME = re.compile(r"[A-Za-z0-9](?:[ ]?[A-Za-z0-9._:/+-])*", re.ASCII)
"""No two that differ look the same, as those with letters of several alphabets or with double spaces would."""


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
    secret = authentication.PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    token = Token(
        id=str(uuid.uuid4()),
        name=name,
        hash=authentication.digest(secret),
        workspace=workspace,
        role=role,
        permissions=tuple(permissions),
        agents=tuple(agents),
        created_at=now,
        created_by=created_by,
        expires_at=expires_at,
    )
    return secret, token


def name_problem(name: str) -> str | None:
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


def has_expired(token: Token, now: Instant) -> bool:
    return token.expires_at is not None and token.expires_at <= now
