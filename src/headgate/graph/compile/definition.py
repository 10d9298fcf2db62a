"""The fields of a ResourceGraphDefinition, as they are written."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

import msgspec

from headgate.graph.compile import names
from headgate.kernel import documents, objects
from headgate.kernel.documents import Checked
from headgate.kernel.problems import Problem, Rejected

API_VERSION = "kro.run/v1alpha1"
KIND = "ResourceGraphDefinition"
DEFAULT_GROUP = "kro.run"
LONGEST_NAME = names.LONGEST_LABEL
"""Everything that a definition brings about carries its name in a label."""
ALLOW_BREAKING_CHANGES = "kro.run/allow-breaking-changes"


def _matches(pattern: Any, allowed: str) -> Checked:
    def check(text: str, path: str, problems: list[Problem]) -> None:
        if not pattern.fullmatch(text):
            problems.append(Problem(path, f'is "{text}"; allowed is {allowed}'))

    return Checked(check)


_SHORT_NAME = Annotated[
    str,
    msgspec.Meta(max_length=63),
    _matches(names.SHORT_NAME, "small letters, digits and '-', a letter first"),
]


class PrinterColumn(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    type: Literal["string", "integer", "number", "boolean", "date"]
    json_path: str
    description: str | None = None
    format: str | None = None
    priority: int | None = None


class Labelled(msgspec.Struct, frozen=True):
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class InstanceSchema(msgspec.Struct, frozen=True, rename="camel"):
    kind: Annotated[str, _matches(names.KIND, "upper camel case, at most 63 letters and digits")]
    api_version: Annotated[str, _matches(names.VERSION, "a version such as v1 or v1alpha1, without a group")]
    group: Annotated[str, _matches(names.GROUP, "a DNS name such as example.com")] | None = None
    scope: Literal["Namespaced", "Cluster"] | None = None
    spec: dict[str, Any] | None = None
    types: dict[str, Any] | None = None
    status: dict[str, Any] | None = None
    additional_printer_columns: tuple[PrinterColumn, ...] | None = None
    short_names: Annotated[tuple[_SHORT_NAME, ...], msgspec.Meta(max_length=32)] | None = None
    categories: Annotated[tuple[_SHORT_NAME, ...], msgspec.Meta(max_length=32)] | None = None
    metadata: Labelled | None = None


class ExternalMetadata(msgspec.Struct, frozen=True):
    name: str | None = None
    namespace: str | None = None
    selector: dict[str, Any] | None = None


class ExternalReference(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    metadata: ExternalMetadata


class GraphResource(msgspec.Struct, frozen=True, rename="camel"):
    """`propagateWhen` that is absent is not the same as an empty one: it asks for the default."""

    id: str
    template: dict[str, Any] | None = None
    external_ref: ExternalReference | None = None
    for_each: tuple[dict[str, str], ...] | None = None
    include_when: tuple[str, ...] | None = None
    ready_when: tuple[str, ...] | None = None
    propagate_when: tuple[str, ...] | None = None


class Specification(msgspec.Struct, frozen=True, rename="camel"):
    schema: InstanceSchema
    resources: tuple[GraphResource, ...] | None = None
    propagate_when: tuple[str, ...] | None = None
    propagation_policy: Literal["Latest", "Concurrent"] | None = None


class Definition(msgspec.Struct, frozen=True):
    name: str
    uid: str
    annotations: dict[str, str]
    spec: Specification

    @property
    def group(self) -> str:
        return self.spec.schema.group or DEFAULT_GROUP

    @property
    def is_namespaced(self) -> bool:
        return (self.spec.schema.scope or "Namespaced") == "Namespaced"

    @property
    def allows_breaking_changes(self) -> bool:
        return self.annotations.get(ALLOW_BREAKING_CHANGES, "").lower() == "true"


def read(item: objects.Object, problems: list[Problem]) -> Definition:
    """Adds what is wrong and can be lived with to `problems`; raises Rejected with all of them if fields of the spec
    cannot be read."""
    if not names.GROUP.fullmatch(item.name) or len(item.name) > LONGEST_NAME:
        message = f'is "{item.name}"; allowed are small letters, digits, "-" and ".", at most {LONGEST_NAME}'
        problems.append(Problem("metadata.name", message))
    before = len(problems)
    spec = documents.read_into(Specification, item.spec, "spec", problems)
    if len(problems) > before:
        raise Rejected(problems)
    return Definition(item.name, item.uid, item.annotations, cast(Specification, spec))
