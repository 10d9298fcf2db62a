"""Following along: events as lines, the screen, and when it ends."""

from __future__ import annotations

import json
import threading
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest

from headgate.cli import event_stream, watch_lines
from headgate.cli.client import ApiClient
from headgate.cli.contexts import Connection
from headgate.cli.event_stream import Follower, Live, Lost, StreamedEvent
from headgate.screens import tables, watch_screen, watched_fleet

from . import fleet, golden
from .conftest import NOW, Command
from .fake_api import FakeApi, Reply, Request, event, problem


@pytest.fixture(autouse=True)
def a_quick_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_lines, "LEAST_BETWEEN_COUNTS_SECONDS", 0.0)
    monkeypatch.setattr(watch_lines, "LONGEST_WITHOUT_COUNTS_SECONDS", 0.1)


HEADING = watch_screen.Heading("default", "http://127.0.0.1:8080", NOW)
DONE: dict[str, Any] = {
    "deployments": [
        {
            "name": "api",
            "environments": [
                {
                    "name": "prod",
                    "newest": "v1",
                    "newestSuccessful": "v1",
                    "counts": fleet.counts(upToDate=2),
                    "waiting": [],
                }
            ],
        }
    ]
}


def moving(**given: int) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(DONE))
    document["deployments"][0]["environments"][0]["counts"] = fleet.counts(**given)
    return document


def stuck(**given: int) -> dict[str, Any]:
    """Nothing moves any more, and the first target of each state is named."""
    document = moving(upToDate=1, **given)
    document["deployments"][0]["environments"][0] |= {
        "canMove": False,
        "stuckCount": sum(given.values()),
        "stuck": [{"target": "api/prod/node-1", "state": state, "message": f"v2 {state}"} for state in given],
    }
    return document


def snapshot() -> watched_fleet.WatchedFleet:
    return watched_fleet.WatchedFleet(
        fleet.STATUS["deployments"],
        {("kubelet-upgrade", "prod"): fleet.JOBS},
        {("kubelet-upgrade", "prod"): ["node-7"]},
        fleet.BUDGETS,
    )


def test_the_wire_format_is_read() -> None:
    text = (
        b': hello\n\nid: 7\nevent: job\ndata: {"a":\ndata: 1}\n\nretry: 5\n\ndata: plain\r\n\r\ndata: cut off'
    )
    assert list(event_stream.parse(iter(text.splitlines(keepends=True)))) == [
        StreamedEvent("7", "job", {"a": 1}),
        StreamedEvent("7", "message", {"message": "plain"}),
    ]


def test_a_stream_that_breaks_goes_on_behind_the_last_event(api: FakeApi) -> None:
    streams = [[event(1, "a", "one"), event(2, "b", "two")], [event(3, "c", "three")]]
    seen: list[str | None] = []

    def answer(request: Request) -> Reply:
        seen.append(request.headers.get("last-event-id"))
        parts = streams.pop(0)
        return Reply(stream=lambda: iter(parts))

    api.on("GET", "events", answer)
    with ApiClient(Connection(api.url)) as client:
        follower = Follower(client)
        items = []
        for item in follower.items():
            items.append(item)
            if isinstance(item, StreamedEvent) and item.id == "3":
                follower.stop()
    assert [item.id for item in items if isinstance(item, StreamedEvent)] == ["1", "2", "3"]
    assert [type(item) for item in items] == [Live, StreamedEvent, StreamedEvent, Lost, Live, StreamedEvent]
    assert seen == [None, "2"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_is_busy_or_broken_is_asked_for_the_stream_again(status: int, api: FakeApi) -> None:
    answers = [problem(status, "not now"), Reply(stream=lambda: iter([event(1, "a", "one")]))]
    api.on("GET", "events", lambda _: answers.pop(0))
    with ApiClient(Connection(api.url)) as client:
        follower = Follower(client)
        items = []
        for item in follower.items():
            items.append(item)
            if isinstance(item, StreamedEvent):
                follower.stop()
    assert [type(item) for item in items] == [Lost, Live, StreamedEvent]


def test_a_refusal_ends_the_stream(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", moving(waiting=1))
    api.on("GET", "events", problem(403, "no"))
    assert run("watch").exit_code == 5


def test_watch_in_a_pipe_prints_events_until_all_is_done(api: FakeApi, run: Command) -> None:
    ended, over = threading.Event(), threading.Event()
    api.on("GET", "status", lambda _: Reply(DONE if ended.is_set() else moving(running=1)))

    def stream() -> Iterator[bytes]:
        yield event(1, "api/prod/node-1", "api/prod/node-1 v1 started")
        yield event(2, "api/prod/node-1", "api/prod/node-1 v1 successful")
        yield event(3, "other/prod/node-1", "is about something else")
        yield event(
            4, "careful/budget", "the line is stopped in prod", type="budget.stopped", kind="Rule", data={}
        )
        yield event(5, "careful", "a policy of somebody", type="policy.applied", kind="Policy", data={})
        ended.set()
        over.wait(30)

    api.on("GET", "events", Reply(stream=stream))
    result = run("watch", "api", "--until", "converged", "--timeout", "30s")
    over.set()
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "2026-03-01T09:00:00Z  api/prod/node-1 v1 started",
        "2026-03-01T09:00:00Z  api/prod/node-1 v1 successful",
        "2026-03-01T09:00:00Z  the line is stopped in prod",
    ]
    assert "converged after" in result.stderr


def test_watch_prints_events_as_json_lines(api: FakeApi, run: Command) -> None:
    ended, over = threading.Event(), threading.Event()

    def stream() -> Iterator[bytes]:
        yield event(1, "api/prod/node-1", "started")
        ended.set()
        over.wait(30)

    api.on("GET", "status", lambda _: Reply(DONE if ended.is_set() else moving(running=1)))
    api.on("GET", "events", Reply(stream=stream))
    result = run("watch", "--until", "converged", "-o", "json")
    over.set()
    assert json.loads(result.stdout.splitlines()[0])["message"] == "started"


def test_watch_ends_at_once_when_nothing_is_left_to_do(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", DONE)
    assert run("watch", "--until", "converged").exit_code == 0


def test_watch_ends_with_one_when_only_failures_are_left(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", stuck(failed=1))
    result = run("watch", "--until", "converged")
    assert result.exit_code == 1
    assert ": 1 failed; only a person can change that" in result.stderr
    assert "  api/prod/node-1 failed: v2 failed" in result.stderr


@pytest.mark.parametrize("state", ["rolledBack", "waiting", "frozen"])
def test_wait_ends_with_one_at_once_when_only_a_person_can_help(
    state: str, api: FakeApi, run: Command
) -> None:
    api.on("GET", "status", stuck(**{state: 1}))
    result = run("wait", "api")
    assert result.exit_code == 1
    assert "api/prod/node-1" in result.stderr
    assert "headgate explain api/prod/node-1" in result.stderr
    assert api.requests[-1].query["stuck"] == "true"


@pytest.mark.parametrize("state", ["waiting", "frozen"])
def test_wait_for_people_goes_on_until_somebody_has_decided(state: str, api: FakeApi, run: Command) -> None:
    """An approval that nobody has given, a freeze: the same that ends `wait` at once without the option."""
    asked = iter([stuck(**{state: 1})] * 4)
    api.on("GET", "status", lambda _: Reply(next(asked, DONE)))
    api.on("GET", "events", Reply(stream=lambda: iter([])))
    result = run("wait", "api", "--for-people", "--timeout", "30s")
    assert result.exit_code == 0, result.stderr
    assert next(asked, None) is None, "it did not wait"


@pytest.mark.parametrize("state", ["failed", "rolledBack"])
def test_wait_for_people_ends_at_once_where_there_is_nothing_to_decide(
    state: str, api: FakeApi, run: Command
) -> None:
    api.on("GET", "status", stuck(**{state: 1}))
    result = run("wait", "api", "--for-people")
    assert result.exit_code == 1
    assert "api/prod/node-1" in result.stderr


def test_wait_ends_with_zero_when_it_runs(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", DONE)
    result = run("wait", "api", "-e", "prod")
    assert result.exit_code == 0
    assert result.stdout == ""


def test_what_a_person_put_back_is_what_was_asked_for(api: FakeApi, run: Command) -> None:
    document = moving(rolledBack=1, upToDate=1)
    document["deployments"][0]["environments"][0] |= {"canMove": False, "stuckCount": 0, "stuck": []}
    api.on("GET", "status", document)
    assert run("wait").exit_code == 0


def test_wait_goes_on_while_something_can_move_by_itself(api: FakeApi, run: Command) -> None:
    document = stuck(rolledBack=1, waiting=1)
    document["deployments"][0]["environments"][0]["canMove"] = True
    api.on("GET", "status", document)
    api.on("GET", "events", Reply(stream=lambda: iter([])))
    result = run("wait", "--timeout", "1s")
    assert result.exit_code == 1
    assert "`headgate status` says what waits for what" in result.stderr


def test_watch_ends_with_one_when_the_time_is_over(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", moving(waiting=1))
    api.on("GET", "events", Reply(stream=lambda: iter([])))
    result = run("watch", "--until", "converged", "--timeout", "1ms")
    assert result.exit_code == 1
    assert ": 1 waiting;" in result.stderr


def test_watch_outlives_a_server_that_is_away_for_a_while(api: FakeApi, run: Command) -> None:
    answers = [Reply(moving(running=1)), *[problem(503, "the store is away")] * 4, Reply(DONE)]
    api.on("GET", "status", lambda _: answers.pop(0) if len(answers) > 1 else answers[0])
    api.on("GET", "events", lambda _: problem(503, "the store is away"))
    result = run("watch", "--until", "converged", "--timeout", "60s")
    assert result.exit_code == 0, result.output
    assert "not live" in result.stderr


def test_watch_of_an_unknown_deployment_is_refused(api: FakeApi, run: Command) -> None:
    api.on("GET", "status", DONE)
    assert run("watch", "gone").exit_code == 1


@pytest.mark.parametrize(("width", "height"), [(80, 24), (140, 40), (50, 12)])
def test_the_screen_fits_the_terminal(width: int, height: int) -> None:
    text = golden.plain(watch_screen.render(snapshot(), HEADING, width, height))
    lines = text.splitlines()
    assert len(lines) <= height
    assert max(tables.width_of(line) for line in lines) <= width
    golden.compare(f"watch-{width}x{height}", text)


def test_a_screen_that_is_not_live_says_so() -> None:
    heading = watch_screen.Heading("default", "http://x", NOW, "the server closed the stream")
    assert "not live" in golden.plain(watch_screen.render(snapshot(), heading, 80, 24)).splitlines()[0]


@pytest.mark.parametrize("width", [80, 140])
def test_a_screen_that_knows_its_end_still_says_that_it_is_live(width: int) -> None:
    forecast = watched_fleet.WatchedForecast(NOW + 3_600_000_000)
    heading = watch_screen.Heading("default workspace", "http://127.0.0.1:4380", NOW, None, forecast)
    first = golden.plain(watch_screen.render(snapshot(), heading, width, 24)).splitlines()[0]
    assert first.endswith("● live")
    assert "done about 11:00" in first
    assert len(first) == width


def many(count: int) -> list[dict[str, Any]]:
    return [
        {
            **moving(**({"waiting": 5} if number % 3 == 0 else {"upToDate": 5}))["deployments"][0],
            "name": f"d-{number}",
        }
        for number in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 5, 30, 500])
@pytest.mark.parametrize("height", [5, 24, 60])
def test_any_number_of_deployments_fits(count: int, height: int) -> None:
    lines = watch_screen.render(watched_fleet.WatchedFleet(many(count)), HEADING, 80, height)
    assert len(lines) <= height


def test_what_moves_is_shown_before_what_is_done() -> None:
    text = golden.plain(watch_screen.render(watched_fleet.WatchedFleet(many(30)), HEADING, 80, 24))
    assert all(f"d-{number}\n" in text for number in range(0, 27, 3))
    assert "more deployments" in text.splitlines()[-1]


def test_environments_share_the_room_for_details() -> None:
    branches = [
        watch_screen._Branch([], [[watch_screen.StyledText("x")]] * count, "") for count in (10, 1, 3)
    ]
    watch_screen._share(branches, 6)
    assert [branch.room for branch in branches] == [3, 1, 2]


def test_names_cannot_steer_the_screen() -> None:
    deployments = [{**moving(waiting=1)["deployments"][0], "name": "a\x1b[2Jb"}]
    text = golden.plain(watch_screen.render(watched_fleet.WatchedFleet(deployments), HEADING, 80, 24))
    assert not any(unicodedata.category(one) == "Cc" for one in text.replace("\n", ""))


def test_get_watch_prints_what_changes(api: FakeApi, run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    from headgate.cli import watching_lists

    monkeypatch.setattr(watching_lists, "LEAST_BETWEEN_LISTS_SECONDS", 0.0)
    listed: list[list[dict[str, Any]]] = [
        [fleet.job("node-1", "queued"), fleet.job("node-2")],
        [fleet.job("node-1"), fleet.job("node-2")],
        [fleet.job("node-2")],
    ]

    def answer(_: Request) -> Reply:
        if not listed:
            raise_stop.set()
            return problem(403, "enough")
        return Reply({"items": listed.pop(0), "next": None})

    raise_stop = threading.Event()

    def stream() -> Iterator[bytes]:
        number = 0
        while not raise_stop.wait(0.02) and number < 500:
            number += 1
            yield event(number, "x", "something happened")

    api.on("GET", "jobs", answer)
    api.on("GET", "events", Reply(stream=stream))
    result = run("get", "jobs", "--watch")
    assert result.exit_code == 5
    assert [line.split()[0] for line in result.stdout.splitlines()] == [
        "ID",
        "job-node-1",
        "job-node-2",
        "job-node-1",
    ]
    assert "job job-node-1 is gone" in result.stderr
