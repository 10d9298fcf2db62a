"""What follows from the log: the rows of the engine, and what people read of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import msgspec

from headgate.kernel.instants import Instant

Json = bytes
"""A JSON document as it was written, never parsed on its way through."""


Row = Mapping[str, object]


class EngineRows(msgspec.Struct):
    """All rows of a workspace's engine, table by table, and the log position that they stand for."""

    consumed: int
    sequence: int
    tables: dict[str, list[Row]]


class Rows(ABC):
    """Lists are newest first; `after` is the last key of the page before."""

    @abstractmethod
    def load(self, workspace: str) -> EngineRows: ...

    @abstractmethod
    def job(self, workspace: str, job: str) -> Row | None: ...

    @abstractmethod
    def jobs_before(
        self,
        workspace: str,
        after: tuple[Instant, str] | None,
        limit: int,
        equal: Mapping[str, str],
    ) -> list[Row]:
        """`equal` may name deployment, environment, resource, status, agent, group_id, tag."""

    @abstractmethod
    def group(self, workspace: str, group: str) -> Row | None: ...

    @abstractmethod
    def groups_before(
        self, workspace: str, after: tuple[Instant, str] | None, limit: int, equal: Mapping[str, str]
    ) -> list[Row]: ...

    @abstractmethod
    def typical_durations(self, workspace: str) -> dict[str, int]:
        """By deployment: the mean of its last successful jobs, in microseconds."""
