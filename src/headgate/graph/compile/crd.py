"""The CustomResourceDefinition that a graph definition brings about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.graph.compile import names
from headgate.graph.compile.definition import Definition, PrinterColumn
from headgate.kernel import documents

Schema = dict[str, Any]

OWN_STATUS = "headgate"
"""The key in an instance's status under which the planner keeps where the instance stands. The schema has to know it:
an API server drops what a schema does not have."""

_CONDITION_FIELDS = {
    "type": {"type": "string"},
    "status": {"type": "string"},
    "reason": {"type": "string"},
    "message": {"type": "string"},
    "lastTransitionTime": {"type": "string", "format": "date-time"},
    "observedGeneration": {"type": "integer"},
}
_DEFAULT_COLUMNS = (
    {
        "name": "State",
        "description": "The state of a ResourceGraphDefinition instance",
        "jsonPath": ".status.state",
        "type": "string",
    },
    {
        "name": "Ready",
        "description": "Whether a ResourceGraphDefinition instance is ready",
        "jsonPath": '.status.conditions[?(@.type=="Ready")].status',
        "type": "string",
    },
    {
        "name": "Age",
        "description": "Age of the resource",
        "jsonPath": ".metadata.creationTimestamp",
        "type": "date",
    },
)


def instance_schema(spec: Schema, status_fields: Mapping[str, Schema]) -> Schema:
    status: dict[str, Schema] = {
        **status_fields,
        "state": {"type": "string"},
        "conditions": {"type": "array", "items": {"type": "object", "properties": dict(_CONDITION_FIELDS)}},
        OWN_STATUS: {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    }
    return {
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {
                "type": "object",
                # The objects of an instance carry its name in a label.
                "properties": {"name": {"type": "string", "maxLength": names.LONGEST_LABEL}},
            },
            "spec": spec,
            "status": {"type": "object", "properties": status},
        },
    }


def document(definition: Definition, schema: Schema) -> dict[str, Any]:
    declared = definition.spec.schema
    plural = names.plural_of(declared.kind)
    naming: dict[str, Any] = {
        "kind": declared.kind,
        "listKind": f"{declared.kind}List",
        "plural": plural,
        "singular": declared.kind.lower(),
    }
    if declared.short_names:
        naming["shortNames"] = list(declared.short_names)
    if declared.categories:
        naming["categories"] = list(declared.categories)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": _metadata(definition, f"{plural}.{definition.group}"),
        "spec": {
            "group": definition.group,
            "names": naming,
            "scope": declared.scope or "Namespaced",
            "conversion": {"strategy": "None"},
            "versions": [
                {
                    "name": declared.api_version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": _columns(declared.additional_printer_columns),
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def _metadata(definition: Definition, name: str) -> dict[str, Any]:
    labelled = definition.spec.schema.metadata
    labels = dict(labelled.labels or {}) if labelled else {}
    labels["kro.run/owned"] = "true"
    labels["kro.run/resource-graph-definition-name"] = definition.name
    if definition.uid:
        labels["kro.run/resource-graph-definition-id"] = definition.uid
    metadata: dict[str, Any] = {"name": name, "labels": labels}
    if labelled and labelled.annotations:
        metadata["annotations"] = dict(labelled.annotations)
    return metadata


def _columns(columns: tuple[PrinterColumn, ...] | None) -> list[dict[str, Any]]:
    if not columns:
        return [dict(column) for column in _DEFAULT_COLUMNS]
    return [documents.write(column) for column in columns]
