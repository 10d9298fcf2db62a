"""What jobs print, kept beside what is decided."""

from __future__ import annotations

from abc import ABC, abstractmethod

from headgate.kernel.instants import Instant
from headgate.store.job_lines import JobLines, LogEnd


class JobLogs(ABC):
    """Lines in the pieces that they came in."""

    @abstractmethod
    def append_job_lines(self, given: JobLines, token: int) -> LogEnd | None:
        """How far the job's log goes then; None, and nothing is added, if `token` is not that of the newest claim."""

    @abstractmethod
    def job_lines(self, workspace: str, job: str, offset: int, limit: int) -> list[tuple[Instant, list[str]]]:
        """Lines from that one on, in the pieces that they came in, at most so many pieces."""

    @abstractmethod
    def job_log_end(self, workspace: str, job: str) -> LogEnd: ...
