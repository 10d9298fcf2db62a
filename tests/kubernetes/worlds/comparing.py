"""Two histories of one story side by side. Every difference is a sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from headgate.kernel import instants
from headgate.kernel.instants import Instant

from . import endings, peaks
from .history import CONTROLLER, PEOPLE, History, Write

_SHOWN = 40


def differences(simulated: History, live: History) -> list[str]:
    found = [
        *_refusals(simulated, live),
        *_orders(simulated, live),
        *_peaks(simulated, live),
        *_waves(simulated, live),
        *endings.differences(simulated, live),
    ]
    return found[:_SHOWN]


def _refusals(simulated: History, live: History) -> Iterator[str]:
    if simulated.refused != live.refused:
        yield f"refused: simulated {simulated.refused}, live {live.refused}"


def _peaks(simulated: History, live: History) -> Iterator[str]:
    expected, found = peaks.of(simulated), peaks.of(live)
    for scope in sorted({*expected, *found}):
        if expected.get(scope) != found.get(scope):
            yield f"{scope} missing and too many: simulated {expected.get(scope)}, live {found.get(scope)}"


def _waves(simulated: History, live: History) -> Iterator[str]:
    expected, found = peaks.waves(simulated), peaks.waves(live)
    if expected != found:
        yield f"under way at once at most: simulated {expected}, live {found}"


def _orders(simulated: History, live: History) -> Iterator[str]:
    """What the controllers wrote at each instant."""
    expected, found = _by_instant(simulated), _by_instant(live)
    for at in sorted({*expected, *found}):
        before, after = expected.get(at, _Instant()), found.get(at, _Instant())
        if before.ordered != after.ordered:
            yield f"{instants.show(at)} writes\n  simulated {before.ordered}\n  live      {after.ordered}"
        if before.collected != after.collected:
            one, other = before.collected - after.collected, after.collected - before.collected
            yield f"{instants.show(at)} goes with its owner: simulated only {one}, live only {other}"


class _Instant(msgspec.Struct):
    """What is deleted with its owner is so by the controller or by the cluster, whoever comes first."""

    ordered: list[str] = []
    collected: set[str] = set()


def _by_instant(history: History) -> dict[Instant, _Instant]:
    """Writes that follow each other and are alike are by name: their order among themselves is free."""
    deleted = {(write.at, write.object.uid) for write in history.writes if write.verb == "delete"}
    found: dict[Instant, _Instant] = defaultdict(_Instant)
    batch: list[Write] = []
    for write in (*history.writes, None):
        if write is not None and _goes_with_its_owner(write, deleted):
            found[write.at].collected.add(_said(write))
            continue
        if write is not None and (write.by != CONTROLLER or write.verb in ("gone", "status")):
            continue
        if batch and (write is None or _likeness(write) != _likeness(batch[0])):
            found[batch[0].at].ordered += sorted(map(_said, batch))
            batch = []
        if write is not None:
            batch.append(write)
    return found


def _goes_with_its_owner(write: Write, deleted: set[tuple[Instant, str]]) -> bool:
    is_collected = any((write.at, owner.uid) in deleted for owner in write.object.owners)
    return write.verb == "delete" and write.by != PEOPLE and is_collected


def _said(write: Write) -> str:
    return f"{write.verb} {write.object.kind} {write.object.name}"


def _likeness(write: Write) -> tuple[Instant, str, str]:
    return write.at, write.verb, write.object.kind
