"""What a parsed object becomes when it is put: with the id that it keeps."""

from __future__ import annotations

from headgate.api import objects, pruning
from headgate.api.objects import Parsed
from headgate.fleet.engine.queries import lookup
from headgate.fleet.model.changes import Object
from headgate.fleet.model.kinds import Kind
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import CommandContext


def settled(context: CommandContext, kind: Kind, parsed: Parsed, old: Object | None, user: str) -> Object:
    """With the id it keeps, and with who froze."""
    item = parsed.object
    if old is not None:
        if parsed.has_own_id and item.id != old.id:
            message = f"is {item.id}, but {old.name} has the id {old.id}; leave it out"
            raise Rejected([Problem("id", message)])
        item = objects.with_id(item, old.id)
    elif not parsed.has_own_id:
        item = objects.with_id(item, context.engine.new_id(kind.name, item.name))
    else:
        other = lookup.find(context.engine, kind, item.id)
        if other is not None:
            raise Rejected([Problem("id", f"is {item.id}, which is the id of {other.name}")])
    return objects.signed(pruning.in_set(item, old, None), old, user)
