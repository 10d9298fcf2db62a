"""What will be, as it is kept in memory."""

from __future__ import annotations

from api.routes.server import Client, Server
from headgate.api import forecasting


def test_plans_of_few_workspaces_are_kept(server: Server, client: Client) -> None:
    names = [f"w-{number}" for number in range(forecasting.MOST_WORKSPACES + 1)]
    for name in names:
        assert client.post("/v1/workspaces", {"name": name}).status == 201
        assert client.get("/v1/future", workspace=name).status == 200
    server.clock.advance("1h")
    first, last = (client.get("/v1/future", workspace=name).json for name in (names[0], names[-1]))
    assert last["ageSeconds"] == 3600
    assert first["ageSeconds"] == 0, "made anew, for it was not kept"
