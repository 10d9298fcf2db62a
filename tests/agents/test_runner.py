"""The runner: every order is run once, whatever happens to the runner, the store or whoever listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from headgate.agents.port import Agent, Assignment, JobProgress, TryLaterError
from headgate.agents.runner import AgentRunner
from headgate.kernel import instants
from headgate.kernel.problems import Problem, Rejected
from headgate.store import Store, UnavailableError

from .support import HOME, QUICK, Reports, cancel, clock, opened, order, play, put, until

DONE = JobProgress("successful", "done")
RUNNING = JobProgress("inProgress", "running", "run-7", {"run": "http://x/7"}, 0.01)


class Scripted(Agent):
    """Answers as told; each answer is a Progress, an exception to raise, or a function to call."""

    type = "fake"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls: list[tuple[str, str]] = []
        self.states: list[dict[str, Any]] = []
        self.stop_errors: list[Exception] = []
        self.left: str | None = None
        self.is_closed = False

    async def start(self, assignment: Assignment) -> JobProgress:
        return await self._answer("start", assignment)

    async def follow(self, assignment: Assignment) -> JobProgress:
        return await self._answer("follow", assignment)

    async def _answer(self, call: str, assignment: Assignment) -> JobProgress:
        self.calls.append((call, assignment.job.id))
        self.states.append(dict(assignment.state))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, JobProgress):
            return answer
        result: JobProgress = await answer(assignment)
        return result

    async def stop(self, assignment: Assignment) -> str | None:
        self.calls.append(("stop", assignment.job.id))
        if self.stop_errors:
            raise self.stop_errors.pop(0)
        return self.left

    async def forget(self, assignment: Assignment) -> None:
        self.calls.append(("forget", assignment.job.id))

    async def close(self) -> None:
        self.is_closed = True

    def names(self) -> list[str]:
        return [call for call, _ in self.calls]


@pytest.fixture
def store() -> Any:
    found = opened()
    yield found
    found.close()


def runner_of(store: Store, agent: Agent, reports: Reports, holder: str = "one", **given: Any) -> AgentRunner:
    options = {"poll_seconds": 0.02, "backoff": QUICK} | given
    return AgentRunner(store, reports, clock, holder, [agent], **options)


@asynccontextmanager
async def running(runner: AgentRunner) -> AsyncIterator[None]:
    task = asyncio.create_task(runner.run())
    try:
        yield
    finally:
        await runner.close()
        await task


def is_gone(store: Store, job: str = "job-1") -> Callable[[], bool]:
    return lambda: store.dispatch(HOME, job) is None


def test_a_job_is_started_followed_reported_and_forgotten(store: Store) -> None:
    async def story() -> None:
        agent, reports = Scripted(RUNNING, RUNNING, DONE), Reports()
        put(store, order())
        async with running(runner_of(store, agent, reports)):
            await until(is_gone(store))
            await until(lambda: "forget" in agent.names())
        assert agent.names() == ["start", "follow", "follow", "forget"]
        assert [(each.status, each.message) for each in reports.taken] == [
            ("inProgress", "running"),
            ("successful", "done"),
        ]
        assert reports.taken[0].external_id == "run-7"
        assert reports.taken[0].links == {"run": "http://x/7"}

    play(story())


class AttentiveAgent(Scripted):
    """Hears at once when something is new."""

    is_told = True

    def __init__(self, *answers: Any) -> None:
        super().__init__(*answers)
        self.rests: list[float] = []

    async def rest(self, assignment: Assignment, seconds: float) -> None:
        self.rests.append(seconds)


def test_a_job_that_is_watched_is_kept_in_hand_while_there_is_room(store: Store) -> None:
    async def story() -> None:
        watched = JobProgress("inProgress", requeue_seconds=5)
        agent = AttentiveAgent(watched, watched, DONE)
        put(store, order())
        async with running(runner_of(store, agent, Reports())):
            await until(is_gone(store))
        assert agent.rests == [5, 5]
        full = AttentiveAgent(watched)
        put(store, order("job-2"))
        runner = runner_of(store, full, Reports(), most_at_once=1)
        async with running(runner):
            await until(lambda: bool(full.calls) and runner.held == 0)
        assert full.rests == []

    play(story())


def test_what_is_due_later_is_put_down_until_then(store: Store) -> None:
    async def story() -> None:
        put(store, order())
        agent = Scripted(JobProgress("inProgress", requeue_seconds=1_000))
        runner = runner_of(store, agent, Reports())
        async with running(runner):
            await until(lambda: agent.calls and runner.held == 0)
            found = store.dispatch(HOME, "job-1")
        assert found is not None
        assert found.claimed_by is None
        assert found.not_before > clock() + instants.seconds(900)

    play(story())


def test_a_job_that_others_report_is_put_down_until_its_deadline(store: Store) -> None:
    async def story() -> None:
        one = order()
        put(store, one)
        agent = Scripted(JobProgress("inProgress"))
        runner = runner_of(store, agent, Reports())
        async with running(runner):
            await until(lambda: agent.calls and runner.held == 0)
            found = store.dispatch(HOME, "job-1")
        assert found is not None
        assert found.not_before == one.deadline_at

    play(story())


def test_an_agent_that_cannot_be_reached_is_tried_again_and_the_job_says_so(store: Store) -> None:
    async def story() -> None:
        put(store, order())
        agent = Scripted(TryLaterError("ci:443 cannot be reached"), TryLaterError("still not", 0.01), DONE)
        reports = Reports()
        async with running(runner_of(store, agent, reports)):
            await until(is_gone(store))
        assert agent.names()[:3] == ["start", "start", "start"]
        assert reports.statuses() == ["queued", "queued", "successful"]
        message = reports.taken[0].message or ""
        assert message.startswith("ci:443 cannot be reached; tried again at ")
        assert message.endswith("UTC")

    play(story())


def test_a_started_job_keeps_its_status_while_its_agent_cannot_be_reached(store: Store) -> None:
    async def story() -> None:
        put(store, order())
        agent = Scripted(RUNNING, TryLaterError("gone"), RUNNING, DONE)
        reports = Reports()
        async with running(runner_of(store, agent, reports)):
            await until(is_gone(store))
        assert reports.statuses() == ["inProgress", "inProgress", "inProgress", "successful"]
        assert [(each.message or "")[:7] for each in reports.taken] == [
            "running",
            "gone; t",
            "running",
            "done",
        ]

    play(story())


def test_an_agent_that_breaks_is_tried_again_without_its_words(store: Store) -> None:
    async def story() -> None:
        put(store, order())
        agent, reports = Scripted(KeyError("a secret"), DONE), Reports()
        async with running(runner_of(store, agent, reports)):
            await until(is_gone(store))
        assert (reports.taken[0].message or "").startswith("the fake agent failed: KeyError; tried again")

    play(story())


def test_a_config_that_cannot_be_used_ends_the_job_and_names_the_field(store: Store) -> None:
    async def story() -> None:
        put(store, order())
        agent, reports = Scripted(Rejected([Problem("config.url", "is required")])), Reports()
        async with running(runner_of(store, agent, reports)):
            await until(is_gone(store))
        assert reports.last().status == "invalidIntegration"
        assert reports.last().message == "config.url: is required"

    play(story())


def test_a_type_without_an_agent_ends_the_job_and_names_those_there_are(store: Store) -> None:
    async def story() -> None:
        put(store, order(type="terraform"))
        reports = Reports()
        async with running(runner_of(store, Scripted(DONE), reports, refused=["terraform"])):
            await until(is_gone(store))
        assert reports.last().status == "invalidJobAgent"
        assert reports.last().message == 'the job agent\'s type is "terraform"; this server runs fake'

    play(story())


def test_an_order_that_cannot_be_read_ends_the_job(store: Store) -> None:
    async def story() -> None:
        put(store, order(document=b'{"job": 7}'))
        reports = Reports()
        async with running(runner_of(store, Scripted(DONE), reports)):
            await until(is_gone(store))
        assert reports.last().status == "invalidIntegration"

    play(story())


def test_a_report_is_repeated_until_it_is_taken(store: Store) -> None:
    async def story() -> None:
        put(store, order())
        agent, reports = Scripted(RUNNING, DONE), Reports(failing=5)
        async with running(runner_of(store, agent, reports)):
            await until(is_gone(store))
        assert reports.statuses() == ["inProgress", "successful"]

    play(story())


def test_a_report_that_is_refused_for_good_is_dropped(store: Store) -> None:
    async def story() -> None:
        async def refuse(workspace: str, change: object) -> None:
            raise Rejected([Problem("status", "is wrong")])

        put(store, order())
        runner = AgentRunner(store, refuse, clock, "one", [Scripted(DONE)], poll_seconds=0.02, backoff=QUICK)
        async with running(runner):
            await until(is_gone(store))

    play(story())


def test_nothing_new_is_not_reported_again(store: Store) -> None:
    async def story() -> None:
        put(store, order())
        agent, reports = Scripted(*[RUNNING] * 10, DONE), Reports()
        async with running(runner_of(store, agent, reports)):
            await until(is_gone(store))
        assert reports.statuses() == ["inProgress", "successful"]

    play(story())


def test_a_start_that_was_cut_off_finds_what_was_kept(store: Store) -> None:
    async def story() -> None:
        began = asyncio.Event()

        async def begin(assignment: Assignment) -> JobProgress:
            await assignment.keep(dispatched=True)
            began.set()
            await asyncio.Event().wait()
            return DONE

        put(store, order())
        first = asyncio.create_task(runner_of(store, Scripted(begin), Reports(), lease_seconds=0.3).run())
        await began.wait()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        second, reports = Scripted(DONE), Reports()
        async with running(runner_of(store, second, reports, "two")):
            await until(is_gone(store))
        assert second.names()[0] == "start"
        assert second.states[0] == {"dispatched": True}

    play(story())


def test_a_clean_end_hands_the_job_over_at_once(store: Store) -> None:
    async def story() -> None:
        put(store, order())
        first, second, reports = Scripted(RUNNING), Scripted(DONE), Reports()
        runner = runner_of(store, first, reports, lease_seconds=1_000)
        async with running(runner):
            await until(lambda: len(first.calls) > 2)
        found = store.dispatch(HOME, "job-1")
        assert found is not None
        assert found.claimed_by is None
        async with running(runner_of(store, second, reports, "two")):
            await until(is_gone(store))
        assert second.names() == ["follow", "forget"]
        assert first.is_closed

    play(story())


def test_a_clean_end_in_the_middle_of_a_start_hands_the_job_over(store: Store) -> None:
    async def story() -> None:
        began = asyncio.Event()

        async def begin(assignment: Assignment) -> JobProgress:
            began.set()
            await asyncio.Event().wait()
            return DONE

        put(store, order())
        runner = runner_of(store, Scripted(begin), Reports(), lease_seconds=1_000)
        task = asyncio.create_task(runner.run())
        await began.wait()
        await runner.close(grace_seconds=0.05)
        await task
        found = store.dispatch(HOME, "job-1")
        assert found is not None
        assert found.claimed_by is None

    play(story())


def test_an_end_that_was_seen_but_not_reported_is_reported_by_the_next_one(store: Store) -> None:
    async def story() -> None:
        put(store, order())
        deaf = Reports(failing=1_000_000)
        first = runner_of(store, Scripted(DONE), deaf)
        task = asyncio.create_task(first.run())
        await until(lambda: deaf.failing < 999_998)
        await first.close(grace_seconds=0.01)
        await task
        second, reports = Scripted(DONE), Reports()
        async with running(runner_of(store, second, reports, "two")):
            await until(is_gone(store))
        assert reports.statuses() == ["successful"]
        assert second.calls == []

    play(story())


def test_many_runners_start_each_job_once(tmp_path: Path) -> None:
    async def story() -> None:
        url = f"sqlite:///{tmp_path / 'headgate.db'}"
        stores = [opened(url) for _ in range(3)]
        agent, reports = Scripted(DONE), Reports()
        jobs = [f"job-{number}" for number in range(40)]
        put(stores[0], *(order(job) for job in jobs))
        runners = [
            runner_of(each, agent, reports, f"runner-{index}", most_at_once=5)
            for index, each in enumerate(stores)
        ]
        tasks = [asyncio.create_task(runner.run()) for runner in runners]
        await until(lambda: len(reports.taken) >= len(jobs))
        for runner in runners:
            await runner.close()
        await asyncio.gather(*tasks)
        assert sorted(job for call, job in agent.calls if call == "start") == sorted(jobs)
        for each in stores:
            each.close()

    play(story())


def test_no_more_are_held_than_allowed(store: Store) -> None:
    async def story() -> None:
        most = 0

        async def slow(assignment: Assignment) -> JobProgress:
            nonlocal most
            most = max(most, runner.held)
            await asyncio.sleep(0.01)
            return DONE

        put(store, *(order(f"job-{number}", agent=f"agent-{number % 3}") for number in range(12)))
        reports = Reports()
        runner = runner_of(store, Scripted(slow), reports, most_at_once=3)
        async with running(runner):
            await until(lambda: len(reports.taken) == 12)
        assert most == 3

    play(story())


def test_an_agent_whose_other_side_hangs_leaves_room_for_the_others(store: Store) -> None:
    async def story() -> None:
        async def answer(assignment: Assignment) -> JobProgress:
            if assignment.job.id.startswith("hung"):
                await asyncio.Event().wait()
            return DONE

        hung = [order(f"hung-{number}", agent=f"hung-{number % 2}", created_at=1) for number in range(60)]
        put(store, *hung, *(order(f"well-{number}", agent="well", created_at=2) for number in range(9)))
        agent, reports = Scripted(answer), Reports()
        runner = runner_of(store, agent, reports, most_at_once=16)
        async with running(runner):
            await until(lambda: len(reports.taken) == 9)
            assert {change.job[:4] for change in reports.taken} == {"well"}
            assert 10 <= runner.held <= 15

    play(story())


def test_an_agent_that_cannot_be_stopped_leaves_room_for_the_others(store: Store) -> None:
    async def story() -> None:
        class Hanging(Scripted):
            async def stop(self, assignment: Assignment) -> str | None:
                if assignment.job.id.startswith("hung"):
                    await asyncio.Event().wait()
                return await super().stop(assignment)

        jobs = [f"hung-{number}" for number in range(20)] + ["well"]
        put(store, *(order(job, agent=job[:4], claimed_by="lost", claimed_until=1) for job in jobs))
        for job in jobs:
            cancel(store, job)
        agent = Hanging(DONE)
        async with running(runner_of(store, agent, Reports(), most_at_once=8)):
            await until(is_gone(store, "well"))

    play(story())


def test_a_claim_is_renewed_while_there_is_work(store: Store) -> None:
    async def story() -> None:
        release = asyncio.Event()

        async def wait(assignment: Assignment) -> JobProgress:
            await release.wait()
            return DONE

        put(store, order())
        agent = Scripted(wait)
        async with running(runner_of(store, agent, Reports(), lease_seconds=0.6)):
            await until(lambda: agent.calls)
            first = store.dispatch(HOME, "job-1")
            assert first is not None
            assert first.claimed_until is not None
            later = first.claimed_until + instants.seconds(1)
            await until(lambda: (getattr(store.dispatch(HOME, "job-1"), "claimed_until", 0) or 0) > later)
            release.set()
            await until(is_gone(store))
        assert agent.names() == ["start", "forget"]

    play(story())


def test_work_ends_when_the_claim_is_lost(store: Store) -> None:
    async def story() -> None:
        ended = asyncio.Event()

        async def wait(assignment: Assignment) -> JobProgress:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return DONE

        put(store, order())
        agent, reports = Scripted(wait), Reports()
        async with running(runner_of(store, agent, reports, lease_seconds=0.3, poll_seconds=100)):
            await until(lambda: agent.calls)
            store.claim_dispatches(
                holder="two", now=clock() + instants.hours(1), seconds=3600, limit=1, types=["fake"]
            )
            await ended.wait()
        assert reports.taken == []
        found = store.dispatch(HOME, "job-1")
        assert found is not None
        assert found.claimed_by == "two"

    play(story())


def test_a_cancelled_job_is_stopped_in_the_middle_of_its_work(store: Store) -> None:
    async def story() -> None:
        async def wait(assignment: Assignment) -> JobProgress:
            await asyncio.Event().wait()
            return DONE

        put(store, order())
        agent = Scripted(wait)
        async with running(runner_of(store, agent, Reports())):
            await until(lambda: agent.calls)
            cancel(store, "job-1")
            await until(is_gone(store))
        assert agent.names() == ["start", "stop", "forget"]

    play(story())


def test_a_cancelled_job_that_was_put_down_is_stopped_with_what_was_kept(store: Store) -> None:
    async def story() -> None:
        async def begin(assignment: Assignment) -> JobProgress:
            await assignment.keep(run=7)
            return JobProgress("inProgress", requeue_seconds=1_000)

        put(store, order())
        agent = Scripted(begin)
        runner = runner_of(store, agent, Reports())
        async with running(runner):
            await until(lambda: agent.calls and runner.held == 0)
            cancel(store, "job-1")
            await until(is_gone(store))
        assert agent.names() == ["start", "stop", "forget"]

    play(story())


def test_stopping_is_tried_until_it_succeeds(store: Store) -> None:
    async def story() -> None:
        put(store, order())
        agent = Scripted(JobProgress("inProgress", requeue_seconds=1_000))
        agent.stop_errors = [TryLaterError("not now"), TryLaterError("not yet", 0.01)]
        runner = runner_of(store, agent, Reports())
        async with running(runner):
            await until(lambda: agent.calls and runner.held == 0)
            cancel(store, "job-1")
            await until(is_gone(store))
        assert agent.names() == ["start", "stop", "stop", "stop", "forget"]

    play(story())


def test_a_cancelled_job_that_another_runner_holds_is_left_to_it(store: Store) -> None:
    async def story() -> None:
        put(store, order())
        store.claim_dispatches(holder="two", now=clock(), seconds=3600, limit=1, types=["fake"])
        cancel(store, "job-1")
        agent = Scripted(DONE)
        looks = 0
        look = store.cancelled_dispatches

        def counted(types: Any) -> Any:
            nonlocal looks
            looks += 1
            return look(types)

        store.cancelled_dispatches = counted  # type: ignore[method-assign]
        async with running(runner_of(store, agent, Reports())):
            await until(lambda: looks > 3)
        assert agent.calls == []

    play(story())


def test_a_job_past_its_deadline_is_stopped_and_timed_out(store: Store) -> None:
    async def story() -> None:
        put(store, order(deadline_at=clock() + instants.seconds(0.2)))
        agent, reports = Scripted(RUNNING), Reports()
        async with running(runner_of(store, agent, reports)):
            await until(is_gone(store))
        assert reports.statuses() == ["inProgress", "timedOut"]
        assert agent.names()[-2:] == ["stop", "forget"]

    play(story())


def test_a_job_past_its_deadline_says_what_it_waited_for_and_what_it_leaves(store: Store) -> None:
    async def story() -> None:
        put(store, order(deadline_at=clock() + instants.seconds(0.2)))
        waiting = JobProgress("inProgress", "waiting for a", requeue_seconds=0.01)
        agent, reports = Scripted(waiting), Reports()
        agent.stop_errors = [TryLaterError("not now")]
        agent.left = "a is as it was"
        async with running(runner_of(store, agent, reports)):
            await until(is_gone(store))
        reason = "it did not end in time; the last it said: waiting for a"
        assert [change.message for change in reports.taken] == [
            "waiting for a",
            f"{reason}; stopping it: not now",
            f"{reason}; a is as it was",
        ]

    play(story())


def test_a_job_that_times_out_and_cannot_be_stopped_is_tried_again(store: Store) -> None:
    async def story() -> None:
        put(store, order(deadline_at=clock()))
        agent, reports = Scripted(RUNNING), Reports()
        agent.stop_errors = [TryLaterError("not now")]
        async with running(runner_of(store, agent, reports)):
            await until(is_gone(store))
        assert reports.statuses() == ["timedOut", "timedOut"]
        assert reports.taken[0].message == "it did not end in time; stopping it: not now"
        assert agent.names() == ["stop", "stop", "forget"]

    play(story())


def test_waking_it_makes_it_look_at_once(store: Store) -> None:
    async def story() -> None:
        agent = Scripted(DONE)
        runner = runner_of(store, agent, Reports(), poll_seconds=1_000)
        async with running(runner):
            await asyncio.to_thread(put, store, order())
            while not agent.calls:
                await asyncio.to_thread(runner.wake)
                await asyncio.sleep(0.005)
            await until(is_gone(store))

    play(story())


def test_it_goes_on_when_the_store_comes_back(store: Store) -> None:
    async def story() -> None:
        failures = {
            "claim_dispatches": 3,
            "save_dispatch": 3,
            "finish_dispatch": 3,
            "cancelled_dispatches": 2,
        }

        def failing(name: str) -> Callable[..., Any]:
            call = getattr(store, name)

            def attempt(*arguments: Any, **given: Any) -> Any:
                if failures[name] > 0:
                    failures[name] -= 1
                    raise UnavailableError("gone")
                return call(*arguments, **given)

            return attempt

        for name in failures:
            setattr(store, name, failing(name))
        put(store, order())
        agent, reports = Scripted(RUNNING, DONE), Reports()
        async with running(runner_of(store, agent, reports)):
            await until(is_gone(store))
        assert reports.statuses() == ["inProgress", "successful"]
        assert agent.names()[:2] == ["start", "follow"]

    play(story())
