"""What `watch` shows follows events; only what they do not carry is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headgate.cli import failures, watch_following
from headgate.cli.client import ApiClient
from headgate.cli.contexts import Connection
from headgate.cli.event_stream import Item, Live, Lost, StreamedEvent
from headgate.cli.watch_following import Following

from . import fleet
from .fake_api import FakeApi, Reply, Request, problem

PLACE = ("kubelet-upgrade", "prod")
AT = "2026-03-01T09:59:00Z"
SHOWN_AT_FIRST = 1 + 4 + 1 + 1 + 4
"""Counts, jobs and groups by status, who failed, budgets."""


def page(*items: dict[str, Any]) -> dict[str, Any]:
    return {"items": list(items), "next": None}


def group(identity: str, **more: Any) -> dict[str, Any]:
    member = {"deployment": "kubelet-upgrade", "role": "member", "state": "waiting"}
    given = {"id": identity, "policy": "Node Lifecycle", "environment": "prod", "resource": "node-5"}
    return {**given, "status": "executing", "members": [member], "reason": None, **more}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_following, "LEAST_BETWEEN_QUESTIONS_SECONDS", 0.0)
    monkeypatch.setattr(watch_following, "LONGEST_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(watch_following, "REST_PER_SECOND_OF_WORK", 0.0)


@pytest.fixture
def fleet_api(api: FakeApi) -> FakeApi:
    def status(request: Request) -> Reply:
        wanted = request.query.get("deployment")
        known = [one for one in fleet.STATUS["deployments"] if wanted in (None, one["name"])]
        return Reply({"deployments": known}) if known else problem(404, f"there is no deployment {wanted}")

    api.on("GET", "status", status)
    api.on(
        "GET", "jobs", lambda one: Reply(page(*fleet.JOBS) if one.query["status"] == "inProgress" else page())
    )
    failed = {"deployment": "kubelet-upgrade", "environment": "prod", "resource": "node-7"}
    api.on("GET", "release-targets", page(failed))
    api.on("GET", "budgets", page(*fleet.BUDGETS))
    api.on("GET", "groups", page())
    return api


@pytest.fixture
def following(fleet_api: FakeApi) -> Iterator[Following]:
    with ApiClient(Connection(fleet_api.url)) as client:
        found = Following(client, (), asks_for_stuck=False)
        found.take([Live()])
        found.begin()
        assert len(fleet_api.requests) == SHOWN_AT_FIRST
        fleet_api.requests.clear()
        yield found


def happened(type_: str, kind: str, name: str, /, **data: object) -> StreamedEvent:
    return StreamedEvent(
        "7", type_, {"seq": 7, "at": AT, "type": type_, "kind": kind, "name": name, "data": data}
    )


def job(status: str, resource: str = "node-5", **more: object) -> StreamedEvent:
    data = {"deployment": PLACE[0], "environment": PLACE[1], "resource": resource, "version": "v1.29.2"}
    live = "pending" if status == "created" else status
    return happened(
        f"job.{status}", "Job", f"job-{resource}", **{**data, "status": live, "kind": "deploy", **more}
    )


def asked(api: FakeApi, following: Following, *items: Item) -> list[str]:
    """What these make it ask for."""
    api.requests.clear()
    following.take(items)
    following.catch_up()
    return [" ".join([one.path, one.query.get("deployment", "")]).strip() for one in api.requests]


def test_a_job_that_begins_is_shown_and_changes_what_its_neighbours_wait_for(
    fleet_api: FakeApi, following: Following
) -> None:
    assert asked(fleet_api, following, job("created")) == ["status kubelet-upgrade", "budgets"]
    shown = following.snapshot.jobs[PLACE][-1]
    assert (shown["resource"], shown["status"], shown["createdAt"]) == ("node-5", "pending", AT)


def test_a_job_that_goes_on_is_all_in_its_event(fleet_api: FakeApi, following: Following) -> None:
    asked(fleet_api, following, job("created"))
    assert asked(fleet_api, following, job("inProgress", message="draining")) == []
    shown = next(one for one in following.snapshot.jobs[PLACE] if one["id"] == "job-node-5")
    assert (shown["status"], shown["startedAt"], shown["message"]) == ("inProgress", AT, "draining")


def test_a_job_that_ends_is_no_longer_shown(fleet_api: FakeApi, following: Following) -> None:
    assert asked(fleet_api, following, job("successful", "node-3")) == ["status kubelet-upgrade", "budgets"]
    assert [one["resource"] for one in following.snapshot.jobs[PLACE]] == ["node-4"]


def test_many_events_are_one_question(fleet_api: FakeApi, following: Following) -> None:
    events = [
        job(status, f"node-{number}") for number in range(10, 110) for status in ("created", "successful")
    ]
    assert asked(fleet_api, following, *events) == ["status kubelet-upgrade", "budgets"]


def test_the_same_event_twice_is_the_same_as_once(fleet_api: FakeApi, following: Following) -> None:
    asked(fleet_api, following, job("created"), job("created"))
    assert len(following.snapshot.jobs[PLACE]) == 3


def test_what_concerns_every_deployment_asks_for_all_counts(fleet_api: FakeApi, following: Following) -> None:
    assert asked(fleet_api, following, happened("freeze.begun", "Freeze", "holidays")) == ["status"]
    assert asked(fleet_api, following, happened("policy.applied", "Policy", "careful")) == [
        "status",
        "budgets",
    ]


def test_a_version_asks_for_its_deployment_alone(fleet_api: FakeApi, following: Following) -> None:
    event = happened("version.published", "Version", "os-patch/2026-03", user="me")
    assert asked(fleet_api, following, event) == ["status os-patch"]
    unknown = happened("version.published", "Version", "fresh/v1", user="me")
    assert asked(fleet_api, following, unknown) == ["status"]


def test_a_deployment_that_is_gone_asks_for_all_counts(fleet_api: FakeApi, following: Following) -> None:
    event = happened("job.cancelled", "Job", "j", deployment="gone", environment="prod", status="cancelled")
    assert asked(fleet_api, following, event) == ["status gone", "status", "budgets"]


def test_a_target_that_fails_is_named_at_once(fleet_api: FakeApi, following: Following) -> None:
    event = happened(
        "target.failed", "ReleaseTarget", "kubelet-upgrade/prod/node-8",
        deployment=PLACE[0], environment=PLACE[1], resource="node-8",
    )  # fmt: skip
    following.take([event])
    assert following.snapshot.failed[PLACE] == ["node-7", "node-8"]


def test_a_group_is_asked_for_by_its_id_and_goes_with_its_end(
    fleet_api: FakeApi, following: Following
) -> None:
    fleet_api.on("GET", "groups g1", group("g1"))
    began = happened("group.executing", "Group", "g1", status="executing")
    assert asked(fleet_api, following, began) == ["groups g1", "status kubelet-upgrade", "budgets"]
    assert asked(fleet_api, following, job("created", group="g1")) == ["status kubelet-upgrade", "budgets"]
    assert following.snapshot.groups[0]["members"][0]["state"] == "running"
    ended = happened("group.completed", "Group", "g1", status="completed")
    assert asked(fleet_api, following, ended) == ["status kubelet-upgrade", "budgets"]
    assert following.snapshot.groups == []


def test_many_groups_are_asked_for_together(fleet_api: FakeApi, following: Following) -> None:
    events = [happened("group.queued", "Group", f"g{number}", status="queued") for number in range(30)]
    assert asked(fleet_api, following, *events) == ["groups"] * 4 + ["budgets"]


def test_a_stream_that_goes_on_behind_its_last_event_asks_for_nothing(
    fleet_api: FakeApi, following: Following
) -> None:
    assert asked(fleet_api, following, Lost("the server closed the stream")) == []
    assert following.trouble == "the server closed the stream"
    assert asked(fleet_api, following, Live(resumed=True)) == []
    assert following.trouble is None


@pytest.mark.parametrize("item", [Live(), StreamedEvent("9", "gap", {"after": 1, "until": 9})])
def test_what_was_missed_is_asked_for_once(item: Item, fleet_api: FakeApi, following: Following) -> None:
    assert len(asked(fleet_api, following, item)) == SHOWN_AT_FIRST
    assert asked(fleet_api, following) == []


def test_a_follower_that_cannot_answer_is_asked_again(fleet_api: FakeApi, following: Following) -> None:
    answers = [problem(503, "this process is behind"), problem(429, "too many")]
    whole = fleet_api._answers["GET", "status"]
    fleet_api.on("GET", "status", lambda one: answers.pop(0) if answers else whole(one))
    assert asked(fleet_api, following, job("successful", "node-3")) == ["status kubelet-upgrade"]
    assert following.trouble is not None
    assert "this process is behind" in following.trouble
    assert asked(fleet_api, following) == ["status kubelet-upgrade"]
    assert asked(fleet_api, following) == ["status kubelet-upgrade", "budgets"]
    assert following.trouble is None


def test_a_token_that_was_taken_away_ends_it(fleet_api: FakeApi, following: Following) -> None:
    fleet_api.on("GET", "status", problem(401, "the token has expired"))
    with pytest.raises(failures.CommandFailure):
        asked(fleet_api, following, job("successful", "node-3"))


def test_events_of_others_ask_for_nothing_if_one_deployment_is_watched(fleet_api: FakeApi) -> None:
    with ApiClient(Connection(fleet_api.url)) as client:
        following = Following(client, ("os-patch",), asks_for_stuck=False)
        following.begin()
        assert asked(fleet_api, following, job("successful", "node-3")) == ["budgets"]
