"""What `watch` looks at: counts by environment, jobs that live, who failed, and budgets, as of one moment."""

from collections.abc import Iterator
from typing import Any

import msgspec

from headgate.cli import status
from headgate.cli.client import Client, path

MOST_JOBS = 50
MOST_FAILED = 20
MOST_GROUPS = 200
LIVE_STATUSES = ("inProgress", "actionRequired", "queued", "pending")
OPEN_GROUPS = ("executing", "failed", "ready", "queued")
"""Those that still collect have nothing to show."""

MOVING = ("running", "verifying", "rollingBack")
NOT_DONE = (*MOVING, "waiting", "frozen", "failed", "rolledBack")

Document = dict[str, Any]
Place = tuple[str, str]
"""Deployment and environment."""


class Snapshot(msgspec.Struct, frozen=True):
    deployments: list[Document]
    jobs: dict[Place, list[Document]] = {}
    failed: dict[Place, list[str]] = {}
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


def fetch_counts(client: Client, names: tuple[str, ...], environment: str | None = None) -> Snapshot:
    """Who is stuck is asked only when nothing moves any more: it is a longer question."""
    counted = _counted(client, names, environment, asks_for_stuck=False)
    if counted.count(*MOVING) or not counted.count(*NOT_DONE):
        return counted
    return _counted(client, names, environment, asks_for_stuck=True)


def _counted(
    client: Client, names: tuple[str, ...], environment: str | None, *, asks_for_stuck: bool
) -> Snapshot:
    query = {"environment": environment, "stuck": "true" if asks_for_stuck else None}
    answer = client.get(path("status"), {name: value for name, value in query.items() if value is not None})
    return Snapshot(
        status.chosen(answer["deployments"], names),
        at_rest=bool(answer.get("atRest")),
        knows_stuck=asks_for_stuck,
    )


def fetch(client: Client, names: tuple[str, ...]) -> Snapshot:
    counts = fetch_counts(client, names)
    jobs: dict[Place, list[Document]] = {}
    if counts.count("running", "rollingBack"):
        for one in LIVE_STATUSES:
            for job in client.get(path("jobs"), {"status": one, "limit": MOST_JOBS})["items"]:
                jobs.setdefault((job["deployment"], job["environment"]), []).append(job)
    failed: dict[Place, list[str]] = {}
    if counts.count("failed"):
        for target in client.get(path("release-targets"), {"state": "failed", "limit": MOST_FAILED})["items"]:
            failed.setdefault((target["deployment"], target["environment"]), []).append(target["resource"])
    budgets = client.get(path("budgets"), {"limit": 1000})["items"]
    return msgspec.structs.replace(
        counts, jobs=jobs, failed=failed, budgets=budgets, groups=_groups(client, counts)
    )


def _groups(client: Client, counts: Snapshot) -> list[Document]:
    names = {one["name"] for one in counts.deployments}
    return [
        group
        for status_ in OPEN_GROUPS
        for group in client.get(path("groups"), {"status": status_, "limit": MOST_GROUPS})["items"]
        if any(member["deployment"] in names for member in group["members"])
    ]
