"""Takes a workspace's time back after a clock that was ahead: every moment that lies in the future is moved to now.

What happened in the false future keeps its order and comes after everything else; what is due keeps the time that is
left until then. Moments that people wrote, such as the end of a freeze, were never wrong and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from headgate.fleet.engine import snapshot
from headgate.fleet.model import kinds
from headgate.fleet.state.state import State
from headgate.kernel.instants import Instant

_RECORDS = ("targets", "departed", "places", "jobs", "groups", "progress", "verified", "latches", "pending")
_OBJECTS = (*(kind.table for kind in kinds.ALL), "retired", "approvals", "skips")
_MOMENTS_OF_OBJECTS = frozenset({"created_at", "updated_at", "published_at", "set_at", "at"})
_GIVEN_BY_PEOPLE = frozenset(
    {"variables", "deployed_variables", "failures", "links", "state", "data", "value"}
)
"""Parts of records that hold what people or agents said: a large number there is no moment."""

Move = Callable[[Instant], Instant]


def rewound(state: State, was: Instant, now: Instant) -> tuple[State, Instant]:
    """The state as it would be had the clock not been ahead, and the moment that it stands for, just after `now`.

    Every row is marked as changed.
    """
    document: dict[str, Any] = msgspec.json.decode(snapshot.dump(state))
    move, end = _move(document, was, now)
    for name in _RECORDS:
        document[name] = _record(document[name], move)
    for name in _OBJECTS:
        document[name] = [_object(one, move) for one in document[name]]
    restored = snapshot.restore(msgspec.convert(document, snapshot.Snapshot), state.ids)
    for key in _rows(restored):
        restored.journal.changed(*key)
    restored.observer = state.observer
    return restored, end


def _move(document: dict[str, Any], was: Instant, now: Instant) -> tuple[Move, Instant]:
    seen: set[Instant] = set()

    def note(moment: Instant) -> Instant:
        if now < moment <= was:
            seen.add(moment)
        return moment

    for name in _RECORDS:
        _record(document[name], note)
    for name in _OBJECTS:
        for entry in document[name]:
            _object(entry, note)
    sites = {moment: now + number for number, moment in enumerate(sorted(seen), 1)}
    end = now + len(seen)

    def move(moment: Instant) -> Instant:
        if moment <= now:
            return moment
        return sites[moment] if moment <= was else end + moment - was

    return move, end


def _record(value: Any, move: Move) -> Any:
    """Every number of a record is a moment or small."""
    if isinstance(value, dict):
        return {key: part if key in _GIVEN_BY_PEOPLE else _record(part, move) for key, part in value.items()}
    if isinstance(value, list):
        return [_record(part, move) for part in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return move(value)
    return value


def _object(value: dict[str, Any], move: Move) -> dict[str, Any]:
    return {
        key: move(part) if key in _MOMENTS_OF_OBJECTS and isinstance(part, int) else part
        for key, part in value.items()
    }


def _rows(state: State) -> Iterator[tuple[str, ...]]:
    yield from (("target", name) for name in (*state.targets, *state.departed))
    yield from (("place", *key) for key in state.sites)
    yield from (("job", job) for job in state.jobs)
    yield from (("group", group) for group in state.groups)
    for version, environments in state.progress.items():
        yield from (("progress", version, target) for targets in environments.values() for target in targets)
    yield from (
        ("progress", version, target) for version, targets in state.verified.items() for target in targets
    )
    yield from (("breaker", *key) for key in state.breakers)
    yield from (("skip", skip) for skip in state.skips)
    for (version, environment), votes in state.approvals.items():
        yield from (("approval", version, environment, user) for user in votes)
    for kind in kinds.ALL:
        yield from ((kind.name, kinds.name_of(item)) for item in state.objects(kind))
