"""What `watch` looks at: counts by environment, jobs that live, who failed, and budgets, as of one moment."""

from typing import Any

import msgspec

from headgate.cli import status
from headgate.cli.client import Client, path

MOST_JOBS = 50
MOST_FAILED = 20
LIVE_STATUSES = ("inProgress", "actionRequired", "queued", "pending")

Document = dict[str, Any]
Place = tuple[str, str]
"""Deployment and environment."""


class Snapshot(msgspec.Struct, frozen=True):
    deployments: list[Document]
    jobs: dict[Place, list[Document]] = {}
    failed: dict[Place, list[str]] = {}
    budgets: list[Document] = []

    def count(self, *states: str) -> int:
        return sum(
            environment["counts"].get(state, 0)
            for deployment in self.deployments
            for environment in deployment["environments"]
            for state in states
        )

    @property
    def is_converged(self) -> bool:
        return self.count("running", "waiting", "frozen", "failed") == 0

    @property
    def is_stuck(self) -> bool:
        """Something failed for good, and nothing else can still happen by itself."""
        return self.count("failed") > 0 and self.count("running", "waiting", "frozen") == 0


def fetch_counts(client: Client, names: tuple[str, ...]) -> Snapshot:
    return Snapshot(status.chosen(client.get(path("status"))["deployments"], names))


def fetch(client: Client, names: tuple[str, ...]) -> Snapshot:
    counts = fetch_counts(client, names)
    jobs: dict[Place, list[Document]] = {}
    if counts.count("running"):
        for one in LIVE_STATUSES:
            for job in client.get(path("jobs"), {"status": one, "limit": MOST_JOBS})["items"]:
                jobs.setdefault((job["deployment"], job["environment"]), []).append(job)
    failed: dict[Place, list[str]] = {}
    if counts.count("failed"):
        for target in client.get(path("release-targets"), {"state": "failed", "limit": MOST_FAILED})["items"]:
            failed.setdefault((target["deployment"], target["environment"]), []).append(target["resource"])
    return Snapshot(counts.deployments, jobs, failed, client.get(path("budgets"), {"limit": 1000})["items"])
