"""Hooks that were inferred and are no longer: said, until somebody names them or they are inferred again."""

from __future__ import annotations

from collections.abc import Iterator

from headgate.fleet.cycles import shape
from headgate.fleet.model.records import LostHooks, MemberRole
from headgate.fleet.rules.deployment_bracket import DeploymentBracket
from headgate.fleet.state.state import State, Warning
from headgate.fleet.state.units import BoundRule, Bracket, Site
from headgate.kernel import instants
from headgate.kernel.instants import Instant


def settle(state: State, now: Instant) -> None:
    """After objects have changed: which inferences hold now, and which have ended with the change."""
    state.forms_moved = False
    rules = {rule.id: rule for rule in _brackets(state)}
    for rule_id, gone in state.brackets.items():
        if rule_id not in rules:
            gone.held = gone.seen = None
            if gone.lost is not None:
                _note(state, rule_id, gone, None)
    for rule in rules.values():
        bracket = state.bracket_of(rule.id)
        _requeue_sites(state, bracket, rule)
        held, bracket.held = bracket.held, _inferred(bracket, rule)
        lost = _lost(bracket.held, held, bracket.lost, now) if bracket.counts else None
        if lost is bracket.lost:
            continue
        _note(state, rule.id, bracket, lost)
        if lost is not None:
            state.journal.warnings.append(Warning(now, "", "", _sentence(rule, lost)))


def _requeue_sites(state: State, bracket: Bracket, rule: BoundRule[DeploymentBracket]) -> None:
    """Another form gives other hooks and other upstreams: every place of the bracket is looked at."""
    seen: shape.Form | None = bracket.seen
    bracket.seen = form = shape.form_of(bracket, rule)
    if seen is None or not shape.is_alike(form, seen):
        for site in state.sites_by_rule.get(rule.id, ()):
            state.waiting.touch(site)


def restore(state: State) -> None:
    """For loading: as it was, without a word."""
    state.forms_moved = False
    for rule in _brackets(state):
        bracket = state.bracket_of(rule.id)
        bracket.held = _inferred(bracket, rule)
        sites = state.sites_by_rule.get(rule.id, ())
        bracket.lost = next((p.record.lost_hooks for p in sites if p.record.lost_hooks is not None), None)


def _brackets(state: State) -> Iterator[BoundRule[DeploymentBracket]]:
    for policy in state.policies.values():
        yield from policy.of(DeploymentBracket)


def _inferred(bracket: Bracket, rule: BoundRule[DeploymentBracket]) -> dict[MemberRole, str] | None:
    """Who has which role; None where nothing is inferred, because the rule names its hooks or the resource decides."""
    roles = shape.form_of(bracket, rule).inferred if shape.is_inferred(rule) else None
    return None if roles is None else {role: name for name, role in roles.items()}


def _lost(
    now_held: dict[MemberRole, str] | None,
    held: dict[MemberRole, str] | None,
    lost: LostHooks | None,
    now: Instant,
) -> LostHooks | None:
    """Only a role that nobody has any more is lost; another hook in its place is a hook."""
    if now_held is None:
        return None
    missing = {**(lost.roles if lost is not None else {}), **(held or {})}
    missing = {role: name for role, name in missing.items() if role not in now_held}
    if lost is not None and missing == lost.roles:
        return lost
    return LostHooks(missing, now) if missing else None


def _note(state: State, rule_id: str, bracket: Bracket, lost: LostHooks | None) -> None:
    """Every place of the bracket remembers it: it is there that somebody may miss a hook."""
    bracket.lost = lost
    for site in state.sites_by_rule.get(rule_id, ()):
        site.record.lost_hooks = lost
        state.journal.changed("place", *site.key)


def warning_of(state: State, rule: BoundRule[DeploymentBracket]) -> str | None:
    """For everyone who asks about a member of the bracket, as long as the inference is over."""
    lost = state.bracket_of(rule.id).lost
    return None if lost is None else _sentence(rule, lost)


def warnings(state: State) -> list[str]:
    sentences = [warning_of(state, rule) for rule in _brackets(state)]
    return [sentence for sentence in sentences if sentence is not None]


def _sentence(rule: BoundRule[DeploymentBracket], lost: LostHooks) -> str:
    words = {"preHook": "pre-hook", "postHook": "post-hook"}
    parts = [f"{name} is no longer its {words[role]}" for role, name in sorted(lost.roles.items())]
    return (
        f"bracket {rule.label} of {rule.policy.name}: {' and '.join(parts)} since "
        f"{instants.show_to_the_second(lost.at)}, because the dependency rules no longer show it; groups that are open "
        "keep their hooks; name them with preHookSelector and postHookSelector"
    )


def of_open_group(site: Site) -> dict[str, MemberRole]:
    """What a group keeps from the moment it opens, if an inference ends while it is open."""
    if not shape.is_inferred(site.rule):
        return {}
    return {name: role for name, role in shape.of_site(site).roles.items() if role != "member"}
