"""Kinds of a cluster's objects with their schemas, and the port to whoever knows them: the built-in list or a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

ANYTHING: dict[str, Any] = {"x-kubernetes-preserve-unknown-fields": True}
OBSERVED_GENERATION = "observedGeneration"


class ObjectKind(msgspec.Struct, frozen=True):
    """`schema` has types, properties, items and required fields. Its maps may be made as they are walked, since types
    may hold themselves."""

    api_version: str
    name: str
    plural: str
    is_namespaced: bool
    schema: Mapping[str, Any]

    @property
    def has_observed_generation(self) -> bool:
        """Whether its status says which generation it is about."""
        status = self.schema.get("properties", {}).get("status", {})
        return OBSERVED_GENERATION in status.get("properties", {})


class KindSource(Protocol):
    def find(self, api_version: str, name: str) -> ObjectKind | None:
        """None for a kind that is not known, of whose objects everything may be asked."""
