"""Server-sent events. A stream that breaks is taken up again behind the last event that was seen."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any

import msgspec

from headgate.cli import failures, refusals
from headgate.cli.client import ApiClient, Query, Stream, path

SILENCE_SECONDS = 45.0
"""The server sends a comment every 15 seconds; three that are missing mean that nobody is there."""
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 10.0


class StreamedEvent(msgspec.Struct, frozen=True):
    id: str
    type: str
    data: dict[str, Any]


class Lost(msgspec.Struct, frozen=True):
    """The stream is broken for now; `reason` is for people."""

    reason: str


class Live(msgspec.Struct, frozen=True):
    """The stream is open. `resumed`: behind the last event that was seen, so that nothing is missing."""

    resumed: bool = False


Item = StreamedEvent | Lost | Live


def parse(lines: Iterator[bytes]) -> Iterator[StreamedEvent]:
    """The wire format: fields by line, an empty line ends an event, a colon begins a comment."""
    last_id, kind, data = "", "message", list[str]()
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if not line:
            if data:
                yield StreamedEvent(last_id, kind, _document("\n".join(data)))
            kind, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "id":
            last_id = value
        elif field == "event":
            kind = value
        elif field == "data":
            data.append(value)


def _document(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {"message": text}
    return value if isinstance(value, dict) else {"message": text}


class Follower:
    """Follows until `stop`; refusals end it, because asking again would not help. Without a `place` it follows what happens
    in the workspace."""

    def __init__(
        self,
        client: ApiClient,
        after: str | None = None,
        *,
        place: str | None = None,
        query: Query | None = None,
    ) -> None:
        self._client = client
        self._after = after
        self._place = place or path("events")
        self._query = query
        self._stopped = threading.Event()
        self._stream: Stream | None = None

    def stop(self) -> None:
        self._stopped.set()
        if self._stream is not None:
            self._stream.interrupt()

    def items(self) -> Iterator[Item]:
        pause_seconds = FIRST_PAUSE_SECONDS
        while not self._stopped.is_set():
            reason = "the server closed the stream"
            try:
                for item in self._once():
                    pause_seconds = FIRST_PAUSE_SECONDS
                    yield item
            except failures.CommandFailure as failure:
                if not refusals.may_pass(failure):
                    raise
                reason = failure.sentences[0]
            except (OSError, http.client.HTTPException) as error:
                reason = str(error) or type(error).__name__
            if self._stopped.is_set():
                return
            yield Lost(reason)
            self._stopped.wait(pause_seconds)
            pause_seconds = min(pause_seconds * 2, LONGEST_PAUSE_SECONDS)

    def _once(self) -> Iterator[Item]:
        headers = {"Accept": "text/event-stream"}
        if self._after is not None:
            headers["Last-Event-ID"] = self._after
        self._stream = self._client.stream(self._place, headers, SILENCE_SECONDS, self._query)
        with contextlib.closing(self._stream) as stream:
            yield Live(self._after is not None)
            for event in parse(stream.lines()):
                if event.id:
                    self._after = event.id
                yield event
                if self._stopped.is_set():
                    return
