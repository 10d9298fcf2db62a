"""What a set has beside its cliques, groups and pods: made where it is wanted, put back where somebody changed it, deleted
where it is not wanted any more.

API servers fill in fields and rewrite values of these kinds, so only what the set says is compared.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from headgate.kernel import amounts
from headgate.kernel.objects import Object
from headgate.workload.expand import autoscalers
from headgate.workload.plan import children, observed
from headgate.workload.plan.situation import Situation

replace = msgspec.structs.replace


def of_replica(situation: Situation, replica: observed.ObservedReplica) -> None:
    live = [item for item in replica.objects if item.kind == autoscalers.KIND]
    _keep(situation, autoscalers.of_replica(situation.pcs, replica.index), live)


def _keep(situation: Situation, wanted: Iterable[Object], live: Iterable[Object]) -> None:
    items = {item.key: item for item in live}
    for item in wanted:
        known = items.pop(item.key, None)
        if known is None:
            situation.writes.create(item)
        elif known.deleted_at is None:
            _put_back(situation, known, item)
    for item in items.values():
        if any(owner.uid == situation.pcs.uid for owner in item.owners):
            situation.writes.delete(item, "not in the template")


def _put_back(situation: Situation, live: Object, wanted: Object) -> None:
    spec, other = _merged(live.spec, wanted.spec), _merged(live.other, wanted.other)
    if (
        spec is live.spec
        and other is live.other
        and wanted.labels.items() <= live.labels.items()
        and live.owners == wanted.owners
    ):
        return
    changed = replace(
        live, labels={**live.labels, **wanted.labels}, spec=spec, other=other, owners=wanted.owners
    )
    situation.writes.update(changed)
    children.say(situation, live, "is put back")


def _merged(live: dict[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The very same if it says already what is wanted."""
    changed = {key: value for key, value in wanted.items() if not _says(live.get(key), value)}
    return {**live, **changed} if changed else live


def _says(live: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(_says(live.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list | tuple):
        is_list = isinstance(live, list | tuple) and len(live) == len(wanted)
        return is_list and all(map(_says, live, wanted))
    return bool(live == wanted) or amounts.is_same(live, wanted)
