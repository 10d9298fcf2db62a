"""The timeline, whole: what a person sees in a terminal."""

from pathlib import Path

import pytest

from headgate.simulate import run, timeline_text
from headgate.simulate import scenario as scenarios
from headgate.simulate.timeline_lines import natural

from .small import fleet, manifest, play, publish

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
            v1 failed at 2026-03-01T10:02:00Z (v1 ended failure (attempt 1): disk full); it is tried
            again when an operator retries it or a newer version comes
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
