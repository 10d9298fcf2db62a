"""A process of the operator: a candidate that leads in turn, and answers how it is."""

from __future__ import annotations

import asyncio
import logging

import msgspec

from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.lease import DURATION_SECONDS, Election
from headgate.operator.installation import settings
from headgate.operator.running.health import HealthServer
from headgate.operator.running.loop import AnyLoop
from headgate.operator.running.meter import OperatorMeter
from headgate.operator.running.pace import WritePace
from headgate.operator.running.term import Clock, Term, first_end, wall_clock
from headgate.operator.running.webhooks import ServedWebhooks

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 1.0


class OperatorOptions(msgspec.Struct, frozen=True):
    """`identity` names this life of this process. Without a namespace the sets of all of them are looked after;
    without a health port nobody is told how it is."""

    lease_namespace: str
    identity: str
    namespace: str = ""
    lease_name: str = settings.LEASE
    lease_seconds: int = DURATION_SECONDS
    health_host: str = "0.0.0.0"
    health_port: int | None = settings.HEALTH_PORT
    webhook_host: str = "0.0.0.0"
    webhook_port: int | None = None
    """Without one, API servers are told nothing of webhooks here."""


class Operator:
    """`clock` is what its controllers live by; the leadership lives by the machine's."""

    def __init__(self, client: Client, options: OperatorOptions, clock: Clock = wall_clock) -> None:
        self._client = client
        self._options = options
        self._clock = clock
        self.meter = OperatorMeter()
        self.election = Election(
            client,
            namespace=options.lease_namespace,
            name=options.lease_name,
            identity=options.identity,
            duration_seconds=options.lease_seconds,
        )
        self._discovery = Discovery(client.transport)
        self._pace = WritePace()
        self._term: Term | None = None
        self.health_port: int | None = None
        self.webhooks: ServedWebhooks | None = None
        if options.webhook_port is not None:
            self.webhooks = ServedWebhooks(client, options.lease_namespace, wall_clock, self.meter)

    @property
    def loops(self) -> tuple[AnyLoop, ...]:
        """Those of its controllers, while they run."""
        return self._term.loops if self._term is not None else ()

    def problems(self) -> list[str]:
        """A candidate that waits for its turn is ready."""
        problems = self._term.problems() if self._term is not None else []
        return [*problems, *(self.webhooks.problems() if self.webhooks is not None else ())]

    async def run(self) -> None:
        """Until it is cancelled; the leadership is given back then."""
        health = HealthServer(self.meter, self.problems)
        if self._options.health_port is not None:
            self.health_port = await health.start(self._options.health_host, self._options.health_port)
        try:
            await first_end(self.election.run(), self._lead(), self._serve_webhooks())
        finally:
            await health.stop()

    async def _serve_webhooks(self) -> None:
        if self.webhooks is None or self._options.webhook_port is None:
            await asyncio.Event().wait()
        else:
            await self.webhooks.run(self._options.webhook_host, self._options.webhook_port)

    async def _lead(self) -> None:
        while True:
            leadership = await self.election.elected()
            self._term = Term(
                self._client,
                self._discovery,
                self.election,
                self.meter,
                self._pace,
                self._options.namespace,
                self._clock,
                signals_namespace=self._options.lease_namespace,
            )
            self.meter.leads(True)
            try:
                await self._term.run(leadership)
            except ApiError as error:
                logger.warning("the cluster cannot be asked: %s", error)
            except Exception:
                logger.exception("the controllers ended; they begin again")
            finally:
                self._term = None
                self.meter.leads(False)
            await asyncio.sleep(_RETRY_SECONDS)
