"""ETags are of the bytes that are answered, so whoever read an object can say which one was meant."""

from __future__ import annotations

import hashlib

from headgate.api.calls import Refusal


def of(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def check(if_match: str | None, current: bytes | None) -> None:
    """`current` is None where there is nothing; then no condition can hold."""
    if if_match is None:
        return
    if current is not None and _holds(if_match, of(current)):
        return
    found = f"its ETag is {of(current)}" if current is not None else "there is nothing of that name"
    raise Refusal(
        412,
        "The object has changed",
        f"If-Match is {if_match[:100]}, but {found}; read it again before changing it",
    )


def _holds(if_match: str, etag: str) -> bool:
    wanted = [one.strip() for one in if_match.split(",")]
    return "*" in wanted or etag in wanted
