"""A caller who looks at every byte of the answer."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

_SECONDS = 30.0


class Answer:
    def __init__(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        self.cookies = [value for name, value in headers if name.lower() == "set-cookie"]
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def etag(self) -> str:
        return self.headers["etag"]

    @property
    def sentences(self) -> str:
        """What a refusal says, all of it."""
        problem = self.json
        return " ".join([problem["title"], problem["detail"], *(one["message"] for one in problem["errors"])])

    def __repr__(self) -> str:
        return f"<{self.status} {self.body[:500]!r}>"


class Client:
    def __init__(self, address: str, token: str | None, workspace: str | None = None) -> None:
        self.address = address
        self.token = token
        self.workspace = workspace

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = _SECONDS,
        **query: object,
    ) -> Answer:
        """`body` is sent as JSON unless it is bytes already. What could be a stream is answered once, unless `headers` accept
        otherwise."""
        if self.workspace is not None:
            query.setdefault("workspace", self.workspace)
        given = {key: str(value) for key, value in query.items() if value is not None}
        if given:
            path = f"{path}{'&' if '?' in path else '?'}{urlencode(given, quote_via=quote)}"
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Accept": "application/json, */*;q=0.5"}
        if data is not None:
            sent["Content-Type"] = "application/json"
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=seconds)
        try:
            connection.request(method, path, data, {**sent, **(headers or {})})
            answer = connection.getresponse()
            return Answer(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()

    def get(self, path: str, **query: object) -> Any:
        return self.expect(200, "GET", path, **query).json

    def expect(self, status: int, method: str, path: str, body: object = None, **options: Any) -> Answer:
        answer = self.call(method, path, body, **options)
        assert answer.status == status, f"{method} {path}: {answer!r}"
        return answer

    def apply(self, *manifests: Mapping[str, Any]) -> None:
        self.expect(200, "POST", "/v1/apply", {"manifests": list(manifests)})

    def token_with(self, name: str, **fields: Any) -> Client:
        """Another caller, of the same workspace."""
        made = self.expect(201, "POST", "/v1/tokens", {"name": name, **fields}).json
        return Client(self.address, made["secret"], self.workspace)

    def raw(self) -> socket.socket:
        """A connection on which anything can be sent."""
        host, _, port = urlsplit(self.address).netloc.partition(":")
        return socket.create_connection((host, int(port)), timeout=_SECONDS)


def segment(name: str) -> str:
    """A name as one segment of a path."""
    return quote(name, safe="").replace(".", "%2E")
