"""What the planner must find again after a restart and cannot see in the objects. It is kept in the set's status.

The revision of a replica is here because a replica may be torn down to nothing and must come back as it was; that it
is being torn down is here because half of it may be gone when the planner starts again. Intent is written before the
deed: the status is the first write of every pass.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant


class ReplicaRecord(msgspec.Struct):
    """One replica of the set."""

    revision: str
    is_torn_down: bool = False
    """From the decision until nothing of it is left."""
    counts: dict[str, int] = {}
    """Replicas that an autoscaler set and that are not the template's, by the name of the clique or group there."""


class UpdateProgress(msgspec.Struct):
    """One update of the set, from a change of template or strategy to the last new and available replica."""

    revision: str
    started_at: Instant
    ended_at: Instant | None = None
    previous: str | None = None
    """The last revision that was done before anything was moved to this one: where a rollback goes."""
    updating: dict[int, Instant] = {}
    """Replicas that have been taken and are not yet new and available, with the time they were taken."""
    surge: dict[int, Instant] = {}
    units: int = 0
    most_updated_units: int = 0
    last_progress_at: Instant = 0


class RolledBack(msgspec.Struct, frozen=True):
    source: str
    target: str
    at: Instant


class PersistedState(msgspec.Struct):
    records: dict[int, ReplicaRecord] = {}
    progress: UpdateProgress | None = None
    done_revision: str | None = None
    """The last revision that every replica from the partition on had and was available at."""
    rolled_back: RolledBack | None = None
    was_paused: bool = False
    spent_abort: str | None = None
    """The order to abort that a later template has overtaken."""


def read(status: Mapping[str, Any]) -> PersistedState:
    """A status that somebody emptied or damaged reads as far as it makes sense: the objects say the rest."""
    back = status.get("rolledBack")
    return PersistedState(
        records={
            item["replicaIndex"]: _record(item)
            for item in _listed(status.get("replicaRevisions"))
            if isinstance(item.get("replicaIndex"), int) and isinstance(item.get("revision"), str)
        },
        progress=_progress(status.get("rollingUpdateProgress")),
        done_revision=status.get("currentRevision"),
        rolled_back=RolledBack(back["from"], back["to"], instants.parse(back["at"])) if back else None,
        was_paused=bool(status.get("paused")),
        spent_abort=status.get("spentAbort"),
    )


def _record(item: Mapping[str, Any]) -> ReplicaRecord:
    return ReplicaRecord(
        item["revision"], bool(item.get("tearingDown")), dict(item.get("liveReplicas") or {})
    )


def _progress(value: Any) -> UpdateProgress | None:
    if not isinstance(value, Mapping) or "updateStartedAt" not in value:
        return None
    started_at = instants.parse(value["updateStartedAt"])
    ended = value.get("updateEndedAt")
    last = value.get("lastProgressAt")
    return UpdateProgress(
        revision=value.get("revision", ""),
        started_at=started_at,
        ended_at=instants.parse(ended) if ended else None,
        previous=value.get("previousRevision"),
        updating=_times(value.get("updatingReplicas")),
        surge=_times(value.get("surgeReplicas")),
        units=value.get("units", 0),
        most_updated_units=value.get("updatedUnits", 0),
        last_progress_at=instants.parse(last) if last else started_at,
    )


def _times(value: Any) -> dict[int, Instant]:
    return {item["replicaIndex"]: instants.parse(item["updateStartedAt"]) for item in _listed(value)}


def _listed(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def write_records(records: Mapping[int, ReplicaRecord]) -> list[dict[str, Any]]:
    return [_record_document(index, record) for index, record in sorted(records.items())]


def _record_document(index: int, record: ReplicaRecord) -> dict[str, Any]:
    document: dict[str, Any] = {"replicaIndex": index, "revision": record.revision}
    if record.is_torn_down:
        document["tearingDown"] = True
    if record.counts:
        document["liveReplicas"] = dict(sorted(record.counts.items()))
    return document


def write_progress(progress: UpdateProgress, updated_replicas: int) -> dict[str, Any]:
    document: dict[str, Any] = {
        "revision": progress.revision,
        "updateStartedAt": instants.show(progress.started_at),
    }
    if progress.ended_at is not None:
        document["updateEndedAt"] = instants.show(progress.ended_at)
    if progress.previous is not None:
        document["previousRevision"] = progress.previous
    if progress.updating:
        document["updatingReplicas"] = _times_document(progress.updating)
    if progress.surge:
        document["surgeReplicas"] = _times_document(progress.surge)
    document["updatedReplicas"] = updated_replicas
    document["units"] = progress.units
    document["updatedUnits"] = progress.most_updated_units
    document["lastProgressAt"] = instants.show(progress.last_progress_at)
    return document


def _times_document(times: Mapping[int, Instant]) -> list[dict[str, Any]]:
    return [
        {"replicaIndex": index, "updateStartedAt": instants.show(at)} for index, at in sorted(times.items())
    ]


def write_rolled_back(back: RolledBack) -> dict[str, Any]:
    return {"from": back.source, "to": back.target, "at": instants.show(back.at)}
