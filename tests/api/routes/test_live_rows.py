"""Rows that all streams of a workspace share: whoever leaves takes nothing from the others."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from api.routes.server import Client, Server
from headgate.api import live
from headgate.api.http.calls import Principal, Request, Service
from headgate.api.live import SeenRows
from headgate.runtime.commands import Question
from headgate.runtime.wiring import WorkerClient


class Leaving(WorkerClient):
    """Of somebody who hangs up while the engine looks."""

    async def ask(self, workspace: str, question: Question[Any]) -> Any:
        await super().ask(workspace, question)
        raise asyncio.CancelledError


def call_of(service: Service, workspace: str = "default") -> Request:
    return Request(service, Principal("vera", {workspace: frozenset({"read"})}), workspace, {}, {})


def test_who_hangs_up_takes_no_row_from_others(server: Server, client: Client) -> None:
    client.send("PUT", "/v1/environments/prod", {"resourceSelector": "true"})
    client.send("PUT", "/v1/resources/node-1", {"kind": "Node", "identifier": "node-1"})
    client.send("PUT", "/v1/deployments/api", {"resourceSelector": "true"})
    leaving = msgspec.structs.replace(server.service, worker_client=Leaving(server.worker))

    async def story() -> tuple[str, bytes] | None:
        rows = SeenRows()
        with pytest.raises(asyncio.CancelledError):
            await rows.catch_up(call_of(leaving))
        await rows.catch_up(call_of(server.service))
        return await rows.since(None)

    found = asyncio.run(story())
    assert found is not None
    assert [row["name"] for row in msgspec.json.decode(found[1])["targets"]] == ["api/prod/node-1"]


def test_of_a_workspace_that_is_followed_there_is_one_however_many_others_there_are(server: Server) -> None:
    async def story() -> None:
        followed = live.rows_of(call_of(server.service))
        for number in range(live.MOST_WORKSPACES + 1):
            live.rows_of(call_of(server.service, f"other-{number}"))
        assert live.rows_of(call_of(server.service)) is followed

    asyncio.run(story())
