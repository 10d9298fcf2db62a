"""What manifests would change: each object against the one the workspace has, field by field.

What the engine stamps by itself (ids, times of creation, change and publication) is no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from headgate.fleet.engine import manifests
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import hiding, kinds, rule_ids
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.fleet.state.state import State
from headgate.kernel import documents, plain_values

ObjectAction = Literal["created", "configured", "unchanged", "deleted", "kept"]
_STAMPED = frozenset({"createdAt", "updatedAt", "publishedAt", "setAt"})
_ABSENT: Any = object()


class FieldDifference(msgspec.Struct, frozen=True):
    path: str
    before: Any
    """None where the field is not written."""
    after: Any


class Difference(msgspec.Struct, frozen=True):
    """`before` and `after` are manifests."""

    kind: str
    name: str
    action: ObjectAction
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    fields: tuple[FieldDifference, ...] = ()
    """Of one that is changed."""
    note: str | None = None
    """Why one is kept that should go."""


def removed(item: Object, kept: str | None) -> Difference:
    """What would be deleted, or is kept for a reason."""
    written = _described(manifests.describe(item))
    kind, name = kinds.of(item).name, kinds.name_of(item)
    if kept is not None:
        return Difference(kind, name, "kept", written, written, (), kept)
    return Difference(kind, name, "deleted", written, None)


def compare(engine: Engine, objects: Iterable[Object]) -> list[Difference]:
    """In the order of the objects. One that comes twice is compared with its first appearance."""
    state = engine.state
    earlier: dict[tuple[str, str], Object] = {}
    differences = []
    for item in objects:
        kind = kinds.of(item)
        key = (kind.name, _name_in(state, item))
        old = earlier.get(key) or state.get(kind, key[1])
        becomes = _stamped(item, old)
        earlier[key] = becomes
        differences.append(_difference(*key, old, becomes))
    return differences


def _name_in(state: State, item: Object) -> str:
    """A version may name its deployment by id; it is known by the name all the same."""
    if not isinstance(item, model.Version):
        return item.name
    return f"{_owner(state, item.deployment)}/{item.tag}"


def _owner(state: State, reference: str) -> str:
    if reference in state.deployments:
        return reference
    return next((node.name for node in state.deployments.values() if node.object.id == reference), reference)


def _stamped(item: Object, old: Object | None) -> Object:
    """The object as it would be stored, but for the times of the change: those are the ones of what it replaces."""
    if isinstance(item, model.Policy):
        item = msgspec.structs.replace(
            item, rules=rule_ids.settled(item, old if isinstance(old, model.Policy) else None)
        )
    if old is None:
        return item
    stamps = ("id", "created_at", "updated_at", "published_at", "set_at", "workspace")
    kept = {name: getattr(old, name) for name in stamps if hasattr(old, name)}
    if isinstance(item, model.Version) and isinstance(old, model.Version):
        kept["deployment"] = old.deployment
        if old.status == "rejected":
            kept |= {"status": old.status, "rejection": old.rejection}
    return msgspec.structs.replace(item, **kept)


def _difference(kind: str, name: str, old: Object | None, new: Object) -> Difference:
    """Most of what is applied again and again is equal to the byte: that is seen without looking at its fields."""
    if old is None:
        after = manifests.describe(new)
        after["spec"].pop("createdAt", None)
        return Difference(kind, name, "created", None, _described(after))
    before = manifests.describe(old)
    if msgspec.json.encode(old) == msgspec.json.encode(new):
        return Difference(kind, name, "unchanged", _described(before), _described(before))
    becomes = manifests.describe(new)
    after = hiding.telling_changes(before, becomes, _described(becomes))
    before = _described(before)
    fields = tuple(_fields(_without_stamps(before), _without_stamps(after), ""))
    return Difference(kind, name, "configured" if fields else "unchanged", before, after, fields)


def _described(manifest: dict[str, Any]) -> dict[str, Any]:
    """Nobody is shown secrets of another one's making, and whoever compares knows their own."""
    document: dict[str, Any] = hiding.without_secrets(manifest["kind"], manifest)
    return document


def _without_stamps(manifest: dict[str, Any]) -> dict[str, Any]:
    spec = {key: value for key, value in manifest["spec"].items() if key not in _STAMPED}
    return {"metadata": manifest["metadata"], "spec": spec}


def _fields(before: Any, after: Any, path: str) -> Iterator[FieldDifference]:
    if plain_values.are_equal(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            place = documents.field_path(path, key)
            yield from _fields(before.get(key, _ABSENT), after.get(key, _ABSENT), place)
    elif _have_ids(before) and _have_ids(after):
        yield from _items(before, after, path)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (member, other) in enumerate(zip(before, after, strict=True)):
            yield from _fields(member, other, documents.item_path(path, index))
    else:
        yield FieldDifference(path, _written(before), _written(after))


def _have_ids(value: Any) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(item, dict) and isinstance(item.get("id"), str) for item in value)
        and len({item["id"] for item in value}) == len(value)
    )


def _items(before: Sequence[Any], after: Sequence[Any], path: str) -> Iterator[FieldDifference]:
    """Rules are followed by their ids, so that one put in front does not change all behind it."""
    olds = {item["id"]: item for item in before}
    news = {item["id"] for item in after}
    for index, item in enumerate(before):
        if item["id"] not in news:
            yield FieldDifference(documents.item_path(path, index), item, None)
    for index, item in enumerate(after):
        yield from _fields(olds.get(item["id"], _ABSENT), item, documents.item_path(path, index))
    stayed = [item["id"] for item in after if item["id"] in olds]
    if stayed != [item["id"] for item in before if item["id"] in news]:
        yield FieldDifference(path, [_label(item) for item in before], [_label(item) for item in after])


def _label(item: dict[str, Any]) -> object:
    return item.get("name", item["id"])


def _written(value: Any) -> object:
    return None if value is _ABSENT else value
