"""Revisions as objects: of a graph, and of everything that goes into one instance of it.

A GraphRevision keeps what a definition said, so that instances that were not let further stay on it. A
ResourceGraphRevision is one set of inputs of one instance: the graph revision, the instance's spec, the external data.
It also remembers what was granted at it, and that is written before anything acts on it: an object is at the highest
revision that granted it, whether or not the object is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from headgate.graph.reconcile import contents, labels
from headgate.kernel.objects import Key, Object, OwnerReference

API_VERSION = "kro.run/v1alpha1"
KIND = "ResourceGraphRevision"
GRAPH_API_VERSION = "internal.kro.run/v1alpha1"
GRAPH_KIND = "GraphRevision"

HOME_OF_CLUSTER_SCOPED = "default"
"""A kind has a namespace or has none, and revisions have one; this one every cluster has."""

CARRIED = -1
"""Granted by an earlier revision; this one changed nothing about it."""
CARRIED_IN_FLIGHT = -2
"""As CARRIED, and it had not become ready when this revision came."""


class GrantedChange(NamedTuple):
    """What an object was last allowed to become, and by which step of its node's propagation."""

    hash: str
    step: int
    identity: str = ""
    """Which item of a collection it is, by its forEach value."""
    maker: str = ""
    """The node that wrote the object, where another one handed it over without a write."""

    def as_list(self) -> list[str | int]:
        """As it is written down: what is empty at the end is left out."""
        if self.maker:
            return list(self)
        return [self.hash, self.step, self.identity] if self.identity else [self.hash, self.step]


class NodeRecord(msgspec.Struct):
    """`step` moves when the content of the node changes under the same number, through what it depends on."""

    digest: str = ""
    step: int = 0
    size: int = 0
    """How many objects the node has at this revision."""
    granted: dict[str, GrantedChange] = {}
    contents: dict[str, contents.Content] = {}
    """Only of what cannot be rendered again from the inputs alone."""


class Inputs(msgspec.Struct, frozen=True):
    graph: int
    graph_hash: str
    spec: dict[str, Any]
    metadata: dict[str, Any] = {}
    external: dict[str, Any] = {}

    def hash(self) -> str:
        return contents.content_hash([self.graph_hash, self.spec, self.metadata, self.external])


class InstanceRevision(msgspec.Struct):
    """One revision of an instance, as read; `uid` is empty until it is written."""

    number: int
    inputs: Inputs
    inputs_hash: str
    order: tuple[str, ...]
    nodes: dict[str, NodeRecord]
    uid: str = ""
    is_changed: bool = False
    has_let_go: bool = False

    @property
    def is_in_use(self) -> bool:
        return any(record.granted for record in self.nodes.values())

    def record(self, node: str) -> NodeRecord:
        if node not in self.nodes:
            self.nodes[node] = NodeRecord()
        return self.nodes[node]

    def grant(self, node: str, item: str, grant: GrantedChange, content: contents.Content | None) -> None:
        record = self.record(node)
        record.granted[item] = grant
        if content is not None:
            record.contents[item] = content
        else:
            record.contents.pop(item, None)
        self.is_changed = True

    def start(self, node: str, digest: str, size: int) -> NodeRecord:
        """The record of a node that is to become this. Other content under the same number is another step."""
        record = self.record(node)
        if record.digest != digest:
            record.step += bool(record.digest)
            record.digest, record.size = digest, size
            self.is_changed = True
        return record

    def forget(self, node: str, item: str) -> None:
        record = self.nodes.get(node)
        if record is not None and record.granted.pop(item, None) is not None:
            record.contents.pop(item, None)
            self.has_let_go = True

    def status(self) -> dict[str, Any]:
        return {
            "inputs": {
                "graphRevision": self.inputs.graph,
                "graphHash": self.inputs.graph_hash,
                "spec": self.inputs.spec,
                "metadata": self.inputs.metadata,
                "external": self.inputs.external,
            },
            "topologicalOrder": list(self.order),
            "nodes": {name: _node_document(record) for name, record in self.nodes.items() if record.digest},
        }


def _node_document(record: NodeRecord) -> dict[str, Any]:
    document: dict[str, Any] = {
        "digest": record.digest,
        "step": record.step,
        "size": record.size,
        "granted": {item: grant.as_list() for item, grant in record.granted.items()},
    }
    if record.contents:
        document["contents"] = record.contents
    return document


def name_of(instance: str, number: int) -> str:
    return f"{instance}-r{number:05d}"


def key_for(instance: Object, number: int) -> Key:
    """Beside the instance; the kind is in the name, since instances of two kinds may share theirs."""
    name = name_of(f"{instance.kind.lower()}-{instance.name}", number)
    return Key("kro.run", KIND, instance.namespace or HOME_OF_CLUSTER_SCOPED, name)


def is_of(revision: Object, instance: Object) -> bool:
    """Whether it is where the instance's own revisions are: anybody may put the instance's id onto what is his."""
    number = revision.spec.get("number")
    # Every instance of a kind is asked whenever its definition is looked at: the name alone tells nearly always.
    return (
        isinstance(number, int)
        and revision.name == name_of(f"{instance.kind.lower()}-{instance.name}", number)
        and revision.namespace == (instance.namespace or HOME_OF_CLUSTER_SCOPED)
    )


def grants(item: Object, text: str) -> bool:
    """Whether the object that the text names was granted at this revision."""
    nodes = item.status.get("nodes")
    return isinstance(nodes, dict) and any(
        isinstance(node, dict) and text in (node.get("granted") or ()) for node in nodes.values()
    )


def to_object(revision: InstanceRevision, instance: Object, definition: str) -> Object:
    key = key_for(instance, revision.number)
    return Object(
        api_version=API_VERSION,
        kind=KIND,
        namespace=key.namespace,
        name=key.name,
        labels={
            labels.OWNED: "true",
            labels.DEFINITION_NAME: definition,
            labels.INSTANCE_ID: instance.uid,
            labels.INSTANCE_NAME: instance.name,
            labels.REVISION: str(revision.number),
        },
        owners=(OwnerReference(instance.kind, instance.name, instance.uid),),
        spec={
            "number": revision.number,
            "instance": {"kind": instance.kind, "name": instance.name, "uid": instance.uid},
            "inputsHash": revision.inputs_hash,
        },
        status=revision.status(),
    )


def from_object(item: Object) -> InstanceRevision | None:
    """None if its status was never written: nothing was granted at it, only its number is taken."""
    inputs = item.status.get("inputs")
    if not isinstance(inputs, dict):
        return None
    return InstanceRevision(
        number=int(item.spec["number"]),
        inputs=Inputs(
            int(inputs["graphRevision"]),
            str(inputs["graphHash"]),
            dict(inputs.get("spec") or {}),
            dict(inputs.get("metadata") or {}),
            dict(inputs.get("external") or {}),
        ),
        inputs_hash=str(item.spec.get("inputsHash", "")),
        order=tuple(item.status.get("topologicalOrder") or ()),
        nodes={name: _node_from(node) for name, node in (item.status.get("nodes") or {}).items()},
        uid=item.uid,
    )


def _node_from(document: Mapping[str, Any]) -> NodeRecord:
    granted = {item: GrantedChange(*grant) for item, grant in (document.get("granted") or {}).items()}
    return NodeRecord(
        str(document.get("digest", "")),
        int(document.get("step", 0)),
        int(document.get("size", 0)),
        granted,
        dict(document.get("contents") or {}),
    )


def highest_number(items: Iterable[Object]) -> int:
    return max((int(item.spec.get("number", 0)) for item in items), default=0)


class GraphRevision(msgspec.Struct, frozen=True):
    number: int
    hash: str
    spec: dict[str, Any]
    uid: str = ""


def graph_key(definition: str, number: int) -> Key:
    return Key("internal.kro.run", GRAPH_KIND, "", name_of(definition, number))


def graph_to_object(number: int, content_hash: str, definition: Object) -> Object:
    return Object(
        api_version=GRAPH_API_VERSION,
        kind=GRAPH_KIND,
        namespace="",
        name=name_of(definition.name, number),
        labels={labels.OWNED: "true", labels.DEFINITION_NAME: definition.name},
        owners=(OwnerReference(definition.kind, definition.name, definition.uid),),
        spec={
            "revision": number,
            "hash": content_hash,
            "snapshot": {
                "name": definition.name,
                "generation": definition.generation,
                "spec": definition.spec,
            },
        },
    )


def graph_from_object(item: Object) -> GraphRevision:
    return GraphRevision(
        int(item.spec["revision"]), str(item.spec["hash"]), item.spec["snapshot"]["spec"], item.uid
    )
