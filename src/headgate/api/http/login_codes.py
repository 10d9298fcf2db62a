"""Links that log a browser in once."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant

CODE_SECONDS = 600
MOST_CODES = 1_000


class _Code(msgspec.Struct, frozen=True):
    credential: str
    until: Instant


class LoginCodes:
    """Codes of links that log in once. Only this process knows them, for a few minutes."""

    def __init__(self, clock: Callable[[], Instant]) -> None:
        self._clock = clock
        self._codes: dict[str, _Code] = {}

    def issue(self, credential: str) -> str:
        now = self._clock()
        self._codes = {code: one for code, one in self._codes.items() if one.until > now}
        while len(self._codes) >= MOST_CODES:
            del self._codes[next(iter(self._codes))]
        code = secrets.token_urlsafe(24)
        self._codes[_digest(code)] = _Code(credential, now + instants.seconds(CODE_SECONDS))
        return code

    def redeem(self, code: str) -> str | None:
        """The credential, once."""
        login = self._codes.pop(_digest(code), None)
        return None if login is None or login.until <= self._clock() else login.credential


def _digest(code: str) -> str:
    """Looked up by this, so that no comparison of codes can be timed."""
    return hashlib.sha256(code.encode()).hexdigest()


def link(address: str, code: str) -> str:
    """What stands behind the # stays in the browser: no log and no proxy sees it."""
    return f"{address.rstrip('/')}/#login={code}"
