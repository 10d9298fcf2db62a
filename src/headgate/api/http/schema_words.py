"""What the types alone do not say: how values with a notation of their own look, and rules between fields.

A new notation or shorthand must be described here; `schemas` refuses to guess.
"""

from __future__ import annotations

from typing import Any

from headgate.fleet import rules
from headgate.fleet.engine import explain
from headgate.fleet.model import expressions
from headgate.fleet.model import objects as model
from headgate.fleet.rules import (
    deployment_bracket,
    deployment_window,
    resource_concurrency,
    verification,
)
from headgate.kernel import documents, explanations
from headgate.kernel.quantities import Quantity
from headgate.kernel.spans import Span
from headgate.simulate.model.times import When

JsonSchema = dict[str, Any]

_UNPRINTABLE = (
    r"\u0000-\u001f\u007f-\u00a0\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e\u2000-\u200f\u2028-\u202f"
    r"\u205f-\u206f\u3000\ue000-\uf8ff\ufeff\ufff0-\ufffb\ufffe\uffff"
)
TEXT_PATTERN = r"^[^\u0000]*$"
"""No string may hold NUL: not every database can store it."""
_SPOKEN_PATTERN = r"^[^\u0000]*[^\u0000\s][^\u0000]*$"
_DURATION_PATTERN = r"^ *([0-9]{1,18}(\.[0-9]{1,18})?(us|ms|s|m|h|d|w))+ *$"


def _name_pattern(refused: str) -> str:
    inner = f"[^{_UNPRINTABLE}{refused}]"
    edge = f"[^ {_UNPRINTABLE}{refused}]"
    return f"^{edge}({inner}*{edge})?$"


def _name(description: str, refused: str = "") -> JsonSchema:
    return {
        "type": "string",
        "minLength": 1,
        "maxLength": model.LONGEST_NAME,
        "pattern": _name_pattern(refused),
        "description": description,
    }


def _expression(variables: str, example: str, gives: str = "is true or false") -> JsonSchema:
    return {
        "type": "string",
        "minLength": 1,
        "pattern": _SPOKEN_PATTERN,
        "description": f"A CEL expression that {gives}; it may read {variables}.",
        "examples": [example],
    }


NAMES: dict[Any, tuple[str, JsonSchema]] = {
    model.Name: ("Name", _name("Printable characters, no space at either end.")),
    model.TargetPart: (
        "TargetPartName",
        _name("As Name, and without '/', because it becomes part of the names of targets.", "/"),
    ),
}
"""Refused in inputs only: what is answered may be older than a rule about names."""

TEXTS: dict[Any, tuple[str, JsonSchema]] = {
    documents.fields_of(model.Freeze)["reason"].type: (
        "Reason",
        {"type": "string", "pattern": _SPOKEN_PATTERN, "description": "It is shown to everyone who waits."},
    ),
    expressions.SelectorText: (
        "SelectorText",
        _expression("resource, environment and deployment", "resource.metadata['region'] == 'eu'"),
    ),
    expressions.DeploymentSelectorText: (
        "DeploymentSelectorText",
        _expression("resource, environment and deployment", "deployment.name == 'api'"),
    ),
    expressions.VersionSelectorText: (
        "VersionSelectorText",
        _expression("resource, environment, deployment and version", "version.tag.startsWith('v2.')"),
    ),
    expressions.JobAgentSelectorText: (
        "JobAgentSelectorText",
        _expression("resource, environment, deployment and jobAgent", "jobAgent.name == 'runner'"),
    ),
    expressions.GroupByText: (
        "GroupByText",
        _expression("resource", "resource.metadata['cluster']", "gives text, a number or a bool"),
    ),
    expressions.ConditionText: ("ConditionText", _expression("result", "result.status == 200")),
    expressions.GateText: (
        "GateText",
        _expression(
            "resource, environment, deployment, version, target, targets, now and signals",
            "signals['errors'] < 5",
        ),
    ),
    verification.Address: (
        "Address",
        {"type": "string", "pattern": r"^https?://\S+$", "examples": ["https://example.com/health"]},
    ),
    Quantity: (
        "Quantity",
        {
            "description": 'A whole number such as 3, or a share such as "10%".',
            "oneOf": [
                {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
                {"type": "string", "pattern": "^(0?[0-9]?[0-9]|100)%$"},
            ],
            "examples": [3, "10%"],
        },
    ),
    Span: (
        "Duration",
        {
            "type": "string",
            "pattern": _DURATION_PATTERN,
            "description": "A length of time.",
            "examples": ["1h30m", "45s"],
        },
    ),
    When: (
        "When",
        {
            "type": "string",
            "description": "A moment, or a length of time from the start.",
            "examples": ["2026-03-01T09:00:00Z", "+20h"],
        },
    ),
}

ANY_VALUE: JsonSchema = {
    "description": "Any JSON value, up to 64 levels deep.",
    "pattern": TEXT_PATTERN,
    "items": {"$ref": "#/components/schemas/AnyValue"},
    "additionalProperties": {"$ref": "#/components/schemas/AnyValue"},
    "propertyNames": {"pattern": TEXT_PATTERN},
}

STRUCT_NAMES: dict[Any, str] = {
    verification.Http: "HttpProvider",
    verification.Prometheus: "PrometheusProvider",
    verification.Sleep: "SleepProvider",
    explain.JobLine: "ExplainedJob",
    explain.MetricLine: "MetricResult",
    explain.MeasurementLine: "Measurement",
    explanations.ExplanationLine: "TreeLine",
    explanations.PartFacts: "TreePart",
} | {struct: f"{kind[0].upper()}{kind[1:]}Spec" for kind, struct in rules.KINDS.items()}
"""Names in OpenAPI are unique; these are not unique in the code, or say too little alone."""

FIELD_EXAMPLES: dict[tuple[type, str], list[object]] = {
    (deployment_window.DeploymentWindow, "rrule"): ["FREQ=WEEKLY;BYDAY=MO,TU,WE,TH;BYHOUR=9"],
    (deployment_window.DeploymentWindow, "timezone"): ["Europe/Berlin"],
}


def _needs(field: str, values: list[str], other: str, *, absent_counts: bool) -> JsonSchema:
    """`other` must be given and not null when `field` has one of the values."""
    condition: JsonSchema = {"properties": {field: {"enum": values}}}
    if not absent_counts:
        condition["required"] = [field]
    return {"if": condition, "then": {"required": [other], "properties": {other: {"not": {"type": "null"}}}}}


BETWEEN_FIELDS: dict[type, list[JsonSchema]] = {
    model.Version: [{"anyOf": [{"required": ["tag"]}, {"required": ["name"]}]}],
    model.Deployment: [
        {
            "not": {
                "required": ["jobAgent", "jobAgentSelector"],
                "properties": {"jobAgent": {"type": "string"}, "jobAgentSelector": {"type": "string"}},
            }
        }
    ],
    deployment_bracket.DeploymentBracket: [
        _needs(
            "readinessMode",
            ["collection_window", "wait_for_all"],
            "readinessWindowSeconds",
            absent_counts=True,
        ),
        _needs("onStuck", ["release"], "stuckTimeoutSeconds", absent_counts=False),
    ],
    resource_concurrency.ResourceConcurrency: [
        {
            "if": {"properties": {"limitType": {"const": "percentage"}}, "required": ["limitType"]},
            "then": {"properties": {"limitValue": {"maximum": 100}}},
        }
    ],
    verification.Metric: [
        {
            "if": {
                "properties": {"provider": {"properties": {"type": {"enum": ["http", "prometheus"]}}}},
                "required": ["provider"],
            },
            "then": {
                "required": ["successCondition"],
                "properties": {"successCondition": {"type": "string"}},
            },
        }
    ],
}
"""The part of `check_document` that JSON Schema can say."""


def shorthand(kind: type, long_form: JsonSchema) -> JsonSchema:
    """What may be written instead of the Struct itself."""
    if kind is model.VersionDependency:
        name, _ = TEXTS[expressions.VersionSelectorText]
        return {"anyOf": [{"$ref": f"#/components/schemas/{name}"}, long_form]}
    if kind is model.DeploymentVariable:
        looks_long = {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"enum": ["default", "values"]},
        }
        itself = {
            "$ref": "#/components/schemas/AnyValue",
            "description": "Any other value is the default itself.",
            "not": looks_long,
        }
        return {"anyOf": [{**long_form, "minProperties": 1}, itself]}
    raise TypeError(f"{kind.__name__} has a shorthand that no schema describes")
