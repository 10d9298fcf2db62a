"""Instances of graphs that jobs apply: followed until all of it is propagated and ready, paused when the job ends
otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import kube
from headgate.agents.graph import GraphAgent
from headgate.graph.compile import definition as graphs
from headgate.graph.reconcile import labels
from headgate.kernel import instants
from headgate.kernel.problems import Rejected
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import ApiResource, Document
from kube import ControlPlane

from . import operating
from .nodes import clusters_of
from .operating import operating as operator_of
from .rollouts import Jobs
from .support import CONFIG_MAPS, play, until
from .test_operator_graphs import GRAPHS


@pytest.fixture(scope="module")
def plane(kube_session: kube.Session, control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """Definitions are for a whole cluster, so one of their own for these tests."""
    with kube_session.private(4) as found:
        yield found


@pytest.fixture
def place(plane: ControlPlane) -> Iterator[str]:
    with kube.fresh_namespace(plane) as name:
        yield name


PAGES = ApiResource("kro.run", "v1alpha1", "Page", "pages")


def definition() -> Document:
    """Two ConfigMaps, one after the other. What is called broken never becomes ready."""
    name = "${schema.metadata.name}"

    def part(key: str, data: dict[str, str]) -> Document:
        metadata = {"name": f"{name}-{key}"}
        return {
            "id": key,
            "readyWhen": [f"${{{key}.data.image != 'broken'}}"],
            "template": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data},
        }

    image = {"image": "${schema.spec.image}"}
    return {
        "apiVersion": graphs.API_VERSION,
        "kind": graphs.KIND,
        "metadata": {"name": "page"},
        "spec": {
            "schema": {"apiVersion": "v1alpha1", "kind": "Page", "spec": {"image": "string"}},
            "resources": [part("first", image), part("second", {**image, "after": "${first.metadata.name}"})],
        },
    }


class Scene:
    def __init__(self, client: Client, namespace: str, jobs: Jobs) -> None:
        self.client = client
        self.namespace = namespace
        self.jobs = jobs

    async def found(self) -> Document:
        return await self.client.get(PAGES, "web", self.namespace)

    async def images(self) -> list[str]:
        found = (await self.client.list(CONFIG_MAPS, self.namespace, labels=f"{labels.OWNED}=true")).items
        return [each["data"]["image"] for each in found]

    def config(self, version: str) -> dict[str, Any]:
        return {"instanceTemplate": page("web", self.namespace, version)}


def page(name: str, namespace: str, image: str) -> Document:
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "Page",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"image": image},
    }


async def is_served(client: Client) -> bool:
    try:
        await client.list(PAGES)
    except ApiError:
        return False
    return True


@asynccontextmanager
async def scene(plane: ControlPlane, namespace: str) -> AsyncIterator[Scene]:
    async with plane.client() as client:
        await operating.install(client)
        jobs = Jobs(GraphAgent, clusters_of(plane), lambda version: it.config(version))
        it = Scene(client, namespace, jobs)
        async with operator_of(plane, namespace):
            await client.apply(GRAPHS, definition(), manager="people", force=True)
            await until(lambda: is_served(client))
            try:
                yield it
            finally:
                await jobs.agent.close()


def test_an_instance_is_applied_and_followed_until_it_is_propagated(plane: ControlPlane, place: str) -> None:
    async def story() -> None:
        async with scene(plane, place) as it:
            done = await it.jobs.ended("job-1", "v1")
            assert (done.status, done.external_id) == ("successful", f"{place}/web")
            assert done.message == f"Page {place}/web: all of it is at revision 1 and ready"
            assert (await it.jobs.ended("job-2", "v2")).status == "successful"
            assert await it.images() == ["v2", "v2"]
            late = await it.jobs.look("job-1", "v1")
            assert (late.status, "took its place" in (late.message or "")) == ("failure", True)
            assert (await it.jobs.ended("job-3", "v1")).status == "successful"
            assert await it.images() == ["v1", "v1"]

    play(story(), 150)


def test_an_instance_that_gets_stuck_is_paused_and_the_next_job_goes_on(
    plane: ControlPlane, place: str
) -> None:
    async def story() -> None:
        async with scene(plane, place) as it:
            assert (await it.jobs.ended("job-1", "v1")).status == "successful"
            await it.jobs.until_said("job-2", "broken", "ConfigMap web-first is not ready")
            assert "1 of 2 at revision 2" in it.jobs.said[-1]
            it.jobs.ahead = instants.hours(1)
            failed = await it.jobs.look("job-2", "broken")
            assert failed.status == "failure"
            assert "no step forward for 600s" in (failed.message or "")
            assert "ConfigMap web-first is not ready" in (failed.message or "")
            assert "it is paused" in (failed.message or "")
            assert labels.is_paused((await it.found())["metadata"]["annotations"])
            assert (await it.jobs.ended("job-3", "v3")).status == "successful"
            assert not labels.is_paused((await it.found())["metadata"]["annotations"])

            paused = {"metadata": {"annotations": {labels.PROPAGATION: labels.PAUSED}}}
            await it.client.patch(PAGES, "web", place, paused, manager="somebody")
            await it.jobs.until_said("job-4", "v4", "its propagation is paused by somebody")
            it.jobs.ahead = instants.hours(5)
            assert (await it.jobs.look("job-4", "v4")).status == "inProgress"
            assert await it.jobs.stop("job-4", "v4") is not None

    play(story(), 150)


def test_only_kinds_of_definitions_are_applied(plane: ControlPlane, place: str) -> None:
    async def story() -> None:
        async with scene(plane, place) as it:
            secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": place}}
            it.jobs.config = lambda version: {"instanceTemplate": secret}
            with pytest.raises(Rejected, match="allowed is the kind of a ResourceGraphDefinition"):
                await it.jobs.look("job-1", "v1")
            odd = page("../web", place, "v1")
            it.jobs.config = lambda version: {"instanceTemplate": odd}
            with pytest.raises(Rejected, match=r"config.instanceTemplate.metadata.name"):
                await it.jobs.look("job-2", "v1")

    play(story(), 90)
