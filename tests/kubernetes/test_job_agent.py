"""Jobs of a cluster, made from a template: once for each job, followed to their end, deleted when stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

import kube
from agents.support import Shelf, clock
from headgate.agents.clusters import Clusters
from headgate.agents.kubernetes_job import JOBS, KubernetesJobAgent
from headgate.agents.port import JobProgress, TryLaterError
from headgate.fleet.model import agent_configs
from headgate.kernel import instants
from headgate.kernel.problems import Rejected
from headgate.kubernetes.access import ClusterAccess
from headgate.kubernetes.client import Client
from headgate.kubernetes.identities import ApiIdentity, FixedIdentity
from headgate.kubernetes.resources import PODS, Document

from .imitation import Imitation, says
from .nodes import clusters_of, lossy_clusters
from .support import play, until


class Scene:
    def __init__(self, client: Client, namespace: str, plane: kube.ControlPlane) -> None:
        self.client = client
        self.namespace = namespace
        self.now = clock()
        self.agent = KubernetesJobAgent(clusters_of(plane), lambda: self.now)
        self.shelf = Shelf()
        self.container: dict[str, Any] = {"name": "main", "image": "none"}
        self.behavior: dict[str, str] = {}
        self.spec: dict[str, Any] = {}

    @property
    def config(self) -> dict[str, Any]:
        behavior = {f"headgate.test/{name}": value for name, value in self.behavior.items()}
        template = {"metadata": {"annotations": behavior}, "spec": {"containers": [self.container]}}
        return {
            "jobTemplate": {
                "metadata": {"namespace": self.namespace},
                "spec": {"template": template, **self.spec},
            }
        }

    async def look(self) -> JobProgress:
        return await self.agent.start(self.shelf.assignment(self.config))

    async def ended(self) -> JobProgress:
        found: list[JobProgress] = []

        async def has_ended() -> bool:
            found.append(await self.look())
            return found[-1].has_ended

        await until(has_ended)
        return found[-1]

    async def jobs(self) -> list[Document]:
        return (await self.client.list(JOBS, self.namespace)).items

    async def pods(self) -> list[Document]:
        return (await self.client.list(PODS, self.namespace)).items


@asynccontextmanager
async def scene(plane: kube.ControlPlane, namespace: str) -> AsyncIterator[Scene]:
    async with plane.client() as client:
        made = Scene(client, namespace, plane)
        try:
            yield made
        finally:
            await made.agent.close()


def test_a_job_is_made_once_and_followed_to_its_end(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            it.behavior = {"complete-after": "300ms"}
            first = await it.look()
            assert first.status == "inProgress"
            last = await it.ended()
            [job] = await it.jobs()
            assert last.status == "successful"
            assert last.external_id == f"{kube_namespace}/{job['metadata']['name']}"
            assert last.message == f"the Job {last.external_id} is complete"
            assert job["metadata"]["name"].startswith("api-")
            assert job["metadata"]["annotations"]["headgate.dev/target"] == "api/prod/node-1"
            assert (job["spec"]["ttlSecondsAfterFinished"], job["spec"]["backoffLimit"]) == (3600, 0)
            [pod] = await it.pods()
            variables = {one["name"]: one["value"] for one in pod["spec"]["containers"][0]["env"]}
            assert variables["HEADGATE_VERSION"] == "v2"
            assert (await it.look()).status == "successful"
            assert len(await it.jobs()) == 1

    play(story())


def test_the_end_of_a_job_is_told_and_not_looked_for(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    """Each rest could last for ten minutes: what ends it is the cluster, which says that the Job has changed."""

    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            it.behavior = {"complete-after": "2s"}
            async with asyncio.timeout(120):
                while not (await it.look()).has_ended:
                    await it.agent.rest(it.shelf.assignment(it.config), 600)

    play(story())


def test_whoever_may_not_watch_looks_from_time_to_time(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            it.behavior = {"complete-after": "1h"}
            await it.look()
            seen = it.agent._seen[it.shelf.assignment(it.config).job.id]
            seen._resource = msgspec.structs.replace(seen._resource, plural="nothings")
            assert not await seen.has_changed()
            await it.agent.rest(it.shelf.assignment(it.config), 0.1)
            assert not (await it.look()).has_ended

    play(story())


def test_the_end_of_a_failed_job_says_which_pod_failed_and_how(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            it.behavior = {"complete-after": "24h", "fail-after": "50ms"}
            last = await it.ended()
            [pod] = await it.pods()
            assert last.status == "failure"
            assert "failed: BackoffLimitExceeded" in (last.message or "")
            assert f"the pod {pod['metadata']['name']}, main: exit code 1 (Error)" in (last.message or "")

    play(story())


def test_a_pod_that_is_not_scheduled_is_said(control_plane: kube.ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            it.container |= {"resources": {"requests": {"cpu": "9000"}}}

            async def is_said() -> bool:
                return "is not scheduled: 0/" in ((await it.look()).message or "")

            await until(is_said)

    play(story())


@pytest.mark.parametrize("kept", [{}, {"creatingAt": 0}])
def test_a_server_that_is_killed_finds_its_job_again(
    control_plane: kube.ControlPlane, kube_namespace: str, kept: dict[str, Any]
) -> None:
    """As if it had been killed after the Job was made, with or without its intent kept."""

    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            it.behavior = {"complete-after": "24h"}
            await it.look()
            it.shelf.state = kept
            assert (await it.look()).status == "inProgress"
            assert len(await it.jobs()) == 1

    play(story())


def test_a_job_whose_creation_is_not_answered_is_found_and_not_made_again(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            clusters, _ = await lossy_clusters(control_plane)
            it.agent = KubernetesJobAgent(clusters, clock)
            with pytest.raises(TryLaterError, match="the answer is lost"):
                await it.look()
            assert (await it.ended()).status == "successful"
            assert len(await it.jobs()) == 1

    play(story())


def test_a_job_that_may_have_come_and_gone_is_not_made_again(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            it.shelf.state = {"creatingAt": it.now - instants.hours(2)}
            progress = await it.look()
            assert progress.status == "externalRunNotFound"
            assert "it is not begun a second time" in (progress.message or "")
            assert await it.jobs() == []

    play(story())


def test_a_job_that_somebody_deletes_is_missed(control_plane: kube.ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            it.behavior = {"complete-after": "24h"}
            name = (await it.look()).external_id or ""
            await it.client.delete(JOBS, name.partition("/")[2], kube_namespace)
            last = await it.ended()
            assert last.status == "externalRunNotFound"
            assert last.message == f"the Job {name} was deleted before its end was seen"

    play(story())


def test_a_job_of_somebody_else_under_the_same_name_is_not_touched(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            it.behavior = {"complete-after": "24h"}
            name = ((await it.look()).external_id or "").partition("/")[2]
            await it.client.patch(
                JOBS, name, kube_namespace, {"metadata": {"annotations": {"headgate.dev/job": "x"}}}
            )
            it.shelf.state = {}
            progress = await it.look()
            assert progress.status == "failure"
            assert "is not of this job; it is not touched" in (progress.message or "")
            await it.agent.stop(it.shelf.assignment(it.config))
            assert len(await it.jobs()) == 1

    play(story())


def test_a_stopped_job_is_gone_when_its_pods_are(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            it.behavior = {"complete-after": "24h", "gone-after": "500ms"}
            await it.agent.stop(it.shelf.assignment(it.config))
            await it.look()
            await until(it.pods)

            async def is_stopped() -> bool:
                try:
                    await it.agent.stop(it.shelf.assignment(it.config))
                except TryLaterError as error:
                    waits.append(error.message)
                    return False
                return True

            waits: list[str] = []
            await until(is_stopped)
            assert all(message.endswith("is being deleted") for message in waits)
            assert waits
            assert (await it.jobs(), await it.pods()) == ([], [])

    play(story())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"spec": {"template": {"spec": {}}}}, "containers"),
        (
            {"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "b", "x": 1}]}}}},
            "unknown field",
        ),
    ],
)
def test_a_template_that_the_cluster_refuses_is_said(
    control_plane: kube.ControlPlane, kube_namespace: str, change: Mapping[str, Any], words: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            config = {"jobTemplate": {"metadata": {"namespace": kube_namespace}, **change}}
            progress = await it.agent.start(it.shelf.assignment(config))
            assert progress.status == "invalidIntegration"
            assert words in (progress.message or "")

    play(story())


@pytest.mark.parametrize(
    ("template", "field"),
    [
        ({"spec": {}}, "config.jobTemplate.spec.template"),
        ({"kind": "Pod", "spec": {"template": {"spec": {}}}}, "config.jobTemplate.kind"),
        ({"metadata": {"name": "mine"}, "spec": {"template": {"spec": {}}}}, "config.jobTemplate.metadata"),
        (
            {"spec": {"template": {"spec": {"containers": ["x"]}}}},
            "config.jobTemplate.spec.template.spec.containers",
        ),
    ],
)
def test_a_template_that_is_no_job_is_refused_with_its_field(
    control_plane: kube.ControlPlane, kube_namespace: str, template: dict[str, Any], field: str
) -> None:
    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            with pytest.raises(Rejected) as caught:
                await it.agent.start(it.shelf.assignment({"jobTemplate": template}))
            assert any(problem.path.startswith(field) for problem in caught.value.problems), caught.value

    play(story())


def test_a_value_reaches_the_pod_as_it_is(control_plane: kube.ControlPlane, kube_namespace: str) -> None:
    """What kubelets would expand is escaped, so that they give the value itself."""

    async def story() -> None:
        async with scene(control_plane, kube_namespace) as it:
            it.behavior = {"complete-after": "24h"}
            it.container |= {
                "command": ["sh", "-c", "deploy ${version.tag}"],
                "env": [{"name": "TAG", "value": "v-${version.tag}"}],
            }
            bindings = {"version": {"tag": "$(SECRET)"}}
            config = agent_configs.resolve("kubernetes", it.config, bindings)
            await it.agent.start(it.shelf.assignment(config))
            await until(it.pods)
            [pod] = await it.pods()
            container = pod["spec"]["containers"][0]
            variables = {one["name"]: one["value"] for one in container["env"]}
            assert container["command"] == ["sh", "-c", 'deploy "$${HEADGATE_VALUE_1}"']
            assert (variables["TAG"], variables["HEADGATE_VALUE_1"]) == ("v-$$(SECRET)", "$$(SECRET)")

    play(story())


def test_a_cluster_that_answers_nonsense_or_not_at_all_is_tried_again() -> None:
    async def story() -> None:
        imitation = Imitation(says(200, "<html>"), says(500, {}))
        async with imitation.client() as client:
            access = ClusterAccess(client.transport.access.server, FixedIdentity(ApiIdentity("token")))
            agent = KubernetesJobAgent(Clusters(None, lambda context: access), clock)
            config = {"jobTemplate": {"spec": {"template": {"spec": {}}}}}
            for words in ("is not JSON", "the cluster cannot answer"):
                with pytest.raises(TryLaterError, match=words):
                    await agent.start(Shelf().assignment(config))
            await agent.close()

    play(story())
