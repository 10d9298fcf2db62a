"""When rollouts are expected to be over."""

from __future__ import annotations

from typing import Any

from headgate.api import forecasting, rollout_views
from headgate.api.calls import Answer, Request, Route
from headgate.kernel import instants, rendering


async def get_forecast(call: Request) -> Answer:
    forecast, is_current = await forecasting.newest(call)
    age = max(0, call.service.clock() - forecast.made_at) // instants.MICROSECONDS_PER_SECOND
    document: dict[str, Any] = rendering.built(
        rollout_views.ForecastView, forecast, age_seconds=age, is_current=is_current
    )
    return Answer(200, document)


ROUTES = (
    Route(
        "GET", "/v1/forecast", "getForecast", "When rollouts are expected to be over",
        get_forecast, "read", "status", {200: rollout_views.ForecastView}, lane="plans",
        description=(
            "A plan of the workspace as it is, kept: `ageSeconds` says how old it is, and `isCurrent` that nothing has "
            f"happened since. A new one is made at most every {forecasting.LEAST_SECONDS_BETWEEN:g} seconds, and less "
            "often where making it takes long."
        ),
    ),
)  # fmt: skip
