"""Browsers: the credential is in a cookie that no script can read, and a write proves that our own page sends it.

The cookie holds the API token or JWT itself, so a session ends when that ends or is removed, on every server at once,
and nothing is kept of it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from headgate.api.http.calls import Refusal

PROOF_HEADER = "headgate-csrf"
SECONDS = 12 * 3600
_COOKIE = "headgate_session"
_ATTEMPT = "headgate_login"
_SECURE_PREFIX = "__Host-"
"""A browser takes such a name only over HTTPS and from this host alone."""
_SAFE_METHODS = ("GET", "HEAD")


def authorization(method: str, headers: Mapping[str, str], public_url: str) -> str | None:
    """The header Authorization, or what it would be for the session of the cookie. Raises `Refusal` for a write
    without its proof."""
    given = headers.get("authorization")
    if given is not None:
        return given
    credential = _value(headers, public_url, _COOKIE)
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


def of_cookie(headers: Mapping[str, str], public_url: str) -> str | None:
    """What the cookie holds, if it is the cookie that says who calls."""
    return None if headers.get("authorization") else _value(headers, public_url, _COOKIE)


def proof(credential: str) -> str:
    """What a page must send with a write. Another site cannot know it: it can neither read the cookie nor the answer."""
    return hmac.new(credential.encode(), b"headgate console", hashlib.sha256).hexdigest()


def opening(credential: str, public_url: str, seconds: int) -> str:
    """The header Set-Cookie that begins a session."""
    return _cookie(credential, public_url, seconds)


def closing(public_url: str) -> str:
    """The header Set-Cookie that ends a session."""
    return _cookie("", public_url, 0)


def attempt_opening(attempt: str, public_url: str, seconds: int) -> str:
    """The header Set-Cookie that binds a login at a provider to this browser. It is sent when the provider sends the
    browser back, which is a request from another site."""
    return _cookie(attempt, public_url, seconds, _ATTEMPT, "Lax")


def attempt_closing(public_url: str) -> str:
    return _cookie("", public_url, 0, _ATTEMPT, "Lax")


def attempt_of(headers: Mapping[str, str], public_url: str) -> str | None:
    return _value(headers, public_url, _ATTEMPT)


def _cookie(value: str, public_url: str, seconds: int, name: str = _COOKIE, same_site: str = "Strict") -> str:
    parts = [
        f"{_whole_name(name, public_url)}={value}",
        "Path=/",
        f"Max-Age={seconds}",
        "HttpOnly",
        f"SameSite={same_site}",
    ]
    return "; ".join([*parts, "Secure"] if _is_secure(public_url) else parts)


def _value(headers: Mapping[str, str], public_url: str, name: str) -> str | None:
    """Over HTTPS, of no other name than the one that a browser takes from this host alone: a neighbour under the same
    domain could have set any other, and whoever came would work as that neighbour."""
    wanted = _whole_name(name, public_url)
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return next((value for key, _, value in pairs if key == wanted and value), None)


def _whole_name(name: str, public_url: str) -> str:
    return _SECURE_PREFIX + name if _is_secure(public_url) else name


def _is_secure(public_url: str) -> bool:
    return public_url.lower().startswith("https://")
