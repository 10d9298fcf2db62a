"""What is asked of a workspace's worker: commands that change it, questions that only look.

Both run in the worker's own thread, one after another, on the engine's state; so they see what was committed and
nothing half done, and must be quick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec

from headgate.fleet.changes import Change
from headgate.fleet.engine import Engine
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.store.port import UnknownWorkspaceError

Answer = TypeVar("Answer", covariant=True)

__all__ = [
    "ENGINE",
    "Caller",
    "Command",
    "Context",
    "Idempotency",
    "KeyReusedError",
    "Question",
    "Reply",
    "UnknownWorkspaceError",
    "View",
]


class Caller(msgspec.Struct, frozen=True):
    """Who asks, for the audit log; `trace_parent` is the W3C trace context of the request."""

    user: str
    request_id: str = ""
    trace_parent: str | None = None


ENGINE = Caller("headgate")


class Reply(msgspec.Struct, frozen=True):
    """An HTTP answer that can be kept and given again under the same Idempotency-Key."""

    status: int
    body: bytes
    etag: str | None = None


class Idempotency(msgspec.Struct, frozen=True):
    key: str
    fingerprint: str


class KeyReusedError(Exception):
    """The Idempotency-Key was used before with another request."""


class Context(Protocol):
    """What a command works with. `apply` takes the change or raises `Rejected` and takes nothing of it.

    A command that applies several changes must be submitted `alone`: then a `Rejected` undoes all of them.
    """

    @property
    def now(self) -> Instant: ...
    @property
    def engine(self) -> Engine: ...
    @property
    def ids(self) -> IdSource: ...
    @property
    def caller(self) -> Caller: ...
    def apply(self, change: Change) -> None: ...


class View(Protocol):
    """What a question looks at."""

    @property
    def now(self) -> Instant: ...
    @property
    def engine(self) -> Engine: ...


Command = Callable[[Context], Answer]
Question = Callable[[View], Answer]
