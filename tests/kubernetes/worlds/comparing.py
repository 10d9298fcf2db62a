"""Two histories of one story side by side. Every difference is a sentence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from headgate.graph.reconcile.labels import DEFINITION_NAME, INSTANCE_NAME
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.workload.labels import PART_OF

from . import endings, peaks
from .history import CONTROLLER, PEOPLE, History, Write

_SHOWN = 40
_PUT_OFF = ("delete", "ResourceGraphRevision")
"""Revisions that nothing is at any more are deleted on a cluster when there are several, whatever else is written then."""


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
    """What the controllers wrote at each instant, for each thing that they look after by itself."""
    expected, found = _by_instant(simulated), _by_instant(live)
    for at, chain in sorted({*expected, *found}):
        before, after = expected.get((at, chain), _Steps()), found.get((at, chain), _Steps())
        for name in _Steps.__struct_fields__:
            one, other = getattr(before, name), getattr(after, name)
            if one != other:
                place = f"{instants.show(at)} {chain} {name}"
                yield f"{place}\n  simulated {one}\n  live      {other}"


class _Steps(msgspec.Struct):
    """As a partial order: of each object what became of it, and what came before what. One pass of a controller may be
    two when news come in two pieces: the same write again is no other step."""

    writes: dict[str, list[str]] = {}
    """By object."""
    order: list[tuple[str, str]] = []
    """Verbs and kinds, as they came first."""
    collected: set[str] = set()
    """What is deleted with its owner is so by the controller or by the cluster, whoever comes first."""


def _by_instant(history: History) -> dict[tuple[Instant, str], _Steps]:
    deleted = {(write.at, write.object.uid) for write in history.writes if write.verb == "delete"}
    found: dict[tuple[Instant, str], _Steps] = defaultdict(_Steps)
    for write in history.writes:
        steps = found[write.at, _chain(write)]
        name = f"{write.object.kind} {write.object.name}"
        if _goes_with_its_owner(write, deleted):
            steps.collected.add(name)
        elif write.by == CONTROLLER and write.verb not in ("gone", "status"):
            own = steps.writes.setdefault(name, [])
            if not own or own[-1] != write.verb:
                own.append(write.verb)
            step = (write.verb, write.object.kind)
            if step not in steps.order and step != _PUT_OFF:
                steps.order.append(step)
    return found


def _chain(write: Write) -> str:
    """The set, the instance or the definition that it is written for."""
    own = write.object.labels
    names = (own.get(key) for key in (INSTANCE_NAME, PART_OF, DEFINITION_NAME))
    return next((name for name in names if name), write.object.name)


def _goes_with_its_owner(write: Write, deleted: set[tuple[Instant, str]]) -> bool:
    is_collected = any((write.at, owner.uid) in deleted for owner in write.object.owners)
    return write.verb == "delete" and write.by != PEOPLE and is_collected
