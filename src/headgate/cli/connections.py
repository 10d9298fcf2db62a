"""Connections of the server with bounds that uvicorn does not have: how long and how large a request's head may be."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
MOST_HEAD_BYTES = 64 * 1024
_TOO_LARGE = b"the head of the request is too large"
_REFUSAL = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%b" % (len(_TOO_LARGE), _TOO_LARGE)
)


class BoundedConnection(HttpToolsProtocol):
    """Otherwise anybody could have the server keep what they send, or hold connections for as long as they like."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._head_bytes = 0
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_complete()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._patience is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
                self.transport.write(_REFUSAL)
                self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._wait_for_head()

    def on_headers_complete(self) -> None:
        self._head_is_complete()
        super().on_headers_complete()

    def _wait_for_head(self) -> None:
        if self._patience is None:
            self._head_bytes = 0
            self._patience = self.loop.call_later(HEAD_SECONDS, self._lose_patience)

    def _head_is_complete(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _lose_patience(self) -> None:
        """Unless it is the server that is slow: what follows an unanswered request is not read meanwhile."""
        self._patience = None
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait_for_head()
        else:
            self.transport.close()
