"""Tokens as rows of their table."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.store.port import Token


def written(token: Token) -> tuple[object, ...]:
    return (
        token.id,
        token.name,
        token.hash,
        token.workspace,
        token.role,
        msgspec.json.encode(token.permissions),
        msgspec.json.encode(token.agents),
        token.created_at,
        token.created_by,
        token.expires_at,
    )


def read(row: tuple[Any, ...]) -> Token:
    id_, name, digest, workspace, role, permissions, agents, created_at, created_by, expires_at = row
    return Token(
        id_,
        name,
        digest,
        workspace,
        role,
        tuple(msgspec.json.decode(permissions)),
        tuple(msgspec.json.decode(agents)),
        created_at,
        created_by,
        expires_at,
    )
