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
    thing = parsed.object
    if old is not None:
        if parsed.has_own_id and thing.id != old.id:
            message = f"is {thing.id}, but {old.name} has the id {old.id}; leave it out"
            raise Rejected([Problem("id", message)])
        thing = objects.with_id(thing, old.id)
    elif not parsed.has_own_id:
        thing = objects.with_id(thing, context.engine.new_id(kind.name, thing.name))
    else:
        other = lookup.find(context.engine, kind, thing.id)
        if other is not None:
            raise Rejected([Problem("id", f"is {thing.id}, which is the id of {other.name}")])
    return objects.signed(pruning.in_set(thing, old, None), old, user)
