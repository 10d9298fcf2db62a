"""Kinds and their schemas, as a real API server serves them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from aiohttp import web

from headgate.graph.compile import compiler, kinds
from headgate.kernel.objects import Object
from headgate.kernel.problems import Rejected
from headgate.kubernetes.client import Client
from headgate.kubernetes.discovery import Discovery, UnknownKindError
from headgate.kubernetes.resources import ApiResource
from headgate.kubernetes.schemas import ClusterKinds, ClusterSchemas
from kube import ControlPlane

from .imitation import Imitation
from .support import DEFINITIONS, defined, definition, gate, play, until


def test_a_kind_is_found_by_its_names(control_plane: ControlPlane) -> None:
    async def story() -> None:
        async with control_plane.client() as client:
            discovery = Discovery(client.transport)
            deployments = await discovery.find("apps/v1", "Deployment")
            assert deployments.path("n", "web", "scale") == "/apis/apps/v1/namespaces/n/deployments/web/scale"
            assert {"scale", "status"} <= deployments.subresources
            assert "watch" in deployments.verbs
            for name in ("deploy", "deployment", "Deployments", "deployments.apps"):
                assert await discovery.named(name) == deployments
            assert not (await discovery.named("nodes")).is_namespaced
            with pytest.raises(UnknownKindError, match="the cluster serves no Pod of apps/v1"):
                await discovery.find("apps/v1", "Pod")

    play(story())


def test_a_kind_is_learned_when_its_definition_comes(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    group = f"{kube_namespace}.example.com"

    async def story() -> None:
        async with control_plane.client() as client:
            discovery = Discovery(client.transport)
            with pytest.raises(UnknownKindError):
                await discovery.find(f"{group}/v1", "Gate")
            async with defined(client, group):
                gates = await _learned(discovery, group)
                assert (gates.plural, gates.is_namespaced) == ("gates", True)
                assert gates.subresources == {"status", "scale"}
                await client.create(gates, gate("a", kube_namespace, group))
                assert (await client.get(gates, "a", kube_namespace))["spec"] == {"host": "example.com"}

    play(story())


async def _learned(discovery: Discovery, group: str) -> ApiResource:
    found: list[ApiResource] = []

    async def is_found() -> bool:
        try:
            found.append(await discovery.find(f"{group}/v1", "Gate"))
        except UnknownKindError:
            await discovery.refresh()
            return False
        return True

    await until(is_found)
    return found[-1]


BUILT_IN = (
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "Service"),
    ("v1", "Pod"),
    ("batch/v1", "Job"),
    ("networking.k8s.io/v1", "Ingress"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
)


def leaves(schema: Mapping[str, Any], path: str = "", depth: int = 7) -> Iterator[tuple[str, str]]:
    """Every field to a certain depth, with its type."""
    kind = "" if schema.get("x-kubernetes-preserve-unknown-fields") else schema.get("type", "")
    yield path, f"{kind} {schema.get('format', '')}".strip()
    if depth == 0:
        return
    for name, child in schema.get("properties", {}).items():
        yield from leaves(child, f"{path}.{name}", depth - 1)
    if "items" in schema:
        yield from leaves(schema["items"], f"{path}[]", depth - 1)
    if "additionalProperties" in schema:
        yield from leaves(schema["additionalProperties"], f"{path}{{}}", depth - 1)


def test_what_a_cluster_publishes_is_what_is_built_in(control_plane: ControlPlane) -> None:
    """Of the fields that both know: the built-in kinds are of another version than the cluster."""

    async def story() -> None:
        async with control_plane.client() as client:
            published = await ClusterSchemas(client, Discovery(client.transport)).kinds(BUILT_IN)
        assert published.unpublished == frozenset()
        differences = {}
        for api_version, name in BUILT_IN:
            ours, theirs = kinds.find(api_version, name), published.find(api_version, name)
            assert ours is not None
            assert theirs is not None
            assert (ours.plural, ours.is_namespaced) == (theirs.plural, theirs.is_namespaced)
            assert ours.has_observed_generation == theirs.has_observed_generation
            known, served = dict(leaves(ours.schema)), dict(leaves(theirs.schema))
            both = known.keys() & served.keys()
            assert len(both) > 0.9 * len(served)
            differences |= {
                f"{name}{path}": (known[path], served[path])
                for path in both
                if known[path] != served[path] and known[path] != ""
            }
        assert differences == {}

    play(story())


def graph(group: str, spec: dict[str, Any]) -> Object:
    gate = {"apiVersion": f"{group}/v1", "kind": "Gate", "metadata": {"name": "${schema.metadata.name}"}}
    return Object(
        api_version="kro.run/v1alpha1",
        kind="ResourceGraphDefinition",
        namespace="",
        name="doors",
        spec={
            "schema": {"apiVersion": "v1alpha1", "kind": "Door", "spec": {"host": "string"}},
            "resources": [{"id": "gate", "template": gate | {"spec": spec}}],
        },
    )


def test_the_compiler_checks_templates_against_what_the_cluster_serves(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    group = f"{kube_namespace}.example.com"

    async def published(client: Client) -> ClusterKinds:
        schemas = ClusterSchemas(client, Discovery(client.transport, clock=_steps()))
        while True:
            found = await schemas.kinds([(f"{group}/v1", "Gate")])
            if found.find(f"{group}/v1", "Gate") is not None:
                return found
            await asyncio.sleep(0.05)

    async def story() -> None:
        async with control_plane.client() as client, defined(client, group):
            source = await published(client)
        good = graph(group, {"host": "${schema.spec.host}", "extra": {"any": "thing"}})
        bad = graph(group, {"host": 7, "hots": "x"})
        compiler.compile_definition(good, source=source)
        compiler.compile_definition(bad)
        with pytest.raises(Rejected) as rejected:
            compiler.compile_definition(bad, source=source)
        said = str(rejected.value)
        assert "spec.resources[0].template.spec.host" in said
        assert "spec.resources[0].template.spec.hots" in said

    play(story())


def _steps() -> Any:
    """A clock that goes on by a minute whenever it is looked at, so that nothing is too early."""
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 60.0
        return now

    return clock


def test_a_schema_that_changed_is_fetched_again_and_no_other(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    group = f"{kube_namespace}.example.com"
    wanted = [(f"{group}/v1", "Gate"), ("apps/v1", "Deployment")]

    async def story() -> None:
        async with control_plane.client() as client, defined(client, group):
            schemas = ClusterSchemas(client, Discovery(client.transport, clock=_steps()))
            fields: set[str] = set()

            async def has(field: str) -> bool:
                found = (await schemas.kinds(wanted)).find(*wanted[0])
                if found is not None:
                    fields.update(found.schema["properties"]["spec"]["properties"])
                return field in fields

            await until(lambda: has("host"))
            deployments = (await schemas.kinds(wanted)).find(*wanted[1])
            changed = definition(group)
            properties = changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
            properties["spec"]["properties"]["added"] = {"type": "string"}
            await client.patch(DEFINITIONS, f"gates.{group}", "", {"spec": changed["spec"]})
            await until(lambda: has("added"))
            again = (await schemas.kinds(wanted)).find(*wanted[1])
            assert deployments is not None
            assert again is not None
            assert again.schema is deployments.schema

    play(story())


class _Republishing:
    """Publishes the schema of Gates in a group, and has it anew right after each time that it tells where it is."""

    DOCUMENT = "/openapi/v3/apis/example.com/v1"

    def __init__(self, *, is_withdrawn: bool) -> None:
        self._is_withdrawn = is_withdrawn
        self._publications = 0

    def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        match request.path:
            case "/openapi/v3":
                self._publications += 1
                address = f"{self.DOCUMENT}?hash={self._publications}"
                return web.json_response({"paths": {"apis/example.com/v1": {"serverRelativeURL": address}}})
            case self.DOCUMENT if self._is_withdrawn:
                return web.json_response({}, status=404)
            case self.DOCUMENT if "hash" in request.query:
                location = f"{self.DOCUMENT}?hash={self._publications + 1}"
                return web.Response(status=301, headers={"Location": location})
            case self.DOCUMENT:
                return web.json_response({"components": {"schemas": {"gate": self._schema()}}})
            case "/apis":
                return web.json_response(_GROUPS)
        return web.json_response({"kind": "APIGroupDiscoveryList", "items": []})

    def _schema(self) -> dict[str, Any]:
        names = {"group": "example.com", "version": "v1", "kind": "Gate"}
        fields = {f"field{self._publications + 1}": {"type": "string"}}
        return {"type": "object", "properties": fields, "x-kubernetes-group-version-kind": [names]}


_GROUPS = {
    "kind": "APIGroupDiscoveryList",
    "items": [
        {
            "metadata": {"name": "example.com"},
            "versions": [
                {
                    "version": "v1",
                    "resources": [
                        {"resource": "gates", "responseKind": {"kind": "Gate"}, "scope": "Namespaced"}
                    ],
                }
            ],
        }
    ],
}


def test_a_schema_that_changes_while_it_is_asked_for_is_fetched_as_it_is_then() -> None:
    """A server answers an address of before with a redirection, and that is no reason to give up."""

    async def story() -> None:
        async with Imitation(_Republishing(is_withdrawn=False)).client() as client:
            schemas = ClusterSchemas(client, Discovery(client.transport))
            for fields in ({"field2"}, {"field3"}):
                found = (await schemas.kinds([("example.com/v1", "Gate")])).find("example.com/v1", "Gate")
                assert found is not None
                assert set(found.schema["properties"]) == fields

    play(story())


def test_a_schema_that_is_withdrawn_while_it_is_asked_for_is_not_published() -> None:
    async def story() -> None:
        async with Imitation(_Republishing(is_withdrawn=True)).client() as client:
            published = await ClusterSchemas(client, Discovery(client.transport)).kinds(
                [("example.com/v1", "Gate")]
            )
            assert published.unpublished == {("example.com/v1", "Gate")}

    play(story())
