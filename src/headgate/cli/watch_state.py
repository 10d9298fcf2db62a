"""What `watch` looks at: counts by environment, jobs that live, who failed, and budgets, as of one moment."""

from collections.abc import Iterator
from typing import Any

import msgspec

from headgate.cli import status
from headgate.cli.client import ApiClient, path

MOST_JOBS = 50
MOST_FAILED = 20
MOST_GROUPS = 200
LIVE_STATUSES = ("inProgress", "actionRequired", "queued", "pending")
OPEN_GROUPS = ("executing", "failed", "ready", "queued")
"""Those that still collect have nothing to show."""

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


def fetch_counts(client: ApiClient, names: tuple[str, ...], environment: str | None = None) -> WatchedFleet:
    """Who is stuck is asked only when nothing moves any more: it is a longer question."""
    counted = fetch_counts_alone(client, names, environment)
    return counted if counted.is_moving_or_done else fetch_stuck(client, names, environment)


def fetch_counts_alone(
    client: ApiClient, names: tuple[str, ...], environment: str | None = None
) -> WatchedFleet:
    return _counted(client, names, environment, asks_for_stuck=False)


def fetch_stuck(client: ApiClient, names: tuple[str, ...], environment: str | None = None) -> WatchedFleet:
    return _counted(client, names, environment, asks_for_stuck=True)


def _counted(
    client: ApiClient, names: tuple[str, ...], environment: str | None, *, asks_for_stuck: bool
) -> WatchedFleet:
    query = {"environment": environment, "stuck": "true" if asks_for_stuck else None}
    answer = client.get(path("status"), query)
    return WatchedFleet(
        status.chosen(answer["deployments"], names),
        at_rest=bool(answer.get("atRest")),
        knows_stuck=asks_for_stuck,
    )


def fetch(client: ApiClient, names: tuple[str, ...]) -> WatchedFleet:
    """All that there is to be shown."""
    counts = fetch_counts_alone(client, names)
    jobs: dict[Pair, list[Document]] = {}
    if counts.count("running", "rollingBack"):
        for one in LIVE_STATUSES:
            for job in client.get(path("jobs"), {"status": one, "limit": MOST_JOBS})["items"]:
                jobs.setdefault((job["deployment"], job["environment"]), []).append(job)
    failed = fetch_failed(client, names) if counts.count("failed") else {}
    return msgspec.structs.replace(
        counts, jobs=jobs, failed=failed, budgets=fetch_budgets(client), groups=fetch_groups(client, names)
    )


def with_counts_of(client: ApiClient, snapshot: WatchedFleet, deployment: str) -> WatchedFleet:
    """One that is not there yet stands where its name belongs, one that is gone goes."""
    answer = client.get(path("status"), {"deployment": deployment})
    others = [one for one in snapshot.deployments if one["name"] != deployment]
    deployments = sorted([*others, *answer["deployments"]], key=lambda one: str(one["name"]))
    return msgspec.structs.replace(
        snapshot, deployments=deployments, at_rest=bool(answer.get("atRest")), knows_stuck=False
    )


def fetch_failed(client: ApiClient, names: tuple[str, ...]) -> dict[Pair, list[str]]:
    failed: dict[Pair, list[str]] = {}
    query = {"state": "failed", "limit": MOST_FAILED, "deployment": names[0] if len(names) == 1 else None}
    for target in client.get(path("release-targets"), query)["items"]:
        failed.setdefault((target["deployment"], target["environment"]), []).append(target["resource"])
    return failed


def fetch_budgets(client: ApiClient) -> list[Document]:
    items: list[Document] = client.get(path("budgets"), {"limit": 1000})["items"]
    return items


def fetch_groups(client: ApiClient, names: tuple[str, ...]) -> list[Document]:
    return [
        group
        for status_ in OPEN_GROUPS
        for group in client.get(path("groups"), {"status": status_, "limit": MOST_GROUPS})["items"]
        if is_watched(group, names)
    ]


def is_watched(group: Document, names: tuple[str, ...]) -> bool:
    return not names or any(member["deployment"] in names for member in group["members"])
