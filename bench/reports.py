"""Figures for one job report on each store: processor time of this process, for a commit of its own each.

On PostgreSQL it is also measured with a statement and a round trip for each table. Waiting for a disk or for a busy
machine does not count; the least of several rounds does.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator
from unittest import mock

from bench import servers, service
from headgate.fleet.model import changes
from headgate.store.sql import joining, postgres

TARGETS = 2_000
ROUNDS = 8
REPORTS = 25


def run() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder, servers.postgres() as url:
        yield from _line("in memory", _cost("memory:"), "")
        yield from _line("on SQLite", _cost(f"sqlite:///{folder}/reports.db"), "")
        if url is not None:
            joined, apart = _cost(url), _cost_of_writes_apart(url)
            yield from _line("on PostgreSQL", joined, " (target 1.5)")
            yield from _line("on PostgreSQL, each table by itself", apart, f", {apart / joined:.2f} times")


def _line(where: str, seconds: float, tail: str) -> Iterator[str]:
    yield f"reports: one job report {where}: {seconds * 1e3:.2f} ms of processor time{tail}"


def _cost(url: str) -> float:
    least = float("inf")
    with service.workplace(url, TARGETS) as place:
        place.put(service.publication("v1"))
        jobs = iter(place.claim(ROUNDS * REPORTS))
        for _ in range(ROUNDS):
            begin = time.process_time()
            for _, job in zip(range(REPORTS), jobs):
                place.worker.report(place.name, changes.JobReported(job, "successful")).result()
            least = min(least, (time.process_time() - begin) / REPORTS)
    return least


def _cost_of_writes_apart(url: str) -> float:
    def apart(waiting: Iterable[joining.Waiting]) -> Iterator[tuple[str, joining.ValueRows]]:
        return ((joining.numbered(write.sql), rows) for write, rows in waiting)

    with mock.patch.object(postgres, "joined", apart):
        return _cost(url)
