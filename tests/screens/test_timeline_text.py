"""The timeline, whole: what a person sees in a terminal."""

from pathlib import Path
from typing import Any

import pytest

from headgate.screens import timeline_text
from headgate.screens.timeline_lines import clock, lines, natural
from headgate.simulate import run
from headgate.simulate import scenario as scenarios
from simulate.small import fleet, manifest, play, publish

SCENARIOS = Path(__file__).parents[1] / "scenarios"
LIFECYCLE = manifest(
    "Policy",
    "node lifecycle",
    rules=[
        {
            "deploymentBracket": {
                "deploymentSelector": "true",
                "readinessMode": "collection_window",
                "readinessWindowSeconds": 3600,
                "preHookSelector": "deployment.name == 'drain'",
                "postHookSelector": "false",
            }
        },
        {
            "name": "slots",
            "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 1},
        },
    ],
)

EXPECTED = """\
two-nodes, seed 1, from 2026-03-01 09:00 UTC

Day 1 09:00     +0m          api v1               published
Day 1 09:00     +0m          drain v1             published
Day 1 09:00     +0m  node-1  node lifecycle       window opens  (until Day 1 10:00)
Day 1 09:00     +0m  node-2  node lifecycle       window opens  (until Day 1 10:00)
Day 1 09:30    +30m          timeline[2].publish  refused  (tag: api has a version 'v1' already)
Day 1 10:00  +1h00m  node-1  node lifecycle       window closes  (locks api v1, drain v1)
Day 1 10:00  +1h00m  node-2  node lifecycle       window closes  (locks api v1, drain v1)
Day 1 10:00  +1h00m  node-1  node lifecycle       cycle starts  (slots 1 of 1)
Day 1 10:00  +1h00m  node-1  drain v1             started  (hook)
Day 1 10:01  +1h01m  node-1  drain v1             successful  (after 1m)
Day 1 10:01  +1h01m  node-1  api v1               started
Day 1 10:02  +1h02m  node-1  api v1               FAILURE  (after 1m: disk full)
Day 1 10:02  +1h02m  node-1  node lifecycle       cycle failed, slot held
                               (api v1 ended failure (attempt 1): disk full)

Budgets
  1 of 1  node lifecycle, slots  peak at Day 1 10:00
          resources where true

Not converged
  failed    api/prod/node-1
            v1 failed at 2026-03-01T10:02:00Z (v1 ended failure (attempt 1): disk full); nothing
            follows in its group, and nothing newer after it, until an operator retries it, skips it
            or aborts
  waiting   api/prod/node-2, drain/prod/node-2
            v1: 1 of 2 resources active, limit 1: node-1 (failed, held since 10:02)

Expectations
  ok    one node failed
  FAIL  two nodes have not started
          result.groups.filter(g, g.startedAt == null).size() == 2
          is false
            result.groups.filter(g, g.startedAt == null).size() is 1

Finish  Day 1 10:02 (+1h02m, 2026-03-01 10:02 UTC): not converged
        2 jobs on 1 resource: 1 failure, 1 successful
        1 step refused
"""


def test_a_small_run_is_told_line_by_line() -> None:
    result = play(
        publish(),
        publish(deployment="drain"),
        publish(at="+30m"),
        objects=[*fleet(2, "drain", "api"), LIFECYCLE],
        name="two-nodes",
        agents=[{"match": "deployment.name == 'api'", "outcomes": ["failure"], "message": "disk full"}],
        expect=[
            {"name": "one node failed", "that": "result.groups.exists(g, g.status == 'failed')"},
            {
                "name": "two nodes have not started",
                "that": "result.groups.filter(g, g.startedAt == null).size() == 2",
            },
        ],
    )
    text = timeline_text.render(result)
    assert text == EXPECTED


def test_equal_lines_of_one_moment_are_said_once() -> None:
    text = timeline_text.render(play(publish(), objects=fleet(12)))
    assert "12 resources  api v1  started  (node-1, node-2, node-3 and 9 more)" in text
    assert "12 resources  api v1  successful  (after 1m; node-1, node-2, node-3 and 9 more)" in text


def test_a_long_run_is_told_in_stretches() -> None:
    rollout = manifest(
        "Policy", "slowly", rules=[{"gradualRollout": {"rolloutType": "linear", "timeScaleInterval": 300}}]
    )
    text = timeline_text.render(play(publish(), objects=[*fleet(300), rollout]))
    lines = text.splitlines()
    assert "601 events in stretches of 1h" in lines
    assert "Day 1 09:00       api v1 published" in lines
    assert "Day 1 10:00       successful      12 api" in lines
    assert len(lines) < 80
    assert all(len(line) <= 100 for line in lines)


def test_a_run_in_which_nothing_happens_says_so() -> None:
    text = timeline_text.render(play())
    assert "Nothing happened." in text
    assert "no job was needed" in text


def test_numbers_in_names_count_as_numbers() -> None:
    assert sorted(["node-10", "node-9", "api"], key=natural) == ["api", "node-9", "node-10"]


@pytest.mark.parametrize(
    ("scenario", "lines"),
    [
        (
            "protection/a-rule-marks-a-version-after-two-failures.yaml",
            [
                "c2  api v2  verification FAILED",
                "api v2  marked as bad",
                "(by careful: undo: failed on 2 targets: api/prod/c1, api/prod/c2)",
                "c2  api v1  started  (rollback)",
            ],
        ),
        (
            "workload/children/an-edited-service-is-put-back.yaml",
            [
                "Service llm-0     patched",
                "Service llm-0     put back",
                "(Service llm-0 was deleted by somebody else and is made again)",
            ],
        ),
        ("events/freezes-begin-and-end.yaml", ["freeze short  ends  (its time was over)"]),
        ("events/a-group-is-stuck.yaml", ["node-1  node-lifecycle  stuck"]),
        ("events/a-bad-version-is-told-of.yaml", ["watched, none may fail  LINE STOPPED"]),
    ],
)
def test_what_nobody_ordered_is_told_where_it_happens(scenario: str, lines: list[str]) -> None:
    text = timeline_text.render(run.simulate(scenarios.load(SCENARIOS / scenario)))
    places = [text.find(line, text.find(lines[0])) for line in lines]
    assert -1 not in places
    assert places == sorted(places)


def test_what_a_step_did_is_told_once() -> None:
    text = timeline_text.render(run.simulate(scenarios.load(SCENARIOS / "events/freezes-begin-and-end.yaml")))
    assert text.count("freeze long   ends") == 1


CYCLE = manifest(
    "Policy",
    "cycle",
    rules=[
        {
            "deploymentBracket": {
                "deploymentSelector": "true",
                "readinessMode": "collection_window",
                "readinessWindowSeconds": 300,
                "preHookSelector": "deployment.name == 'drain'",
                "postHookSelector": "deployment.name == 'uncordon'",
                "overlapStrategy": "merge",
            }
        }
    ],
)
TEN_MINUTES = {"match": "true", "duration": "10m"}


def _lines_of(moment: str, *timeline: dict[str, Any], agents: list[Any] | None = None) -> list[str]:
    """What the timeline says of a moment, after a first cycle that took from 09:05 to 09:35."""
    result = play(
        *(publish(deployment=name) for name in ("drain", "api", "uncordon")),
        *timeline,
        objects=[*fleet(1, "drain", "api", "uncordon"), CYCLE],
        agents=agents or [TEN_MINUTES],
        until="+12h",
    )
    return [
        f"{line.what} {line.event}{f' ({line.note})' if line.note else ''}"
        for line in lines(result)
        if clock(result, line.at) == f"Day 1 {moment}"
    ]


def _reject(tag: str, at: str, deployment: str = "api") -> dict[str, Any]:
    return {
        "at": at,
        "rejectVersion": {"deployment": deployment, "tag": tag, "reason": "bad", "user": "ana"},
    }


def test_a_window_locks_what_it_locked_then_and_not_what_joined_later() -> None:
    timeline = (publish("v2", "+120m"), publish("v3", "+130m"))
    assert _lines_of("11:05", *timeline) == [
        "cycle window closes (locks api v2, drain v1, uncordon v1)",
        "cycle cycle starts",
        "drain v1 started (hook)",
    ]
    assert _lines_of("11:15", *timeline) == [
        "drain v1 successful (after 10m)",
        "cycle window closes (locks api v3, drain v1, uncordon v1)",
        "cycle merged into the running cycle",
        "api v3 started",
    ]


def test_a_window_locks_a_hook_that_is_withdrawn_later() -> None:
    told = _lines_of("11:05", publish("v2", "+120m"), _reject("v1", "+140m", "uncordon"))
    assert told[0] == "cycle window closes (locks api v2, drain v1, uncordon v1)"


def test_a_cycle_fails_for_what_failed_it_though_it_is_aborted_later() -> None:
    fails = {"match": "version.tag == 'v2'", "duration": "10m", "outcomes": ["failure"]}
    abort = {"action": "abort", "environment": "prod", "resource": "node-1", "postHooks": True}
    timeline = (publish("v2", "+120m"), {"at": "+160m", "group": abort})
    assert _lines_of("11:25", *timeline, agents=[fails, TEN_MINUTES]) == [
        "api v2 FAILURE (after 10m)",
        "cycle cycle failed, slot held (api v2 ended failure (attempt 1))",
    ]
    assert "cycle cycle aborted (aborted by an operator)" in _lines_of(
        "11:50", *timeline, agents=[fails, TEN_MINUTES]
    )


def test_a_group_that_opens_after_its_window_is_told_in_its_own_order() -> None:
    """v2 is new again when v3, which took its place in the cycle, is marked as bad."""
    timeline = (publish("v2", "+120m"), publish("v3", "+130m"), _reject("v3", "+137m"))
    assert _lines_of("11:17", *timeline) == [
        "api v3 marked as bad: bad",
        "cycle group opens (its window ended Day 1 11:05)",
        "cycle ready (locks api v2, drain v1, uncordon v1)",
        "cycle queued behind the group before it",
    ]


def test_a_cycle_without_a_window_opens_none() -> None:
    redeploy = {"at": "+120m", "target": {"target": "api/prod/node-1", "action": "redeploy"}}
    assert _lines_of("11:00", redeploy)[1:4] == [
        "cycle group opens (without a window)",
        "cycle ready (locks api v1, drain v1, uncordon v1)",
        "cycle cycle starts",
    ]
