"""The form of a bracket on one place: which members are hooks, and who comes before whom."""

from __future__ import annotations

import msgspec

from headgate.fleet import dependencies
from headgate.fleet.records import MemberRole
from headgate.fleet.units import BoundRule, Place, Target


class Shape(msgspec.Struct, frozen=True):
    roles: dict[str, MemberRole]
    why: str
    """Says which members are hooks and why."""

    def hooks(self) -> list[str]:
        return [name for name, role in self.roles.items() if role != "member"]

    def is_hook(self, deployment: str) -> bool:
        return self.roles.get(deployment, "member") != "member"


def of_place(place: Place) -> Shape:
    """Cached on the place until its membership changes."""
    if place.plan is None:
        place.plan = _shape(place)
    shape: Shape = place.plan
    return shape


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
    return Shape(roles, _said(roles, "by preHookSelector and postHookSelector"))


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
    return Shape(roles, _said(roles, "inferred from the policy's dependency rules"))


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
