"""A server that answers what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec


class Request(msgspec.Struct):
    method: str
    path: str
    """Decoded segments, joined by single spaces, so that an encoded slash shows."""
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class Reply(msgspec.Struct):
    document: Any = None
    status: int = 200
    headers: dict[str, str] = {}
    media_type: str = "application/json"
    raw: bytes | None = None
    hang_up: bool = False
    """The connection is closed before anything is answered."""
    stream: Callable[[], Iterator[bytes]] | None = None


Answering = Callable[[Request], Reply]


def problem(status: int, detail: str, *errors: tuple[str, str]) -> Reply:
    document = {
        "type": "about:blank",
        "title": "refused",
        "status": status,
        "detail": detail,
        "errors": [{"path": path, "message": message} for path, message in errors],
    }
    return Reply(document, status, media_type="application/problem+json")


class FakeApi:
    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._answers: dict[tuple[str, str], Answering] = {}
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def on(self, method: str, path: str, answer: Any) -> None:
        """`path` is written with its segments apart: `deployments api versions`."""
        replies = (
            answer if callable(answer) else (lambda _: answer if isinstance(answer, Reply) else Reply(answer))
        )
        self._answers[method, path] = replies

    def lists(self, path: str, items: list[Any], page_size: int = 1000) -> None:
        def page(request: Request) -> Reply:
            start = int(request.query.get("cursor", 0))
            end = start + min(page_size, int(request.query.get("limit", 100)))
            return Reply({"items": items[start:end], "next": str(end) if end < len(items) else None})

        self.on("GET", path, page)

    def sent(self, method: str, path: str) -> list[Request]:
        return [one for one in self.requests if (one.method, one.path) == (method, path)]

    @property
    def last(self) -> Request:
        return self.requests[-1]

    def answer(self, request: Request) -> Reply:
        self.requests.append(request)
        answering = self._answers.get((request.method, request.path))
        return answering(request) if answering else problem(404, f"there is no {request.path}")

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self) -> None:
                """Clients may go at any moment."""
                try:
                    super().handle()
                except OSError:
                    self.close_connection = True

            def serve(self) -> None:
                parts = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                segments = [unquote(part) for part in parts.path.strip("/").split("/")]
                request = Request(
                    self.command,
                    " ".join(segments[1:]) if segments[:1] == ["v1"] else parts.path,
                    dict(parse_qsl(parts.query)),
                    {key.lower(): value for key, value in self.headers.items()},
                    json.loads(body) if body else None,
                )
                self._send(api.answer(request))

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve  # noqa: N815 - the names are given

            def _send(self, reply: Reply) -> None:
                if reply.hang_up:
                    self.close_connection = True
                    return
                if reply.stream is not None:
                    self._send_stream(reply.stream())
                    return
                content = reply.raw
                if content is None:
                    content = b"" if reply.document is None else json.dumps(reply.document).encode()
                self.send_response(204 if not content and reply.status == 200 else reply.status)
                for key, value in reply.headers.items():
                    self.send_header(key, value)
                if content:
                    self.send_header("Content-Type", reply.media_type)
                    self.send_header("Content-Length", str(len(content)))
                else:
                    self.send_header("Content-Length", "0")
                self.end_headers()
                self.wfile.write(content)

            def _send_stream(self, parts: Iterator[bytes]) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.flush()
                for part in parts:
                    self.wfile.write(part)
                    self.wfile.flush()
                self.close_connection = True

            def log_message(self, *arguments: object) -> None:
                pass

        return Handler


def event(number: int, name: str, message: str, **more: Any) -> bytes:
    data = {
        "seq": number,
        "at": "2026-03-01T09:00:00Z",
        "type": "job",
        "kind": "Job",
        "name": name,
        "message": message,
        "data": {"deployment": name.partition("/")[0]},
        **more,
    }
    return f"id: {number}\nevent: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()
