"""A digest of what was decided at one moment, so that two engines can tell whether they decided the same.

It covers the jobs in the order in which they were created, what was cancelled, and every row that follows, by content.
In which order an engine came by the other rows is its own affair: one that was just loaded looks at more.
"""

from __future__ import annotations

import hashlib

import msgspec

from headgate.fleet.engine.engine import Decisions
from headgate.store.rows import Changes

_BYTES = 12
_NOT_COMPARED = frozenset({"bracket_place"})
"""A site of a rule that is gone is forgotten by loading, too: who was loaded has none to delete."""


def of(decisions: Decisions, changes: Changes) -> str:
    """Empty for a decision that changed nothing."""
    deletes = {key: keys for key, keys in changes.deletes.items() if key[0] not in _NOT_COMPARED}
    if not (decisions.created or decisions.cancelled or changes.puts or deletes):
        return ""
    encode = msgspec.msgpack.Encoder().encode
    found = hashlib.blake2b(digest_size=_BYTES)
    found.update(encode([job.id for job in decisions.created]))
    found.update(encode(sorted(job.id for job in decisions.cancelled)))
    for table in sorted(changes.puts):
        found.update(encode((table, sorted(map(encode, changes.puts[table])))))
    for (table, columns), keys in sorted(deletes.items(), key=lambda item: (item[0][0], item[0][1] or ())):
        found.update(encode((table, columns, sorted(map(encode, keys)))))
    return found.hexdigest()
