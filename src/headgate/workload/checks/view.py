"""A document seen through what can be read of it.

Rules must speak about every part that is legible even when another part is not, so they never read the whole into
its model first: a value of the wrong type, which reading reports, is simply not seen here.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headgate.kernel import documents
from headgate.kernel.objects import Object
from headgate.kernel.problems import Problem


class ListEntry(msgspec.Struct, frozen=True):
    """A map somewhere in the document, and where."""

    path: str
    value: Mapping[str, Any]

    def at(self, key: str) -> str:
        return documents.field_path(self.path, key)

    def has(self, key: str) -> bool:
        """A null field is an absent one."""
        return self.value.get(key) is not None

    def text(self, key: str) -> str | None:
        value = self.value.get(key)
        return value if isinstance(value, str) else None

    def number(self, key: str) -> int | None:
        value = self.value.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def entry(self, key: str) -> "ListEntry":
        """Empty if there is no map."""
        value = self.value.get(key)
        return ListEntry(self.at(key), value if isinstance(value, Mapping) else {})

    def entries(self, key: str) -> "tuple[ListEntry, ...]":
        """The maps of a list. Others keep their place in the count and are empty."""
        value = self.value.get(key)
        items = value if isinstance(value, list | tuple) else ()
        return tuple(
            ListEntry(documents.item_path(self.at(key), index), item if isinstance(item, Mapping) else {})
            for index, item in enumerate(items)
        )

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.value.get(key)
        items = value if isinstance(value, list | tuple) else ()
        return tuple(item for item in items if isinstance(item, str))


class DocumentView(msgspec.Struct, frozen=True):
    name: str
    annotations: ListEntry
    spec: ListEntry
    is_new: bool
    problems: list[Problem]
    warnings: list[str]

    @property
    def template(self) -> ListEntry:
        return self.spec.entry("template")

    @property
    def cliques(self) -> tuple[ListEntry, ...]:
        return self.template.entries("cliques")

    @property
    def groups(self) -> tuple[ListEntry, ...]:
        return self.template.entries("podCliqueScalingGroups")

    @property
    def clique_names(self) -> frozenset[str]:
        return frozenset(name for clique in self.cliques if (name := clique.text("name")))

    @property
    def grouped_cliques(self) -> dict[str, str]:
        """By the name of a clique the group it is in."""
        return {
            name: group.text("name") or "" for group in self.groups for name in group.texts("cliqueNames")
        }

    def refuse(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, message))

    def warn(self, path: str, message: str) -> None:
        self.warnings.append(f"{path}: {message}")


def of(item: Object, *, is_new: bool) -> DocumentView:
    spec = item.spec if isinstance(item.spec, Mapping) else {}
    annotations = ListEntry("metadata.annotations", item.annotations)
    return DocumentView(item.name, annotations, ListEntry("spec", spec), is_new, [], [])


def repeated(values: Iterator[tuple[str, str | None]]) -> Iterator[tuple[str, str]]:
    """Path and value of each one that has been there before."""
    seen: set[str] = set()
    for path, value in values:
        if value:
            if value in seen:
                yield path, value
            seen.add(value)
