"""What brackets are made of: their members, which of them are hooks, and what each comes after."""

from __future__ import annotations

from typing import Any

from headgate.api import lists, pages, replies, rollout_views
from headgate.api.calls import Answer, Request, Route
from headgate.api.schemas import Page as PageSchema
from headgate.fleet.cycles import shape
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site
from headgate.runtime.commands import EngineView


async def list_brackets(call: Request) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        return await replies.ask(call, _rows)

    return await lists.answer(call, lists.of_rows("bracket", rows))


def _rows(view: EngineView) -> list[tuple[str, int, dict[str, Any]]]:
    found = ((site, _document(site)) for site in _largest(view.engine.state))
    return [(f"{one['policy']}/{one['rule']}", 0, one) for _, one in found]


def _largest(state: State) -> list[Site]:
    """Of each rule the site that has most members: a resource may have fewer, in the same order."""
    largest: dict[str, Site] = {}
    for site in state.sites.values():
        known = largest.get(site.rule.id)
        if known is None or len(site.members) > len(known.members):
            largest[site.rule.id] = site
    return list(largest.values())


def _document(site: Site) -> dict[str, Any]:
    roles, upstreams = shape.of_site(site).roles, shape.upstreams_of(site)
    return {
        "policy": site.rule.policy.name,
        "rule": site.rule.label,
        "members": [
            {"deployment": name, "role": role, "after": upstreams.get(name, [])}
            for name, role in roles.items()
        ],
    }


ROUTES = (
    Route(
        "GET", "/v1/brackets", "listBrackets", "List what brackets are made of",
        list_brackets, "read", "groups", {200: PageSchema(rollout_views.BracketView)},
        query=pages.parameters("bracket", ("name", "-name")), problems=(422,),
        description="Of each deploymentBracket the members, with their part in it and the members that each comes after.",
    ),
)  # fmt: skip
