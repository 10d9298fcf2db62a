"""Browsers: the credential is in a cookie that no script can read, and a write proves that our own page sends it.

The cookie holds the API token or JWT itself, so a session ends when that ends or is removed, on every server at once,
and nothing is kept of it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from headgate.api.calls import Refusal

PROOF_HEADER = "headgate-csrf"
SECONDS = 12 * 3600
_COOKIE = "headgate_session"
_SECURE_COOKIE = "__Host-headgate_session"
"""A browser takes this name only over HTTPS and from this host alone."""
_SAFE_METHODS = ("GET", "HEAD")


def authorization(method: str, headers: Mapping[str, str]) -> str | None:
    """The header Authorization, or what it would be for the session of the cookie. Raises `Refusal` for a write
    without its proof."""
    given = headers.get("authorization")
    if given is not None:
        return given
    credential = _credential(headers.get("cookie", ""))
    if credential is None:
        return None
    sent = headers.get(PROOF_HEADER, "")
    if method not in _SAFE_METHODS and not hmac.compare_digest(sent.encode(), proof(credential).encode()):
        raise Refusal(
            403,
            "The request does not come from the console",
            "a change with a session cookie needs the header Headgate-Csrf with what GET /v1/session answers as csrf",
        )
    return f"Bearer {credential}"


def of_cookie(headers: Mapping[str, str]) -> str | None:
    """What the cookie holds, if it is the cookie that says who calls."""
    return None if headers.get("authorization") else _credential(headers.get("cookie", ""))


def proof(credential: str) -> str:
    """What a page must send with a write. Another site cannot know it: it can neither read the cookie nor the answer."""
    return hmac.new(credential.encode(), b"headgate console", hashlib.sha256).hexdigest()


def opening(credential: str, public_url: str, seconds: int) -> str:
    """The header Set-Cookie that begins a session."""
    return _cookie(credential, public_url, seconds)


def closing(public_url: str) -> str:
    """The header Set-Cookie that ends a session."""
    return _cookie("", public_url, 0)


def _cookie(value: str, public_url: str, seconds: int) -> str:
    is_secure = public_url.startswith("https://")
    name = _SECURE_COOKIE if is_secure else _COOKIE
    parts = [f"{name}={value}", "Path=/", f"Max-Age={seconds}", "HttpOnly", "SameSite=Strict"]
    return "; ".join([*parts, "Secure"] if is_secure else parts)


def _credential(cookies: str) -> str | None:
    for part in cookies.split(";"):
        name, _, value = part.strip().partition("=")
        if name in (_COOKIE, _SECURE_COOKIE) and value:
            return value
    return None
