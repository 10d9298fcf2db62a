"""What brackets are made of: their members, which of them are hooks, and what each comes after."""

from __future__ import annotations

from typing import Any

from headgate.api.documents import rollout_views
from headgate.api.http import lists, pages, replies
from headgate.api.http.calls import Answer, Request, Route
from headgate.api.http.schemas import PageSchema
from headgate.fleet.engine.queries import brackets
from headgate.fleet.engine.queries.brackets import BracketForm
from headgate.runtime.commands import EngineView


async def list_brackets(call: Request) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        return await replies.ask(call, _rows)

    return await lists.answer(call, lists.of_rows("bracket", rows))


def _rows(view: EngineView) -> list[tuple[str, int, dict[str, Any]]]:
    return [(f"{form.policy}/{form.rule}", 0, _document(form)) for form in brackets.forms(view.engine)]


def _document(form: BracketForm) -> dict[str, Any]:
    return {
        "policy": form.policy,
        "rule": form.rule,
        "members": [
            {"deployment": member.deployment, "role": member.role, "after": member.after}
            for member in form.members
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
