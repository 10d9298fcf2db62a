"""Which set an object is part of, and what concerns a set without being part of it."""

from __future__ import annotations

from collections.abc import Callable

from headgate.kernel.objects import Key, Object
from headgate.workload import labels, model
from headgate.workload.checks import claims
from headgate.workload.expand import autoscalers


def request_for(namespace: str, name: str) -> Key:
    return Key(model.GROUP, model.KIND, namespace, name)


def is_set(item: Object) -> bool:
    return item.kind == model.KIND and item.api_version == model.API_VERSION


def is_claim_template(item: Object) -> bool:
    return item.kind == model.CLAIM_TEMPLATE_KIND and item.group == model.CLAIM_GROUP


def claim_templates(item: Object, get: Callable[[Key], Object | None]) -> list[Object]:
    """Of the cluster, as far as they are there: what a set refers to and is nobody's part."""
    return [template for key in claims.templates_of_cluster(item) if (template := get(key)) is not None]


class Family:
    """Which set an object is part of. Its owners say so, the set itself or one that is part of it in turn, since
    anybody may edit a label; by the label is found what has lost its owner."""

    def __init__(self) -> None:
        self._sets: dict[str, Key] = {}
        """Of the objects that may own others, by uid."""

    def set_of(self, item: Object) -> Key | None:
        """Owners have to be asked about before what they own."""
        owner = self._by_owner(item) or by_label(item)
        if owner is not None and item.kind in _OWNERS:
            self._sets[item.uid] = owner
        return owner

    def _by_owner(self, item: Object) -> Key | None:
        for owner in item.owners:
            if owner.kind == model.KIND:
                return request_for(item.namespace, owner.name)
            if owner.uid in self._sets:
                return self._sets[owner.uid]
        return None

    def forget(self, item: Object) -> None:
        self._sets.pop(item.uid, None)


_OWNERS = (model.SCALING_GROUP_KIND, model.CLIQUE_KIND)
_FAMILY = (model.KIND, *_OWNERS)


def is_owned(item: Object) -> bool:
    """By a set, or by what is part of one."""
    return any(owner.kind in _FAMILY for owner in item.owners)


def by_label(item: Object) -> Key | None:
    """The label of parts is everybody's: only what this operator made is found by it, and nothing that others own."""
    name = item.labels.get(labels.PART_OF)
    if name is None or item.labels.get(labels.MANAGED_BY) != labels.MANAGER:
        return None
    if any(owner.kind not in _FAMILY for owner in item.owners):
        return None
    return request_for(item.namespace, name)


_TALKATIVE = (autoscalers.KIND, model.CLAIM_KIND)


def is_talk(item: Object, before: Object) -> bool:
    """An autoscaler writes into its status all day what it measures, a claim has in its own which pods use it; that
    changes nothing for their set."""
    return (
        item.kind in _TALKATIVE
        and (item.uid, item.deleted_at, item.spec) == (before.uid, before.deleted_at, before.spec)
        and (item.labels, item.owners) == (before.labels, before.owners)
    )


def belongs_as_before(item: Object, before: Object) -> bool:
    return item.owners == before.owners and item.labels == before.labels
