"""Which targets stand together in a place: they enter with their bracket rule, and leave when no cycle needs them."""

from __future__ import annotations

from headgate.fleet.records import Group
from headgate.fleet.state import State
from headgate.fleet.units import BoundRule, Place, Target


def enter(state: State, target: Target) -> None:
    rule = target.rules.bracket
    assert rule is not None
    key = (rule.id, target.environment.name, target.resource.name)
    place = state.places.get(key)
    if place is None:
        place = state.places[key] = Place(rule, target.environment, target.resource, None)
        state.places_by_rule.setdefault(rule.id, {})[place] = None
    place.rule = rule
    place.members[target.deployment.name] = target
    place.plan = None
    target.place = place
    state.waiting.forget(target)
    leave_lines(state, target)
    state.waiting.touch(place)


def leave(state: State, target: Target) -> None:
    place = target.place
    if place is None:
        return
    target.place = None
    place.members.pop(target.deployment.name, None)
    place.plan = None
    state.waiting.touch(place)
    drop_if_empty(state, place)


def is_under_way(place: Place, target: Target) -> bool:
    """A cycle that has started goes on to its end, post-hooks included, whatever becomes of the rule."""
    member = place.executing.member(target.deployment.name) if place.executing is not None else None
    return member is not None and not member.left


def release_members(state: State, place: Place) -> None:
    """After a cycle: members that only stayed for its end go where their rules say."""
    for target in list(place.members.values()):
        bracket = target.rules.bracket
        if bracket is None or bracket.id != place.rule.id:
            leave(state, target)
            if bracket is not None:
                enter(state, target)
            state.touch(target)


def place_of_group(state: State, group: Group, rule: BoundRule) -> Place:
    """For loading: where the group is, also when its rule no longer makes that place."""
    key = (group.rule, group.environment, group.resource)
    place = state.places.get(key)
    if place is None:
        environment, resource = state.environments[group.environment], state.resources[group.resource]
        place = state.places[key] = Place(rule, environment, resource, None)
        state.places_by_rule.setdefault(rule.id, {})[place] = None
    return place


def keep_members(state: State, place: Place, group: Group) -> None:
    """For loading: members that stay for the end of a cycle although their rules no longer say so."""
    for member in group.members:
        target = state.targets.get(f"{member.deployment}/{group.environment}/{group.resource}")
        if target is None or target.place is place or member.left:
            continue
        leave(state, target)
        place.members[member.deployment] = target
        place.plan = None
        target.place = place


def drop_if_empty(state: State, place: Place) -> None:
    """A place without members and without groups is forgotten."""
    if place.members or any(True for _ in place.groups()):
        return
    state.waiting.forget(place)
    leave_lines(state, place)
    state.places.pop(place.key, None)
    state.journal.changed("place", *place.key)
    state.places_by_rule.get(place.rule.id, {}).pop(place, None)


def leave_lines(state: State, unit: Target | Place) -> None:
    if unit.start_key is not None:
        for table in state.slots.values():
            table.leave(unit.start_key, unit)
        unit.start_key = None
