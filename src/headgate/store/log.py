"""What was accepted and decided, in one order everywhere, and what is told of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import msgspec

from headgate.kernel.instants import Instant
from headgate.store.rows import Json

EntryKind = Literal["change", "decided", "clock"]


class LogEntry(msgspec.Struct, frozen=True):
    """`change` is applied; after `decided` the engine decides at `at`; `clock` takes time back to `at`. `payload` is
    what the entry says, as JSON."""

    seq: int
    at: Instant
    kind: EntryKind
    payload: Json
    user: str = ""
    trace_parent: str | None = None


class Event(msgspec.Struct, frozen=True, rename="camel"):
    """What happened, for people and programs that follow along. `seq` is gapless in its workspace."""

    seq: int
    at: Instant
    type: str
    kind: str
    name: str
    message: str
    data: Json = b"{}"


class AuditEntry(msgspec.Struct, frozen=True, rename="camel"):
    """Who changed what; `before` and `after` are documents, None where there was nothing."""

    at: Instant
    user: str
    action: str
    kind: str
    name: str
    before: Json | None = None
    after: Json | None = None
    request_id: str = ""
    seq: int = 0


class Log(ABC):
    """Read here; appended to in a transaction."""

    @abstractmethod
    def head(self, workspace: str) -> int: ...

    @abstractmethod
    def log_after(self, workspace: str, seq: int, limit: int) -> list[LogEntry]: ...

    @abstractmethod
    def wait_for_hint(self, seconds: float) -> bool:
        """Returns early, with True, when another process may have written. A hint only: look either way."""

    @abstractmethod
    def hint(self) -> None:
        """Tells other processes to look, where the database can; it does not end this store's own wait."""

    @abstractmethod
    def events_after(self, workspace: str, seq: int, limit: int) -> list[Event]: ...

    @abstractmethod
    def newest_event(self, workspace: str) -> int: ...

    @abstractmethod
    def audit_before(
        self, workspace: str, seq: int | None, limit: int, *, kind: str | None = None, name: str | None = None
    ) -> list[AuditEntry]: ...
