"""What the API server asks, and what a kind's own rules answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from headgate.graph.compile.compiler import BUILT_IN
from headgate.graph.reconcile.served_kinds import KnownObjects
from headgate.kernel.object_kinds import KindSource
from headgate.kernel.problems import Problem

__all__ = [
    "ACCEPTED",
    "AdmissionRequest",
    "Document",
    "Judgement",
    "KnownObjects",
    "Operation",
    "Surroundings",
    "is_settled",
    "metadata_of",
    "placed",
]

Document = Mapping[str, Any]
Operation = Literal["CREATE", "UPDATE", "DELETE"]


class AdmissionRequest(msgspec.Struct, frozen=True):
    """`document` is absent when something is deleted, `old` when it is created."""

    operation: Operation
    namespace: str
    name: str
    document: Document | None
    old: Document | None


class Surroundings(msgspec.Struct, frozen=True):
    """What a document is judged beside: the objects that there are, and the kinds that the cluster serves."""

    objects: KnownObjects
    kinds: KindSource = BUILT_IN


class Judgement(msgspec.Struct, frozen=True):
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    document: Document | None = None
    """As it is to be stored, if that is not as it was given."""


ACCEPTED = Judgement()


def metadata_of(document: Document) -> Mapping[str, Any]:
    metadata = document.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def placed(request: AdmissionRequest, document: Document) -> dict[str, Any]:
    """The document where the request puts it. One that asks the server for a name has none yet: another stands in."""
    metadata = {**metadata_of(document)}
    if request.namespace:
        metadata["namespace"] = request.namespace
    if not metadata.get("name") and isinstance(metadata.get("generateName"), str):
        metadata["name"] = f"{metadata['generateName']}xxxxx"
    return {**document, "metadata": metadata}


def is_settled(request: AdmissionRequest) -> bool:
    """Whether nothing that rules are about changes. What is on its way out, and what was stored under other rules, must
    stay writable: its finalizers and marks are set by controllers."""
    if request.document is None or request.old is None:
        return False
    if metadata_of(request.document).get("deletionTimestamp") is not None:
        return True
    return _content(request.document) == _content(request.old)


def _content(document: Document) -> object:
    metadata = metadata_of(document)
    return (document.get("spec"), metadata.get("annotations") or {}, metadata.get("labels") or {})
