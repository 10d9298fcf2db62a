"""What `watch` looks at: counts by environment, jobs that live, who failed, and budgets, as of one moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant

MOVING = ("running", "verifying", "rollingBack")
NOT_DONE = (*MOVING, "waiting", "frozen", "failed", "rolledBack")

Document = dict[str, Any]
Pair = tuple[str, str]
"""Deployment and environment."""


class WatchedFleet(msgspec.Struct, frozen=True):
    deployments: list[Document]
    jobs: dict[Pair, list[Document]] = {}
    failed: dict[Pair, list[str]] = {}
    budgets: list[Document] = []
    groups: list[Document] = []
    """Cycles of brackets that are in work or ready for it."""
    at_rest: bool = False
    """Nothing in the workspace happens any more but by somebody from outside."""
    knows_stuck: bool = False

    @property
    def targets(self) -> int:
        return sum(
            sum(environment["counts"].values())
            for deployment in self.deployments
            for environment in deployment["environments"]
        )

    def count(self, *states: str) -> int:
        return sum(
            environment["counts"].get(state, 0)
            for deployment in self.deployments
            for environment in deployment["environments"]
            for state in states
        )

    @property
    def is_converged(self) -> bool:
        """What was asked for runs everywhere; what a person put back is what was asked for last."""
        if self.count("rolledBack") and self.count(*NOT_DONE) == self.count("rolledBack"):
            return self.knows_stuck and self.stuck_count == 0
        return self.count(*NOT_DONE) == 0

    @property
    def is_moving_or_done(self) -> bool:
        return self.count(*MOVING) > 0 or self.count(*NOT_DONE) == 0

    @property
    def is_stuck(self) -> bool:
        """Something does not run where it should, and nothing but a person can change that."""
        if not self.knows_stuck or self.count(*MOVING):
            return False
        return self.stuck_count > 0 and (
            self.at_rest or not any(one.get("canMove") for one in self._environments())
        )

    @property
    def stuck(self) -> list[Document]:
        return [target for one in self._environments() for target in one.get("stuck") or []]

    @property
    def stuck_count(self) -> int:
        return sum(one.get("stuckCount") or 0 for one in self._environments())

    def _environments(self) -> Iterator[Document]:
        for deployment in self.deployments:
            yield from deployment["environments"]


class WatchedForecast(msgspec.Struct, frozen=True):
    """If nothing else changes and every job takes its usual time. `finish_at` is None where somebody is waited for."""

    finish_at: Instant | None = None
    starts: dict[tuple[str, str], Instant] = {}
    """By environment and resource."""

    @classmethod
    def read(cls, document: Document) -> WatchedForecast:
        """From the server's answer."""
        starts = {
            (one["environment"], one["resource"]): instants.parse(one["at"]) for one in document["starts"]
        }
        finish = document["finishAt"]
        return cls(None if finish is None else instants.parse(finish), starts)
