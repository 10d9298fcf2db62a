"""Sets of pods that jobs apply: once for each job, followed to their end, held when the job ends otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from headgate.agents.workload import WorkloadAgent
from headgate.kernel import instants
from headgate.kubernetes.client import Client
from headgate.kubernetes.resources import Document
from headgate.workload.plan.situation import ABORT
from kube import ControlPlane

from . import operating
from .nodes import clusters_of, lossy_clusters
from .operating import SETS, clique, pod_set
from .operating import operating as operator_of
from .rollouts import Jobs
from .support import play, until

NEVER = {"headgate.test/ready-after": "1h"}


class Scene:
    def __init__(self, client: Client, namespace: str, jobs: Jobs) -> None:
        self.client = client
        self.namespace = namespace
        self.jobs = jobs

    async def found(self) -> Document:
        return await self.client.get(SETS, "web", self.namespace)

    async def images(self) -> set[str]:
        return operating.images(await operating.pods_of(self.client, "web", self.namespace))


def template(namespace: str, version: str, **options: Any) -> dict[str, Any]:
    """Pods of a version that is called broken never become ready."""
    annotations = NEVER if version == "broken" else {}
    made = pod_set("web", namespace, 2, [clique("front", 2, version, annotations=annotations)], **options)
    return {"setTemplate": {"metadata": made["metadata"], "spec": made["spec"]}}


@asynccontextmanager
async def scene(plane: ControlPlane, namespace: str) -> AsyncIterator[Scene]:
    async with plane.client() as client:
        await operating.install(client)
        jobs = Jobs(WorkloadAgent, clusters_of(plane), lambda version: template(namespace, version))
        async with operator_of(plane, namespace):
            try:
                yield Scene(client, namespace, jobs)
            finally:
                await jobs.agent.close()


def test_a_set_is_applied_and_followed_until_every_pod_is_updated(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            done = await it.jobs.ended("job-1", "v1")
            assert done.status == "successful"
            assert done.external_id == f"{kube_namespace}/web"
            marks = (await it.found())["metadata"]["annotations"]
            assert (marks["headgate.dev/job"], marks["headgate.dev/target"]) == ("job-1", "api/prod/node-1")
            assert (await it.jobs.look("job-1", "v1")).status == "successful"
            assert (await it.found())["metadata"]["generation"] == 1

            assert (await it.jobs.ended("job-2", "v2")).status == "successful"
            assert await it.images() == {"v2"}
            assert any("of 4 pods updated" in message for message in it.jobs.said)
            late = await it.jobs.look("job-1", "v1")
            assert late.status == "failure"
            assert "the job job-2 with v2 took its place" in (late.message or "")
            assert await it.images() == {"v2"}

            assert (await it.jobs.ended("job-3", "v1")).status == "successful"
            assert await it.images() == {"v1"}, "a version that is rolled back is its template applied again"

    play(story(), 200)


def test_a_set_that_gets_stuck_fails_with_the_reason_and_the_next_job_goes_on(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            assert (await it.jobs.ended("job-1", "v1")).status == "successful"
            await it.jobs.until_said("job-2", "broken", "is under way")
            await it.jobs.until_said("job-2", "broken", "scheduled and not ready since")
            assert "0 of 4 pods updated" in it.jobs.said[-1]
            it.jobs.ahead = instants.hours(1)
            failed = await it.jobs.look("job-2", "broken")
            assert failed.status == "failure"
            assert "no step forward for 600s" in (failed.message or "")
            assert "scheduled and not ready since" in (failed.message or "")
            assert "the update is aborted" in (failed.message or "")
            assert ABORT in (await it.found())["metadata"]["annotations"]

            assert (await it.jobs.ended("job-3", "v3")).status == "successful"
            assert ABORT not in (await it.found())["metadata"]["annotations"]
            assert await it.images() == {"v3"}

    play(story(), 200)


def test_a_job_that_is_stopped_holds_its_update_and_the_same_version_goes_on_later(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            assert (await it.jobs.ended("job-1", "v1")).status == "successful"
            assert await it.jobs.stop("job-1", "v1") is None, "what is done is not held"
            await it.jobs.until_said("job-2", "broken", "waiting for")
            assert "the update is aborted" in (await it.jobs.stop("job-2", "broken") or "")
            await it.jobs.stop("job-2", "broken")

            async def is_aborted() -> bool:
                conditions = (await it.found())["status"]["conditions"]
                return any(one["reason"] == "Aborted" for one in conditions)

            await until(is_aborted)
            again = await it.jobs.look("job-2", "broken")
            assert (again.status, "was aborted" in (again.message or "")) == ("failure", True)
            await it.jobs.until_said("job-3", "broken", "waiting for")
            assert ABORT not in (await it.found())["metadata"]["annotations"]
            assert await it.jobs.stop("job-2", "broken") is None, "it is another job's by now"
            assert ABORT not in (await it.found())["metadata"]["annotations"]

    play(story(), 200)


def test_what_others_hold_is_not_touched(control_plane: ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            await operating.apply(
                it.client, pod_set("web", kube_namespace, 1, [clique("front", 1, "theirs")])
            )
            refused = await it.jobs.look("job-1", "v1")
            assert refused.status == "failure"
            assert "that is not of api/prod/node-1; it is not touched" in (refused.message or "")
            handed = {"headgate.dev/workspace": "home", "headgate.dev/target": "api/prod/node-1"}
            await it.client.patch(SETS, "web", kube_namespace, {"metadata": {"annotations": handed}})
            conflict = await it.jobs.look("job-2", "v1")
            assert conflict.status == "failure"
            assert "is managed by people" in (conflict.message or "")
            assert (await it.found())["spec"]["replicas"] == 1

            other = await it.jobs.look("job-3", "v1", deployment="other")
            assert "that is not of other/prod/node-1" in (other.message or "")

    play(story(), 90)


def test_an_answer_that_is_lost_applies_nothing_twice(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            clusters, transport = await lossy_clusters(control_plane)
            jobs = Jobs(WorkloadAgent, clusters, it.jobs.config)
            try:
                assert (await jobs.ended("job-1", "v1")).status == "successful"
                jobs.lose_state("job-1")
                assert (await jobs.ended("job-1", "v1")).status == "successful"
            finally:
                await jobs.agent.close()
            assert transport.lost
            assert (await it.found())["metadata"]["generation"] == 1

    play(story(), 120)


def test_somebody_who_edits_or_deletes_it_is_noticed(
    control_plane: ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            await it.jobs.look("job-1", "v1")
            patch = {"spec": {"replicas": 1}}
            await it.client.patch(SETS, "web", kube_namespace, patch, manager="somebody")
            taken = await it.jobs.ended("job-1", "v1")
            assert taken.status == "failure"
            assert "spec.replicas is managed by somebody" in (taken.message or "")
            await it.client.delete(SETS, "web", kube_namespace)
            gone = await it.jobs.ended("job-1", "v1")
            assert (gone.status, "was deleted" in (gone.message or "")) == ("externalRunNotFound", True)

    play(story(), 120)
