"""A cluster as far as pages about it need one: it lists what it has, and keeps what is patched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from service.answering import JsonHandler, serving

Document = dict[str, Any]
_KINDS = {
    "": [("Pod", "pods"), ("Service", "services"), ("ConfigMap", "configmaps")],
    "apps": [("ControllerRevision", "controllerrevisions"), ("Deployment", "deployments")],
    "autoscaling": [("HorizontalPodAutoscaler", "horizontalpodautoscalers")],
    "grove.io": [
        ("PodCliqueSet", "podcliquesets"), ("PodClique", "podcliques"),
        ("PodCliqueScalingGroup", "podcliquescalinggroups"),
    ],
    "scheduler.grove.io": [("PodGang", "podgangs")],
    "kro.run": [
        ("ResourceGraphDefinition", "resourcegraphdefinitions"),
        ("ResourceGraphRevision", "resourcegraphrevisions"),
    ],
    "internal.kro.run": [("GraphRevision", "graphrevisions")],
    "apiextensions.k8s.io": [("CustomResourceDefinition", "customresourcedefinitions")],
    "example.com": [("Shop", "shops")],
}  # fmt: skip
_VERSIONS = {"": "v1", "apps": "v1", "autoscaling": "v2", "example.com": "v1", "apiextensions.k8s.io": "v1"}
_PLURALS = {plural for kinds in _KINDS.values() for _, plural in kinds}
_OF_THE_CLUSTER = ("resourcegraphdefinitions", "graphrevisions", "customresourcedefinitions")
_TEXT = {"type": "string"}
_CONFIG_MAP = {
    "type": "object",
    "properties": {
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "metadata": {"type": "object", "properties": {"name": _TEXT, "namespace": _TEXT}},
        "data": {"type": "object", "additionalProperties": _TEXT},
    },
    "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "ConfigMap"}],
}
_SCHEMAS: dict[str, Document] = {
    "/openapi/v3": {"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=1"}}},
    "/openapi/v3/api/v1": {"components": {"schemas": {"io.k8s.api.core.v1.ConfigMap": _CONFIG_MAP}}},
}


def _discovery(is_core: bool) -> Document:
    groups = [
        {
            "metadata": {"name": group},
            "versions": [
                {
                    "version": _VERSIONS.get(group, "v1alpha1"),
                    "resources": [
                        {
                            "resource": plural,
                            "responseKind": {"kind": kind},
                            "scope": "Cluster" if plural in _OF_THE_CLUSTER else "Namespaced",
                        }
                        for kind, plural in kinds
                    ],
                }
            ],
        }
        for group, kinds in _KINDS.items()
        if (group == "") == is_core
    ]
    return {"kind": "APIGroupDiscoveryList", "items": groups}


class Cluster:
    def __init__(self) -> None:
        self.address = ""
        self.objects: dict[str, list[Document]] = {}
        self.patches: list[Document] = []

    def answer(self, path: str) -> tuple[int, Document]:
        """A list by the name of its kind, an object by its own after that; of anything else there is none."""
        if path in ("/api", "/apis"):
            return 200, _discovery(path == "/api")
        if path in _SCHEMAS:
            return 200, _SCHEMAS[path]
        if path == "/api/v1/namespaces/kube-system":
            return 200, {"metadata": {"uid": "one"}}
        *_, kind, name = path.split("/")
        if name in _PLURALS:
            return 200, {"metadata": {"resourceVersion": "9"}, "items": self.objects.get(name, [])}
        found = [one for one in self.objects.get(kind, []) if one["metadata"]["name"] == name]
        return (200, found[0]) if found else (404, {"kind": "Status", "message": "there is none"})


def merge(document: Document, patch: Document) -> None:
    """As a merge patch: null takes a field away."""
    for key, value in patch.items():
        if value is None:
            document.pop(key, None)
        elif isinstance(value, dict):
            merge(document.setdefault(key, {}), value)
        else:
            document[key] = value


@contextmanager
def running() -> Iterator[Cluster]:
    cluster = Cluster()

    class Handler(JsonHandler):
        def get(self) -> None:
            self.answer(*cluster.answer(urlsplit(self.path).path))

        def patch(self) -> None:
            wanted = json.loads(self.body())
            cluster.patches.append(wanted)
            status, found = cluster.answer(urlsplit(self.path).path)
            merge(found, wanted)
            self.answer(status, found)

    with serving(Handler) as cluster.address:
        yield cluster


def kubeconfig(cluster: Cluster) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "east",
            "clusters": [{"name": "east", "cluster": {"server": cluster.address}}],
            "users": [{"name": "me", "user": {"token": "x"}}],
            "contexts": [{"name": "east", "context": {"cluster": "east", "user": "me"}}],
        }
    )
