"""Who counts what the worker does."""

from __future__ import annotations

from typing import Protocol

from headgate.kernel.instants import Instant
from headgate.runtime.workspace_engine import AfterCommit, WorkspaceEngine


class WorkerMeter(Protocol):
    """Told of every batch, and of workspaces that were removed; see `api.http.metrics`."""

    def batch(self, workspace: str, outcome: AfterCommit, seconds: float, size: int) -> None: ...
    def kept(self, engine: WorkspaceEngine, queue_depth: int, oldest_dispatch: Instant | None) -> None: ...
    def forgotten(self, workspace: str) -> None: ...


class Unmetered:
    def batch(self, workspace: str, outcome: AfterCommit, seconds: float, size: int) -> None: ...
    def kept(self, engine: WorkspaceEngine, queue_depth: int, oldest_dispatch: Instant | None) -> None: ...
    def forgotten(self, workspace: str) -> None: ...
