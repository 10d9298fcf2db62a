"""Which rules bind a target: those of the policies that match it, in their order, and its site with them.

Targets of a deployment with the same policies share one set of rules, unless a rule reads the resource.
"""

from __future__ import annotations

from headgate.fleet.state import membership
from headgate.fleet.state.state import State
from headgate.fleet.state.units import PolicyNode, RuleSet, Site, Target

NO_RULES = RuleSet((), {})


def bind(state: State, target: Target) -> None:
    bindings = target.bindings()
    policies = tuple(
        sorted(
            (policy for policy in state.policies.values() if policy.matches(bindings)),
            key=lambda policy: (-policy.object.priority, policy.object.name),
        )
    )
    rules = _rule_set(state, policies, target)
    if _only_stays(state, target, rules):
        rules = _staying_rules(policies, target)
    if rules is target.rules:
        return
    target.rules = rules
    target.pair.progress += 1
    state.rebound[target] = None
    target.resource.order = None
    bracket = rules.bracket
    site = target.site
    if site is not None and bracket is not None and bracket.id == site.rule.id:
        site.rule = bracket
        site.plan = None
    elif site is not None and not membership.is_under_way(site, target):
        membership.leave(state, target)
    if bracket is not None and target.site is None:
        membership.enter(state, target)
    state.touch(target)


def comes_to(state: State, site: Site, target: Target) -> bool:
    """Whether the target belongs to the site as soon as the cycle is over that it still stays with elsewhere."""
    other = target.site
    if other is None or other is site or other.executing is None or other.is_home_of(target):
        return False
    bindings = target.bindings()
    policies = tuple(policy for policy in state.policies.values() if policy.matches(bindings))
    bracket = RuleSet(policies, bindings).bracket
    return bracket is not None and bracket.id == site.rule.id


def bind_lingering(state: State) -> None:
    for target in state.lingering.values():
        bind(state, target)


def _only_stays(state: State, target: Target, rules: RuleSet) -> bool:
    """It is at its site only for the end of the cycle there."""
    site = target.site
    if site is None or not membership.is_under_way(site, target):
        return False
    bracket = rules.bracket
    return target.name in state.lingering or bracket is None or bracket.id != site.rule.id


def _staying_rules(policies: tuple[PolicyNode, ...], target: Target) -> RuleSet:
    """A started group goes on as it was locked: in the order, and with the retries, of the policy that made it."""
    assert target.site is not None
    bindings = target.bindings()
    own = PolicyNode(target.site.rule.policy)
    return RuleSet(policies, bindings).going_on_as(RuleSet((own,), bindings), own.object.name)


def _rule_set(state: State, policies: tuple[PolicyNode, ...], target: Target) -> RuleSet:
    """Dependency rules may name the resource in `appliesTo`; then the set is the target's own."""
    if not policies:
        return NO_RULES
    if any(policy.rules_read_the_resource for policy in policies):
        return RuleSet(policies, target.bindings())
    key = (target.deployment.name, *(policy.object.name for policy in policies))
    rules = state.rule_sets.get(key)
    if rules is None:
        rules = state.rule_sets[key] = RuleSet(policies, {"deployment": target.deployment.view})
    return rules
