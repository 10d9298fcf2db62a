"""`prometheus`: the value of a query now."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import urlencode

from headgate.agents.providers.answers import MetricAnswer
from headgate.agents.web import Web
from headgate.fleet.rules import verification

MOST_SERIES = 1_000


async def measure(provider: verification.Prometheus, web: Web) -> MetricAnswer:
    """`value` is the first series' value and `values` are all of them; no series at all is an error."""
    answer = await web.call(
        "POST",
        provider.address.rstrip("/") + "/api/v1/query",
        headers={"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"},
        body=urlencode({"query": provider.query, "timeout": f"{provider.timeout_seconds}s"}).encode(),
        timeout_seconds=provider.timeout_seconds,
    )
    fields = answer.fields()
    if fields.get("status") != "success":
        message = str(fields.get("error") or f"it answered {answer.status}")
        return MetricAnswer(error=f"the query failed: {message}")
    data = fields.get("data")
    values = _values(data) if isinstance(data, dict) else None
    if values is None:
        return MetricAnswer(error="the answer is not that of an instant query")
    if not values:
        return MetricAnswer(error="the query gave no series")
    if len(values) > MOST_SERIES:
        return MetricAnswer(error=f"the query gave {len(values)} series; allowed are {MOST_SERIES}")
    if values[0] is None:
        return MetricAnswer(error="the value is not a number")
    return MetricAnswer({"value": values[0], "values": [value for value in values if value is not None]})


def _values(data: dict[str, Any]) -> list[float | None] | None:
    kind, result = data.get("resultType"), data.get("result")
    if not isinstance(result, list):
        return None
    if kind in ("scalar", "string"):
        return [_number(result)]
    if kind == "vector":
        return [_number(series.get("value")) if isinstance(series, dict) else None for series in result]
    return None


def _number(sample: object) -> float | None:
    """A sample is its time and its value as text; NaN and infinity compare with nothing, so they are no values."""
    try:
        value = float(sample[1])  # type: ignore[index]
    except (TypeError, ValueError, IndexError, KeyError):
        return None
    return value if math.isfinite(value) else None
