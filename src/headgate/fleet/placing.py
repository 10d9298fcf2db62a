"""Which targets stand together in a place: they enter with their bracket rule, and leave when no cycle needs them."""

from __future__ import annotations

from headgate.fleet.records import Group, Member
from headgate.fleet.state import State
from headgate.fleet.units import BoundRule, EnvironmentNode, Place, ResourceNode, Target


def enter(state: State, target: Target) -> None:
    rule = target.rules.bracket
    assert rule is not None
    key = (rule.id, target.environment.name, target.resource.name)
    place = state.places.get(key)
    if place is None:
        place = _new_place(state, rule, target.environment, target.resource)
    place.rule = rule
    _join(state, place, target)
    state.waiting.forget(target)
    target.leave_lines()
    state.waiting.touch(place)


def _new_place(state: State, rule: BoundRule, environment: EnvironmentNode, resource: ResourceNode) -> Place:
    place = Place(state.bracket_of(rule.id), rule, environment, resource)
    state.places[place.key] = place
    if place.record.lost_hooks is not None:
        state.journal.changed("place", *place.key)
    state.places_by_rule.setdefault(rule.id, {})[place] = None
    return place


def _join(state: State, place: Place, target: Target) -> None:
    place.members[target.deployment.name] = target
    place.plan = None
    target.place = place
    if place.bracket.entered(target.deployment.name):
        state.forms_changed()


def leave(state: State, target: Target) -> None:
    """Coming back, it is a member like any other: what was locked here counts no more for it."""
    place = target.place
    if place is None:
        return
    target.place = None
    name = target.deployment.name
    del place.members[name]
    place.plan = None
    if place.bracket.left(name):
        state.forms_changed()
    if name in place.record.floors or name in place.record.backs:
        place.record.floors.pop(name, None)
        place.record.backs.pop(name, None)
        state.journal.changed("place", *place.key)
    state.waiting.touch(place)
    drop_if_empty(state, place)


def lingers(state: State, target: Target) -> bool:
    """A post-hook that a prepared resource still needs outlives its target; only a deleted resource is let go."""
    group = target.place.executing if target.place is not None else None
    member = group.member(target.deployment.name) if group is not None else None
    return (
        group is not None
        and member is not None
        and not member.left
        and member.role == "postHook"
        and member.state in ("waiting", "retrying", "running", "failed")
        and group.run_post_hooks
        and any(has_prepared(state, one) for one in group.members)
    )


def is_prepared(state: State, group: Group) -> bool:
    """The post-hooks run in any case; without pre-hooks there is nothing to wait for."""
    hooks = [member for member in group.members if member.role == "preHook"]
    return not hooks or any(has_prepared(state, member) for member in hooks)


def has_prepared(state: State, member: Member) -> bool:
    """A pre-hook whose job has succeeded, verified or not: the resource is as the job has left it."""
    job = state.jobs.get(member.job or "")
    is_done = member.state == "succeeded" or (job is not None and job.status == "successful")
    return member.role == "preHook" and is_done


def is_under_way(place: Place, target: Target) -> bool:
    """A cycle that has started goes on to its end, post-hooks included, whatever becomes of the rule."""
    member = place.executing.member(target.deployment.name) if place.executing is not None else None
    return member is not None and not member.left


def place_of_group(state: State, group: Group, rule: BoundRule) -> Place:
    """For loading: where the group is, also when its rule no longer makes that place."""
    key = (group.rule, group.environment, group.resource)
    place = state.places.get(key)
    if place is None:
        environment, resource = state.environments[group.environment], state.resources[group.resource]
        place = _new_place(state, rule, environment, resource)
    return place


def stay(state: State, place: Place, target: Target) -> None:
    """For the end of a cycle, although its rules no longer say so."""
    leave(state, target)
    _join(state, place, target)


def drop_if_empty(state: State, place: Place) -> None:
    """A place without members and without groups is forgotten, and counts in the ranks no more; whoever comes later stands
    in a place of its own."""
    if not place.is_empty:
        return
    state.waiting.forget(place)
    place.leave_lines()
    if state.places.get(place.key) is not place:
        return
    del state.places[place.key]
    state.journal.changed("place", *place.key)
    state.places_by_rule.get(place.rule.id, {}).pop(place, None)
    state.ranks_moved()
