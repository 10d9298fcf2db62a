"""Applications of Argo CD: synced once for each job, and done when healthy."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from headgate.agents.addresses import ANYWHERE
from headgate.agents.argocd import ArgocdAgent
from headgate.agents.port import JobProgress, TryLaterError
from headgate.agents.web import Web
from headgate.kernel.problems import Rejected

from .fake_argocd import TOKEN, FakeArgocd, broken, cut
from .support import Shelf, free_port, play, serving


class Scene:
    def __init__(self, url: str, argocd: FakeArgocd) -> None:
        self.argocd = argocd
        self.agent = ArgocdAgent(Web(ANYWHERE))
        self.shelf = Shelf()
        self.config: dict[str, Any] = {
            "serverUrl": url,
            "application": "shop",
            "revision": "v2",
            "token": TOKEN,
        }

    def assignment(self) -> Any:
        return self.shelf.assignment(self.config)

    async def start(self) -> JobProgress:
        return await self.agent.start(self.assignment())

    async def follow(self) -> JobProgress:
        return await self.agent.follow(self.assignment())

    async def stop(self) -> None:
        await self.agent.stop(self.assignment())


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    argocd = FakeArgocd()
    async with serving(argocd) as url:
        made = Scene(url, argocd)
        try:
            yield made
        finally:
            await made.agent.close()


def test_the_application_is_synced_to_the_revision_under_the_jobs_id() -> None:
    async def story() -> None:
        async with scene() as it:
            it.config |= {"prune": True, "syncOptions": ["ServerSideApply=true"], "project": "p"}
            progress = await it.start()
            assert it.argocd.syncs == [
                {
                    "name": "shop",
                    "prune": True,
                    "infos": [{"name": "headgate-job", "value": "job-1"}],
                    "project": "p",
                    "revision": "v2",
                    "syncOptions": {"items": ["ServerSideApply=true"]},
                }
            ]
            assert (progress.status, progress.message) == ("inProgress", "the sync was taken")
            assert progress.external_id == "shop"
            assert progress.links == {"application": f"{it.config['serverUrl']}/applications/shop"}
            assert it.argocd.queries[-1] == {"project": "p"}

    play(story())


def test_the_job_goes_from_the_sync_to_health() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            said = [(await it.follow()).message]
            it.argocd.take_up("Running", "waiting for hooks")
            said.append((await it.follow()).message)
            it.argocd.take_up("Succeeded")
            it.argocd.reconcile("Progressing")
            said.append((await it.follow()).message)
            it.argocd.reconcile("Healthy")
            last = await it.follow()
            assert said == [
                "the sync is queued",
                "the sync is running: waiting for hooks",
                "synced at v2; its health is progressing",
            ]
            assert (last.status, last.message) == ("successful", "synced at v2 and healthy")

    play(story())


@pytest.mark.parametrize("phase", ["Failed", "Error"])
def test_a_failed_sync_fails_the_job(phase: str) -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.argocd.take_up(phase, "one or more objects failed to apply")
            progress = await it.follow()
            assert progress.status == "failure"
            assert progress.message == "the sync failed: one or more objects failed to apply"

    play(story())


def test_a_degraded_application_fails_the_job() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.argocd.take_up("Succeeded")
            it.argocd.reconcile("Degraded", "2 pods crash")
            progress = await it.follow()
            assert (progress.status, progress.message) == (
                "failure",
                "synced at v2, but degraded: 2 pods crash",
            )

    play(story())


def test_a_suspended_application_needs_somebody() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.argocd.take_up("Succeeded")
            it.argocd.reconcile("Suspended")
            assert (await it.follow()).status == "actionRequired"

    play(story())


def test_health_from_before_the_sync_ended_is_asked_for_anew() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.argocd.take_up("Succeeded")
            it.argocd.refreshed_health = "Degraded"
            assert (await it.follow()).status == "failure"
            assert it.argocd.queries[-1] == {"refresh": "normal"}

    play(story())


def test_a_sync_whose_answer_is_lost_is_found_and_not_sent_again() -> None:
    async def story() -> None:
        async with scene() as it:
            it.argocd.lost_answers = 1
            with pytest.raises(TryLaterError, match="broke the connection off"):
                await it.start()
            assert (await it.start()).message == "the sync is queued"
            it.argocd.take_up("Running")
            assert (await it.start()).message == "the sync is running"
            it.argocd.take_up("Succeeded")
            it.argocd.reconcile("Healthy")
            assert (await it.start()).status == "successful"
            assert len(it.argocd.syncs) == 1

    play(story())


def test_the_sync_of_somebody_else_is_waited_for() -> None:
    async def story() -> None:
        async with scene() as it:
            it.argocd.operation = {"sync": {"revision": "v1"}, "info": []}
            with pytest.raises(TryLaterError, match="shop is being synced by somebody else"):
                await it.start()
            it.argocd.take_up("Running")
            with pytest.raises(TryLaterError):
                await it.start()
            it.argocd.take_up("Succeeded")
            await it.start()
            assert len(it.argocd.syncs) == 1

    play(story())


def test_a_sync_that_began_in_between_is_waited_for() -> None:
    async def story() -> None:
        async with scene() as it:

            def begin(request: object) -> None:
                it.argocd.operation = {"sync": {"revision": "v1"}, "info": []}

            it.argocd.moods = [lambda request: None, begin]
            with pytest.raises(TryLaterError, match="synced by somebody else"):
                await it.start()

    play(story())


def test_another_sync_to_another_revision_fails_the_job() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.argocd.operation = {"sync": {"revision": "v9"}, "info": []}
            it.argocd.take_up("Succeeded")
            progress = await it.follow()
            assert progress.status == "failure"
            assert "another sync took the place" in (progress.message or "")

    play(story())


def test_another_sync_to_the_same_revision_stands_for_the_job() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.argocd.operation = {"sync": {"revision": "v2"}, "info": []}
            it.argocd.take_up("Succeeded")
            it.argocd.reconcile("Healthy")
            assert (await it.follow()).status == "successful"

    play(story())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"token": "argo-wrong"}, "config.token is not valid (invalid session"),
        ({"application": "nothing"}, "it is not there, or config.token has no permission for it"),
    ],
)
def test_a_refusal_ends_the_job(change: dict[str, str], reason: str) -> None:
    async def story() -> None:
        async with scene() as it:
            it.config |= change
            progress = await it.start()
            assert progress.status == "invalidIntegration"
            assert reason in (progress.message or "")

    play(story())


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_busy_server_is_tried_again(status: int) -> None:
    async def story() -> None:
        async with scene() as it:
            it.argocd.moods = [broken(status)]
            with pytest.raises(TryLaterError) as caught:
                await it.start()
            assert (caught.value.message, caught.value.after_seconds) == (f"Argo CD answered {status}", 9)

    play(story())


def test_a_server_that_is_not_there_is_tried_again() -> None:
    async def story() -> None:
        async with scene() as it:
            it.config["serverUrl"] = f"http://127.0.0.1:{await free_port()}"
            with pytest.raises(TryLaterError, match="cannot be reached"):
                await it.start()

    play(story())


def test_a_token_that_ends_meanwhile_does_not_end_the_job() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.config["token"] = "argo-expired"
            with pytest.raises(TryLaterError, match=r"config\.token is not valid"):
                await it.follow()

    play(story())


@pytest.mark.parametrize("mood", [broken(503), cut])
def test_a_status_that_cannot_be_read_is_asked_for_again(mood: Any) -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.argocd.moods = [mood, mood]
            with pytest.raises(TryLaterError):
                await it.follow()

    play(story())


def test_stopping_ends_the_sync() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.argocd.take_up("Running")
            await it.stop()
            assert it.argocd.terminated == 1

    play(story())


def test_stopping_leaves_the_sync_of_somebody_else_alone() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.argocd.operation = {"sync": {"revision": "v9"}, "info": []}
            it.argocd.take_up("Running")
            await it.stop()
            assert it.argocd.terminated == 0

    play(story())


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"serverUrl": "argocd"}, 'config.serverUrl: is "argocd"'),
        ({"application": ""}, "config.application"),
        (
            {"tokenEnv": "HEADGATE_AGENT_NO_SUCH", "token": None},
            'config.tokenEnv: is "HEADGATE_AGENT_NO_SUCH"',
        ),
    ],
)
def test_a_config_that_cannot_be_used_is_refused(change: dict[str, Any], problem: str) -> None:
    async def story() -> None:
        async with scene() as it:
            it.config |= change
            with pytest.raises(Rejected) as caught:
                await it.start()
            assert problem in str(caught.value)

    play(story())
