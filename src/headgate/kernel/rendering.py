"""Documents that are declared by a Struct and filled from another value: answers, events, results.

A view says which fields people see and of which type they are; what has the attributes need not know of it. Moments are
written in RFC 3339.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from headgate.kernel import documents, instants
from headgate.kernel.instants import Instant

Document = dict[str, Any]
Writer = Callable[[Any], object]
_PLAIN = (str, int, float, bool, object, types.NoneType, Any)


def built(view: type[msgspec.Struct], source: object, *keys: str, **own: object) -> Document:
    """Each field as given, else from the attribute of the same name; all of them, or those of the keys."""
    if not keys and not own:
        return _copied(view, source)
    declared = writers(view)
    document: Document = {}
    for key in keys or declared:
        name, write = declared[key]
        value = own[name] if name in own else getattr(source, name)
        document[key] = value if write is None else write(value)
    return document


def _copied(view: type[msgspec.Struct], source: object) -> Document:
    """All fields, from the source alone: taken over in one go, then those are written that are not JSON already. A page
    has a thousand of them."""
    keys, values, writing = _copying(view)
    document: Document = dict(zip(keys, values(source)))
    for key, write in writing:
        document[key] = write(document[key])
    return document


@functools.cache
def _copying(
    view: type[msgspec.Struct],
) -> tuple[tuple[str, ...], Callable[[object], tuple[Any, ...]], tuple[tuple[str, Writer], ...]]:
    """The keys of a view, what gets their values, and those of them that are to be written."""
    declared = writers(view)
    names = [name for name, _ in declared.values()]
    # The first once more: of one name alone the getter gives no tuple.
    values = operator.attrgetter(*names, names[0])
    return tuple(declared), values, tuple((key, write) for key, (_, write) in declared.items() if write)


@functools.lru_cache(maxsize=16_384)
def render(instant: Instant) -> str:
    """Many objects share a few moments."""
    return instants.show(instant)


def render_or_none(instant: Instant | None) -> str | None:
    return None if instant is None else render(instant)


@functools.cache
def writers(kind: type[msgspec.Struct]) -> Mapping[str, tuple[str, Writer | None]]:
    """How each key is written: the field, and the function; most are JSON already and need none."""
    return {field.encode_name: (field.name, _writer(field.type)) for field in msgspec.structs.fields(kind)}


def _writer(kind: Any) -> Writer | None:
    if is_moment(kind):
        return render_or_none
    return None if _is_plain(kind) else written


def written(value: object) -> object:
    if isinstance(value, dict):
        return {key: written(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [written(item) for item in value]
    to_document = getattr(value, "to_document", None)
    if to_document is not None:
        return to_document()
    if isinstance(value, msgspec.Struct):
        return documents.write(value, omit_defaults=False)
    return value.value if isinstance(value, Enum) else value


def is_moment(kind: Any) -> bool:
    if get_origin(kind) in (Union, types.UnionType):
        return any(is_moment(one) for one in get_args(kind))
    return bool(kind == documents.Moment)


def _is_plain(kind: Any) -> bool:
    origin = get_origin(kind)
    if origin is Annotated:
        return _is_plain(get_args(kind)[0])
    if origin is not None:
        return all(_is_plain(one) for one in get_args(kind) if one is not Ellipsis) or _is_choice(kind)
    return kind in _PLAIN


def _is_choice(kind: Any) -> bool:
    return all(isinstance(one, str) for one in get_args(kind))
