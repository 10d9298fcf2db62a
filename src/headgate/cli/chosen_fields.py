"""Single fields of documents, asked for by path: `-o jsonpath` and `-o custom-columns`, as kubectl's users write them.

A path is `.name`, `['name']`, `[0]`, `[-1]`, `[*]` or `[?(@.field == 'value')]`, one behind the other. A template is text
with `{path}`, `{"literal"}` and `{range path}...{end}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from headgate.cli.columns import Row

_STEP = re.compile(
    r"""\.(?P<name>[\w-]+)
      | \[\s*'(?P<quoted>[^']*)'\s*\]
      | \[\s*(?P<index>-?\d+|\*)\s*\]
      | \[\?\(\s*@(?P<field>(?:\.[\w-]+)+)\s*(?P<sign>==|!=)\s*(?P<value>'[^']*'|"[^"]*"|[-\w.]+)\s*\)\]
    """,
    re.VERBOSE,
)
_PART = re.compile(r"\{([^{}]*)\}")

Path = tuple["PathStep", ...]


class PathStep(msgspec.Struct, frozen=True):
    """One of a name, an index (`*` for all), or a condition on a field of each item."""

    name: str | None = None
    index: int | None = None
    is_all: bool = False
    field: Path = ()
    value: object = None
    is_equal: bool = True

    def of(self, document: Any) -> list[Any]:
        if self.name is not None:
            return [document[self.name]] if isinstance(document, dict) and self.name in document else []
        items = _items(document)
        if self.index is not None:
            return [items[self.index]] if -len(items) <= self.index < len(items) else []
        if self.is_all:
            return items
        return [item for item in items if (self.value in values(self.field, item)) is self.is_equal]


class TemplatePart(msgspec.Struct, frozen=True):
    """Of a template: a literal text, a path, or (with `inner`) a path with what is printed for each of its values."""

    text: str = ""
    path: Path | None = None
    inner: tuple[TemplatePart, ...] | None = None


class Field(msgspec.Struct, frozen=True):
    title: str
    path: Path


def _items(document: Any) -> list[Any]:
    if isinstance(document, dict):
        return list(document.values())
    return document if isinstance(document, list) else []


def path(text: str) -> Path:
    """Raises ValueError with a sentence."""
    rest = text.strip().removeprefix("$").removeprefix("@")
    if rest and rest[0] not in ".[":
        rest = f".{rest}"
    steps: list[PathStep] = []
    at = 0
    while at < len(rest) and rest != ".":
        match = _STEP.match(rest, at)
        if match is None:
            raise ValueError(
                f'"{text}" cannot be read at "{rest[at:]}"; allowed are .name, [\'name\'], [0], [*] '
                "and [?(@.field == 'value')]"
            )
        steps.append(_step(match))
        at = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> PathStep:
    if match["field"] is not None:
        return PathStep(
            field=path(match["field"]), value=_constant(match["value"]), is_equal=match["sign"] == "=="
        )
    if match["index"] is not None:
        return PathStep(is_all=True) if match["index"] == "*" else PathStep(index=int(match["index"]))
    return PathStep(name=match["quoted"] if match["quoted"] is not None else match["name"])


def _constant(text: str) -> object:
    if text[0] in "'\"":
        return text[1:-1]
    try:
        return json.loads(text)
    except ValueError:
        return text


def values(steps: Path, document: Any) -> list[Any]:
    selected = [document]
    for step in steps:
        selected = [inner for one in selected for inner in step.of(one)]
    return selected


def template(text: str) -> tuple[TemplatePart, ...]:
    """Raises ValueError with a sentence."""
    if not text:
        raise ValueError("is empty; write -o jsonpath='{.items[*].name}'")
    tokens = _PART.split(text if "{" in text else f"{{{text}}}")
    if any("{" in token or "}" in token for token in tokens[::2]):
        raise ValueError(f'a brace of "{text}" stands alone')
    parts, rest = _parts(tokens, is_inner=False)
    if rest:
        raise ValueError("{end} stands without {range}")
    return parts


def _parts(tokens: list[str], *, is_inner: bool) -> tuple[tuple[TemplatePart, ...], list[str]]:
    """Texts and what stands in braces alternate; a text comes first."""
    parts: list[TemplatePart] = []
    while tokens:
        parts.append(TemplatePart(text=tokens[0]))
        if len(tokens) == 1:
            tokens = []
            break
        inside, tokens = tokens[1].strip(), tokens[2:]
        if inside == "end":
            return tuple(parts), (tokens if is_inner else ["", "end"])
        if inside.startswith("range "):
            inner, tokens = _parts(tokens, is_inner=True)
            parts.append(TemplatePart(path=path(inside.removeprefix("range ")), inner=inner))
        elif inside[:1] in ("'", '"'):
            parts.append(TemplatePart(text=_literal(inside)))
        else:
            parts.append(TemplatePart(path=path(inside)))
    if is_inner:
        raise ValueError("{range} has no {end}")
    return tuple(parts), []


def _literal(text: str) -> str:
    try:
        return str(json.loads(f'"{text[1:-1]}"'))
    except ValueError:
        raise ValueError(f"{text} is not a text in quotes") from None


def fill(parts: Iterable[TemplatePart], document: Any) -> str:
    return "".join(_filled(part, document) for part in parts)


def _filled(part: TemplatePart, document: Any) -> str:
    if part.path is None:
        return part.text
    selected = values(part.path, document)
    if part.inner is not None:
        return "".join(fill(part.inner, item) for item in selected)
    return " ".join(text_of(value) for value in selected)


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def columns(text: str) -> tuple[Field, ...]:
    """`NAME:.name,STATE:.state`. Raises ValueError with a sentence."""
    fields = []
    for part in text.split(","):
        title, separator, place = part.partition(":")
        if not separator or not title.strip() or not place.strip():
            raise ValueError(f'"{part}" is no TITLE:PATH; write -o custom-columns=NAME:.name,STATE:.state')
        fields.append(Field(title.strip(), path(place)))
    return tuple(fields)


def cells(fields: Sequence[Field], row: Row) -> list[str]:
    return [",".join(text_of(value) for value in values(field.path, row)) or "<none>" for field in fields]
