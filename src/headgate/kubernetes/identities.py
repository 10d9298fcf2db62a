"""Who one is to an API server: a token, a client certificate, a user and password, and where these come from anew.

Tokens and certificates of clusters live for an hour or a day, so whoever asks a server asks here first, each time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from headgate.kernel.problems import Problem, Rejected

REREAD_SECONDS = 10.0


class ClientCertificate(msgspec.Struct, frozen=True):
    """In PEM."""

    certificate: bytes
    key: bytes


class ApiIdentity(msgspec.Struct, frozen=True):
    token: str = ""
    basic: tuple[str, str] | None = None
    certificate: ClientCertificate | None = None


class IdentitySource(Protocol):
    async def identity(self) -> ApiIdentity:
        """As of now. Raises Rejected with the field that it cannot be had from."""

    def expire(self) -> None:
        """The server did not take it: the next one is made anew."""


class FixedIdentity:
    def __init__(self, identity: ApiIdentity) -> None:
        self._identity = identity

    async def identity(self) -> ApiIdentity:
        return self._identity

    def expire(self) -> None: ...


class IdentityFile(msgspec.Struct, frozen=True):
    """A file, and the place that names it, for sentences about it."""

    path: Path
    field: str

    def read(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise Rejected([Problem(self.field, f"is {self.path}, which cannot be read: {reason}")]) from None


class IdentityFromFiles:
    """Files that others keep up to date: the token of a service account, certificates that are rotated.

    A file that cannot be read for a moment, because it is being replaced, does not take away what was read before.
    """

    def __init__(
        self,
        *,
        token: IdentityFile | None = None,
        certificate: IdentityFile | None = None,
        key: IdentityFile | None = None,
        fixed: ApiIdentity | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`fixed` is what is not in files."""
        self._token, self._certificate, self._key = token, certificate, key
        self._fixed = fixed or ApiIdentity()
        self._clock = clock
        self._known: ApiIdentity | None = None
        self._read_at = 0.0

    async def identity(self) -> ApiIdentity:
        now = self._clock()
        if self._known is None or now - self._read_at >= REREAD_SECONDS:
            try:
                self._known = self._read()
            except Rejected:
                if self._known is None:
                    raise
            self._read_at = now
        return self._known

    def expire(self) -> None:
        self._read_at = -REREAD_SECONDS

    def _read(self) -> ApiIdentity:
        token, certificate = self._fixed.token, self._fixed.certificate
        if self._token is not None:
            token = self._token.read().decode("utf-8", "replace").strip()
            if not token:
                raise Rejected([Problem(self._token.field, f"is {self._token.path}, which is empty")])
        if self._certificate is not None and self._key is not None:
            certificate = ClientCertificate(self._certificate.read(), self._key.read())
        return ApiIdentity(token, self._fixed.basic, certificate)
