"""The screen of `watch` where brackets run: a line a node, who is next, and when it will be over."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.kernel import instants
from headgate.screens import styled_text, watch_nodes, watch_screen, watched_fleet

from . import fleet, golden
from .conftest import NOW

MEMBERS = (("node-drain", "preHook"), ("kubelet-upgrade", "member"), ("node-uncordon", "postHook"))


def group(resource: str, status: str, *states: str, reason: str = "") -> dict[str, Any]:
    started = "2026-03-01T09:48:00Z" if status in ("executing", "failed") else None
    return {
        "policy": "Node Lifecycle",
        "environment": "prod",
        "resource": resource,
        "status": status,
        "createdAt": "2026-03-01T09:00:00Z",
        "startedAt": started,
        "reason": reason,
        "members": sorted(
            (
                {"deployment": name, "role": role, "state": state}
                for (name, role), state in zip(MEMBERS, states)
            ),
            key=lambda member: member["deployment"],
        ),
    }


GROUPS = [
    group("node-3", "executing", "succeeded", "running", "waiting"),
    group("node-7", "failed", "succeeded", "failed", "waiting", reason="kubelet-upgrade v2: exit code 1"),
    group("node-10", "ready", "waiting", "waiting", "waiting"),
    group("node-5", "ready", "waiting", "waiting", "waiting"),
    group("node-9", "queued", "waiting", "unchanged", "waiting"),
]
FORECAST = watched_fleet.WatchedForecast.read(
    {
        "finishAt": "2026-03-01T11:30:00Z",
        "starts": [
            {"environment": "prod", "resource": "node-5", "at": "2026-03-01T10:05:00Z"},
            {"environment": "prod", "resource": "node-10", "at": "2026-03-01T10:20:00Z"},
        ],
    }
)


def snapshot() -> watched_fleet.WatchedFleet:
    base = watched_fleet.WatchedFleet(fleet.STATUS["deployments"], {("kubelet-upgrade", "prod"): fleet.JOBS})
    return msgspec.structs.replace(base, groups=GROUPS)


def lines(room: int = 20, forecast: watched_fleet.WatchedForecast = FORECAST) -> list[str]:
    return texts_of(watch_nodes.render(snapshot(), forecast, NOW, room))


def texts_of(rendered: list[styled_text.Line]) -> list[str]:
    return ["".join(span.text for span in line).rstrip() for line in rendered]


def test_a_node_in_work_has_one_line_with_all_that_runs_there() -> None:
    assert "  ▶ node-3     12m  ✓ node-drain  ▶ kubelet-upgrade  · node-uncordon" in lines()


def test_a_node_that_failed_comes_first_and_says_why() -> None:
    assert lines()[:2] == [
        "Node Lifecycle in prod  2 in work, 3 to come",
        "  ✗ node-7     12m  ✓ node-drain  ✗ kubelet-upgrade  · node-uncordon  kubelet-upgrade v2: exit code 1",
    ]


def test_the_next_ones_are_named_first_with_their_time() -> None:
    assert lines()[-1] == "  · next: node-5 10:05, node-10 10:20, node-9"


def test_without_a_forecast_they_go_by_name() -> None:
    assert lines(forecast=watched_fleet.WatchedForecast())[-1] == "  · next: node-10, node-5, node-9"


def test_what_does_not_fit_is_counted() -> None:
    assert len(lines(room=3)) == 3
    assert lines(room=3)[-1].startswith("  and 2 more lines")
    assert lines(room=0) == []


def test_jobs_that_are_told_by_node_are_not_told_again_by_deployment() -> None:
    heading = watch_screen.Heading("default", "http://x", NOW, forecast=FORECAST)
    screen = golden.plain(watch_screen.render(snapshot(), heading, 140, 40))
    assert "node-3     12m" in screen
    assert "inProgress" not in screen
    assert "done about 11:30" in screen


def test_nothing_is_promised_while_somebody_is_waited_for() -> None:
    document: dict[str, Any] = {"finishAt": None, "starts": []}
    assert watched_fleet.WatchedForecast.read(document).finish_at is None
    assert FORECAST.finish_at == instants.parse("2026-03-01T11:30:00Z")
