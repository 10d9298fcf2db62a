"""The form of a bracket on one place: which members are hooks, and who comes before whom."""

from __future__ import annotations

import msgspec

from headgate.fleet import dependencies
from headgate.fleet.records import MemberRole
from headgate.fleet.units import BoundRule, Place, Target


class Shape(msgspec.Struct, frozen=True):
    roles: dict[str, MemberRole]
    hooks: tuple[str, ...]
    others: tuple[str, ...]
    """Members that are not hooks."""
    why: str
    """Says which members are hooks and why."""


def of_place(place: Place) -> Shape:
    """Cached on the place until its membership changes, and shared by places that are alike."""
    if place.plan is None:
        place.plan = _shared_shape(place)
    shape: Shape = place.plan
    return shape


def _shared_shape(place: Place) -> Shape:
    if not _depends_on_deployments_alone(place):
        return _shape(place)
    key = tuple((name, target.rules) for name, target in sorted(place.members.items()))
    shape: Shape | None = place.rule.shapes.get(key)
    if shape is None:
        shape = place.rule.shapes[key] = _shape(place)
    return shape


def _depends_on_deployments_alone(place: Place) -> bool:
    """Then the form follows from the members' deployments and their rules, whatever the resource."""
    spec = place.rule.spec
    texts = [text for text in (spec.pre_hook_selector, spec.post_hook_selector) if text is not None]
    for rules in {target.rules: None for target in place.members.values()}:
        texts += [rule.spec.depends_on for rule in rules.of("deploymentDependency")]
    return all(place.rule.selector(text).roots <= {"deployment"} for text in dict.fromkeys(texts))


def _formed(roles: dict[str, MemberRole], how: str) -> Shape:
    return Shape(
        roles,
        tuple(name for name, role in roles.items() if role != "member"),
        tuple(name for name, role in roles.items() if role == "member"),
        _said(roles, how),
    )


def _shape(place: Place) -> Shape:
    spec = place.rule.spec
    if spec.pre_hook_selector is None and spec.post_hook_selector is None:
        return _inferred(place)
    roles: dict[str, MemberRole] = {}
    for name, target in sorted(place.members.items()):
        if _selected(place.rule, spec.pre_hook_selector, target):
            roles[name] = "preHook"
        elif _selected(place.rule, spec.post_hook_selector, target):
            roles[name] = "postHook"
        else:
            roles[name] = "member"
    return _formed(roles, "by preHookSelector and postHookSelector")


def _selected(rule: BoundRule, selector: str | None, target: Target) -> bool:
    return selector is not None and rule.selector(selector).matches(target.bindings())


def _inferred(place: Place) -> Shape:
    """One member that all others come after, and one that comes after all others, with at least one between."""
    before = {name: _upstream_members(place, target) for name, target in sorted(place.members.items())}
    roles: dict[str, MemberRole] = dict.fromkeys(before, "member")
    closure = {name: _all_before(name, before) for name in before}
    sources = [name for name in before if not before[name]]
    sinks = [name for name in before if not any(name in others for others in before.values())]
    if len(before) >= 3 and len(sources) == 1 and len(sinks) == 1 and sources != sinks:
        source, sink = sources[0], sinks[0]
        if all(source in closure[name] for name in before if name != source) and closure[sink] == {
            name for name in before if name != sink
        }:
            roles[source] = "preHook"
            roles[sink] = "postHook"
    return _formed(roles, "inferred from the policy's dependency rules")


def _upstream_members(place: Place, target: Target) -> set[str]:
    found: set[str] = set()
    for rule in target.rules.of("deploymentDependency"):
        if rule.policy.name == place.rule.policy.name:
            found.update(
                other.deployment.name
                for other in dependencies.upstream_targets(rule, target)
                if other.place is place
            )
    return found


def _all_before(name: str, before: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    open_ends = [name]
    while open_ends:
        for other in before.get(open_ends.pop(), ()):
            if other not in found:
                found.add(other)
                open_ends.append(other)
    return found


def _said(roles: dict[str, MemberRole], how: str) -> str:
    pre = [name for name, role in roles.items() if role == "preHook"]
    post = [name for name, role in roles.items() if role == "postHook"]
    if not pre and not post:
        return "no member is a hook"
    parts = []
    if pre:
        parts.append(f"{', '.join(pre)} runs before all others")
    if post:
        parts.append(f"{', '.join(post)} runs after all others")
    return f"{' and '.join(parts)} ({how})"
