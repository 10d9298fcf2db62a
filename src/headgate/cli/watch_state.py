"""Asks the server for what `watch` looks at."""

import msgspec

from headgate.cli import listing
from headgate.cli.client import ApiClient, path
from headgate.screens.watched_fleet import Document, Pair, WatchedFleet

MOST_JOBS = 50
MOST_FAILED = 20
MOST_GROUPS = 200
LIVE_STATUSES = ("inProgress", "actionRequired", "queued", "pending")
OPEN_GROUPS = ("executing", "failed", "ready", "queued")
"""Those that still collect have nothing to show."""


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
        listing.deployments_named(answer["deployments"], names),
        at_rest=bool(answer.get("atRest")),
        knows_stuck=asks_for_stuck,
    )


def fetch(client: ApiClient, names: tuple[str, ...]) -> WatchedFleet:
    """All that there is to be shown."""
    counts = fetch_counts_alone(client, names)
    jobs: dict[Pair, list[Document]] = {}
    if counts.count("running", "rollingBack"):
        for status in LIVE_STATUSES:
            for job in client.get(path("jobs"), {"status": status, "limit": MOST_JOBS})["items"]:
                jobs.setdefault((job["deployment"], job["environment"]), []).append(job)
    failed = fetch_failed(client, names) if counts.count("failed") else {}
    return msgspec.structs.replace(
        counts, jobs=jobs, failed=failed, budgets=fetch_budgets(client), groups=fetch_groups(client, names)
    )


def with_counts_of(client: ApiClient, snapshot: WatchedFleet, deployment: str) -> WatchedFleet:
    """One that is not there yet stands where its name belongs, one that is gone goes."""
    answer = client.get(path("status"), {"deployment": deployment})
    others = [one for one in snapshot.deployments if one["name"] != deployment]
    deployments = sorted([*others, *answer["deployments"]], key=lambda deployment: str(deployment["name"]))
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
