"""merge and deepMerge of maps; where both have a key, the argument's value wins."""

from collections.abc import Mapping
from typing import Any

from headgate import cel

_MAP = cel.map_of(cel.STRING, cel.DYN)
DEEPEST = 64


def merge(receiver: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {**receiver, **other}


def deep_merge(receiver: Mapping[str, Any], other: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """Maps within maps are merged too; lists and everything else are replaced."""
    if depth > DEEPEST:
        raise ValueError(f"the maps nest more than {DEEPEST} levels deep")
    merged = dict(receiver)
    for key, value in other.items():
        below = merged.get(key)
        both_maps = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = deep_merge(below, value, depth + 1) if both_maps else value  # type: ignore[arg-type]
    return merged


FUNCTIONS = (
    cel.Function("merge", (_MAP, _MAP), _MAP, merge, member=True),
    cel.Function("deepMerge", (_MAP, _MAP), _MAP, deep_merge, member=True),
)
