"""From text to plain values: YAML or JSON, many documents, each value with the line it stands on.

Scalars are read as in YAML 1.2: `yes`, `on` and `12:30` are strings, and so are dates. Values are built from parser
events rather than by a YAML constructor: that is what gives lines, refuses repeated keys, and keeps nesting and aliases
within bounds however the text is made.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import msgspec
import yaml

from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected

LARGEST_TEXT = 64_000_000
MOST_VALUES = 4_000_000
DEEPEST_NESTING = documents.DEEPEST_NESTING
_LARGEST_JSON_WITH_LINES = 1_000_000
_LONGEST_NUMBER = 400

_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+", re.ASCII)
_OCTAL = re.compile(r"0o[0-7]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_WORDS: dict[str, object] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_TAG_PREFIX = "tag:yaml.org,2002:"
_PLAIN_TAGS = {f"{_TAG_PREFIX}{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")}


class TextDocument(msgspec.Struct, frozen=True):
    """`lines` says where each path of the text begins; `prefix` is where in the text this document is.

    `problems` are keys that are written twice. The last one counts, as everywhere; whether that is refused is for the
    reader of the document to say, because other systems publish such files.
    """

    value: Any
    source: str = ""
    line: int = 1
    lines: dict[str, int] = {}
    prefix: str = ""
    problems: tuple[Problem, ...] = ()

    def line_of(self, path: str) -> int:
        """The line of the nearest enclosing value that has one: a missing key stands nowhere."""
        place = _join(self.prefix, path)
        while place and place not in self.lines:
            place = place[: max(place.rfind("."), place.rfind("["), 0)]
        return self.lines.get(place, self.line)


def read(text: str, source: str) -> list[TextDocument]:
    """All documents of the text. Raises Rejected with one problem, the first: what follows it is guesswork."""
    if len(text) > LARGEST_TEXT:
        raise Rejected([Problem(source, f"has {len(text)} characters; allowed are {LARGEST_TEXT}")])
    problem = documents.text_problem(text)
    if problem is not None:
        raise Rejected([Problem(source, problem)])
    if text.lstrip()[:1] in ("{", "["):
        read_json = _read_json(text)
        if read_json is not None:
            return list(_split(TextDocument(read_json.value, source, lines=_lines_of_json(text, source))))
    return [part for document in _read_yaml(text, source) for part in _split(document)]


def _split(document: TextDocument) -> Iterator[TextDocument]:
    """A list at the top is several documents, and so is `kind: List`, as other tools write one."""
    value, place = document.value, ""
    if isinstance(value, dict) and value.get("kind") == "List" and isinstance(value.get("items"), list):
        value, place = value["items"], "items"
    if not isinstance(value, list):
        yield document
        return
    for index, item in enumerate(value):
        prefix = documents.item_path(place, index)
        line = document.lines.get(prefix, document.line)
        problems = tuple(
            Problem(problem.path[len(prefix) :].removeprefix("."), problem.message)
            for problem in document.problems
            if problem.path.startswith(prefix)
        )
        yield TextDocument(item, document.source, line, document.lines, prefix, problems)


def _join(prefix: str, path: str) -> str:
    if not prefix or not path or path.startswith("["):
        return prefix + path
    return f"{prefix}.{path}"


class _Found(msgspec.Struct, frozen=True):
    value: Any


def _read_json(text: str) -> _Found | None:
    """None if it is not JSON, or not JSON that we would take: YAML is a superset and has the better explanations."""
    if text.count("[") + text.count("{") > MOST_VALUES or _deepest(text) > DEEPEST_NESTING:
        return None
    try:
        return _Found(json.loads(text, object_pairs_hook=_without_repeated, parse_constant=_refuse_constant))
    except (ValueError, RecursionError):
        return None


def _lines_of_json(text: str, source: str) -> dict[str, int]:
    """JSON is nearly always YAML too; where it is not, problems name the file without a line of their own."""
    if len(text) > _LARGEST_JSON_WITH_LINES:
        return {}
    try:
        return next((document.lines for document in _read_yaml(text, source)), {})
    except Rejected:
        return {}


def _deepest(text: str) -> int:
    depth = deepest = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text):
        character = match.group()
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def _without_repeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("repeated key")
    return value


def _refuse_constant(name: str) -> object:
    raise ValueError(name)


def _read_yaml(text: str, source: str) -> Iterator[TextDocument]:
    builder: _Builder | None = None
    try:
        for event in yaml.parse(text, Loader=_PARSER):
            if isinstance(event, yaml.DocumentStartEvent):
                builder = _Builder(source)
            elif isinstance(event, yaml.DocumentEndEvent):
                if builder is not None and builder.value is not None:
                    problems = tuple(builder.problems)
                    yield TextDocument(
                        builder.value, source, builder.first_line, builder.lines, problems=problems
                    )
            elif builder is not None:
                builder.take(event)
    except yaml.YAMLError as error:
        raise Rejected([_yaml_problem(error, source)]) from None


def _yaml_problem(error: yaml.YAMLError, source: str) -> Problem:
    if not isinstance(error, yaml.MarkedYAMLError):
        return Problem(source, f"is not text that YAML allows: {' '.join(str(error).split())[:200]}")
    mark = error.problem_mark or error.context_mark
    problem = ", ".join(part for part in (error.context, error.problem) if part)
    if mark is None:
        return Problem(source, f"is not YAML: {problem}")
    return Problem(f"{source}:{mark.line + 1}", f"is not YAML: {problem} (column {mark.column + 1})")


class _Container:
    """A map or list under construction. A map holds its next key until the value comes."""

    __slots__ = ("anchor", "count_before", "has_key", "key", "merged", "path", "value")

    def __init__(self, value: Any, path: str, anchor: str | None, count_before: int) -> None:
        self.value = value
        self.path = path
        self.anchor = anchor
        self.count_before = count_before
        self.key: Any = None
        self.has_key = False
        self.merged: list[dict[Any, Any]] = []

    def next_path(self) -> str:
        if isinstance(self.value, list):
            return documents.item_path(self.path, len(self.value))
        return documents.field_path(self.path, self.key) if isinstance(self.key, str) else self.path


class _Builder:
    def __init__(self, source: str) -> None:
        self.source = source
        self.value: Any = None
        self.first_line = 0
        self.lines: dict[str, int] = {}
        self.problems: list[Problem] = []
        self._open: list[_Container] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._count = 0

    def take(self, event: Any) -> None:
        line = event.start_mark.line + 1
        self.first_line = self.first_line or line
        if isinstance(event, yaml.ScalarEvent):
            self._count_one(line, 1)
            value = self._scalar(event, line)
            if event.anchor:
                self._anchors[event.anchor] = value, 1
            self._place(value, line, is_plain_merge=event.value == "<<" and event.implicit[0])
        elif isinstance(event, yaml.AliasEvent):
            value, count = self._aliased(event.anchor, line)
            self._count_one(line, count)
            self._place(value, line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._begin({} if isinstance(event, yaml.MappingStartEvent) else [], event, line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._finish(line)

    def _begin(self, value: Any, event: Any, line: int) -> None:
        self._refuse_tag(event.tag, line)
        if len(self._open) >= DEEPEST_NESTING:
            self._refuse(line, f"is nested more than {DEEPEST_NESTING} levels deep")
        container = self._open[-1] if self._open else None
        if container is not None and isinstance(container.value, dict) and not container.has_key:
            self._refuse(line, "has a map or a list as a key; allowed are strings")
        path = container.next_path() if container is not None else ""
        self.lines.setdefault(path, line)
        self._anchors.pop(event.anchor, None)
        self._open.append(_Container(value, path, event.anchor, self._count))
        self._count_one(line, 1)

    def _finish(self, line: int) -> None:
        container = self._open.pop()
        for merged in container.merged:
            for key, value in merged.items():
                container.value.setdefault(key, value)
        if container.anchor:
            self._anchors[container.anchor] = container.value, self._count - container.count_before
        self._place(container.value, line)

    def _place(self, value: Any, line: int, is_plain_merge: bool = False) -> None:
        if not self._open:
            self.value = value
            self.lines.setdefault("", line)
            return
        container = self._open[-1]
        if isinstance(container.value, list):
            self.lines.setdefault(container.next_path(), line)
            container.value.append(value)
        elif not container.has_key:
            self._place_key(container, value, line, is_plain_merge)
        else:
            container.has_key = False
            if container.key is _MERGE:
                self._merge(container, value, line)
            else:
                container.value[container.key] = value

    def _place_key(self, container: _Container, key: Any, line: int, is_plain_merge: bool) -> None:
        if isinstance(key, dict | list):
            self._refuse(line, "has a map or a list as a key; allowed are strings")
        if not is_plain_merge and key in container.value:
            path = documents.field_path(container.path, str(key))
            self.problems.append(Problem(path, f"is written twice, again in line {line}"))
        container.key = _MERGE if is_plain_merge else key
        container.has_key = True
        if isinstance(key, str):
            self.lines.setdefault(container.next_path(), line)

    def _merge(self, container: _Container, value: Any, line: int) -> None:
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            self._refuse(line, "has << with something else than a map or a list of maps")
        container.merged.extend(parts)

    def _aliased(self, anchor: str | None, line: int) -> tuple[Any, int]:
        if anchor is None or anchor not in self._anchors:
            self._refuse(line, f"has the alias *{anchor} for something that contains it or is not there")
        return self._anchors[anchor]

    def _count_one(self, line: int, count: int) -> None:
        self._count += count
        if self._count > MOST_VALUES:
            self._refuse(line, f"has more than {MOST_VALUES} values, aliases written out")

    def _scalar(self, event: Any, line: int) -> object:
        self._refuse_tag(event.tag, line)
        tag, text = event.tag, event.value
        if tag == f"{_TAG_PREFIX}str" or (tag in (None, "!") and not event.implicit[0]):
            return text
        value = _plain(text)
        if tag is not None and tag != "!" and not _fits(tag, value):
            self._refuse(line, f"has the tag !!{tag.removeprefix(_TAG_PREFIX)} on {documents.describe(text)}")
        return value

    def _refuse_tag(self, tag: str | None, line: int) -> None:
        if tag is not None and tag != "!" and tag not in _PLAIN_TAGS:
            name = f"!!{tag.removeprefix(_TAG_PREFIX)}" if tag.startswith(_TAG_PREFIX) else tag
            self._refuse(line, f"has the tag {name}; allowed are plain YAML values")

    def _refuse(self, line: int, message: str) -> NoReturn:
        raise Rejected([Problem(f"{self.source}:{line}", message)])


_MERGE = object()


def _plain(text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _HEXADECIMAL.fullmatch(text):
        return int(text, 16)
    return int(text, 8) if _OCTAL.fullmatch(text) else text


def _fits(tag: str, value: object) -> bool:
    kinds: dict[str, tuple[type, ...]] = {
        "int": (int,),
        "float": (float, int),
        "bool": (bool,),
        "null": (type(None),),
    }
    name = tag.removeprefix(_TAG_PREFIX)
    return name in kinds and type(value) in kinds[name]
