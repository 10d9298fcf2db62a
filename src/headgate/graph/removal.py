"""What is removed, and in which order: dependents before what they depend on.

Deletions are not gated. But nothing is removed that the revision of a unit which has not moved on still needs, and a
single object that gets another name stays until its successor was granted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from headgate.graph.nodes import NodeState, Unit

Place = tuple[NodeState, Unit]


class Removal(msgspec.Struct):
    deleted: list[Place]
    forgotten: list[Place]
    """Gone already: what was granted to them is over."""
    kept: list[Place]
    """Not wanted any more, and needed for a while yet."""


def plan(states: Sequence[NodeState], needed_by: Mapping[str, frozenset[str]], *, is_paused: bool) -> Removal:
    """`needed_by` has, for each node with units on older revisions, what they depend on there."""
    found = Removal([], [], [])
    leaving: set[str] = set()
    """Nodes that have something on its way out."""
    by_id = {state.id: state for state in states}
    dependents = _dependents(by_id)
    for state in _dependents_first(by_id, dependents):
        is_held = is_paused or _is_needed(state, needed_by) or _waits_for_successor(state)
        for unit in state.extras:
            if is_held:
                found.kept.append((state, unit))
            elif unit.object is None:
                found.forgotten.append((state, unit))
            else:
                leaving.add(state.id)
                is_in_line = any(name in leaving for name in dependents.get(state.id, ()))
                if not is_in_line and unit.object.deleted_at is None:
                    found.deleted.append((state, unit))
    return found


def _is_needed(state: NodeState, needed_by: Mapping[str, frozenset[str]]) -> bool:
    if not state.is_excluded:
        return False
    return any(state.id in needs for node, needs in needed_by.items() if node != state.id)


def _waits_for_successor(state: NodeState) -> bool:
    return not state.node.is_collection and any(not unit.is_updated for unit in state.units)


def _dependents(by_id: Mapping[str, NodeState]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for state in by_id.values():
        for name in state.node.depends_on:
            found.setdefault(name, []).append(state.id)
    return found


def _dependents_first(
    by_id: Mapping[str, NodeState], dependents: Mapping[str, Sequence[str]]
) -> list[NodeState]:
    """By layer: what is in a higher one goes first. Nodes of an older graph have the layers of theirs."""
    return sorted(by_id.values(), key=lambda state: -state.node.layer)
