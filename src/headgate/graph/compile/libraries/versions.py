"""semver: versions by the rules of Semantic Versioning 2."""

from __future__ import annotations

import re
from typing import Any

from headgate import cel
from headgate.cel.core import values
from headgate.graph.compile.libraries.comparing import Comparable, method

_NUMBER = r"(?:0|[1-9][0-9]*)"
_TAG = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION = re.compile(
    rf"(?P<major>{_NUMBER})\.(?P<minor>{_NUMBER})\.(?P<patch>{_NUMBER})"
    rf"(?:-(?P<before>{_TAG}(?:\.{_TAG})*))?(?:\+[0-9A-Za-z.-]+)?"
)
_LOOSE = re.compile(r"v?0*([0-9]+)(?:\.0*([0-9]+))?(?:\.0*([0-9]+))?([-+].*)?")
LONGEST = 256


class SemanticVersion(Comparable):
    __slots__ = ("before", "numbers")

    def __init__(self, numbers: tuple[int, int, int], before: tuple[tuple[int, int, str], ...]) -> None:
        self.numbers = numbers
        self.before = before

    @property
    def order(self) -> Any:
        """A version without a pre-release comes after all of its pre-releases; build metadata does not count."""
        return (self.numbers, not self.before, self.before)

    def cel_major(self) -> int:
        return self.numbers[0]

    def cel_minor(self) -> int:
        return self.numbers[1]

    def cel_patch(self) -> int:
        return self.numbers[2]


def parse(text: str, normalize: bool = False) -> SemanticVersion:
    """With `normalize`, a leading v, missing minor and patch, and leading zeros are put right first."""
    written = _normalized(text) if normalize else text
    match = _VERSION.fullmatch(written) if len(written) <= LONGEST else None
    if match is None:
        raise ValueError(f"{values.render_key(text)} is not a version such as 1.2.3 or 1.2.3-rc.1")
    numbers = (int(match["major"]), int(match["minor"]), int(match["patch"]))
    if max(numbers) > values.INT_MAXIMUM:
        raise ValueError(f"{values.render_key(text)} has a number of more than 64 bits")
    return SemanticVersion(
        numbers, tuple(map(_tag_order, (match["before"] or "").split("."))) if match["before"] else ()
    )


def _tag_order(tag: str) -> tuple[int, int, str]:
    """Numbers come before words, and go by value."""
    return (0, int(tag), "") if tag.isdigit() else (1, 0, tag)


def _normalized(text: str) -> str:
    match = _LOOSE.fullmatch(text)
    if match is None:
        return text
    return f"{match[1]}.{match[2] or 0}.{match[3] or 0}{match[4] or ''}"


def is_semver(text: str, normalize: bool = False) -> bool:
    try:
        parse(text, normalize)
    except ValueError:
        return False
    return True


FUNCTIONS = (
    cel.Function("semver", (cel.STRING,), cel.DYN, parse),
    cel.Function("semver", (cel.STRING, cel.BOOL), cel.DYN, parse),
    cel.Function("isSemver", (cel.STRING,), cel.BOOL, is_semver),
    cel.Function("isSemver", (cel.STRING, cel.BOOL), cel.BOOL, is_semver),
    method("major", result=cel.INT),
    method("minor", result=cel.INT),
    method("patch", result=cel.INT),
)
