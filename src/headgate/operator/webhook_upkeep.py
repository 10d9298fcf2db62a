"""Keeps the webhooks' certificates in their Secret, and who signs them in the configurations that API servers read.

Every replica does it. A write carries the version that was seen, so of two at once one wins, and the other takes what
the winner wrote.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from headgate.kernel.instants import Instant
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import AlreadyExistsError, ApiError, ConflictError, NotFoundError
from headgate.kubernetes.resources import ApiResource, Document
from headgate.operator import certificates
from headgate.operator.certificates import Certificates
from headgate.operator.installation import settings, webhooks

SECRETS = ApiResource("", "v1", "Secret", "secrets")
CONFIGURATIONS = tuple(
    ApiResource("admissionregistration.k8s.io", "v1", kind, f"{kind.lower()}s", is_namespaced=False)
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
)
POLL_SECONDS = 30.0
"""How long a replica may serve what another one has renewed: much less than a new authority waits before it signs."""
_MOST_ATTEMPTS = 10

_log = logging.getLogger(__name__)


class WebhookUpkeep:
    """`names` are those that API servers call the webhooks by."""

    def __init__(
        self,
        client: Client,
        namespace: str,
        clock: Callable[[], Instant],
        names: tuple[str, ...] | None = None,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._clock = clock
        self._names = names or settings.webhook_names(namespace)

    async def settled(self) -> Certificates:
        """What is to be served now, after it was renewed if that was due and written wherever it has to be. Raises
        ApiError."""
        for _ in range(_MOST_ATTEMPTS):
            try:
                held = await self._renewed()
                for resource in CONFIGURATIONS:
                    await self._trust(resource, held)
            except (AlreadyExistsError, ConflictError):
                continue
            return held
        raise ConflictError(f"the Secret {settings.WEBHOOK_SECRET} is changed by others all the time")

    async def keep(self, changed: Callable[[Certificates], None], served: Certificates) -> None:
        """Until it is cancelled. `changed` is told of other certificates than those that are served."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                held = await self.settled()
            except ApiError as error:
                # What is served is good for months; the next look is soon.
                _log.warning("the certificates of the webhooks could not be looked after: %s", error)
                continue
            if held != served:
                served = held
                changed(held)

    async def _renewed(self) -> Certificates:
        live = await self._live(SECRETS, settings.WEBHOOK_SECRET, self._namespace)
        held = certificates.read(live)
        made = certificates.renewed(held, self._names, self._clock())
        if made is held:
            return made
        if live is None:
            secret = certificates.secret(made, self._namespace, settings.WEBHOOK_SECRET)
            await self._client.create(SECRETS, secret)
        else:
            await self._client.update(SECRETS, {**live, "data": certificates.secret_data(made)})
        return made

    async def _trust(self, resource: ApiResource, held: Certificates) -> None:
        """Where there is no configuration, nobody asks the webhooks."""
        configuration = await self._live(resource, settings.WEBHOOKS, "")
        changed = webhooks.trusting(configuration, held.ca_bundle) if configuration is not None else None
        if changed is not None:
            await self._client.update(resource, changed)

    async def _live(self, resource: ApiResource, name: str, namespace: str) -> Document | None:
        try:
            return await self._client.get(resource, name, namespace)
        except NotFoundError:
            return None
