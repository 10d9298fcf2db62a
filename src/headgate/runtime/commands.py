"""What is asked of a workspace's worker: commands that change it, questions that only look.

Both run in the worker's own thread, one after another, on the engine's state; so they see what was committed and
nothing half done, and must be quick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec

from headgate.fleet.engine.engine import Engine
from headgate.fleet.model.changes import Change
from headgate.fleet.model.records import Job
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.store.port import UnknownWorkspaceError

Answer = TypeVar("Answer", covariant=True)

__all__ = [
    "ENGINE",
    "BusyError",
    "Caller",
    "Command",
    "CommandContext",
    "EngineView",
    "Idempotency",
    "KeyReusedError",
    "Question",
    "Reply",
    "UnknownWorkspaceError",
]


class Caller(msgspec.Struct, frozen=True):
    """Who asks and why, for the audit log; `trace_parent` is the W3C trace context of the request."""

    user: str
    request_id: str = ""
    trace_parent: str | None = None
    reason: str | None = None
    """Of a change that has no field for it."""


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


class BusyError(Exception):
    """So much of the workspace waits already that nothing more is taken for the moment."""

    def __init__(self, workspace: str, waiting: int) -> None:
        super().__init__(
            f"{waiting} requests wait for the workspace {workspace} already; try again in a moment"
        )


class CommandContext(Protocol):
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
    @property
    def warning(self) -> str | None:
        """Why nothing can be written at the moment, if so."""

    def job(self, job_id: str) -> Job | None:
        """None if it has been put away or never was: not for one that only this process does not know."""

    def apply(self, change: Change) -> None: ...
    def take_time_back(self) -> tuple[Instant, Instant]:
        """Of a workspace that a wrong clock has taken ahead: from when to when."""


class EngineView(Protocol):
    """What a question looks at."""

    @property
    def now(self) -> Instant: ...
    @property
    def engine(self) -> Engine: ...
    @property
    def warning(self) -> str | None:
        """Why nothing is decided at the moment, if so."""


Command = Callable[[CommandContext], Answer]
Question = Callable[[EngineView], Answer]
