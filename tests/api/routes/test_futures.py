"""What will be, as it is kept in memory."""

from __future__ import annotations

from api.routes.server import Client, Server
from headgate.api import forecasting
from headgate.api.documents.rollout_views import ExpectedRollout
from headgate.kernel import instants


def test_plans_of_few_workspaces_are_kept(server: Server, client: Client) -> None:
    names = [f"w-{number}" for number in range(forecasting.MOST_WORKSPACES + 1)]
    for name in names:
        assert client.post("/v1/workspaces", {"name": name}).status == 201
        assert client.get("/v1/future", workspace=name).status == 200
    server.clock.advance("1h")
    first, last = (client.get("/v1/future", workspace=name).json for name in (names[0], names[-1]))
    assert last["ageSeconds"] == 3600
    assert first["ageSeconds"] == 0, "made anew, for it was not kept"


def test_what_should_be_over_by_now_is_not_expected_any_more() -> None:
    made_at, finish_at = instants.parse("2026-03-02T09:00:00Z"), instants.parse("2026-03-02T09:10:00Z")
    rollouts = [
        ExpectedRollout("api", "prod", "v1", finish_at, 3, None),
        ExpectedRollout("web", "prod", "v1", None, 3, "waits for an approval"),
    ]
    forecast = forecasting.Forecast(made_at, 1, False, finish_at, rollouts, [])
    before, after = (forecasting.finishes(forecast, at) for at in (finish_at - 1, finish_at))
    assert before["api", "prod"]["at"] == "2026-03-02T09:10:00Z"
    assert list(after) == [("web", "prod")]
