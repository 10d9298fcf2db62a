"""Changes as entries of the log, and back."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from headgate.fleet.engine import snapshot
from headgate.fleet.gates import rejecting
from headgate.fleet.model import changes, kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Change
from headgate.kernel.instants import Instant

_TYPES: dict[str, type[Any]] = {one.__name__: one for one in get_args(Change)}


class _Entry(msgspec.Struct):
    type: str
    change: msgspec.Raw
    kind: str | None = None
    create_only: bool = False


class _LogEntry(msgspec.Struct, omit_defaults=True):
    type: str
    change: object
    kind: str | None = None
    create_only: bool = False


_write = msgspec.json.Encoder().encode
_read = msgspec.json.Decoder(_Entry).decode


def encode(change: Change) -> bytes:
    if isinstance(change, changes.Put):
        thing = change.object
        return _write(_LogEntry("Put", thing, kinds.of(thing).name, change.create_only))
    return _write(_LogEntry(type(change).__name__, change))


def decode(payload: bytes) -> Change:
    entry = _read(payload)
    if entry.type == "Put":
        return changes.Put(
            snapshot.object_from(kinds.BY_NAME[entry.kind or ""], bytes(entry.change)), entry.create_only
        )
    change: Change = msgspec.json.decode(entry.change, type=_TYPES[entry.type])
    return change


def signed(change: Change, user: str, now: Instant) -> Change:
    """With who has marked a version as bad, where that is not said."""
    match change:
        case changes.SetVersionStatus(user=""):
            return msgspec.structs.replace(change, user=user)
        case changes.Put(object=model.Version(status="rejected") as version):
            return msgspec.structs.replace(change, object=rejecting.signed(version, user, now))
        case _:
            return change
