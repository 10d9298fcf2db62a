"""JSON patches (RFC 6902): what has to be done to one document to get another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

PatchOperation = dict[str, Any]


def difference(before: Any, after: Any, path: str = "") -> list[PatchOperation]:
    return list(_operations(before, after, path))


def _operations(before: Any, after: Any, path: str) -> Iterator[PatchOperation]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() - after.keys():
            yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
        for key, value in after.items():
            place = f"{path}/{_escaped(key)}"
            if key in before:
                yield from _operations(before[key], value, place)
            else:
                yield {"op": "add", "path": place, "value": value}
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after)):
            yield from _operations(old, new, f"{path}/{index}")
    elif before != after or type(before) is not type(after):
        yield {"op": "replace", "path": path, "value": after}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
