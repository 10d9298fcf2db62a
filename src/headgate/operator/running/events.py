"""Events on objects, for `kubectl describe`: what was put back, what a condition says, why a write was refused.

They are a courtesy: one that cannot be written is lost, and nothing waits for it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from headgate.kernel import instants
from headgate.kernel.conditions import WrittenReason
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import AlreadyExistsError, ApiError
from headgate.kubernetes.resources import ApiResource, Document

logger = logging.getLogger(__name__)

EVENTS = ApiResource("", "v1", "Event", "events")
SAME_WITHIN = instants.minutes(10)
"""The same sentence about the same object is not written again for so long."""
MOST_WAITING = 1_000
MOST_REMEMBERED = 10_000
_LONGEST_MESSAGE = 1_024

Weight = Literal["Normal", "Warning"]


class ObjectEvent(msgspec.Struct, frozen=True):
    """One sentence about one object."""

    about: Object
    weight: Weight
    reason: Reason | WrittenReason
    message: str


class EventRecorder:
    """`component` is who says it. Somebody must `run` it."""

    def __init__(self, client: Client, component: str, identity: str, clock: Callable[[], Instant]) -> None:
        self._client = client
        self._component = component
        self._identity = identity
        self._clock = clock
        self._waiting: asyncio.Queue[ObjectEvent] = asyncio.Queue(MOST_WAITING)
        self._recorded: dict[str, Instant] = {}

    def tell(self, event: ObjectEvent) -> None:
        name = _name(event)
        now = self._clock()
        if now - self._recorded.get(name, -SAME_WITHIN) < SAME_WITHIN:
            return
        self._recorded.pop(name, None)
        self._recorded[name] = now
        if len(self._recorded) > MOST_REMEMBERED:
            del self._recorded[next(iter(self._recorded))]
        try:
            self._waiting.put_nowait(event)
        except asyncio.QueueFull:
            logger.warning("an event is lost, too many wait: %s", event.message)

    async def run(self) -> None:
        while True:
            event = await self._waiting.get()
            try:
                await self._write(event)
            except ApiError as error:
                logger.info("an event was not written: %s", error)

    async def _write(self, event: ObjectEvent) -> None:
        name, moment = _name(event), instants.show_to_the_second(self._clock())
        namespace = event.about.namespace or "default"
        try:
            await self._client.create(EVENTS, self._document(event, name, namespace, moment))
        except AlreadyExistsError:
            await self._client.patch(EVENTS, name, namespace, {"lastTimestamp": moment})

    def _document(self, event: ObjectEvent, name: str, namespace: str, moment: str) -> Document:
        about = event.about
        regarding = {
            "apiVersion": about.api_version,
            "kind": about.kind,
            "name": about.name,
            "uid": about.uid,
            **({"namespace": about.namespace} if about.namespace else {}),
        }
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": regarding,
            "type": event.weight,
            "reason": str(event.reason),
            "message": event.message[:_LONGEST_MESSAGE],
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "reportingInstance": self._identity[:128],
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }


def _name(event: ObjectEvent) -> str:
    """The same sentence about the same object is the same event, whoever says it."""
    text = "\n".join((event.about.uid, event.weight, event.reason, event.message))
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return f"{event.about.name[:200].rstrip('.-')}.{digest}"


def of_conditions(about: Object, status: Mapping[str, Any]) -> ObjectEvent | None:
    """What the conditions say that they did not say before, as one sentence. One that is true from its beginning on is
    no news: nobody has waited for it."""
    before = {_type(each): (each.get("status"), each.get("reason")) for each in _conditions(about.status)}
    news: dict[str, WrittenReason] = {}
    for each in _conditions(status):
        state, message = (each.get("status"), each.get("reason")), str(each.get("message") or "")
        was = before.get(_type(each), ("True", None))
        is_news = was != state and (state[0] != "True" or was[0] != "True")
        if is_news and message and each.get("reason"):
            news.setdefault(message, WrittenReason(str(each["reason"])))
    if not news:
        return None
    return ObjectEvent(about, "Normal", next(iter(news.values())), "; ".join(news))


def _type(condition: Mapping[str, Any]) -> str:
    return str(condition.get("type"))


def _conditions(status: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = status.get("conditions")
    return [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
