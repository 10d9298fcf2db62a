"""What a new version of a definition takes away from instances that exist: changes that are refused unless allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headgate.kernel.documents import field_path

Schema = Mapping[str, Any]


class BreakingChange(msgspec.Struct, frozen=True, order=True):
    path: str
    kind: str
    """PROPERTY_REMOVED, TYPE_CHANGED, REQUIRED_ADDED, REQUIRED_DEFAULT_REMOVED, ENUM_RESTRICTED, PATTERN_ADDED,
    PATTERN_CHANGED, or the name of the bound that was tightened with _TIGHTENED behind it."""
    message: str


_LOWER = {"minimum": "MINIMUM", "minLength": "MIN_LENGTH", "minItems": "MIN_ITEMS"}
_UPPER = {"maximum": "MAXIMUM", "maxLength": "MAX_LENGTH", "maxItems": "MAX_ITEMS"}


def changes(old: Schema, new: Schema, path: str = "spec") -> list[BreakingChange]:
    """Every change that an instance accepted by the old schema may not survive."""
    return sorted(_changes(old, new, path))


def _changes(old: Schema, new: Schema, path: str) -> Iterator[BreakingChange]:
    if old.get("type") != new.get("type"):
        yield BreakingChange(path, "TYPE_CHANGED", f"was {old.get('type')} and is now {new.get('type')}")
        return
    yield from _values(old, new, path)
    yield from _bounds(old, new, path)
    match old.get("type"):
        case "array":
            yield from _changes(old.get("items", {}), new.get("items", {}), f"{path}[]")
        case "object":
            yield from _objects(old, new, path)


def _values(old: Schema, new: Schema, path: str) -> Iterator[BreakingChange]:
    if "enum" in new:
        lost = (
            [str(choice) for choice in old["enum"] if choice not in new["enum"]]
            if "enum" in old
            else ["any other"]
        )
        if lost:
            yield BreakingChange(path, "ENUM_RESTRICTED", f"no longer allows {', '.join(lost)}")
    if "pattern" in new and "pattern" not in old:
        yield BreakingChange(path, "PATTERN_ADDED", f"must now match {new['pattern']}")
    elif "pattern" in new and new["pattern"] != old["pattern"]:
        yield BreakingChange(
            path, "PATTERN_CHANGED", f"must now match {new['pattern']}, not {old['pattern']}"
        )


def _bounds(old: Schema, new: Schema, path: str) -> Iterator[BreakingChange]:
    for name, kind in _LOWER.items():
        if name in new and (name not in old or new[name] > old[name]):
            yield BreakingChange(
                path, f"{kind}_TIGHTENED", f"{name} is now {new[name]}, was {old.get(name, 'none')}"
            )
    for name, kind in _UPPER.items():
        if name in new and (name not in old or new[name] < old[name]):
            yield BreakingChange(
                path, f"{kind}_TIGHTENED", f"{name} is now {new[name]}, was {old.get(name, 'none')}"
            )


def _objects(old: Schema, new: Schema, path: str) -> Iterator[BreakingChange]:
    before, after = old.get("properties", {}), new.get("properties", {})
    required_before, required_after = set(old.get("required", ())), set(new.get("required", ()))
    for name, schema in before.items():
        place = field_path(path, name)
        if name not in after:
            yield BreakingChange(place, "PROPERTY_REMOVED", "was there and is now gone")
            continue
        yield from _changes(schema, after[name], place)
        has_default = "default" in after[name]
        if name in required_after and name not in required_before and not has_default:
            yield BreakingChange(place, "REQUIRED_ADDED", "is now required")
        elif name in required_after and "default" in schema and not has_default:
            yield BreakingChange(place, "REQUIRED_DEFAULT_REMOVED", "is required and has no default any more")
    for name, schema in after.items():
        if name not in before and name in required_after and "default" not in schema:
            yield BreakingChange(
                field_path(path, name), "REQUIRED_ADDED", "is new and required, and has no default"
            )
    if isinstance(old.get("additionalProperties"), Mapping) and isinstance(
        new.get("additionalProperties"), Mapping
    ):
        yield from _changes(old["additionalProperties"], new["additionalProperties"], f"{path}[*]")
    elif ("additionalProperties" in old) != ("additionalProperties" in new):
        yield BreakingChange(path, "TYPE_CHANGED", "was a map and is not, or is one now")
    if old.get("x-kubernetes-preserve-unknown-fields") and not new.get(
        "x-kubernetes-preserve-unknown-fields"
    ):
        yield BreakingChange(path, "TYPE_CHANGED", "allowed any field and no longer does")
