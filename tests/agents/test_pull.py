"""A pull agent: claims, beats, reports, and stops when it is told to or when nobody can tell it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from headgate.agents.agent_api_client import RefusedByServerError
from headgate.agents.exec import ExecAgent
from headgate.agents.port import Agent, Assignment, JobProgress, TryLaterError
from headgate.agents.pull import PullAgent

from .support import QUICK, document, drop, play, serving, until


class FakeServer:
    """The routes of the API that a pull agent uses."""

    def __init__(self, *jobs: str, config: dict[str, Any] | None = None) -> None:
        self.offers = [document(job, config) | {"claim": {"token": 1, "until": "2026"}} for job in jobs]
        self.claims: list[dict[str, Any]] = []
        self.beats: list[str] = []
        self.lines: list[str] = []
        self.reports: list[tuple[str, str, str]] = []
        self.cancelled: set[str] = set()
        self.lost: set[str] = set()
        self.troubles: dict[str, list[Any]] = {"claim": [], "heartbeat": [], "report": [], "log": []}

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        assert request.headers["Authorization"] == "Bearer hg_token"
        assert request.query["workspace"] == "home"
        body = json.loads(await request.read())
        *_, owner, action = request.path.split("/")
        if self.troubles[action]:
            trouble = self.troubles[action].pop(0)
            return drop(request) if trouble == "drop" else web.json_response({"title": "no"}, status=trouble)
        if action == "claim":
            return await self._claim(owner, body)
        if owner in self.lost:
            return web.json_response({"title": "claim lost"}, status=409)
        if action == "heartbeat":
            self.beats.append(owner)
            return web.json_response({"cancelled": owner in self.cancelled, "until": "2026"})
        if action == "log":
            assert body["token"] == 1
            self.lines += body["lines"][len(self.lines) - body["offset"] :]
            return web.json_response({"nextOffset": len(self.lines), "isFull": False})
        self.reports.append((owner, body["status"], body["message"]))
        return web.json_response({})

    async def _claim(self, owner: str, body: dict[str, Any]) -> web.StreamResponse:
        assert owner == "runner"
        self.claims.append(body)
        for _ in range(500):
            if self.offers:
                return web.json_response({"jobs": [self.offers.pop(0)]})
            await asyncio.sleep(0.01)
        return web.json_response({"jobs": []})

    def statuses(self, job: str = "job-1") -> list[str]:
        return [status for owner, status, _ in self.reports if owner == job]


class Waiting(Agent):
    """Runs until the test lets it end."""

    type = "waiting"

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.calls: list[str] = []
        self.running = 0
        self.most = 0

    async def start(self, assignment: Assignment) -> JobProgress:
        self.calls.append(f"start {assignment.job.id}")
        self.running += 1
        self.most = max(self.most, self.running)
        return JobProgress("inProgress", "begun", requeue_seconds=0.01)

    async def follow(self, assignment: Assignment) -> JobProgress:
        if not self.gate.is_set():
            return JobProgress("inProgress", "begun", requeue_seconds=0.01)
        self.running -= 1
        return JobProgress("successful", "over")

    async def stop(self, assignment: Assignment) -> None:
        self.calls.append(f"stop {assignment.job.id}")

    async def forget(self, assignment: Assignment) -> None:
        self.calls.append(f"forget {assignment.job.id}")


@asynccontextmanager
async def pulling(
    url: str, handler: Agent, drain_seconds: float = 0, **given: Any
) -> AsyncIterator[PullAgent]:
    options: dict[str, Any] = {"heartbeat_seconds": 0.02, "backoff": QUICK, "workspace": "home"} | given
    agent = PullAgent(url, "hg_token", "runner", handler, **options)
    task = asyncio.create_task(agent.run())
    try:
        yield agent
    finally:
        await agent.close(drain_seconds)
        await asyncio.gather(task, return_exceptions=True)


def test_a_job_is_claimed_run_and_reported() -> None:
    async def story() -> None:
        server, handler = FakeServer("job-1"), Waiting()
        async with serving(server) as url, pulling(url, handler, holder="host-7", lease_seconds=30):
            await until(lambda: server.beats)
            handler.gate.set()
            await until(lambda: "successful" in server.statuses())
            await until(lambda: "forget job-1" in handler.calls)
        assert server.reports == [("job-1", "inProgress", "begun"), ("job-1", "successful", "over")]
        assert server.claims[0] == {"limit": 1, "holder": "host-7", "waitSeconds": 25, "leaseSeconds": 30}
        assert handler.calls == ["start job-1", "forget job-1"]

    play(story())


def test_no_more_jobs_are_claimed_than_it_may_run() -> None:
    async def story() -> None:
        server, handler = FakeServer("job-1", "job-2", "job-3", "job-4"), Waiting()
        async with serving(server) as url, pulling(url, handler, concurrency=2):
            await until(lambda: handler.running == 2)
            assert len(server.claims) == 2
            handler.gate.set()
            await until(lambda: len([1 for report in server.reports if report[1] == "successful"]) == 4)
        assert handler.most == 2

    play(story())


def test_a_cancelled_job_is_stopped_and_reported() -> None:
    async def story() -> None:
        server, handler = FakeServer("job-1"), Waiting()
        async with serving(server) as url, pulling(url, handler):
            await until(lambda: server.reports)
            server.cancelled.add("job-1")
            await until(lambda: "cancelled" in server.statuses())
        assert handler.calls == ["start job-1", "stop job-1", "forget job-1"]

    play(story())


def test_a_job_whose_claim_is_lost_is_stopped_and_not_reported() -> None:
    async def story() -> None:
        server, handler = FakeServer("job-1"), Waiting()
        async with serving(server) as url, pulling(url, handler):
            await until(lambda: server.reports)
            server.lost.add("job-1")
            await until(lambda: "forget job-1" in handler.calls)
        assert handler.calls == ["start job-1", "stop job-1", "forget job-1"]
        assert server.statuses() == ["inProgress"]

    play(story())


def test_a_job_is_stopped_when_the_server_is_silent_for_longer_than_the_lease() -> None:
    async def story() -> None:
        server, handler = FakeServer("job-1"), Waiting()
        async with serving(server) as url, pulling(url, handler, lease_seconds=0.2):
            await until(lambda: server.reports)
            server.troubles["heartbeat"] = [503] * 10_000
            await until(lambda: "stop job-1" in handler.calls)

    play(story())


def test_a_moment_of_silence_stops_nothing() -> None:
    async def story() -> None:
        server, handler = FakeServer("job-1"), Waiting()
        server.troubles["heartbeat"] = [503, "drop", 500]
        async with serving(server) as url, pulling(url, handler, lease_seconds=60):
            await until(lambda: len(server.beats) > 2)
            handler.gate.set()
            await until(lambda: "successful" in server.statuses())
            await until(lambda: "forget job-1" in handler.calls)
        assert handler.calls == ["start job-1", "forget job-1"]

    play(story())


def test_a_report_is_repeated_until_it_is_taken() -> None:
    async def story() -> None:
        server, handler = FakeServer("job-1"), Waiting()
        handler.gate.set()
        server.troubles["report"] = [503, "drop", 429]
        async with serving(server) as url, pulling(url, handler):
            await until(lambda: "successful" in server.statuses())
        assert server.statuses() == ["inProgress", "successful"]

    play(story())


def test_claiming_goes_on_when_the_server_comes_back() -> None:
    async def story() -> None:
        server, handler = FakeServer("job-1"), Waiting()
        handler.gate.set()
        server.troubles["claim"] = [503, "drop", 500]
        async with serving(server) as url, pulling(url, handler):
            await until(lambda: "successful" in server.statuses())

    play(story())


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_claim_ends_it_with_the_reason(status: int) -> None:
    async def story() -> None:
        server = FakeServer()
        server.troubles["claim"] = [status]
        async with serving(server) as url:
            agent = PullAgent(url, "hg_token", "runner", Waiting(), workspace="home")
            with pytest.raises(RefusedByServerError, match=f"the server answered {status}: no"):
                await agent.run()
            await agent.close()

    play(story())


def test_closing_waits_for_what_runs() -> None:
    async def story() -> None:
        server, handler = FakeServer("job-1"), Waiting()
        async with serving(server) as url, pulling(url, handler, drain_seconds=30) as agent:
            await until(lambda: server.reports)
            closing = asyncio.create_task(agent.close(30))
            await asyncio.sleep(0)
            handler.gate.set()
            await closing
        assert server.statuses() == ["inProgress", "successful"]
        assert handler.calls == ["start job-1", "forget job-1"]

    play(story())


def test_closing_stops_what_does_not_end_in_time() -> None:
    async def story() -> None:
        server, handler = FakeServer("job-1"), Waiting()
        async with serving(server) as url, pulling(url, handler, drain_seconds=0):
            await until(lambda: server.reports)
        assert handler.calls == ["start job-1", "stop job-1", "forget job-1"]

    play(story())


def test_an_end_that_could_not_be_reported_is_found_when_the_job_is_offered_again(tmp_path: Path) -> None:
    config = {"command": f"echo x >> {tmp_path}/runs", "maxAttempts": 3}

    async def story() -> None:
        server = FakeServer("job-1", config=config)
        async with serving(server) as url:
            async with pulling(url, ExecAgent(tmp_path / "exec")):
                await until(lambda: "inProgress" in server.statuses() or (tmp_path / "runs").exists())
                server.troubles["report"] = [503] * 1_000_000
                await until(lambda: (tmp_path / "exec" / "job-1" / "exit").exists())
                await until(lambda: len(server.troubles["report"]) < 1_000_000)
            server.troubles["report"] = []
            server.offers = FakeServer("job-1", config=config).offers
            async with pulling(url, ExecAgent(tmp_path / "exec")):
                await until(lambda: "successful" in server.statuses())
        assert (tmp_path / "runs").read_text() == "x\n"

    play(story())


def test_a_handler_that_must_wait_says_so() -> None:
    class Busy(Waiting):
        async def start(self, assignment: Assignment) -> JobProgress:
            if not self.calls:
                self.calls.append("busy")
                raise TryLaterError("not now", 0.01)
            return JobProgress("successful")

    async def story() -> None:
        server = FakeServer("job-1")
        async with serving(server) as url, pulling(url, Busy()):
            await until(lambda: "successful" in server.statuses())
        assert server.reports == [("job-1", "queued", "not now"), ("job-1", "successful", "")]

    play(story())


def test_an_offer_that_cannot_be_read_is_passed_over() -> None:
    async def story() -> None:
        server, handler = FakeServer("job-1", "job-2"), Waiting()
        handler.gate.set()
        server.offers[0]["job"] = 7
        async with serving(server) as url, pulling(url, handler):
            await until(lambda: "successful" in server.statuses("job-2"))

    play(story())
