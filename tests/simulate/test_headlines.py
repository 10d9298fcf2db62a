"""What explain says first: what really holds the target now, and whether only a person can change it."""

from typing import Any

from headgate.simulate.model.result import Explained, Result

from .small import fleet, manifest, play, publish

RETRY = {"retry": {"maxRetries": 3, "backoffSeconds": 300}}
VERIFIED = {
    "verification": {
        "metrics": [
            {
                "name": "errors",
                "provider": {"type": "http", "url": "http://metrics.example"},
                "successCondition": "result.ok == true",
            }
        ]
    }
}
V2_FAILS = [{"match": "version.tag == 'v2'", "duration": "2m", "outcomes": ["failure"]}]
V2_IS_BAD = [
    {"match": "version.tag == 'v2'", "duration": "2m", "measurements": {"errors": [{"ok": False}]}},
    {"match": "true", "measurements": {"errors": [{"ok": True}]}},
]


def ask(at: str, target: str = "api/prod/node-1") -> dict[str, Any]:
    return {"at": at, "explain": {"target": target}}


def freeze(at: str, until: str) -> dict[str, Any]:
    words = {"name": "audit", "selector": "true", "reason": "audit", "user": "bo", "expiresAt": until}
    return {"at": at, "freeze": words}


def ruled(*rules: dict[str, Any], nodes: int = 1) -> list[dict[str, Any]]:
    return [*fleet(nodes), manifest("Policy", "careful", rules=list(rules))]


def headlines(result: Result) -> list[str]:
    return [one.message for one in result.explanations]


def test_a_backoff_that_alone_holds_the_next_attempt_is_named() -> None:
    result = play(
        publish(), publish("v2", "+60m"), ask("+63m"), objects=ruled(RETRY), agents=V2_FAILS, until="+2h"
    )
    assert headlines(result) == ["the next attempt is made at 2026-03-01T10:07:00Z"]


def test_a_window_holds_the_attempt_whose_backoff_is_over() -> None:
    window = {
        "deploymentWindow": {"rrule": "FREQ=HOURLY;BYHOUR=9,10;BYMINUTE=0;BYSECOND=0", "durationMinutes": 2}
    }
    result = play(
        publish(),
        publish("v2", "+60m"),
        ask("+70m"),
        objects=ruled(RETRY, window),
        agents=V2_FAILS,
        until="+3h",
    )
    assert headlines(result) == ["v2: the window is closed, it opens at 2026-03-02T09:00:00Z"]


def test_a_freeze_holds_the_next_attempt() -> None:
    result = play(
        publish(),
        publish("v2", "+60m"),
        freeze("+65m", "+180m"),
        ask("+80m"),
        objects=ruled(RETRY),
        agents=V2_FAILS,
        until="+2h",
    )
    assert headlines(result) == [
        "v2: frozen by audit by bo since 2026-03-01T10:05:00Z until 2026-03-01T12:00:00Z: audit"
    ]


def test_a_veto_makes_the_attempt_that_failed_the_last() -> None:
    vote = {"deployment": "api", "environment": "prod"}
    result = play(
        publish(),
        {"at": "+0s", "approve": {**vote, "tag": "v1", "user": "ana"}},
        publish("v2", "+60m"),
        {"at": "+60m", "approve": {**vote, "tag": "v2", "user": "ana"}},
        {"at": "+63m", "reject": {**vote, "tag": "v2", "user": "bo"}},
        ask("+64m"),
        objects=ruled({"approval": {"minApprovals": 1}}, RETRY),
        agents=V2_FAILS,
        until="+2h",
    )
    (one,) = result.explanations
    said = "v2 failed at 2026-03-01T10:03:00Z (v2 ended failure (attempt 1); no further attempt: v2 in prod was rejected by bo"
    assert one.message.startswith(said)
    assert any(line.message.startswith("v2 in prod was rejected by bo") for line in one.rules)
    assert one.is_blocked


def test_what_failed_and_goes_back_says_so_and_what_holds_that() -> None:
    result = play(
        publish(),
        publish("v2", "+60m"),
        freeze("+61m", "+120m"),
        ask("+70m"),
        objects=ruled(VERIFIED, {"rollback": {}}),
        agents=V2_IS_BAD,
    )
    (one,) = result.explanations
    assert one.message.endswith(
        "; the rollback to v1 waits: frozen by audit by bo since 2026-03-01T10:01:00Z until 2026-03-01T11:00:00Z: audit"
    )
    assert (one.changes, one.is_blocked) == ("at 2026-03-01T11:00:00Z", False)


def test_whose_turn_comes_during_a_freeze_changes_when_that_ends() -> None:
    """What time changes of the others is no change while the freeze holds."""
    result = play(
        freeze("+0m", "+240m"),
        publish(),
        ask("+10m", "api/prod/node-1"),
        ask("+10m", "api/prod/node-2"),
        objects=ruled({"gradualRollout": {"rolloutType": "linear", "timeScaleInterval": 3600}}, nodes=2),
    )
    lines = [line.message for one in result.explanations for line in one.rules]
    assert any(" has its turn at 2026-03-01T10:00:00Z " in line for line in lines)
    assert [one.changes for one in result.explanations] == ["at 2026-03-01T13:00:00Z"] * 2


def in_line() -> list[Explained]:
    """A rollout of two that advances on success, and what is said to those who wait."""
    rollout = {"gradualRollout": {"rolloutType": "linear", "timeScaleInterval": 60, "advanceOn": "success"}}
    questions = [ask(at, f"api/prod/node-{number}") for at in ("+62m", "+75m") for number in (1, 2)]
    result = play(
        publish(),
        publish("v2", "+60m"),
        *questions,
        objects=ruled(rollout, VERIFIED, nodes=2),
        agents=V2_IS_BAD,
        until="+2h",
    )
    return [one for one in result.explanations if one.state == "waiting"]


def test_who_waits_for_a_failed_one_before_it_waits_for_a_person() -> None:
    running, failed = in_line()
    assert (running.changes, running.is_blocked) == (
        "when those before it in the rollout have succeeded",
        False,
    )
    assert (failed.changes, failed.is_blocked) == ("when a person decides: see what you can do", True)
    assert any(command.startswith("headgate retry api/prod/node-") for command in failed.commands)


def test_changed_values_of_a_rejected_version_say_what_they_wait_for() -> None:
    result = play(
        publish(),
        {"at": "+10m", "rejectVersion": {"deployment": "api", "tag": "v1", "reason": "leaks", "user": "ana"}},
        ask("+15m"),
        {"at": "+20m", "setVariable": {"resource": "node-1", "key": "size", "value": 3}},
        ask("+30m"),
    )
    said = "runs v1, nothing newer is in scope; v1 was rejected by ana: leaks; it stays where it runs"
    assert headlines(result) == [
        said,
        f"{said}; its values have changed since, and wait for a version that is not rejected",
    ]
