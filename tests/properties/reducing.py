"""Makes a failing scenario small: leaves out whatever is not needed for the same failure.

Works on the document instead of on hypothesis' choices: steps, objects and rules can be left out one by one without
moving the others, which gets to a file that a person can read in a fraction of the time.
"""

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

Document = dict[str, Any]
Check = Callable[[Document], None]
Path = tuple[str | int, ...]

LONGEST_SECONDS = 60
LISTS = ("timeline", "objects", "agents")


def failure_of(check: Check, document: Document) -> BaseException | None:
    """What the check raises; that a scenario cannot be read any more is not what we look for."""
    try:
        check(document)
    except Exception as error:
        return error
    return None


def kind_of(error: BaseException | None) -> str | None:
    """Equal for failures that a reader would call the same: the type and the first words."""
    return None if error is None else f"{type(error).__name__}: {str(error).split(':')[0][:60]}"


def smallest(document: Document, check: Check) -> Document:
    wanted = kind_of(failure_of(check, document))
    deadline = time.monotonic() + LONGEST_SECONDS
    best = document
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in _smaller(best):
            if time.monotonic() > deadline:
                return best
            if kind_of(failure_of(check, candidate)) == wanted:
                best = candidate
                is_smaller = True
                break
    return best


def _smaller(document: Document) -> Iterator[Document]:
    """Large cuts first; then each field that can be left out, the deepest first."""
    spec = document["spec"]
    for key in LISTS:
        size = len(spec[key])
        while size:
            for start in range(0, len(spec[key]), size):
                rest = [*spec[key][:start], *spec[key][start + size :]]
                yield {**document, "spec": {**spec, key: rest}}
            size //= 2
    for path in sorted(_paths(spec), key=len, reverse=True):
        if len(path) > 1 and path[-1] not in ("apiVersion", "kind", "name", "at"):
            yield {**document, "spec": _without(spec, path)}


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from _paths(item, (*path, key))


def _without(spec: Document, path: Path) -> Document:
    result = copy.deepcopy(spec)
    parent: Any = result
    for key in path[:-1]:
        parent = parent[key]
    del parent[path[-1]]
    return result
