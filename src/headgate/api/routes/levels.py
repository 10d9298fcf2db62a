"""Workloads and graphs live in clusters; without an operator there are none."""

from __future__ import annotations

from functools import partial
from typing import Any

from headgate.api import lists, pages
from headgate.api.calls import Answer, Request, Route
from headgate.api.schemas import Page as PageSchema
from headgate.api.views import Json


async def list_nothing(variable: str, call: Request) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, Any]]]:
        return []

    return await lists.answer(call, lists.of_rows(variable, rows))


ROUTES: tuple[Route, ...] = tuple(
    Route(
        "GET", f"/v1/{plural}", f"list{plural.title()}", f"List {plural}",
        partial(list_nothing, singular), "read", plural, {200: PageSchema(Json)},
        query=pages.parameters(singular), problems=(422,),
    )
    for plural, singular in (("workloads", "workload"), ("graphs", "graph"))
)  # fmt: skip
