"""Random resources, environments, deployments and versions, as manifests."""

from typing import Any

import msgspec

from .choosing import Chooser

Document = dict[str, Any]

PRE_HOOK = "drain"
POST_HOOK = "uncordon"
DEPLOYMENTS = (PRE_HOOK, "engine", "kubelet", "network", POST_HOOK)
"""Dependencies only ever point to an earlier name, so that they form no circle."""
ENVIRONMENTS = ("dev", "stage", "prod")
ZONES = ("a", "b")
USERS = ("ana", "ben", "eva")

RESOURCE_SELECTORS = (
    "true",
    "resource.metadata['zone'] == 'a'",
    "resource.metadata['zone'] == 'b'",
    "resource.name != 'node-1'",
    "resource.metadata['rack'] == '1'",
)
TARGET_SELECTORS = (
    "resource.metadata['zone'] == 'a'",
    "environment.name == 'prod'",
    "resource.name == 'node-2'",
    "resource.metadata['rack'] == '1'",
)
"""Some resources have no rack, so that one of them fails to evaluate there."""


class Fleet(msgspec.Struct):
    """What a scenario starts with, by name; peaceful fleets have nothing that could stay closed for ever."""

    peaceful: bool
    is_lively: bool = False
    """A fleet in which little is in the way: versions run everywhere, fail, are put back and follow each other."""
    resources: list[str] = []
    environments: list[str] = []
    deployments: list[str] = []
    policies: dict[str, list[Document]] = {}
    """The rules of each policy."""
    documents: dict[str, Document] = {}
    """Each policy as it was last applied."""
    objects: list[Document] = []
    tags: dict[str, list[str]] = {}
    """Published tags of each deployment."""
    has_bracket: bool = False
    is_of_bracket: bool = False
    """Whether the policy that is being made has a bracket."""
    is_in_order: bool = False
    """A peaceful fleet whose rollouts may wait for success has no other order than theirs."""
    is_staged: bool = False
    """A peaceful fleet with stages has no scoped versions: a stage cannot prove what it never gets."""

    @property
    def is_plain(self) -> bool:
        """Every deployment concerns every resource."""
        return self.peaceful or self.is_lively

    def manifest(self, kind: str, name: str) -> Document | None:
        for document in self.objects:
            if document["kind"] == kind and document["metadata"]["name"] == name:
                return document
        return None


def manifest(kind: str, name: str, spec: Document) -> Document:
    return {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def resource(choose: Chooser, name: str) -> Document:
    labels = {"zone": choose.one(ZONES)}
    if choose.chance(60):
        labels["rack"] = choose.one(("1", "2"))
    spec: Document = {"kind": "Node", "metadata": labels}
    if choose.chance(15):
        spec["variables"] = {"size": choose.number(0, 2)}
    return manifest("Resource", name, spec)


def environment(choose: Chooser, fleet: Fleet, name: str) -> Document:
    everything = choose.one(("true", "resource.kind == 'Node'"))
    spec: Document = {"resourceSelector": everything if choose.chance(50) else choose.one(RESOURCE_SELECTORS)}
    if not fleet.is_plain and choose.chance(15):
        spec["systems"] = choose.one((["blue"], ["blue", "default"]))
    return manifest("Environment", name, spec)


def deployment(choose: Chooser, fleet: Fleet, name: str) -> Document:
    layer = "node" if name in (PRE_HOOK, POST_HOOK) or choose.chance(70) else "app"
    selector = "true" if fleet.is_plain or choose.chance(70) else choose.one(RESOURCE_SELECTORS)
    spec: Document = {"resourceSelector": selector, "metadata": {"layer": layer}}
    if not fleet.is_plain and choose.chance(10):
        spec["systems"] = choose.one((["blue"], ["blue", "default"]))
    if choose.chance(15):
        values = [{"value": 7, "resourceSelector": "resource.metadata['zone'] == 'a'", "priority": 1}]
        spec["variables"] = {"size": {"default": choose.number(0, 2), "values": values}}
    if not fleet.is_plain and choose.chance(4):
        spec["jobAgent"] = choose.one(("runner", "ghost"))
    return manifest("Deployment", name, spec)


def version(choose: Chooser, fleet: Fleet, owner: str, tag: str) -> Document:
    """The fields of a version, for a manifest as for a step that publishes it."""
    spec: Document = {"deployment": owner, "tag": tag}
    if not fleet.is_staged and choose.chance(20):
        spec["targetSelector"] = choose.one(TARGET_SELECTORS)
    if not fleet.peaceful and choose.chance(10):
        others = [name for name in fleet.deployments if name != owner]
        if others:
            wanted = choose.one(("version.tag != 'v0'", "version.tag == 'v1'", "true"))
            spec["dependencies"] = {choose.one(others): wanted}
    if not fleet.peaceful and choose.chance(10):
        spec["status"] = choose.one(("building", "paused"))
    return spec


def initial_versions(choose: Chooser, fleet: Fleet) -> list[Document]:
    found = []
    for name in fleet.deployments:
        likely = 92 if name in (PRE_HOOK, POST_HOOK) else 55
        if fleet.is_plain or choose.chance(likely):
            spec = {"deployment": name, "tag": "v0"}
            fleet.tags[name] = ["v0"]
            found.append(manifest("Version", f"{name}/v0", spec))
    return found
