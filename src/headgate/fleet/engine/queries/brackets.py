"""What brackets are made of, and the hooks that they miss."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headgate.fleet.cycles import hooks, shape
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model.records import MemberRole
from headgate.fleet.state.units import Site


class FormMember(msgspec.Struct, frozen=True):
    """`after` are the members that it comes after."""

    deployment: str
    role: MemberRole
    after: Sequence[str]


class BracketForm(msgspec.Struct, frozen=True):
    policy: str
    rule: str
    members: tuple[FormMember, ...]


def forms(engine: Engine) -> list[BracketForm]:
    """Of each rule that of the site which has most members: a resource may have fewer, in the same order."""
    largest: dict[str, Site] = {}
    for site in engine.state.sites.values():
        known = largest.get(site.rule.id)
        if known is None or len(site.members) > len(known.members):
            largest[site.rule.id] = site
    return [_form(site) for site in largest.values()]


def _form(site: Site) -> BracketForm:
    upstreams = shape.upstreams_of(site)
    members = (
        FormMember(name, role, upstreams.get(name, [])) for name, role in shape.of_site(site).roles.items()
    )
    return BracketForm(site.rule.policy.name, site.rule.label, tuple(members))


def lost_hooks(engine: Engine) -> list[str]:
    """A sentence for each bracket that had a hook by inference and has it no longer."""
    return hooks.warnings(engine.state)
