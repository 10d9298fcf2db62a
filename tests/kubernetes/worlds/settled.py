"""Since when conditions are as they are, by what each instant ended with.

Within an instant a condition may come and go. Whether anybody writes that down depends on how news come in, and a status
that says something is under way waits for what comes next: it is no state that anybody waits in.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import msgspec

from headgate.kernel import instants

from .history import History, Write

_Place = tuple[str, str]
"""The uid of an object and the type of a condition."""


class _Truths:
    """What an instant ended with, since when, and the instants in which it was something else for a while."""

    def __init__(self) -> None:
        self.status: dict[_Place, str] = {}
        self.since: dict[_Place, str] = {}
        self.blinks: set[tuple[_Place, str]] = set()

    def note(self, at: str, writes: Iterator[Write]) -> None:
        seen: dict[_Place, list[str]] = {}
        for write in writes:
            for each in write.object.status.get("conditions") or ():
                seen.setdefault((write.object.uid, each["type"]), []).append(each["status"])
        for place, statuses in seen.items():
            if self.status.get(place) != statuses[-1]:
                self.since[place] = at
            elif set(statuses) != {statuses[-1]}:
                self.blinks.add((place, at))
            self.status[place] = statuses[-1]

    def told(self, uid: str, condition: dict[str, Any]) -> dict[str, Any]:
        place, at = (uid, condition["type"]), condition.get("lastTransitionTime", "")
        return (
            condition | {"lastTransitionTime": self.since[place]} if (place, at) in self.blinks else condition
        )


def conditions_of(history: History) -> History:
    """With the moments of its conditions as if nothing came and went within an instant."""
    truths = _Truths()
    for at, writes in groupby(history.writes, key=lambda write: write.at):
        truths.note(instants.show(at), writes)
    objects = dict(history.objects)
    for about, item in history.objects.items():
        if "conditions" in item.status:
            told = [truths.told(item.uid, each) for each in item.status["conditions"]]
            objects[about] = msgspec.structs.replace(item, status={**item.status, "conditions": told})
    return msgspec.structs.replace(history, objects=objects)
