"""What a planner is shown of the cluster. It asks, and keeps nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from headgate.graph.reconcile import revisions
from headgate.kernel.objects import Key, Object


class ClusterView(Protocol):
    def get(self, key: Key) -> Object | None: ...

    def of_kind(self, group: str, kind: str) -> Iterable[Object]: ...

    def parts_of(self, instance_uid: str) -> Iterable[Object]:
        """The objects that carry the instance's id, its revisions among them."""


class WholeClusterView(ClusterView, Protocol):
    """One that can be gone through whole."""

    def __iter__(self) -> Iterator[Object]: ...


def is_revision(item: Object) -> bool:
    return item.kind == revisions.KIND and item.api_version == revisions.API_VERSION


def revisions_among(parts: Iterable[Object], instance: Object) -> list[Object]:
    """Its own: what they granted is what the instance has, and nobody else can say so."""
    return [item for item in parts if is_revision(item) and revisions.is_of(item, instance)]


def is_granted_to(view: ClusterView, instance_uid: str, text: str) -> bool:
    """Whether a revision of the instance granted it the object that the text names."""
    return any(is_revision(item) and revisions.grants(item, text) for item in view.parts_of(instance_uid))


def selected(
    view: ClusterView, group: str, kind: str, namespace: str, selector: Mapping[str, object]
) -> list[Object]:
    """By label selector, in order of namespace and name; an empty namespace means all of them."""
    matching = [
        item
        for item in view.of_kind(group, kind)
        if namespace in ("", item.namespace) and item.deleted_at is None and _matches(item.labels, selector)
    ]
    return sorted(matching, key=lambda item: (item.namespace, item.name))


def _matches(item_labels: Mapping[str, str], selector: Mapping[str, object]) -> bool:
    wanted = selector.get("matchLabels") or {}
    if not isinstance(wanted, Mapping) or any(item_labels.get(key) != value for key, value in wanted.items()):
        return False
    terms = selector.get("matchExpressions") or ()
    return isinstance(terms, list | tuple) and all(_term(item_labels, term) for term in terms)


def _term(item_labels: Mapping[str, str], term: object) -> bool:
    if not isinstance(term, Mapping):
        return False
    value = item_labels.get(str(term.get("key")))
    values = term.get("values") or ()
    allowed = [str(each) for each in values] if isinstance(values, list | tuple) else []
    match term.get("operator"):
        case "In":
            return value in allowed
        case "NotIn":
            return value not in allowed
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    return False
