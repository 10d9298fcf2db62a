"""url: absolute addresses and absolute paths, taken apart."""

from __future__ import annotations

import re

from headgate import cel
from headgate.cel.core import values
from headgate.graph.compile.libraries.comparing import is_read_by, method

_URL = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)"
    r"(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?",
    re.DOTALL,
)
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.%]+\]|[^:\[\]\s\\<>\"^`{|}]*)(?::(?P<port>[0-9]*))?")
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})|%")
_PATH_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~$&+,/:;=@!'()*%")


class Url:
    __slots__ = ("host", "name", "path", "port", "query", "scheme")

    def __init__(self, scheme: str, host: str, name: str, port: str, path: str, query: str) -> None:
        self.scheme = scheme
        self.host = host
        self.name = name
        self.port = port
        self.path = path
        self.query = query

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and other._parts() == self._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def _parts(self) -> tuple[str, ...]:
        return (self.scheme, self.host, self.path, self.query)

    def cel_get_scheme(self) -> str:
        return self.scheme

    def cel_get_host(self) -> str:
        """With the port."""
        return self.host

    def cel_get_hostname(self) -> str:
        """Without the port, and without the brackets of an IPv6 address."""
        return self.name.strip("[]")

    def cel_get_port(self) -> str:
        return self.port

    def cel_get_escaped_path(self) -> str:
        return "".join(chr(octet) if octet in _PATH_SAFE else f"%{octet:02X}" for octet in self.path.encode())

    def cel_get_query(self) -> dict[str, list[str]]:
        query: dict[str, list[str]] = {}
        for pair in self.query.split("&"):
            if pair and ";" not in pair:
                key, _, value = pair.partition("=")
                query.setdefault(_unescaped(key), []).append(_unescaped(value))
        return query


def _unescaped(text: str) -> str:
    octets = re.sub(
        rb"%([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), text.replace("+", " ").encode()
    )
    return octets.decode("utf-8", "replace")


def parse(text: str) -> Url:
    match = _URL.fullmatch(text)
    if match is None or any(character <= " " or character == "\x7f" for character in text):
        raise ValueError(f"{values.render_key(text)} is not a URL")
    if not match["scheme"] and not (match["authority"] is None and match["path"].startswith("/")):
        raise ValueError(f"{values.render_key(text)} is neither an absolute URL nor an absolute path")
    if match["scheme"] and match["authority"] is None and not match["path"].startswith("/"):
        raise ValueError(f"{values.render_key(text)} has no host and no absolute path")
    if any(escaped[1] is None for escaped in _ESCAPED.finditer(match["path"])):
        raise ValueError(f"{values.render_key(text)} has a % that escapes nothing")
    authority = (match["authority"] or "").rpartition("@")[2]
    host = _HOST.fullmatch(authority)
    if host is None:
        raise ValueError(f"{values.render_key(text)} has no host that can be read")
    return Url(
        (match["scheme"] or "").lower(),
        authority,
        host["name"],
        host["port"] or "",
        match["path"],
        match["query"] or "",
    )


FUNCTIONS = (
    cel.Function("url", (cel.STRING,), cel.DYN, parse),
    cel.Function("isURL", (cel.STRING,), cel.BOOL, is_read_by(parse)),
    method("getScheme", result=cel.STRING),
    method("getHost", result=cel.STRING),
    method("getHostname", result=cel.STRING),
    method("getPort", result=cel.STRING),
    method("getEscapedPath", result=cel.STRING),
    method("getQuery", result=cel.map_of(cel.STRING, cel.list_of(cel.STRING))),
)
