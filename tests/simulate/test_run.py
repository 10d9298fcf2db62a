"""The event loop: agents, the timeline and one decision an instant, until nothing more can happen."""

from typing import Any

import pytest

from headgate.fleet.engine import manifests
from headgate.kernel import instants
from headgate.kernel.problems import Problem, Rejected
from headgate.simulate import scenario
from headgate.simulate.model import steps
from headgate.simulate.run import simulate

from .small import START, document, fleet, manifest, play, publish, trace


def test_a_job_that_no_agent_matches_takes_a_minute_and_succeeds() -> None:
    assert trace(play(publish())) == ["09:00 node-1 api v1 successful 09:01"]


def test_the_first_agent_that_matches_serves_the_job() -> None:
    agents = [
        {"match": "resource.name == 'node-2'", "duration": "8m"},
        {"match": "true", "duration": "3m"},
        {"match": "resource.name == 'node-1'", "duration": "9m"},
    ]
    assert trace(play(publish(), objects=fleet(2), agents=agents)) == [
        "09:00 node-1 api v1 successful 09:03",
        "09:00 node-2 api v1 successful 09:08",
    ]


def test_an_agent_may_look_at_everything_about_a_job() -> None:
    match = (
        "deployment.name == 'api' && environment.name == 'prod' && resource.kind == 'Node'"
        " && version.tag == 'v1' && attempt == 1"
    )
    assert trace(play(publish(), agents=[{"match": match, "duration": "5m"}])) == [
        "09:00 node-1 api v1 successful 09:05"
    ]


def test_outcomes_go_by_attempt_and_the_last_repeats() -> None:
    retry = manifest("Policy", "again", rules=[{"retry": {"maxRetries": 5, "backoffSeconds": 60}}])
    agents = [{"outcomes": ["failure", "timedOut", "successful"]}]
    assert trace(play(publish(), objects=[*fleet(), retry], agents=agents)) == [
        "09:00 node-1 api v1 failure 09:01",
        "09:02 node-1 api v1 timedOut 09:03",
        "09:04 node-1 api v1 successful 09:05",
    ]


def test_a_job_without_duration_ends_in_the_moment_it_starts() -> None:
    result = play(publish("v1"), publish("v2", at="+1m"), agents=[{"duration": "0s"}])
    assert trace(result) == ["09:00 node-1 api v1 successful 09:00", "09:01 node-1 api v2 successful 09:01"]


def test_an_agent_that_never_answers_leaves_the_job_running() -> None:
    result = play(publish(), agents=[{"outcomes": ["never"]}])
    assert trace(result) == ["09:00 node-1 api v1 inProgress"]
    assert not result.converged
    assert result.violations == []


def test_a_timeout_ends_what_the_agent_does_not() -> None:
    agents = [{"outcomes": ["never"], "timeout": "10m"}]
    assert trace(play(publish(), agents=agents)) == ["09:00 node-1 api v1 timedOut 09:10"]


def test_a_step_at_the_end_of_a_job_comes_after_it() -> None:
    result = play(publish("v1"), publish("v2", at="+1m"))
    assert trace(result) == ["09:00 node-1 api v1 successful 09:01", "09:01 node-1 api v2 successful 09:02"]


def test_the_run_ends_with_the_last_thing_that_can_happen() -> None:
    result = play(publish(at="+2h"))
    assert instants.show(result.end) == "2026-03-01T11:01:00Z"
    assert result.converged
    assert not result.was_cut


def test_the_run_ends_at_until_with_what_happens_in_that_moment() -> None:
    result = play(publish("v1"), publish("v2", at="+1m"), until="+1m")
    assert trace(result) == ["09:00 node-1 api v1 successful 09:01", "09:01 node-1 api v2 inProgress"]
    assert instants.show(result.end) == "2026-03-01T09:01:00Z"
    assert result.was_cut


def test_until_may_be_given_from_outside() -> None:
    start = instants.parse(START)
    result = simulate(scenario.read(document(publish(at="+2h"))), until=start + instants.hours(1))
    assert result.jobs == []
    assert instants.show(result.end) == "2026-03-01T10:00:00Z"


def test_wake_ups_of_a_converged_fleet_do_not_keep_the_run_going() -> None:
    nights = {"rrule": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "durationMinutes": 60}
    policy = manifest("Policy", "mornings", rules=[{"deploymentWindow": nights}])
    result = play(publish(), objects=[*fleet(), policy])
    assert instants.show(result.end) == "2026-03-01T09:01:00Z"


def test_a_gate_that_never_opens_is_looked_at_for_ninety_days_at_most() -> None:
    gate = manifest(
        "Policy", "later", rules=[{"gate": {"when": ["now > timestamp('2036-01-01T00:00:00Z')"]}}]
    )
    result = play(publish(), objects=[*fleet(), gate])
    assert instants.show(result.end) == "2026-05-30T09:00:00Z"
    assert result.was_cut


def test_a_refused_step_is_recorded_and_the_run_goes_on() -> None:
    result = play(
        publish("bad", targetSelector="resource.name =="),
        {"at": "+0s", "approve": {"deployment": "nobody", "tag": "v1", "environment": "prod", "user": "ana"}},
        publish("v1"),
    )
    refused = result.document()["rejected"]
    assert [item["step"] for item in refused] == ["timeline[0].publish", "timeline[1].approve"]
    assert refused[0]["errors"][0]["path"] == "targetSelector"
    assert refused[0]["at"] == START
    assert "nobody" in refused[1]["errors"][0]["message"]
    assert trace(result) == ["09:00 node-1 api v1 successful 09:01"]


def test_an_invalid_object_is_recorded_and_the_others_are_taken() -> None:
    broken = manifest("Environment", "broken", resourceSelector="resource.", colour="red")
    result = play(publish(), objects=[broken, *fleet()])
    refused = result.document()["rejected"]
    assert [item["step"] for item in refused] == ["objects[0]"]
    assert {error["path"] for error in refused[0]["errors"]} == {"spec.resourceSelector", "spec.colour"}
    assert len(result.jobs) == 1


def test_publishing_a_tag_twice_is_refused() -> None:
    result = play(publish(), publish(at="+5m"))
    assert [item.step for item in result.rejected] == ["timeline[1].publish"]
    assert len(result.jobs) == 1


@pytest.mark.parametrize(
    "step",
    [
        {"killPod": {"match": "true"}},
        {"cordon": {"nodes": 1}},
        {"uncordon": {"nodes": 1}},
        {"patch": {"kind": "PodCliqueSet", "name": "llm", "patch": {}}},
    ],
    ids=lambda step: next(iter(step)),
)
def test_what_needs_a_cluster_is_refused_where_there_is_none(step: dict[str, Any]) -> None:
    result = play({"at": "+0s", **step})
    assert len(result.rejected) == 1
    assert "simulated" in result.rejected[0].errors[0].message


def test_a_part_of_the_world_serves_its_steps_and_objects() -> None:
    class Cluster:
        step_kinds = frozenset({"killPod"})

        def __init__(self) -> None:
            self.seen: list[str] = []
            self.due: int | None = None

        def serves(self, api_version: str | None, kind: str) -> bool:
            return kind == "PodCliqueSet"

        def apply(self, item: manifests.ForeignObject, now: int) -> None:
            self.seen.append(f"apply {item.name}")
            self.due = now + instants.minutes(7)

        def play(self, step: steps.Step, now: int) -> None:
            raise Rejected([Problem("match", "no such pod")])

        def next_event(self) -> int | None:
            return self.due

        def advance(self, now: int) -> None:
            if self.due is not None and self.due <= now:
                self.seen.append(f"ready at {instants.show(now)}")
                self.due = None

        def decide(self, now: int) -> None: ...

        def crash(self, now: int) -> None: ...

        def is_converged(self, now: int) -> bool:
            return self.due is None

        def fill(self, lists: dict[str, Any]) -> None:
            lists["pods"].append({"name": "llm-0"})

    part = Cluster()
    workload = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {"name": "llm"}}
    read = scenario.read(document({"at": "+1m", "killPod": {"match": "true"}}, objects=[workload]))
    result = simulate(read, parts=[part])
    assert part.seen == ["apply llm", "ready at 2026-03-01T09:07:00Z"]
    assert result.document()["pods"] == [{"name": "llm-0"}]
    assert [item.step for item in result.rejected] == ["timeline[0].killPod"]


def test_a_cancelled_job_is_not_heard_of_again() -> None:
    result = play(
        publish(),
        {"at": "+1m", "delete": {"kind": "Resource", "name": "node-1"}},
        agents=[{"duration": "3h"}],
    )
    assert trace(result) == ["09:00 node-1 api v1 cancelled 09:01"]
    assert instants.show(result.end) == "2026-03-01T09:01:00Z"


def test_a_late_report_changes_nothing() -> None:
    late = {"at": "+5m", "report": {"target": "api/prod/node-1", "status": "failure"}}
    assert trace(play(publish(), late)) == ["09:00 node-1 api v1 successful 09:01"]


def test_an_early_report_ends_the_job_and_the_simulated_end_is_ignored() -> None:
    early = {"at": "+1m", "report": {"target": "api/prod/node-1", "status": "failure"}}
    result = play(publish(), early, agents=[{"duration": "8m"}])
    assert trace(result) == ["09:00 node-1 api v1 failure 09:01"]


def test_a_report_on_a_target_without_a_job_is_refused() -> None:
    result = play({"at": "+0s", "report": {"target": "api/prod/node-9", "status": "failure"}})
    assert "api/prod/node-9 has no job to report on" in result.rejected[0].errors[0].message


def test_an_explanation_is_taken_before_the_decision_of_its_moment() -> None:
    ask = {"at": "+30s", "explain": {"target": "api/prod/node-1"}}
    explained = play(publish(), ask).document()["explanations"]
    assert [(item["at"], item["target"], item["state"]) for item in explained] == [
        ("2026-03-01T09:00:30Z", "api/prod/node-1", "running")
    ]


def test_an_unknown_target_cannot_be_explained() -> None:
    result = play({"at": "+0s", "explain": {"target": "api/prod/node-7"}})
    assert [item.step for item in result.rejected] == ["timeline[0].explain"]


def test_a_snapshot_shows_every_object_and_every_target() -> None:
    result = play(publish(), {"at": "+5m", "snapshot": {}})
    (snapshot,) = result.document()["snapshots"]
    assert snapshot["at"] == "2026-03-01T09:05:00Z"
    assert [f"{item['kind']} {item['name']}" for item in snapshot["objects"]] == [
        "Resource node-1",
        "Environment prod",
        "Deployment api",
        "Version api/v1",
        "ReleaseTarget api/prod/node-1",
    ]
    assert snapshot["objects"][-1]["status"] == {"state": "upToDate", "desired": "v1", "current": "v1"}


VERIFIED = manifest(
    "Policy",
    "verified",
    rules=[
        {
            "verification": {
                "metrics": [
                    {
                        "name": "errors",
                        "intervalSeconds": 60,
                        "count": 2,
                        "successCondition": "result.value < 0.5",
                        "provider": {"type": "http", "url": "https://metrics.example/errors"},
                    }
                ]
            }
        }
    ],
)


def verification_of(agents: list[dict[str, Any]]) -> str:
    result = play(publish(), objects=[*fleet(), VERIFIED], agents=agents)
    assert result.violations == []
    return result.jobs[0].verification


def test_a_metric_that_the_scenario_does_not_speak_of_passes() -> None:
    assert verification_of([]) == "passed"


def test_measurements_are_answered_in_their_order_and_the_last_repeats() -> None:
    assert verification_of([{"measurements": {"errors": [{"value": 0.1}]}}]) == "passed"
    assert verification_of([{"measurements": {"errors": [{"value": 0.1}, {"value": 0.9}]}}]) == "failed"


CRASHES: list[dict[str, Any]] = [{"at": f"+{minute}m", "crash": "engine"} for minute in range(6)]


def busy(*crashes: dict[str, Any]) -> str:
    limit = {"groupSelector": "true", "limitType": "count", "limitValue": 2}
    policy = manifest(
        "Policy",
        "slowly",
        rules=[
            {"resourceConcurrency": limit},
            {"approval": {"minApprovals": 1}},
            {"retry": {"maxRetries": 1, "backoffSeconds": 60}},
        ],
    )
    result = play(
        publish(),
        *crashes,
        {"at": "+2m", "approve": {"deployment": "api", "tag": "v1", "environment": "prod", "user": "ana"}},
        objects=[*fleet(5), policy],
        agents=[{"match": "resource.name == 'node-3'", "outcomes": ["failure", "successful"]}],
    )
    assert result.violations == []
    assert len(result.jobs) == 6
    return result.to_json()


def test_the_same_scenario_twice_gives_equal_bytes() -> None:
    assert busy() == busy()


def test_crashes_leave_no_trace_in_the_result() -> None:
    assert busy(*CRASHES) == busy()


def test_another_seed_gives_other_ids() -> None:
    read = scenario.read(document(publish()))
    one, other = simulate(read), simulate(read, seed=2)
    assert one.seed == 1
    assert other.seed == 2
    assert one.jobs[0].id != other.jobs[0].id
