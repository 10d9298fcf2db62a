"""From which revision a unit is built that stands in a replica which the update has not reached, or will not reach.

Two kinds of index part from the revision of their clique or group: those that were asked for after the template changed
are born at the target, and those that an abort left behind come back as they were.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.kernel.objects import Object
from headgate.workload.plan.situation import Situation


class Origins(msgspec.Struct, frozen=True):
    kept: int
    """Indices from here on are born at the target."""
    left_behind: Mapping[int, str] = {}
    """The revision of each index that an abort left behind."""

    def revision_hash(self, situation: Situation, index: int, own: str) -> str:
        if index in self.left_behind:
            return self.left_behind[index]
        return own if index < self.kept else situation.target.hash

    def to_status(self, status: dict[str, Any]) -> None:
        status["revisionReplicas"] = self.kept
        if self.left_behind:
            status["leftBehind"] = {str(index): held for index, held in sorted(self.left_behind.items())}


def read(
    situation: Situation,
    item: Object,
    replicas: int,
    present: Mapping[int, str],
    outdated: Mapping[int, str],
    *,
    is_at_target: bool,
) -> Origins:
    """`present` and `outdated`: the revisions of the units that are there, and of those whose content is not what
    their clique or group aims at."""
    if situation.is_aborted:
        return Origins(replicas, _left_behind(item.status, replicas, present, outdated))
    known = item.status.get("revisionReplicas")
    if situation.strategy != "RollingUpdate" or is_at_target or not isinstance(known, int):
        return Origins(replicas)
    return Origins(min(known, replicas))


def _left_behind(
    status: Mapping[str, Any], replicas: int, present: Mapping[int, str], outdated: Mapping[int, str]
) -> dict[int, str]:
    known = {int(index): held for index, held in (status.get("leftBehind") or {}).items()}
    held = {index: revision for index, revision in known.items() if index not in present}
    return {index: revision for index, revision in {**held, **outdated}.items() if index < replicas}
