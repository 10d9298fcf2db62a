"""Measurements for verification: asks a metric's provider, and never fails in any other way than with `error`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

import msgspec

from headgate.agents.port import TryLaterError, shortened
from headgate.agents.providers import http, prometheus, sleep
from headgate.agents.providers import templates as provider_templates
from headgate.agents.providers.answers import MetricAnswer
from headgate.agents.web import Web
from headgate.fleet.model import scrubbing
from headgate.fleet.rules import verification
from headgate.kernel import documents
from headgate.kernel.problems import Rejected

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 32
GRACE_SECONDS = 5.0
"""On top of a provider's own timeout, for what is not waiting for an answer."""

Provider = verification.Http | verification.Prometheus | verification.Sleep


class _Holder(msgspec.Struct, frozen=True):
    provider: Provider


class Measurer:
    """Measures many metrics at once, over one pool of connections."""

    def __init__(self, web: Web | None = None, most_at_once: int = MOST_AT_ONCE) -> None:
        self._web = web or Web()
        self._free = asyncio.Semaphore(most_at_once)

    async def measure(self, metric: verification.Metric, bindings: Mapping[str, object]) -> MetricAnswer:
        """`bindings` as for a job's config: version, resource, environment, deployment, variables, job."""
        async with self._free:
            scrubber = _scrubber(metric.provider)
            try:
                provider = _resolved(metric, bindings)
                scrubber = _scrubber(provider)
                async with asyncio.timeout(_limit_seconds(provider)):
                    answer = await self._ask(provider)
                return MetricAnswer(
                    scrubber.value(answer.result),
                    None if answer.error is None else shortened(scrubber.text(answer.error)),
                )
            except Rejected as rejected:
                return MetricAnswer(
                    error=shortened("; ".join(map(str, scrubber.problems(rejected.problems))))
                )
            except TryLaterError as error:
                return MetricAnswer(error=error.message)
            except TimeoutError:
                return MetricAnswer(error="no answer in time")
            except Exception as error:
                logger.exception("Measuring %s failed", metric.name)
                return MetricAnswer(error=f"the provider failed: {type(error).__name__}")

    async def _ask(self, provider: Provider) -> MetricAnswer:
        match provider:
            case verification.Http():
                return await http.measure(provider, self._web)
            case verification.Prometheus():
                return await prometheus.measure(provider, self._web)
            case verification.Sleep():
                return await sleep.measure(provider)

    async def close(self) -> None:
        await self._web.close()


def _scrubber(provider: Provider) -> scrubbing.Scrubber:
    return scrubbing.Scrubber(scrubbing.secrets_of_provider(documents.write(provider)))


def _resolved(metric: verification.Metric, bindings: Mapping[str, object]) -> Provider:
    """The provider with `${...}` computed, and checked once more with what came out."""
    document = {"provider": provider_templates.resolve(metric.provider, bindings, f"{metric.name}.provider")}
    return documents.read(_Holder, document, metric.name).provider


def _limit_seconds(provider: Provider) -> float:
    seconds = 0 if isinstance(provider, verification.Sleep) else provider.timeout_seconds
    return seconds + GRACE_SECONDS
