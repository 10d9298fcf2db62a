"""When rollouts are expected to be over."""

from __future__ import annotations

from typing import Any

from headgate.api import forecasting
from headgate.api.documents import rollout_views
from headgate.api.http.calls import Answer, Request, Route
from headgate.kernel import rendering


async def get_forecast(call: Request) -> Answer:
    forecast, is_current = await forecasting.newest(call)
    age = forecasting.age_seconds(call, forecast)
    document: dict[str, Any] = rendering.built(
        rollout_views.ForecastView, forecast, age_seconds=age, is_current=is_current
    )
    return Answer(200, document)


async def get_future(call: Request) -> Answer:
    return Answer(200, await forecasting.future(call))


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
    Route(
        "GET", "/v1/future", "getFuture", "What will change if nothing else does",
        get_future, "read", "status", {200: rollout_views.Future}, lane="plans",
        description=(
            "The same plan, told as what changes when: with how it is now, every moment up to the end of the plan is known, "
            "in the words of `GET /v1/history/changes`. It is as old as `ageSeconds` says; `isCurrent` says that nothing "
            "has happened since."
        ),
    ),
)  # fmt: skip
