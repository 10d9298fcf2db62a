"""Which route a path means. Segments are split before they are decoded, so that a name may contain an encoded `/`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote_to_bytes

import msgspec

from headgate.api.http.calls import Refusal, Route
from headgate.api.http.problems import RefusalWithHeaders

LONGEST_PATH_BYTES = 8_192
_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


class Match(msgspec.Struct, frozen=True):
    route: Route
    parameters: dict[str, str]


class _Node(msgspec.Struct):
    literals: dict[str, _Node] = {}
    parameter: _Node | None = None
    routes: dict[str, tuple[Route, dict[str, int]]] = {}
    """By method, with the segment that each parameter of its path is."""


class Router:
    def __init__(self, routes: Iterable[Route]) -> None:
        self._root = _Node()
        for route in routes:
            self._add(route)

    def match(self, method: str, raw_path: bytes) -> Match:
        """A literal segment wins over a parameter, unless only the parameter's route has the method."""
        if len(raw_path) > LONGEST_PATH_BYTES:
            raise Refusal(
                414, "The path is too long", f"it has {len(raw_path)} bytes; allowed are {LONGEST_PATH_BYTES}"
            )
        segments = [_decoded(segment, number) for number, segment in enumerate(raw_path.split(b"/")[1:], 1)]
        leaves = list(_leaves(self._root, segments, 0))
        wanted = "GET" if method == "HEAD" else method
        for node in leaves:
            if wanted in node.routes:
                route, parameters = node.routes[wanted]
                return Match(route, {name: segments[index] for name, index in parameters.items()})
        if not leaves:
            raise Refusal(404, "There is nothing here", f"no route has the path {_rendered(raw_path)}")
        raise _method_refused(method, {name for node in leaves for name in node.routes})

    def _add(self, route: Route) -> None:
        node = self._root
        parameters: dict[str, int] = {}
        for index, part in enumerate(_parts(route.path)):
            if is_parameter(part):
                parameters[part[1:-1]] = index
                node.parameter = node.parameter or _Node()
                node = node.parameter
            else:
                node = node.literals.setdefault(part, _Node())
        if route.method in node.routes:
            other = node.routes[route.method][0].operation
            raise ValueError(f"{route.operation}: {route.method} {route.path} is taken by {other}")
        node.routes[route.method] = (route, parameters)


def is_parameter(part: str) -> bool:
    return part.startswith("{") and part.endswith("}")


def parameter_names(path: str) -> list[str]:
    return [part[1:-1] for part in _parts(path) if is_parameter(part)]


def _decoded(segment: bytes, number: int) -> str:
    place = f"segment {number} of the path"
    if _BROKEN_ESCAPE.search(segment):
        raise Refusal(400, "The path cannot be read", f"{place} has a '%' without two hexadecimal digits")
    try:
        text = unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise Refusal(400, "The path cannot be read", f"{place} is not UTF-8 once decoded") from None
    if "\x00" in text:
        raise Refusal(400, "The path cannot be read", f"{place} contains the character NUL")
    return text


def _leaves(node: _Node, segments: list[str], index: int) -> Iterator[_Node]:
    """The nodes with routes that the path can mean, the most literal first. No parameter is empty."""
    if index == len(segments):
        if node.routes:
            yield node
        return
    literal = node.literals.get(segments[index])
    if literal is not None:
        yield from _leaves(literal, segments, index + 1)
    if node.parameter is not None and segments[index]:
        yield from _leaves(node.parameter, segments, index + 1)


def _parts(path: str) -> list[str]:
    return path.split("/")[1:]


def _rendered(raw_path: bytes) -> str:
    return raw_path[:200].decode("ascii", "backslashreplace")


def _method_refused(method: str, allowed: set[str]) -> Refusal:
    if "GET" in allowed:
        allowed = allowed | {"HEAD"}
    listed = ", ".join(sorted(allowed))
    return RefusalWithHeaders(
        405,
        "The method is not allowed",
        f"{method} is not allowed here; allowed are {listed}",
        {"Allow": listed},
    )
