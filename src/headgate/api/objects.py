"""Fleet objects as the API writes and reads them: flat documents, all fields present, without the workspace."""

from __future__ import annotations

import msgspec

from headgate.fleet import rules
from headgate.fleet.engine import manifests
from headgate.fleet.model import objects as model
from headgate.fleet.model import rule_ids
from headgate.fleet.model.changes import Object
from headgate.kernel import documents, identifiers, instants, rendering
from headgate.kernel.problems import Problem, Rejected
from headgate.kernel.rendering import Document

STAMPED = frozenset({"updatedAt", "publishedAt", "setAt", "rejection", "concerns"})
"""Answered, and ignored when they come back: whoever changes what was read need not take them out."""
_PROVISIONAL_IDS = identifiers.NamedIds("provisional")
_CANONICAL = msgspec.json.Encoder(order="deterministic")


class Parsed(msgspec.Struct, frozen=True):
    """`object` has a provisional id unless the document gave one; `with_id` gives it the one it keeps."""

    object: Object
    has_own_id: bool


def parse(kind: str, body: object, workspace: str) -> Parsed:
    """Raises Rejected, paths as in the body."""
    if not isinstance(body, dict):
        raise Rejected([Problem("", f"must be a map, not {documents.describe(body)}")])
    fields = {key: value for key, value in body.items() if key not in STAMPED}
    metadata = {key: fields.pop(key) for key in ("name", "id") if key in fields}
    try:
        item = manifests.parse_parts(kind, {**metadata, "workspace": workspace}, fields, _PROVISIONAL_IDS, 0)
    except Rejected as rejected:
        raise rejected.renamed(flat_path) from None
    return Parsed(item, "id" in metadata)


def flat_path(path: str) -> str:
    """Problems are named by the keys of the flat document."""
    if path in ("spec", "metadata"):
        return ""
    for wrapping in ("spec", "metadata"):
        if path.startswith((f"{wrapping}.", f"{wrapping}[")):
            return path[len(wrapping) :].removeprefix(".")
    return path


def with_id(item: Object, id_: str) -> Object:
    """Ids of rules follow from the policy's unless they were given."""
    if isinstance(item, model.Policy) and item.id != id_:
        moved = tuple(rule_ids.moved(rule, item.id, id_) for rule in item.rules)
        return msgspec.structs.replace(item, id=id_, rules=moved)
    return msgspec.structs.replace(item, id=id_)


def is_same(old: Object, new: Object) -> bool:
    """Whether putting `new` would change nothing; 1 and true are not the same."""
    return _comparable(old) == _comparable(new)


def _comparable(compared: Object) -> bytes:
    ignored = (*STAMPED, "id", "createdAt")
    return _CANONICAL.encode({key: item for key, item in document(compared).items() if key not in ignored})


def document(item: msgspec.Struct) -> Document:
    """The flat document of an object, or of any Struct that is declared in the same way."""
    written = rendering.built(type(item), item)
    written.pop("workspace", None)
    if isinstance(item, model.Policy):
        written["rules"] = [rule_document(rule) for rule in item.rules]
    return written


def rule_document(rule: model.Rule) -> Document:
    """With its defaults, so that nobody has to know them to read it."""
    return rules.write_rule(rule, omit_defaults=False)


def encode(item: msgspec.Struct) -> bytes:
    return msgspec.json.encode(document(item))


def view(item: msgspec.Struct) -> Document:
    """What a filter sees: the document, with times that can be compared."""
    written = document(item)
    for field in msgspec.structs.fields(type(item)):
        if rendering.is_moment(field.type) and field.encode_name in written:
            at = getattr(item, field.name)
            written[field.encode_name] = None if at is None else instants.to_datetime(at)
    return written


def signed(item: Object, old: Object | None, user: str) -> Object:
    """Who freezes is who asked first, unless it is said otherwise."""
    if not isinstance(item, model.Freeze) or item.user:
        return item
    return msgspec.structs.replace(item, user=old.user if isinstance(old, model.Freeze) else user)
