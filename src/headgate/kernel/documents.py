"""Reads JSON-like values into Structs by the Struct's own annotations, and says everything that is wrong at once.

A field is declared once, on its Struct: type, default, `msgspec.Meta` bounds, and the markers below. Hooks a type may have:
`from_document(value)` and `to_document()` for a value with its own notation, `expand_shorthand(value)` for a Struct
that may be written shorter, `check_document(given, path, problems)` for rules between fields. The last one is called
with the fields that could be read even when others could not, because a person wants all problems in one go.

A type is taken apart once, into readers that are kept; a document is read by these. Values without structure are read in
`plain_values`; what others use of it is named here too, so that they need this module alone.
"""

import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT

from headgate.kernel import instants
from headgate.kernel.plain_values import (
    DEEPEST_NESTING,
    INVALID,
    MOST_PROBLEMS,
    PLAIN_READERS,
    Reader,
    check_bounds,
    check_json,
    describe,
    field_path,
    is_plain,
    item_path,
    listed,
    read_choice,
    read_instant,
    read_text,
    refuse,
    suggest,
    text_problem,
)
from headgate.kernel.problems import Problem, Rejected

__all__ = [
    "DEEPEST_NESTING",
    "INVALID",
    "MOST_PROBLEMS",
    "Aliases",
    "Checked",
    "Moment",
    "check_json",
    "describe",
    "field_path",
    "fields_of",
    "item_path",
    "read",
    "read_choice",
    "read_into",
    "refuse_unknown_keys",
    "text_problem",
    "write",
]

T = TypeVar("T")
Check = Callable[[Any, str, list[Problem]], None]


class Checked:
    """Marks a field whose value is looked at further once its type is right."""

    def __init__(self, check: Check) -> None:
        self.check = check


class Aliases:
    """Marks a field that accepts other spellings of its values."""

    def __init__(self, spellings: Mapping[str, str]) -> None:
        self.spellings = spellings


class _InstantFormat:
    pass


Moment = Annotated[int, _InstantFormat()]
"""An instant that documents write in RFC 3339."""


def read(kind: type[T], value: object, path: str = "") -> T:
    problems: list[Problem] = []
    result = read_into(kind, value, path, problems)
    if problems:
        raise Rejected(problems)
    return typing.cast(T, result)


def read_into(kind: Any, value: object, path: str, problems: list[Problem]) -> object:
    """The value, or INVALID when it added at least one problem."""
    count_before = len(problems)
    result = _reader(kind)(value, path, problems)
    return result if len(problems) == count_before else INVALID


_READERS: dict[Any, Reader] = {}


def _reader(kind: Any) -> Reader:
    try:
        known = _READERS.get(kind)
    except TypeError:  # a marker that cannot be hashed
        return _made_reader(kind)
    if known is None:
        known = _READERS[kind] = _made_reader(kind)
    return known


def _made_reader(kind: Any) -> Reader:
    origin = get_origin(kind)
    if origin is Annotated:
        return _annotated_reader(kind)
    if origin is Union or origin is types.UnionType:
        return _union_reader(get_args(kind))
    if origin is Literal:
        return functools.partial(read_choice, get_args(kind))
    if origin in (tuple, list, Sequence):
        return functools.partial(_read_items, _reader(get_args(kind)[0]))
    if origin in (dict, Mapping):
        return functools.partial(_read_map, _reader(get_args(kind)[1]))
    if hasattr(kind, "from_document"):
        return functools.partial(_read_own_notation, kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return functools.partial(_read_struct, kind)
    return PLAIN_READERS.get(kind) or functools.partial(_read_nothing, kind)


def _read_nothing(kind: Any, value: object, path: str, problems: list[Problem]) -> object:
    raise TypeError(f"{path}: no way to read {kind!r} from a document")


def _annotated_reader(kind: Any) -> Reader:
    base, *markers = get_args(kind)
    if any(isinstance(marker, _InstantFormat) for marker in markers):
        return read_instant
    spellings = [marker.spellings for marker in markers if isinstance(marker, Aliases)]
    checks: list[Check] = []
    for marker in markers:
        if isinstance(marker, msgspec.Meta):
            checks.append(functools.partial(check_bounds, marker))
        elif isinstance(marker, Checked):
            checks.append(marker.check)
    return functools.partial(_read_checked, _reader(base), spellings, checks)


def _read_checked(
    read_base: Reader,
    spellings: Sequence[Mapping[str, str]],
    checks: Sequence[Check],
    value: object,
    path: str,
    problems: list[Problem],
) -> object:
    if isinstance(value, str):
        for known in spellings:
            value = known.get(value, value)
    count_before = len(problems)
    result = read_base(value, path, problems)
    if result is INVALID or len(problems) != count_before:
        return INVALID
    for check in checks:
        check(result, path, problems)
    return result


def _union_reader(kinds: Sequence[Any]) -> Reader:
    others = [kind for kind in kinds if kind is not types.NoneType]
    read_other = _reader(others[0]) if len(others) == 1 else functools.partial(_read_tagged, others)
    return functools.partial(_read_optional, read_other) if len(others) < len(kinds) else read_other


def _read_optional(read_other: Reader, value: object, path: str, problems: list[Problem]) -> object:
    return None if value is None else read_other(value, path, problems)


def _read_tagged(kinds: Sequence[Any], value: object, path: str, problems: list[Problem]) -> object:
    """A union of Structs is told apart by msgspec's tag, so that a problem can name the one that was meant."""
    configurations = {kind.__struct_config__.tag: kind for kind in kinds}
    tag_field = kinds[0].__struct_config__.tag_field
    if not isinstance(value, dict):
        return refuse(problems, path, f"must be a map with {tag_field}, not {describe(value)}")
    rest = {key: item for key, item in value.items() if key != tag_field}
    if tag_field not in value:
        return refuse(
            problems, field_path(path, tag_field), f"is required; allowed are {listed(configurations)}"
        )
    tag = value[tag_field]
    if not isinstance(tag, str) or tag not in configurations:
        return read_choice(tuple(configurations), tag, field_path(path, tag_field), problems)
    return _read_struct(configurations[tag], rest, path, problems)


def _read_items(read_item: Reader, value: object, path: str, problems: list[Problem]) -> object:
    if not isinstance(value, list | tuple):
        return refuse(problems, path, f"must be a list, not {describe(value)}")
    result: list[object] = []
    for index, item in enumerate(value):
        result.append(read_item(item, item_path(path, index), problems))
        if len(problems) >= MOST_PROBLEMS:
            return INVALID
    return tuple(result)


def _read_map(read_item: Reader, value: object, path: str, problems: list[Problem]) -> object:
    if not isinstance(value, dict):
        return refuse(problems, path, f"must be a map, not {describe(value)}")
    result: dict[str, object] = {}
    is_text = read_item is read_text
    for key, item in value.items():
        if len(problems) >= MOST_PROBLEMS:
            return INVALID
        if is_text and is_plain(key) and is_plain(item):
            result[key] = item
            continue
        if not isinstance(key, str):
            refuse(
                problems,
                path,
                f"has the key {key!r}, which is {describe(key)}; keys are strings, write it in quotes",
            )
            continue
        problem = text_problem(key)
        if problem:
            refuse(problems, path, f"has a key that {problem}")
            continue
        result[key] = read_item(item, field_path(path, key), problems)
    return result


def _read_own_notation(kind: Any, value: object, path: str, problems: list[Problem]) -> object:
    try:
        return kind.from_document(value)
    except ValueError as error:
        return refuse(problems, path, str(error))


def _read_struct(kind: type[msgspec.Struct], value: object, path: str, problems: list[Problem]) -> object:
    expand = getattr(kind, "expand_shorthand", None)
    if expand is not None:
        value = expand(value)
    if not isinstance(value, dict):
        return refuse(problems, path, f"must be a map, not {describe(value)}")
    fields = _readers_of(kind)
    refuse_unknown_keys(value, fields, path, problems)
    given: dict[str, object] = {}
    for key, field in fields.items():
        if key in value:
            count_before = len(problems)
            result = field.read(value[key], f"{path}{field.path_after}" if path else field.path, problems)
            if result is not INVALID and len(problems) == count_before:
                given[field.name] = result
        elif field.is_required:
            refuse(problems, field_path(path, key), "is required")
        else:
            given[field.name] = field.default() if field.is_made_anew else field.default
    check = getattr(kind, "check_document", None)
    if check is not None:
        check(given, path, problems)
    return kind(**given) if len(given) == len(fields) else INVALID


class _Field(msgspec.Struct, frozen=True):
    name: str
    read: Reader
    path: str
    path_after: str
    """The path behind that of the Struct, if that has one."""
    is_required: bool
    default: Any
    is_made_anew: bool


_READERS_OF: dict[Any, dict[str, _Field]] = {}


def _readers_of(kind: type[msgspec.Struct]) -> dict[str, _Field]:
    """Made when a document is first read, not with the Struct's reader: a Struct may contain itself."""
    known = _READERS_OF.get(kind)
    if known is None:
        known = _READERS_OF[kind] = {key: _field(key, field) for key, field in fields_of(kind).items()}
    return known


def _field(key: str, field: msgspec.structs.FieldInfo) -> _Field:
    is_made_anew = field.default_factory is not NODEFAULT
    return _Field(
        field.name,
        _reader(field.type),
        field_path("", key),
        field_path(".", key)[1:],
        field.required,
        field.default_factory if is_made_anew else field.default,
        is_made_anew,
    )


def default_of(field: msgspec.structs.FieldInfo) -> object:
    if field.default_factory is not NODEFAULT:
        return field.default_factory()
    return field.default


_FIELDS: dict[Any, dict[str, msgspec.structs.FieldInfo]] = {}


def fields_of(kind: type[Any]) -> dict[str, msgspec.structs.FieldInfo]:
    """The fields of a Struct by the names they have in documents."""
    if kind not in _FIELDS:
        _FIELDS[kind] = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    return _FIELDS[kind]


def refuse_unknown_keys(
    value: Mapping[Any, object],
    allowed: Mapping[str, object] | Sequence[str],
    path: str,
    problems: list[Problem],
) -> None:
    for key in value:
        if len(problems) >= MOST_PROBLEMS:
            return
        if key not in allowed:
            place = field_path(path, key) if isinstance(key, str) else path
            message = (
                f"is not a known key; allowed are {listed(tuple(allowed))}{suggest(key, tuple(allowed))}"
            )
            refuse(problems, place, message if isinstance(key, str) else f"the key {key!r} {message}")


def write(value: msgspec.Struct, *, omit_defaults: bool = True) -> dict[str, object]:
    """The document that reads back as this value. Fields that hold their default are left out unless asked for."""
    document: dict[str, object] = {}
    configuration = value.__struct_config__
    if configuration.tag_field is not None and configuration.tag is not None:
        document[configuration.tag_field] = configuration.tag
    for key, field in fields_of(type(value)).items():
        item = getattr(value, field.name)
        if omit_defaults and not field.required and item == default_of(field):
            continue
        document[key] = _write(field.type, item, omit_defaults)
    return document


def _write(kind: Any, value: Any, omit_defaults: bool) -> object:
    origin = get_origin(kind)
    if origin is Union or origin is types.UnionType:
        if value is None:
            return None
        others = [other for other in get_args(kind) if other is not types.NoneType]
        kind = others[0] if len(others) == 1 else type(value)
        return _write(kind, value, omit_defaults)
    if origin is Annotated:
        base, *markers = get_args(kind)
        if any(isinstance(marker, _InstantFormat) for marker in markers):
            return instants.show(value)
        return _write(base, value, omit_defaults)
    if origin in (tuple, list, Sequence):
        return [_write(get_args(kind)[0], item, omit_defaults) for item in value]
    if origin in (dict, Mapping):
        return {key: _write(get_args(kind)[1], item, omit_defaults) for key, item in value.items()}
    if hasattr(value, "to_document"):
        return value.to_document()
    if isinstance(value, msgspec.Struct):
        return write(value, omit_defaults=omit_defaults)
    return value
