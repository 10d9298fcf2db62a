"""Server-sent events, read as a browser would."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .client import Client

_SECONDS = 60.0


class Stream:
    def __init__(
        self,
        client: Client,
        after: int | None = None,
        last_event_id: int | None = None,
        *,
        changes: bool = False,
    ) -> None:
        query = f"workspace={client.workspace}" + ("" if after is None else f"&after={after}")
        query += "&changes=true" if changes else ""
        header = "" if last_event_id is None else f"Last-Event-ID: {last_event_id}\r\n"
        self._connection = client.raw()
        self._connection.sendall(
            f"GET /v1/events?{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {client.token}\r\n{header}\r\n".encode()
        )
        self._buffer = b""
        self.ids: list[int] = []
        self.kinds: list[str] = []
        self.messages: list[tuple[str, Any]] = []
        """Kinds with their data."""

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def open(self) -> Stream:
        """Until the answer has begun."""
        while b"retry:" not in self._buffer:
            piece = self._connection.recv(65_536)
            assert piece, self._buffer
            self._buffer += piece
        assert self._buffer.startswith(b"HTTP/1.1 200 "), self._buffer
        return self

    def read_until(self, seq: int) -> None:
        ends = time.monotonic() + _SECONDS
        while not self.ids or self.ids[-1] < seq:
            assert time.monotonic() < ends, f"only {self.ids[-1:]} came, not {seq}"
            assert self._read(), f"it ended at {self.ids[-1:]}, before {seq}"

    def read_on(self, is_enough: Callable[[], bool]) -> None:
        ends = time.monotonic() + _SECONDS
        while not is_enough():
            assert time.monotonic() < ends, f"only {self.messages[-3:]} came"
            assert self._read(), "it ended"

    def read_to_end(self) -> None:
        ends = time.monotonic() + _SECONDS
        while self._read():
            assert time.monotonic() < ends, "it did not end"

    def _read(self) -> bool:
        try:
            piece = self._connection.recv(65_536)
        except ConnectionResetError:
            return False
        self._buffer += piece
        *complete, self._buffer = self._buffer.split(b"\n")
        for line in complete:
            if line.startswith(b"id: "):
                self.ids.append(int(line[4:]))
            if line.startswith(b"event: "):
                self.kinds.append(line[7:].strip().decode())
            if line.startswith(b"data: "):
                self.messages.append((self.kinds[-1], json.loads(line[6:])))
        return bool(piece)

    @property
    def connection(self) -> socket.socket:
        return self._connection
