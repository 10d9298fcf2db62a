"""Tables of fields: what a Struct declares, in the words of the documentation."""

import functools
import operator
import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec

from headgate.cluster.simulated import settings
from headgate.fleet import rules
from headgate.fleet.engine import manifest_objects
from headgate.fleet.model import expressions, kinds
from headgate.fleet.model import objects as model
from headgate.fleet.rules import verification
from headgate.kernel import documents
from headgate.kernel.quantities import Quantity
from headgate.kernel.spans import Span
from headgate.simulate import scenario
from headgate.simulate.model import steps
from headgate.simulate.model.times import When
from headgate.workload import model as workload

_EXPRESSIONS = (
    expressions.SelectorText,
    expressions.DeploymentSelectorText,
    expressions.VersionSelectorText,
    expressions.JobAgentSelectorText,
    expressions.ConditionText,
    expressions.GateText,
    expressions.GroupByText,
)
_PLAIN = {
    str: "string",
    int: "whole number",
    float: "number",
    bool: "true or false",
    object: "any value",
    Any: "any value",
    Quantity: "whole number or percentage",
    workload.Surge: "whole number or percentage",
    workload.Delay: "duration",
    Span: "duration",
    When: "time",
}
_REQUIRED_BY_READER = frozenset({(model.Policy, "rules")})
_FILLED_IN_LATER = {
    (workload.CliqueSpec, "min_available"): "its `replicas`",
    (workload.AutoScaling, "min_replicas"): "its `replicas`",
    (workload.ComponentStrategy, "max_unavailable"): f"`{workload.DEFAULT_MAX_UNAVAILABLE}`",
    (workload.ComponentStrategy, "max_surge"): f"`{workload.DEFAULT_MAX_SURGE}`",
}
"""Defaults that follow from other fields, or hold without being written down."""
_WHOLE_NUMBER_RANGE = get_args(workload.Number)[1]
"""What an integer of the API holds at most: no bound that a person has to know."""
MARKER = re.compile(r"<!-- fields: (\w+) -->\n(?:\n*((?:\|[^\n]*\n)+))?")
"""With the table below it, if there is one yet."""
HEADER = ("field", "type", "default", "allowed", "meaning")


def registry() -> dict[str, type[msgspec.Struct]]:
    """Every Struct that the documentation has a table of, by the name its table goes by."""
    found: dict[str, Any] = {f"{kind}Rule": struct for kind, struct in rules.KINDS.items()}
    found |= {struct.__name__: struct for struct in (verification.Metric, verification.Http)}
    found |= {struct.__name__: struct for struct in (verification.Prometheus, verification.Sleep)}
    found |= {kind.name: kind.model for kind in kinds.ALL}
    found |= {"VariableValue": model.VariableValue}
    found |= {"Scenario": scenario._Spec, "Agent": scenario.AgentEntry, "Expectation": scenario.Expectation}
    found |= {
        struct.__name__: struct for struct in (settings.Cluster, settings.Behavior, settings.StatusBehavior)
    }
    found["Ends"] = settings.Ends
    found |= {
        payload.__name__: payload
        for payload in steps.KINDS.values()
        if isinstance(payload, type) and issubclass(payload, msgspec.Struct) and payload is not steps.Nothing
    }
    found["PodCliqueSet"] = workload.Spec
    found |= {struct.__name__: struct for struct in (workload.UpdateStrategy, workload.ComponentStrategy)}
    found |= {struct.__name__: struct for struct in (workload.Template, workload.Clique, workload.CliqueSpec)}
    found |= {struct.__name__: struct for struct in (workload.ScalingGroup, workload.AutoScaling)}
    found |= {struct.__name__: struct for struct in (workload.HeadlessService, workload.ClaimTemplate)}
    found |= {struct.__name__: struct for struct in (workload.SharingReference, workload.SharingFilter)}
    return found


def rows(struct: type[msgspec.Struct]) -> dict[str, tuple[str, str, str]]:
    """Type, default and allowed values of each field that a person writes."""
    hints = typing.get_type_hints(struct, include_extras=True)
    hidden = manifest_objects._NOT_IN_SPEC if struct in {kind.model for kind in kinds.ALL} else frozenset()
    found = {}
    for field in msgspec.structs.fields(struct):
        if field.encode_name in hidden:
            continue
        kind = _without_none(hints[field.name])
        found[field.encode_name] = (_type(kind), _default(struct, field, kind), _allowed(kind))
    return found


def tables_in(page: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """The name after `fields:` and the body rows of the table below it, as cells."""
    for match in MARKER.finditer(page.read_text("utf-8")):
        yield match.group(1), [cells(line) for line in (match.group(2) or "").splitlines()[2:]]


def cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        options = tuple(option for option in get_args(kind) if option is not type(None))
        return functools.reduce(operator.or_, options)
    return kind


def _type(kind: Any) -> str:
    origin = get_origin(kind)
    if kind in _EXPRESSIONS:
        return "CEL"
    if kind == documents.Moment:
        return "time"
    if origin is Annotated:
        return _type(get_args(kind)[0])
    if origin is Literal:
        return "one of"
    if origin is tuple:
        return f"list of {_plural(_type(get_args(kind)[0]))}"
    if origin is dict:
        return f"map to {_plural(_type(get_args(kind)[1]))}"
    if origin in (Union, types.UnionType):
        return " or ".join(_type(option) for option in get_args(kind))
    return _PLAIN.get(kind) or str(kind.__name__)


def _plural(text: str) -> str:
    known = {"string": "strings", "any value": "any values", "one of": "values", "CEL": "CEL"}
    return known.get(text, text)


def _default(struct: type[msgspec.Struct], field: Any, kind: Any) -> str:
    value = field.default
    if (struct, field.name) in _REQUIRED_BY_READER:
        return "required"
    if (struct, field.name) in _FILLED_IN_LATER:
        return _FILLED_IN_LATER[struct, field.name]
    if kind == documents.Moment:
        return "none"
    if value is msgspec.NODEFAULT and field.default_factory is not msgspec.NODEFAULT:
        value = field.default_factory()
    if value is msgspec.NODEFAULT:
        return "required"
    if value is None or value == "" or value in ({}, ()):
        return "none"
    return _rendered(value)


def _rendered(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return ", ".join(_rendered(item) for item in value)
    if hasattr(value, "to_document"):
        return f"`{value.to_document()}`"
    if isinstance(value, msgspec.Struct):
        return "its defaults"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _allowed(kind: Any) -> str:
    parts = list(_bounds(kind))
    return "; ".join(parts)


def _bounds(kind: Any) -> Iterator[str]:
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _bounds(get_args(kind)[0])
        for meta in kind.__metadata__:
            if isinstance(meta, msgspec.Meta) and meta is not _WHOLE_NUMBER_RANGE:
                yield from _meta(meta)
            if isinstance(meta, documents.Aliases):
                yield "also spelled " + ", ".join(f"`{spelling}`" for spelling in meta.spellings)
    elif origin is Literal:
        yield ", ".join(f"`{value}`" for value in get_args(kind))
    elif origin is tuple:
        yield from _bounds(get_args(kind)[0])


def _meta(meta: msgspec.Meta) -> Iterator[str]:
    if meta.ge is not None and meta.le is not None:
        yield f"{meta.ge} to {meta.le}"
    elif meta.gt is not None and meta.le is not None:
        yield f"more than {meta.gt}, up to {meta.le}"
    elif meta.ge is not None:
        yield f"{meta.ge} or more"
    if meta.min_length is not None:
        yield "not empty"
