"""The object that a template becomes for one job: where it is, what is applied, and whose it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.agents import job_marks
from headgate.agents.clusters import ReachedCluster
from headgate.agents.port import Assignment
from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected
from headgate.kubernetes.errors import NotFoundError
from headgate.kubernetes.resources import ApiResource, Document

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


class ObjectMetadata(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whom it belongs to and what keeps it from going is not the template's to say."""

    name: str
    namespace: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class InstanceTemplate(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    api_version: str
    kind: str
    metadata: ObjectMetadata
    spec: dict[str, Any] = {}


class SetTemplate(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Its kind is known, and may be written all the same."""

    metadata: ObjectMetadata
    spec: dict[str, Any]
    api_version: str | None = None
    kind: str | None = None


class AppliedObject(msgspec.Struct, frozen=True):
    """What a job applies, whether it is there or not."""

    cluster: ReachedCluster
    resource: ApiResource
    metadata: ObjectMetadata
    spec: Mapping[str, Any]
    marks: Mapping[str, str]

    @classmethod
    def of(
        cls,
        cluster: ReachedCluster,
        resource: ApiResource,
        template: InstanceTemplate | SetTemplate,
        assignment: Assignment,
        path: str,
    ) -> AppliedObject:
        """Raises Rejected."""
        metadata = template.metadata
        if not _NAME.fullmatch(metadata.name):
            message = f'is "{metadata.name[:80]}"; allowed is a name of small letters, digits, "-" and "."'
            raise Rejected((Problem(f"{path}.metadata.name", message),))
        if not resource.is_namespaced and metadata.namespace:
            message = f'is "{metadata.namespace[:80]}", and {resource.kind} is in no namespace'
            raise Rejected((Problem(f"{path}.metadata.namespace", message),))
        if resource.is_namespaced and not metadata.namespace:
            metadata = msgspec.structs.replace(metadata, namespace=cluster.namespace)
        return cls(cluster, resource, metadata, template.spec, job_marks.of(assignment))

    @property
    def place(self) -> str:
        """As it is found again by who knows its kind."""
        metadata = self.metadata
        return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.place}"

    async def live(self) -> Document | None:
        try:
            return await self.cluster.client.get(self.resource, self.metadata.name, self.metadata.namespace)
        except NotFoundError:
            return None

    def is_of_target(self, live: Document) -> bool:
        return job_marks.is_of_target(live, self.marks[job_marks.WORKSPACE], self.marks[job_marks.TARGET])

    async def apply(
        self, manager: str, over: Document | None, orders: Mapping[str, str] | None = None
    ) -> Document:
        """`over` is the object as it was seen: one that has changed since is not written over. `orders` are further
        annotations, which the next job takes back by not repeating them. Raises ApplyConflictError, ConflictError."""
        metadata = self.metadata
        written: Document = {
            "name": metadata.name,
            "labels": dict(metadata.labels),
            "annotations": {**metadata.annotations, **(orders or {}), **self.marks},
        }
        if metadata.namespace:
            written["namespace"] = metadata.namespace
        if over is not None:
            written["uid"] = over["metadata"]["uid"]
            written["resourceVersion"] = over["metadata"]["resourceVersion"]
        document = {
            "apiVersion": self.resource.api_version,
            "kind": self.resource.kind,
            "metadata": written,
            "spec": dict(self.spec),
        }
        return await self.cluster.client.apply(self.resource, document, manager=manager)


def instance_template(given: object, path: str) -> InstanceTemplate:
    return documents.read(InstanceTemplate, given, path)


def set_template(given: object, path: str) -> SetTemplate:
    return documents.read(SetTemplate, given, path)
