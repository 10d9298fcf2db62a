"""The form of a bracket: which deployments it covers, which of them are hooks and why.

Hooks that no selector names are inferred over the bracket as a whole, every deployment that its rule covers in the
workspace, and not over the members of one resource: a node with fewer members is drained like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.fleet.model.records import MemberRole
from headgate.fleet.rules.deployment_bracket import DeploymentBracket
from headgate.fleet.rules.deployment_dependency import DeploymentDependency
from headgate.fleet.state.units import AnyRule, Bindings, BoundRule, Bracket, PolicyNode, Site, Target

FEWEST_NAMED = 3
"""With two, each would be what all the others depend on or wait for."""


class Shape(msgspec.Struct, frozen=True):
    roles: dict[str, MemberRole]
    hooks: tuple[str, ...]
    others: tuple[str, ...]
    """Members that are not hooks."""
    why: str
    """Says which members are hooks and why."""


class Form(msgspec.Struct, frozen=True):
    """What all sites of a bracket rule share, until the rule or the deployments it covers change."""

    rule: BoundRule[DeploymentBracket]
    covered: tuple[str, ...]
    views: tuple[Any, ...]
    order: tuple[BoundRule[DeploymentDependency], ...]
    """The dependency rules of the bracket's policy."""
    inferred: dict[str, MemberRole] | None
    """None where it depends on the resource."""
    matched: dict[str, bool] = {}
    """Whether an expression matches any deployment of the bracket, as far as it was asked."""


def of_site(site: Site) -> Shape:
    """Kept until its members or the bracket's form change. As long as a group is open here, it keeps its hooks."""
    form = form_of(site.bracket, site.rule)
    if site.plan is None or site.plan[0] is not form:
        site.plan = (form, _shape(site, form))
    shape: Shape = site.plan[1]
    for group in site.groups() if is_inferred(site.rule) else ():
        if group.hooks:
            is_same = group.hooks.items() <= shape.roles.items()
            return shape if is_same else _with_kept_hooks(shape, group.hooks)
    return shape


def may_precede(role: MemberRole, other: MemberRole) -> bool:
    """Whether one with the first role may come before one with the second: hooks stand at their ends, whatever else says."""
    return role == other or role == "preHook" or other == "postHook"


def upstreams_of(site: Site) -> dict[str, list[str]]:
    """What each member comes after by the policy's dependency rules, as far as it is a member too."""
    form = form_of(site.bracket, site.rule)
    views = {name: _bindings(site, name) for name in sorted(site.members)}
    return {name: sorted(_upstreams(form.order, views, name)) for name in views}


def _with_kept_hooks(shape: Shape, hooks: Mapping[str, MemberRole]) -> Shape:
    kept = {
        name: role
        for name, role in hooks.items()
        if shape.roles.get(name) == "member" and role not in shape.roles.values()
    }
    return _formed(shape.roles | kept, "as when the open group was opened") if kept else shape


def is_inferred(rule: BoundRule[DeploymentBracket]) -> bool:
    return rule.spec.pre_hook_selector is None and rule.spec.post_hook_selector is None


def form_of(bracket: Bracket, rule: BoundRule[DeploymentBracket]) -> Form:
    form: Form | None = bracket.form
    if form is None or form.rule is not rule:
        form = bracket.form = _form(bracket, rule)
    return form


def _form(bracket: Bracket, rule: BoundRule[DeploymentBracket]) -> Form:
    covered = tuple(sorted(_covered(bracket, rule)))
    order = PolicyNode(rule.policy).of(DeploymentDependency)
    inferred = None
    if all(_reads_only_the_deployment(one) for one in order):
        views = {name: {"deployment": bracket.deployments[name].view} for name in covered}
        inferred = _inferred(order, views)
    return Form(rule, covered, tuple(bracket.deployments[name].view for name in covered), order, inferred)


def is_alike(form: Form, other: Form) -> bool:
    """Whether nothing that follows from the one would be otherwise by the other."""
    return (
        form.rule is other.rule
        and form.covered == other.covered
        and all(one is two for one, two in zip(form.views, other.views))
    )


def _covered(bracket: Bracket, rule: BoundRule[DeploymentBracket]) -> list[str]:
    """By its selectors, where they read nothing but the deployment; else every deployment that has a member somewhere."""
    texts = [text for text in (rule.policy.selector, rule.spec.deployment_selector) if text is not None]
    selectors = [rule.selector(text) for text in texts]
    if any(not selector.roots <= {"deployment"} for selector in selectors):
        return [name for name in bracket.counts if name in bracket.deployments]
    return [
        name
        for name, node in bracket.deployments.items()
        if all(selector.matches({"deployment": node.view}) for selector in selectors)
    ]


def _reads_only_the_deployment(rule: BoundRule[DeploymentDependency]) -> bool:
    texts = (rule.spec.depends_on, rule.spec.applies_to)
    return all(rule.selector(text).roots <= {"deployment"} for text in texts if text is not None)


def covers_upstream(site: Site, rule: BoundRule[DeploymentDependency]) -> bool:
    """Whether `dependsOn` names any deployment of the whole bracket, on this resource or not."""
    form = form_of(site.bracket, site.rule)
    text = rule.spec.depends_on
    is_covered = form.matched.get(text)
    if is_covered is None:
        selector = rule.selector(text)
        is_covered = any(selector.matches(_bindings(site, name)) for name in form.covered)
        if selector.roots <= {"deployment"}:
            form.matched[text] = is_covered
    return is_covered


def _bindings(site: Site, deployment: str) -> Bindings:
    return {
        "resource": site.resource.view,
        "environment": site.environment.view,
        "deployment": site.bracket.deployments[deployment].view,
    }


def _formed(roles: dict[str, MemberRole], how: str) -> Shape:
    return Shape(
        roles,
        tuple(name for name, role in roles.items() if role != "member"),
        tuple(name for name, role in roles.items() if role == "member"),
        _message(roles, how),
    )


def _shape(site: Site, form: Form) -> Shape:
    spec = site.rule.spec
    names = sorted(site.members)
    if is_inferred(site.rule):
        inferred = form.inferred
        if inferred is None:
            inferred = _inferred(form.order, {name: _bindings(site, name) for name in form.covered})
        roles = {name: inferred.get(name, "member") for name in names}
        return _formed(roles, "inferred from the policy's dependency rules over the whole bracket")
    roles = {}
    for name in names:
        target = site.members[name]
        if _selected(site.rule, spec.pre_hook_selector, target):
            roles[name] = "preHook"
        elif _selected(site.rule, spec.post_hook_selector, target):
            roles[name] = "postHook"
        else:
            roles[name] = "member"
    return _formed(roles, "by preHookSelector and postHookSelector")


def _selected(rule: AnyRule, selector: str | None, target: Target) -> bool:
    return selector is not None and rule.selector(selector).matches(target.bindings())


def _inferred(
    order: tuple[BoundRule[DeploymentDependency], ...], views: Mapping[str, Bindings]
) -> dict[str, MemberRole]:
    """Among those that the rules name: the one that all the others come after, and the one that comes after them all."""
    before = {name: _upstreams(order, views, name) for name in views}
    named = {name for name, upstreams in before.items() if upstreams}.union(*before.values())
    if len(named) < FEWEST_NAMED:
        return {}
    closure = {name: _all_before(name, before) for name in named}
    first = [name for name in named if all(name in closure[other] for other in named - {name})]
    last = [name for name in named if closure[name] >= named - {name}]
    roles: dict[str, MemberRole] = {}
    if len(first) == 1:
        roles[first[0]] = "preHook"
    if len(last) == 1 and last != first:
        roles[last[0]] = "postHook"
    return roles


def _upstreams(
    order: tuple[BoundRule[DeploymentDependency], ...], views: Mapping[str, Bindings], name: str
) -> set[str]:
    upstreams: set[str] = set()
    for rule in order:
        applies_to = rule.spec.applies_to
        if applies_to is not None and not rule.selector(applies_to).matches(views[name]):
            continue
        depends_on = rule.selector(rule.spec.depends_on)
        upstreams.update(other for other, view in views.items() if other != name and depends_on.matches(view))
    return upstreams


def _all_before(name: str, before: dict[str, set[str]]) -> set[str]:
    preceding: set[str] = set()
    open_ends = [name]
    while open_ends:
        for other in before.get(open_ends.pop(), ()):
            if other not in preceding:
                preceding.add(other)
                open_ends.append(other)
    return preceding


def _message(roles: dict[str, MemberRole], how: str) -> str:
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
