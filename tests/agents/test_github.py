"""Workflows of GitHub Actions: one dispatch for each job, whatever happens to its answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from headgate.agents.addresses import ANYWHERE
from headgate.agents.github import GithubAgent
from headgate.agents.port import JobProgress, TryLaterError
from headgate.agents.web import Web
from headgate.kernel import instants
from headgate.kernel.problems import Rejected

from .fake_github import TOKEN, FakeGithub, broken, cut, limited
from .support import Shelf, clock, free_port, play, serving


class Scene:
    def __init__(self, url: str, github: FakeGithub) -> None:
        self.github = github
        self.shelf = Shelf()
        self.config: dict[str, Any] = {
            "owner": "acme",
            "repo": "shop",
            "workflow": "deploy.yaml",
            "ref": "main",
            "inputs": {"version": "v2", "replicas": 3, "dry": False},
            "token": TOKEN,
            "apiUrl": url,
        }
        self.now_offset = 0
        self.agent = GithubAgent(lambda: clock() + self.now_offset, Web(ANYWHERE))

    def assignment(self) -> Any:
        return self.shelf.assignment(self.config)

    async def start(self) -> JobProgress:
        return await self.agent.start(self.assignment())

    async def follow(self) -> JobProgress:
        return await self.agent.follow(self.assignment())

    async def stop(self) -> None:
        await self.agent.stop(self.assignment())

    def later(self, seconds: float) -> None:
        self.now_offset += instants.seconds(seconds)


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    github = FakeGithub()
    async with serving(github) as url:
        made = Scene(url, github)
        try:
            yield made
        finally:
            await made.agent.close()


def test_a_workflow_is_dispatched_with_its_inputs_and_the_jobs_id() -> None:
    async def story() -> None:
        async with scene() as it:
            progress = await it.start()
            assert it.github.dispatches == [
                {
                    "ref": "main",
                    "inputs": {"version": "v2", "replicas": "3", "dry": "false", "headgate_job_id": "job-1"},
                    "return_run_details": True,
                }
            ]
            assert progress.status == "queued"
            assert progress.external_id == "9000000000"
            assert progress.links == {"run": "https://github.com/acme/shop/actions/runs/9000000000"}

    play(story())


@pytest.mark.parametrize(
    ("status", "conclusion", "expected"),
    [
        ("queued", None, "queued"),
        ("requested", None, "queued"),
        ("pending", None, "queued"),
        ("waiting", None, "actionRequired"),
        ("in_progress", None, "inProgress"),
        ("something_new", None, "inProgress"),
        ("completed", "success", "successful"),
        ("completed", "neutral", "successful"),
        ("completed", "failure", "failure"),
        ("completed", "startup_failure", "failure"),
        ("completed", "stale", "failure"),
        ("completed", "something_new", "failure"),
        ("completed", "cancelled", "cancelled"),
        ("completed", "skipped", "skipped"),
        ("completed", "timed_out", "timedOut"),
        ("completed", "action_required", "actionRequired"),
    ],
)
def test_the_runs_status_becomes_the_jobs(status: str, conclusion: str | None, expected: str) -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.github.runs[0] |= {"status": status, "conclusion": conclusion}
            progress = await it.follow()
            assert progress.status == expected
            assert (progress.message or "").startswith("run 9000000000 ")
            assert progress.has_ended or progress.requeue_seconds == 10

    play(story())


def test_a_dispatch_whose_answer_is_lost_is_found_by_the_runs_name() -> None:
    async def story() -> None:
        async with scene() as it:
            it.github.lost_answers = 1
            progress = await it.start()
            assert progress.status == "queued"
            assert "looking for the run" in (progress.message or "")
            assert (await it.follow()).external_id == "9000000000"
            assert len(it.github.dispatches) == 1

    play(story())


def test_a_start_after_a_crash_does_not_dispatch_again() -> None:
    async def story() -> None:
        async with scene() as it:
            it.github.lost_answers = 1
            await it.start()
            assert (await it.start()).external_id == "9000000000"
            assert (await it.start()).external_id == "9000000000"
            assert len(it.github.dispatches) == 1

    play(story())


def test_the_intent_is_kept_before_the_dispatch() -> None:
    async def story() -> None:
        async with scene() as it:
            it.github.moods = [cut]
            await it.start()
            assert list(it.shelf.history[0]) == ["dispatchedAt"]

    play(story())


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_dispatch_that_may_have_been_taken_is_looked_for(status: int) -> None:
    async def story() -> None:
        async with scene() as it:
            it.github.moods = [broken(status)]
            assert (await it.start()).status == "queued"
            assert (await it.start()).message == "looking for the run"
            assert it.github.dispatches == []

    play(story())


def test_a_run_that_never_appears_ends_the_job_and_says_what_to_write() -> None:
    async def story() -> None:
        async with scene() as it:
            it.github.names_runs = False
            it.github.lost_answers = 1
            await it.start()
            assert (await it.follow()).status == "queued"
            it.later(200)
            progress = await it.follow()
            assert progress.status == "externalRunNotFound"
            assert "run-name: ... ${{ inputs.headgate_job_id }}" in (progress.message or "")

    play(story())


def test_the_run_is_found_behind_many_others_and_not_among_old_ones() -> None:
    async def story() -> None:
        async with scene() as it:
            it.github.begin("job-1", age_seconds=3_600)
            it.github.lost_answers = 1
            await it.start()
            for number in range(70):
                it.github.begin(f"other-{number}")
            assert (await it.follow()).external_id == "9000000001"

    play(story())


def test_a_server_that_does_not_tell_the_run_is_asked_without_it() -> None:
    async def story() -> None:
        async with scene() as it:
            it.github.knows_run_details = False
            assert (await it.start()).message == "dispatched; looking for the run"
            assert (await it.follow()).external_id == "9000000000"
            assert len(it.github.dispatches) == 1

    play(story())


def test_a_run_that_cannot_be_read_yet_is_waited_for() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.github.shows_runs = False
            assert (await it.follow()).message == "dispatched; the run is not there yet"
            it.github.shows_runs = True
            assert (await it.follow()).message == "run 9000000000 is queued"

    play(story())


def test_a_run_that_was_deleted_is_not_found() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.github.runs.clear()
            it.later(200)
            progress = await it.follow()
            assert progress.status == "externalRunNotFound"
            assert progress.message == "run 9000000000 of acme/shop is not there"

    play(story())


def test_an_unreachable_server_is_tried_again_and_then_dispatched_once() -> None:
    async def story() -> None:
        async with scene() as it:
            there = it.config["apiUrl"]
            it.config["apiUrl"] = f"http://127.0.0.1:{await free_port()}"
            with pytest.raises(TryLaterError, match="cannot be reached"):
                await it.start()
            it.config["apiUrl"] = there
            await it.start()
            assert len(it.github.dispatches) == 1

    play(story())


@pytest.mark.parametrize(
    ("mood", "after_seconds"),
    [
        (limited(403, Retry_After="30"), 30.0),
        (limited(429, Retry_After="45"), 45.0),
        (limited(429), 60.0),
    ],
)
def test_the_rate_limit_is_waited_out(mood: Any, after_seconds: float) -> None:
    async def story() -> None:
        async with scene() as it:
            it.github.moods = [mood]
            with pytest.raises(TryLaterError) as caught:
                await it.start()
            assert caught.value.after_seconds == after_seconds
            await it.start()
            assert len(it.github.dispatches) == 1

    play(story())


def test_the_hourly_limit_is_waited_for_until_it_is_reset() -> None:
    async def story() -> None:
        async with scene() as it:
            reset = str(clock() // 1_000_000 + 120)
            it.github.moods = [limited(403, X_RateLimit_Remaining="0", X_RateLimit_Reset=reset)]
            with pytest.raises(TryLaterError) as caught:
                await it.start()
            assert 100 < (caught.value.after_seconds or 0) <= 121

    play(story())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"token": "ghp_wrong"}, "config.token is not valid (Bad credentials)"),
        ({"repo": "nothing"}, "it is not there, or config.token may not see it (Not Found)"),
        ({"workflow": "other.yaml"}, "it is not there, or config.token may not see it (Not Found)"),
        ({"ref": "gone"}, "GitHub answered 422 (No ref found for: gone)"),
    ],
)
def test_a_refused_dispatch_ends_the_job(change: dict[str, str], reason: str) -> None:
    async def story() -> None:
        async with scene() as it:
            it.config |= change
            progress = await it.start()
            assert progress.status == "invalidIntegration"
            assert reason in (progress.message or "")
            assert TOKEN not in (progress.message or "")

    play(story())


def test_an_input_that_the_workflow_does_not_know_is_named() -> None:
    async def story() -> None:
        async with scene() as it:
            it.github.known_inputs = {"version", "replicas", "dry"}
            progress = await it.start()
            assert 'Unexpected inputs provided: ["headgate_job_id"]' in (progress.message or "")

    play(story())


def test_the_input_for_the_jobs_id_may_be_left_out() -> None:
    async def story() -> None:
        async with scene() as it:
            it.github.known_inputs = {"version", "replicas", "dry"}
            it.config["jobIdInput"] = ""
            assert (await it.start()).external_id == "9000000000"

    play(story())


@pytest.mark.parametrize("mood", [broken(503), broken(401), cut])
def test_a_status_that_cannot_be_read_is_asked_for_again(mood: Any) -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.github.moods = [mood, mood]
            with pytest.raises(TryLaterError):
                await it.follow()

    play(story())


def test_stopping_cancels_the_run() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            await it.stop()
            assert it.github.cancelled == [9_000_000_000]

    play(story())


def test_stopping_a_run_that_has_ended_is_fine() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.start()
            it.github.runs[0]["status"] = "completed"
            await it.stop()

    play(story())


def test_stopping_what_was_never_dispatched_asks_nothing() -> None:
    async def story() -> None:
        async with scene() as it:
            await it.stop()
            assert it.github.requests == []

    play(story())


def test_stopping_waits_for_a_run_that_may_still_appear() -> None:
    async def story() -> None:
        async with scene() as it:
            it.github.lost_answers = 1
            await it.start()
            it.github.shows_runs = False
            with pytest.raises(TryLaterError):
                await it.stop()
            it.github.shows_runs = True
            await it.stop()
            assert it.github.cancelled == [9_000_000_000]

    play(story())


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"owner": ""}, "config.owner"),
        ({"inputs": []}, "config.inputs: must be a map"),
        ({"apiUrl": "api.github.com"}, 'config.apiUrl: is "api.github.com"'),
        ({"token": None}, "config.token: is required; allowed is it or tokenEnv"),
        ({"repository": "x"}, "config.repository: is not a known key"),
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
