"""Pages of lists: limit, sort and cursor. A cursor is the last key of the page before, so inserts move nothing."""

from __future__ import annotations

import base64
import binascii

import msgspec

from headgate.api.http.calls import Parameter, Refusal, Request
from headgate.fleet.engine import orderings
from headgate.fleet.engine.orderings import KeyRange

DEFAULT_LIMIT = 100
LARGEST_LIMIT = 1_000

Key = orderings.Key

_SHAPES: dict[str, tuple[type, ...]] = {"name": (str,), "createdAt": (int, str)}


class Page(msgspec.Struct, frozen=True):
    limit: int
    field: str
    is_descending: bool
    after: Key | None

    @property
    def sort(self) -> str:
        return f"-{self.field}" if self.is_descending else self.field

    def key(self, name: str, created_at: int) -> Key:
        return (name,) if self.field == "name" else (created_at, name)

    def range_behind(self, position: Key | None, count: int) -> KeyRange:
        """The next keys in the direction of the page."""
        return KeyRange(self.field, self.is_descending, position, count)

    def cursor(self, key: Key) -> str:
        """Opaque to callers: base64url of the sort and the key."""
        text = msgspec.json.encode([self.sort, *key])
        return base64.urlsafe_b64encode(text).decode().rstrip("=")


ANY_SORT = ("name", "-name", "createdAt", "-createdAt")
NEWEST_FIRST = ("-createdAt",)


def parameters(
    variable: str,
    sorts: tuple[str, ...] = ANY_SORT,
    default: str = "name",
    around: tuple[str, ...] = (),
) -> tuple[Parameter, ...]:
    """Of a list whose filter calls one of its objects `variable`, and those it is made of `around`; without `sorts` it has
    one order only."""
    read = ", ".join(f"`{name}`" for name in (variable, *around))
    sort = Parameter(
        "sort", {"type": "string", "enum": list(sorts), "default": default}, "`-` is descending."
    )
    return (
        Parameter(
            "limit",
            {"type": "integer", "minimum": 1, "maximum": LARGEST_LIMIT, "default": DEFAULT_LIMIT},
            "The most items of a page. A page may have fewer: the list ends where `next` is null.",
        ),
        Parameter("cursor", {"type": "string"}, "`next` of the page before."),
        Parameter(
            "cel",
            {"type": "string"},
            f"Only what this CEL expression is true of; it reads {read}.",
        ),
        *((sort,) if sorts else ()),
    )


def read(call: Request, default: str = "name") -> Page:
    sort = str(call.query.get("sort") or default)
    limit = int(call.query.get("limit") or DEFAULT_LIMIT)
    field = sort.removeprefix("-")
    cursor = call.query.get("cursor")
    after = None if cursor is None else _read_cursor(str(cursor), sort, field)
    return Page(limit, field, sort.startswith("-"), after)


def _read_cursor(cursor: str, sort: str, field: str) -> Key:
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        decoded = msgspec.json.decode(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, msgspec.DecodeError, RecursionError):
        decoded = None
    if not isinstance(decoded, list) or not decoded or not isinstance(decoded[0], str):
        raise _bad_cursor("cannot be read; allowed is `next` of the page before")
    if decoded[0] != sort:
        raise _bad_cursor(f"belongs to a list with sort={decoded[0][:40]}, this one has sort={sort}")
    key, shape = tuple(decoded[1:]), _SHAPES[field]
    if len(key) != len(shape) or not all(type(part) is kind for part, kind in zip(key, shape)):
        raise _bad_cursor("cannot be read; allowed is `next` of the page before")
    if any(isinstance(part, int) and abs(part) >= 2**62 for part in key):
        raise _bad_cursor("cannot be read; allowed is `next` of the page before")
    return key


def _bad_cursor(message: str) -> Refusal:
    return Refusal(400, "The cursor is invalid", f"cursor {message}", (("cursor", message),))
