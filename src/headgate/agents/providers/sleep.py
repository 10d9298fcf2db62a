"""`sleep`: time alone. The engine asks when the time is over, so there is nothing left to wait for here."""

from __future__ import annotations

from headgate.agents.providers.answers import MetricAnswer
from headgate.fleet.rules import verification


async def measure(provider: verification.Sleep) -> MetricAnswer:
    return MetricAnswer({"sleptSeconds": provider.duration_seconds})
