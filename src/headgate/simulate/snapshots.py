"""All objects' status at one moment: what exists, and how every release target stands."""

from collections.abc import Iterator
from typing import Any

from headgate.fleet.engine import views
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import kinds, records
from headgate.fleet.model import objects as model
from headgate.kernel import rendering
from headgate.kernel.instants import Instant
from headgate.promises.books.mirror import Mirror
from headgate.simulate.scenario import API_VERSION

_OF_A_GROUP = ("policy", "environment", "resource", "status", "collectionEndsAt")


def take(engine: Engine, mirror: Mirror, now: Instant) -> Iterator[dict[str, Any]]:
    for kind in kinds.BY_NAME:
        for name in sorted(mirror.objects[kind]):
            yield _entry(kind, name, _status(mirror.objects[kind][name], now))
    for target in sorted(engine.state.targets):
        explanation = engine.explain(target, now)
        status = {
            "state": explanation.state,
            "desired": explanation.desired,
            "current": explanation.current,
        }
        yield _entry("ReleaseTarget", target, status)
    for group in sorted(
        engine.groups.values(), key=lambda group: (group.environment, group.resource, group.id)
    ):
        if group.status not in records.GROUP_ENDED:
            yield _entry("Group", group.id, _group_status(group))


def _entry(kind: str, name: str, status: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": API_VERSION, "kind": kind, "name": name, "status": status}


def _status(item: Any, now: Instant) -> dict[str, Any]:
    if isinstance(item, model.Version):
        return {"status": item.status}
    if isinstance(item, model.Freeze | model.Signal):
        return {"active": not item.is_over(now)}
    if isinstance(item, model.Policy):
        return {"enabled": item.enabled}
    return {}


def _group_status(group: records.Group) -> dict[str, Any]:
    return {
        **rendering.built(views.GroupView, group, *_OF_A_GROUP),
        "members": {member.deployment: member.state for member in group.members},
    }
