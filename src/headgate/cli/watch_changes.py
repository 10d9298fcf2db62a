"""What an event says of the snapshot that `watch` shows, and what it leaves open: only that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from headgate.cli.event_stream import StreamedEvent
from headgate.cli.watch_state import LIVE_STATUSES, OPEN_GROUPS
from headgate.screens.watched_fleet import Document, Pair, WatchedFleet

_ABOUT_A_DEPLOYMENT = ("Version", "Approval", "ReleaseTarget")
"""Their names begin with the deployment's."""
_LEAVES_COUNTS = frozenset({"agent.lost", "warning.raised"})
_CHANGES_BUDGETS = ("Job", "Group", "Policy", "Rule", "Resource", "ReleaseTarget")


class Stale(msgspec.Struct):
    """What is no longer known. `counts` names deployments; None stands for all of them."""

    everything: bool = False
    counts: set[str] | None = msgspec.field(default_factory=set)
    groups: set[str] = msgspec.field(default_factory=set)
    budgets: bool = False

    def __bool__(self) -> bool:
        return self.everything or self.counts is None or bool(self.counts or self.groups) or self.budgets

    def add(self, other: Stale) -> None:
        self.everything = self.everything or other.everything
        self.counts = None if self.counts is None or other.counts is None else self.counts | other.counts
        self.groups |= other.groups
        self.budgets = self.budgets or other.budgets

    def concerns(self, names: tuple[str, ...]) -> bool:
        """Whether the counts of these deployments, or of any if there are none, may have changed."""
        if self.everything or self.counts is None:
            return True
        return bool(self.counts if not names else self.counts.intersection(names))


def deployment_of(event: StreamedEvent, known: Iterable[str]) -> str | None:
    """The deployment that it is about; of `known` ones the longest that fits, because names may have slashes."""
    inner = _inner(event)
    if inner.get("deployment"):
        return str(inner["deployment"])
    name = str(event.data.get("name") or "")
    if event.data.get("kind") == "Deployment":
        return name
    if event.data.get("kind") not in _ABOUT_A_DEPLOYMENT:
        return None
    return max((one for one in known if name.startswith(f"{one}/")), key=len, default=None)


def left_open(snapshot: WatchedFleet, event: StreamedEvent) -> Stale:
    """What the event does not carry."""
    if event.type == "gap":
        return Stale(everything=True)
    if event.type in _LEAVES_COUNTS:
        return Stale()
    kind, inner = event.data.get("kind"), _inner(event)
    budgets = kind in _CHANGES_BUDGETS
    if kind == "Job" and inner.get("status") in LIVE_STATUSES and event.type != "job.created":
        return Stale()
    if kind == "Group":
        return _of_group(snapshot, event, inner)
    known = [one["name"] for one in snapshot.deployments]
    deployment = deployment_of(event, known)
    counts = None if deployment is None or event.type == "deployment.deleted" else {deployment}
    group = inner.get("group")
    is_told = event.type == "job.created" and any(one["id"] == group for one in snapshot.groups)
    return Stale(counts=counts, groups={str(group)} if group and not is_told else set(), budgets=budgets)


def _of_group(snapshot: WatchedFleet, event: StreamedEvent, inner: Document) -> Stale:
    """An order of a person names a group by its place, and then it may be any."""
    status, name = inner.get("status"), str(event.data.get("name") or "")
    if status == "collecting":
        return Stale()
    members = {m["deployment"] for one in snapshot.groups if one["id"] == name for m in one["members"]}
    is_over = status is not None and status not in OPEN_GROUPS
    counts = members if members or status in OPEN_GROUPS else None
    return Stale(counts=counts, groups=set() if is_over or status is None else {name}, budgets=True)


def applied(snapshot: WatchedFleet, event: StreamedEvent) -> WatchedFleet:
    """The snapshot with what the event carries; the same event twice is the same as once."""
    kind, inner = event.data.get("kind"), _inner(event)
    if kind == "Job" and event.type.startswith("job."):
        return _with_job(snapshot, event, inner)
    if event.type == "target.failed" and {"deployment", "environment", "resource"} <= inner.keys():
        pair = (inner["deployment"], inner["environment"])
        names = snapshot.failed.get(pair, [])
        if inner["resource"] not in names:
            failed = {**snapshot.failed, pair: [*names, inner["resource"]]}
            return msgspec.structs.replace(snapshot, failed=failed)
    if kind == "Group" and inner.get("status") not in (None, *OPEN_GROUPS):
        groups = [one for one in snapshot.groups if one["id"] != event.data.get("name")]
        return msgspec.structs.replace(snapshot, groups=groups)
    return snapshot


def _with_job(snapshot: WatchedFleet, event: StreamedEvent, inner: Document) -> WatchedFleet:
    pair: Pair = (str(inner.get("deployment")), str(inner.get("environment")))
    identity, status = event.data.get("name"), inner.get("status")
    before = snapshot.jobs.get(pair, [])
    left = [job for job in before if job["id"] != identity]
    if status not in LIVE_STATUSES:
        jobs = {**snapshot.jobs, pair: left}
        return msgspec.structs.replace(snapshot, jobs=jobs)
    old = next((job for job in before if job["id"] == identity), None)
    moment = event.data.get("at")
    new = {
        **(old or {"id": identity, "createdAt": moment, "startedAt": None}),
        **{key: inner.get(key) for key in ("deployment", "environment", "resource", "version", "status")},
        "message": inner.get("message") or (old or {}).get("message"),
    }
    if status in ("inProgress", "actionRequired") and not new["startedAt"]:
        new["startedAt"] = moment
    ordered = sorted([*left, new], key=lambda job: LIVE_STATUSES.index(job["status"]))
    failed = [name for name in snapshot.failed.get(pair, []) if name != new["resource"]]
    return msgspec.structs.replace(
        snapshot,
        jobs={**snapshot.jobs, pair: ordered},
        failed={**snapshot.failed, pair: failed},
        groups=list(_with_member(snapshot.groups, event, inner)),
    )


def _with_member(groups: Iterable[Document], event: StreamedEvent, inner: Document) -> Iterator[Document]:
    """The part that a job has in its group begins with it; how it ended is the group's to say."""
    state = "rollingBack" if inner.get("kind") == "rollback" else "running"
    for group in groups:
        if event.type == "job.created" and group["id"] == inner.get("group"):
            members = [
                {**one, "state": state} if one["deployment"] == inner.get("deployment") else one
                for one in group["members"]
            ]
            yield {**group, "members": members}
        else:
            yield group


def _inner(event: StreamedEvent) -> dict[str, Any]:
    inner = event.data.get("data")
    return inner if isinstance(inner, dict) else {}
