"""What of an object a field manager has applied, from the fields that the API server notes for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headgate.kubernetes.resources import Document

Fields = Mapping[str, Any]
"""As FieldsV1 has them: `f:` before a field, `k:` before the keys of an entry of a list, `v:` before a value of a set."""


def applied_by(document: Document, manager: str) -> Fields:
    """The fields that the manager holds by server-side apply; none if it has not applied the object."""
    for entry in (document.get("metadata") or {}).get("managedFields") or ():
        if (
            entry.get("manager") == manager
            and entry.get("operation") == "Apply"
            and not entry.get("subresource")
        ):
            fields: Fields = entry.get("fieldsV1") or {}
            return fields
    return {}


def extracted(value: Any, fields: Fields) -> Any:
    """Of a value, the part that the fields name. A field without any in it is held whole."""
    inner = {key: part for key, part in fields.items() if key != "."}
    if not inner:
        return value
    if isinstance(value, Mapping):
        return {
            name: extracted(value[name], part)
            for key, part in inner.items()
            if (name := key.removeprefix("f:")) in value and key.startswith("f:")
        }
    if isinstance(value, list):
        return [extracted(item, part) for item, part in _held(value, inner)]
    return value


def _held(items: list[Any], fields: Fields) -> Iterator[tuple[Any, Fields]]:
    """The entries of a list that are held, in the list's order."""
    by_key = [(msgspec.json.decode(key[2:]), part) for key, part in fields.items() if key.startswith("k:")]
    values = [msgspec.json.decode(key[2:]) for key in fields if key.startswith("v:")]
    for item in items:
        if item in values:
            yield item, {}
        elif isinstance(item, Mapping):
            for keys, part in by_key:
                if all(item.get(name, value) == value for name, value in keys.items()):
                    yield item, part
                    break
