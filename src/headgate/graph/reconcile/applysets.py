"""Instances as ApplySets, so that `kubectl` and others find what belongs to one without knowing graphs."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping

from headgate.graph.compile.compiled import CompiledGraph
from headgate.kernel.objects import Object

PART_OF = "applyset.kubernetes.io/part-of"
"""On an object: the id of its set."""
ID = "applyset.kubernetes.io/id"
"""On an instance, which is the parent of its set."""
TOOLING = "applyset.kubernetes.io/tooling"
KINDS = "applyset.kubernetes.io/contains-group-kinds"
_TOOL = "headgate/v1"


def id_of(instance: Object) -> str:
    """By the rule of the ApplySet specification: from name, namespace, kind and group."""
    key = instance.key
    text = ".".join((key.name, key.namespace, key.kind, key.group))
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
    return f"applyset-{digest}-v1"


def parent_annotations(graph: CompiledGraph, before: Mapping[str, str]) -> dict[str, str]:
    """With the kinds of the graph, and those that were there before: objects of them may not have gone yet."""
    made = {_rendered(node.api_version, node.kind) for node in graph.nodes if node.external_ref is None}
    known = {kind for kind in before.get(KINDS, "").split(",") if kind}
    return {TOOLING: _TOOL, KINDS: ",".join(sorted(made | known))}


def _rendered(api_version: str, kind: str) -> str:
    group, slash, _ = api_version.partition("/")
    return f"{kind}.{group}" if slash else kind
