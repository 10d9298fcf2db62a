"""When a locked group may start: its turn, windows, gates, budgets, no freeze; slots are asked for last."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from headgate.fleet import gates, holds, rollouts
from headgate.fleet.brackets import ordering, shape
from headgate.fleet.records import Group
from headgate.fleet.rules import gradual_rollout
from headgate.fleet.slots import SlotTable
from headgate.fleet.state import Judged, State
from headgate.fleet.targets import Hindrance, turn_reasons, windows_for
from headgate.fleet.units import BoundRule, Place, StartKey, Target, VersionNode
from headgate.kernel.instants import Instant

Runner = tuple[Target, VersionNode]


class GroupStart(msgspec.Struct, frozen=True):
    """A group that may start, or go on after its slot was released, as soon as it has its slots."""

    group: Group
    judged: tuple[Judged, ...]
    key: StartKey


def runners(state: State, place: Place, group: Group) -> list[Runner]:
    """Members that are going to run, with their locked versions."""
    found = []
    for member in group.members:
        version = state.version(member.version)
        target = place.members.get(member.deployment)
        if member.state in ("waiting", "retrying", "running") and version is not None and target is not None:
            found.append((target, version))
    return found


def start_of(
    state: State, place: Place, group: Group, now: Instant, hindrance: Hindrance
) -> GroupStart | None:
    judged: list[Judged] = []
    for one in verdicts_of(state, place, group, now):
        if not one.is_allowed:
            hindrance.add(one)
            return None
        judged.append(one)
    if not _someone_can_begin(state, place, group, now, hindrance):
        return None
    return GroupStart(group, tuple(judged), start_key(state, place, group))


def _someone_can_begin(state: State, place: Place, group: Group, now: Instant, hindrance: Hindrance) -> bool:
    """A group starts with its first job: if every member waits for another, it does not take its slots."""
    held_back: list[Judged] = []
    for member in group.members:
        if member.state != "waiting" or member.version is None:
            continue
        first = next(
            (o for o in ordering.verdicts_of(state, place, group, member, now) if not o.is_allowed), None
        )
        if first is None:
            return True
        held_back.append(first)
    for one in held_back:
        hindrance.add(one)
    return False


def verdicts_of(state: State, place: Place, group: Group, now: Instant) -> Iterator[Judged]:
    """Every gate of the start but the slots; a rule that several members share is asked once."""
    running = runners(state, place, group)
    if not group.without_window:
        yield from rollout_verdicts(state, place, group, running, now)
    yield from moment_verdicts(state, place, running, now)


def moment_verdicts(state: State, place: Place, running: list[Runner], now: Instant) -> Iterator[Judged]:
    """Gates are not asked about hooks: a hook changes with its next cycle, whatever the rollout is about."""
    asked: set[str] = set()
    hooks = shape.of_place(place).hooks
    for target, version in running:
        for one in gates.of_moment(state, target, version, now):
            if one.kind == "gate" and target.deployment.name in hooks:
                continue
            if one.rule is not None and one.kind in ("deploymentWindow", "failureBudget"):
                if one.rule.id in asked:
                    continue
                asked.add(one.rule.id)
            if one is not gates.NOT_FROZEN:
                yield one


def rollout_verdicts(
    state: State, place: Place, group: Group, running: list[Runner], now: Instant
) -> Iterator[Judged]:
    """One position for the whole resource by rules of the bracket's policy, each member's own by the others."""
    clock = group.clock_start
    if clock is not None and any(target.rules.of("gradualRollout") for target, _ in running):
        clock = rollouts.shifted_by_windows(_windows(state, running, now), clock)
    asked: set[str] = set()
    for target, version in running:
        for rule in target.rules.of("gradualRollout"):
            shared = rollouts.is_shared_by_bracket(rule, place)
            if rule.id in asked or (not shared and group.member(target.deployment.name) is None):
                continue
            if shared:
                asked.add(rule.id)
            elif _is_hook(group, target):
                continue
            skip = gates.skipped(state, rule, version, target, now)
            if skip is not None:
                yield skip
                continue
            position, total = (
                place_position(state, place, group)
                if shared
                else rollouts.position_of_target(state, target, version)
            )
            verdict = gradual_rollout.judge(rule.spec, position, total, clock, now, None)
            yield Judged(rule, rule.kind, verdict, turn_reasons(*(target for target, _ in running)))


def _is_hook(group: Group, target: Target) -> bool:
    member = group.member(target.deployment.name)
    return member is not None and member.role != "member"


def _windows(state: State, running: list[Runner], now: Instant) -> tuple[BoundRule, ...]:
    found: dict[str, BoundRule] = {}
    for target, version in running:
        for rule in windows_for(state, target, version, now):
            found.setdefault(rule.id, rule)
    return tuple(found.values())


def place_position(state: State, place: Place, group: Group) -> tuple[int, int]:
    versions = [
        version
        for member in group.members
        if member.role == "member"
        and member.state == "waiting"
        and (version := state.version(member.version)) is not None
    ]
    return rollouts.position_of_place(state, place, versions)


def start_key(state: State, place: Place, group: Group) -> StartKey:
    position = 0
    if not group.without_window and any(
        rule.kind == "gradualRollout"
        for target in place.members.values()
        for rule in target.rules.of("gradualRollout")
    ):
        position, _ = place_position(state, place, group)
    return (position, group.ready_at or group.created_at, place.resource.name, place.order)


def active_targets(place: Place, group: Group) -> list[Target]:
    """Members that run in this group, hooks included."""
    return [
        place.members[member.deployment]
        for member in group.members
        if member.state not in ("unchanged", "dropped") and member.deployment in place.members
    ]


def tables_of(state: State, place: Place, group: Group) -> list[SlotTable]:
    """Every rule that covers the resource for any member of the group."""
    return holds.tables_for(state, active_targets(place, group))
