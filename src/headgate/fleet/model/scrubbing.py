"""Texts of others without the secrets that they were given.

Whoever is sent a credential may send it back, in an answer that everybody reads who may read the job. What is a secret
in a config is said in `hiding` and `agent_fields`; here are the forms in which one comes back.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from headgate.fleet.model.agent_fields import HIDDEN, is_secret, is_secret_in
from headgate.kernel.problems import Problem

SHORTEST_SECRET = 4
"""Shorter ones are in every text by chance."""
_SHORTEST_BODY = 16
_SHORTEST_LINE = 8
_PLAIN_HEADERS = frozenset(
    {"accept", "accept-encoding", "accept-language", "cache-control", "content-type", "user-agent"}
)
_USER = re.compile(r"://([^/?#\s]+)@")
_QUERY = re.compile(r"://[^\s?#]*\?([^\s#]*)")
_PARAMETER = re.compile(r"([^&;=]+)=([^&;]+)")
_QUOTED = re.compile(rb"%[0-9a-fA-F]{2}")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SEGMENT = re.compile(r"[\w-]+")


class Scrubber:
    """Takes secrets out of texts, the longest first, so that none leaves a part of another behind."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= SHORTEST_SECRET}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._secrets = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def text(self, text: str) -> str:
        return text if self._secrets is None else self._secrets.sub(HIDDEN, text)

    def value(self, value: Any) -> Any:
        """Of any JSON, keys included."""
        if self._secrets is None:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def problems(self, problems: Iterable[Problem]) -> list[Problem]:
        """What is wrong with a secret itself may quote any part of it, so it is not said at all."""
        return [
            Problem(one.path, "cannot be computed; it is a secret, so what is wrong with it is not shown")
            if any(is_secret(part) for part in _SEGMENT.findall(one.path))
            else Problem(one.path, self.text(one.message))
            for one in problems
        ]


def secrets_of_config(*configs: Mapping[str, Any]) -> Iterator[str]:
    """Of a job agent, with what deployments and versions add."""
    for config in configs:
        yield from _secrets_in(config, "")


def secrets_of_provider(provider: Mapping[str, Any]) -> Iterator[str]:
    """Of a verification's provider, as it is sent."""
    yield from _secrets_in({key: item for key, item in provider.items() if key != "body"}, "")
    body = provider.get("body")
    if isinstance(body, str):
        if len(body) >= _SHORTEST_BODY:
            yield body
        try:
            yield from _secrets_in(msgspec.json.decode(body), "")
        except (msgspec.DecodeError, UnicodeDecodeError):
            yield from _of_form(body)


def _secrets_in(value: Any, field: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _whole(item) if is_secret_in(value, key) else _secrets_in(item, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _secrets_in(item, field)
    elif isinstance(value, str) and "://" in value:
        yield from _of_address(value)


def _whole(value: Any) -> Iterator[str]:
    """Of a field that is a secret: all that is in it."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if str(key).lower() not in _PLAIN_HEADERS:
                yield from _whole(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _whole(item)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        text = str(value)
        yield text
        yield from text.partition(" ")[2:]
        yield from _of_address(text)


def _of_address(text: str) -> Iterator[str]:
    """The user and the password, also as they are sent, and what stands under the name of a secret in the query."""
    for user in _USER.findall(text):
        password = user.partition(":")[2] or user
        yield base64.b64encode(_unquoted(user).encode()).decode()
        yield password
        yield _unquoted(password)
    for query in _QUERY.findall(text):
        yield from _of_form(query)


def _of_form(text: str) -> Iterator[str]:
    for name, value in _PARAMETER.findall(text):
        if is_secret(name) or name.lower() == "key":
            yield value
            yield _unquoted(value.replace("+", " "))


def _forms(secret: str) -> Iterator[str]:
    """As it is, in JSON, in an address, and line by line, as a log shows it."""
    yield secret
    yield from (line for line in secret.splitlines() if len(line) >= _SHORTEST_LINE)
    yield msgspec.json.encode(secret).decode()[1:-1]
    yield "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in secret.encode())


def _unquoted(text: str) -> str:
    unquoted = _QUOTED.sub(lambda part: bytes([int(part[0][1:], 16)]), text.encode())
    return unquoted.decode("utf-8", "replace")
