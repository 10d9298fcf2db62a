"""Another system, as far as it matters where requests go and what is in them."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def everything(self) -> str:
        return f"{self.method} {self.path} {self.headers} {self.body.decode('utf-8', 'replace')}"


class Listener:
    """Writes every request down as it came; answers the same to all."""

    def __init__(self, status: int = 200, body: bytes = b"{}", **headers: str) -> None:
        self.requests: list[Request] = []
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def _take(self) -> None:
                content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                given = {name.lower(): value for name, value in self.headers.items()}
                requests.append(Request(self.command, self.path, given, content))
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _take  # noqa: N815

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
