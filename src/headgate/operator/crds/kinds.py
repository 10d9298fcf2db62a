"""One kind that the operator brings: its names, its schema, what `kubectl get` and `kubectl scale` show and change."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from headgate.operator.crds import descriptions, structural
from headgate.operator.crds.structural import Schema

CATEGORY = "headgate"
"""By which `kubectl get headgate` lists all of them."""


class Column(msgspec.Struct, frozen=True):
    name: str
    path: str
    type: Literal["string", "integer", "date"] = "string"
    is_wide: bool = False
    """Shown with `-o wide` alone."""

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"name": self.name, "jsonPath": self.path, "type": self.type}
        return {**document, "priority": 1} if self.is_wide else document


class CustomKind(msgspec.Struct, frozen=True):
    api_version: str
    kind: str
    plural: str
    short_names: tuple[str, ...]
    description: str
    spec: Schema
    columns: tuple[Column, ...]
    counts: tuple[str, ...] = ()
    """The numbers in the status that others read; more may stand there, and is kept."""
    selector: str | None = None
    """The field of the status with the label selector, of kinds that can be scaled."""
    is_namespaced: bool = True
    has_status: bool = True
    """As a part of its own, which nobody writes together with the rest."""

    @property
    def group(self) -> str:
        return self.api_version.partition("/")[0]

    @property
    def name(self) -> str:
        """Of the definition."""
        return f"{self.plural}.{self.group}"

    def schema(self) -> Schema:
        return {
            "type": "object",
            "description": self.description,
            "properties": {
                "apiVersion": {"type": "string"},
                "kind": {"type": "string"},
                "metadata": {"type": "object"},
                "spec": {"description": "What is wanted.", **self.spec},
                "status": self._status(),
            },
            "required": ["spec"],
        }

    def _status(self) -> Schema:
        """It is the planner's memory as well, so nothing of it may be lost."""
        numbers: dict[str, Schema] = {name: {"type": "integer"} for name in self.counts}
        texts: dict[str, Schema] = {} if self.selector is None else {self.selector: {"type": "string"}}
        fields = {"observedGeneration": {"type": "integer"}, **numbers, **texts, "conditions": _CONDITIONS}
        return {
            "type": "object",
            "description": "Written by the operator.",
            "properties": {
                name: {"description": descriptions.OF_STATUS[name], **schema}
                for name, schema in fields.items()
            },
            **structural.ANYTHING,
        }

    def document(self) -> dict[str, Any]:
        scale = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": f".status.{self.selector}",
        }
        parts: dict[str, Any] = {"status": {}} if self.has_status else {}
        version = {
            "name": self.api_version.partition("/")[2],
            "served": True,
            "storage": True,
            "subresources": {**parts, **({"scale": scale} if self.selector is not None else {})},
            "additionalPrinterColumns": [column.document() for column in (*self.columns, _AGE)],
            "schema": {"openAPIV3Schema": self.schema()},
        }
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": self.name},
            "spec": {
                "group": self.group,
                "names": {
                    "kind": self.kind,
                    "listKind": f"{self.kind}List",
                    "plural": self.plural,
                    "singular": self.kind.lower(),
                    "shortNames": list(self.short_names),
                    "categories": [CATEGORY],
                },
                "scope": "Namespaced" if self.is_namespaced else "Cluster",
                "versions": [version],
            },
        }


_AGE = Column("Age", ".metadata.creationTimestamp", "date")
_CONDITIONS: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "type": {"type": "string"},
            "status": {"type": "string"},
            "reason": {"type": "string"},
            "message": {"type": "string"},
            "observedGeneration": {"type": "integer"},
            "lastTransitionTime": {"type": "string"},
        },
        "required": ["type", "status"],
    },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
}


def condition(kind: str, field: str) -> str:
    """Where a condition says something, as a column finds it."""
    return f'.status.conditions[?(@.type=="{kind}")].{field}'
