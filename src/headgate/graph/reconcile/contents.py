"""What a graph wants an object to be, apart from its bookkeeping: compared, hashed, and written into objects.

A content is a document as a template renders it, without status. An object may hold more than its content: what
others added stays, what the template no longer says goes.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.kernel import instants
from headgate.kernel.objects import Key, Object, group_of

Content = dict[str, Any]

KEPT_BY_CLUSTER: Mapping[tuple[str, str], frozenset[str]] = {
    ("apps", "Deployment"): frozenset({"deployment.kubernetes.io/revision"})
}
"""Annotations that the cluster's own controller of a kind writes, whatever anybody else does, by group and kind: what a
template says of them is written with the rest, and that they then say something else is no drift."""
_PLACES = ("apiVersion", "kind", "metadata", "spec", "status")
_rendered = functools.lru_cache(4096)(instants.show)
"""Many objects share few moments."""
_ENCODER = msgspec.json.Encoder(order="deterministic")
_VALUE_ENCODER = msgspec.json.Encoder(order="deterministic", enc_hook=repr)


def content_hash(value: object) -> str:
    """Of canonical JSON; short, since it tells apart the few contents that one object ever has."""
    return hashlib.blake2b(_ENCODER.encode(value), digest_size=10).hexdigest()


def value_hash(value: object) -> str:
    """Of whatever a forEach goes over: by it an item is known again, so shorter still."""
    return hashlib.blake2b(_VALUE_ENCODER.encode(value), digest_size=8).hexdigest()


def key_of(content: Content) -> Key:
    metadata = content["metadata"]
    return Key(
        group_of(content["apiVersion"]), content["kind"], metadata.get("namespace", ""), metadata["name"]
    )


def key_text(key: Key) -> str:
    kind = f"{key.kind}.{key.group}" if key.group else key.kind
    return f"{kind}/{key.namespace}/{key.name}"


def key_from(text: str) -> Key:
    kind, namespace, name = text.split("/", 2)
    kind, _, group = kind.partition(".")
    return Key(group, kind, namespace, name)


def document_of(item: Object) -> dict[str, Any]:
    """The object as expressions read it."""
    metadata: dict[str, Any] = {
        "name": item.name,
        "uid": item.uid,
        "labels": item.labels,
        "annotations": item.annotations,
        "generation": item.generation,
        "resourceVersion": str(item.resource_version),
        "creationTimestamp": _rendered(item.created_at),
    }
    if item.namespace:
        metadata["namespace"] = item.namespace
    if item.finalizers:
        metadata["finalizers"] = list(item.finalizers)
    if item.deleted_at is not None:
        metadata["deletionTimestamp"] = _rendered(item.deleted_at)
    document = {"apiVersion": item.api_version, "kind": item.kind, "metadata": metadata, **item.other}
    if item.spec:
        document["spec"] = item.spec
    if item.status:
        document["status"] = item.status
    return document


def on_its_way(item: Object) -> str:
    """Of an object that is being deleted: since when, and whose finalizers hold it."""
    if item.deleted_at is None:
        return ""
    words = f"being deleted since {instants.show(item.deleted_at)}"
    if not item.finalizers:
        return words
    noun, verb = ("finalizer", "is") if len(item.finalizers) == 1 else ("finalizers", "are")
    return f"{words}, and stays until its {noun} {', '.join(item.finalizers)} {verb} gone"


def is_in_force(item: Object, content: Content, marks: Mapping[str, str]) -> bool:
    """Whether the object holds all that the content says, and carries the labels that it is known by."""
    metadata = content["metadata"]
    return (
        _holds(item.spec, content.get("spec", {}))
        and all(_holds(item.other.get(key), value) for key, value in content.items() if key not in _PLACES)
        and _holds(item.labels, metadata.get("labels") or {})
        and _holds(item.annotations, own_annotations(item, metadata.get("annotations") or {}))
        and all(item.labels.get(label) == value for label, value in marks.items())
    )


def own_annotations(item: Object, annotations: Mapping[str, Any]) -> dict[str, Any]:
    """Of annotations of the object, those that are nobody's but their writer's."""
    kept = KEPT_BY_CLUSTER.get((item.group, item.kind), frozenset())
    return {name: value for name, value in annotations.items() if name not in kept}


def _holds(actual: object, wanted: object) -> bool:
    if isinstance(wanted, dict):
        if not isinstance(actual, dict):
            return False
        return all(key in actual and _holds(actual[key], value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return (
            isinstance(actual, list)
            and len(actual) == len(wanted)
            and all(_holds(have, want) for have, want in zip(actual, wanted))
        )
    return actual == wanted and isinstance(actual, bool) == isinstance(wanted, bool)


def created(content: Content, labels: Mapping[str, str], annotations: Mapping[str, str]) -> Object:
    key = key_of(content)
    metadata = content["metadata"]
    return Object(
        api_version=content["apiVersion"],
        kind=content["kind"],
        namespace=key.namespace,
        name=key.name,
        labels={**(metadata.get("labels") or {}), **labels},
        annotations={**(metadata.get("annotations") or {}), **annotations},
        finalizers=tuple(metadata.get("finalizers") or ()),
        spec=content.get("spec", {}),
        other={name: value for name, value in content.items() if name not in _PLACES},
    )


def written(
    item: Object,
    content: Content,
    before: Content | None,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
) -> Object:
    """The object with the content in force: what the content before it said and this one does not is taken out."""
    old = before or {}
    metadata, old_metadata = content["metadata"], old.get("metadata", {})
    names = {name for name in (*content, *old) if name not in _PLACES}
    other = dict(item.other)
    for name in sorted(names):
        if name in content:
            other[name] = _merged(item.other.get(name), old.get(name), content[name])
        else:
            other.pop(name, None)
    return msgspec.structs.replace(
        item,
        api_version=content["apiVersion"],
        labels={**_merged(item.labels, old_metadata.get("labels"), metadata.get("labels") or {}), **labels},
        annotations={
            **_merged(item.annotations, old_metadata.get("annotations"), metadata.get("annotations") or {}),
            **annotations,
        },
        spec=_merged(item.spec, old.get("spec"), content.get("spec", {})),
        other=other,
    )


def _merged(actual: object, before: object, wanted: Any) -> Any:
    """Maps are merged key by key; lists and scalars are replaced whole."""
    if not isinstance(wanted, dict) or not isinstance(actual, dict):
        return wanted
    old = before if isinstance(before, dict) else {}
    result = {key: value for key, value in actual.items() if key in wanted or key not in old}
    for key, value in wanted.items():
        result[key] = _merged(actual.get(key), old.get(key), value)
    return result
