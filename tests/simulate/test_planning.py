"""The simulated future of a real state: what is assumed, what is shown, and where it ends."""

from headgate.fleet.model import changes
from headgate.kernel import instants
from headgate.simulate import planning

from .planned import IDS, NOW, finish_jobs, parsed, plan, version, workspace
from .small import fleet, manifest, trace

MINUTE = instants.minutes(1)
ONE_AT_A_TIME = manifest(
    "Policy",
    "one at a time",
    rules=[
        {
            "name": "slots",
            "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 1},
        }
    ],
)


def test_a_job_takes_as_long_as_jobs_of_its_deployment_do_or_a_minute() -> None:
    engine = workspace(*fleet(1, "api", "db"))
    planned = plan(engine, version("v1"), version("v1", "db"), durations={"db": 5 * MINUTE})
    assert trace(planned.result) == [
        "09:00 node-1 api v1 successful 09:01",
        "09:00 node-1 db v1 successful 09:05",
    ]


def test_usual_durations_are_rounded_up_to_whole_seconds() -> None:
    planned = plan(workspace(*fleet()), version("v1"), durations={"api": 61_000_001})
    assert instants.show(planned.result.end) == "2026-03-01T09:01:02Z"


def test_a_plan_has_the_keys_of_a_scenario_and_a_finish() -> None:
    planned = plan(workspace(*fleet()), version("v1"))
    document = planned.document()
    assert list(document) == [*planned.result.document(), "finish", "assumed"]
    assert (document["scenario"], document["seed"], document["explanations"]) == ("plan", 1, [])
    assert document["finish"] == {
        "at": "2026-03-01T09:01:00Z",
        "converged": True,
        "wasCut": False,
        "waiting": [],
    }


def test_nothing_happens_to_the_workspace_itself() -> None:
    engine = workspace(*fleet())
    written = engine.dump()
    plan(engine, version("v1"))
    assert engine.dump() == written


def test_a_plan_without_changes_shows_what_goes_on_by_itself() -> None:
    engine = workspace(*fleet(2), ONE_AT_A_TIME, version("v1"))
    assert trace(plan(engine, at=NOW + MINUTE // 2).result) == [
        "09:00 node-1 api v1 successful 09:01",
        "09:01 node-2 api v1 successful 09:02",
    ]


def test_where_nothing_can_happen_there_is_no_finish() -> None:
    assert plan(workspace(*fleet())).document()["finish"] == {
        "at": None,
        "converged": True,
        "wasCut": False,
        "waiting": [],
    }


def test_a_job_that_runs_ends_when_its_usual_time_since_its_start_is_over() -> None:
    engine = workspace(*fleet(), version("v1"))
    [job] = engine.jobs.values()
    engine.apply(changes.JobReported(job.id, "inProgress"), NOW + MINUTE)
    planned = plan(engine, at=NOW + 3 * MINUTE, durations={"api": 5 * MINUTE})
    assert trace(planned.result) == ["09:00 node-1 api v1 successful 09:06"]


def test_a_job_that_takes_longer_than_usual_ends_now() -> None:
    engine = workspace(*fleet(), version("v1"))
    planned = plan(engine, at=NOW + 10 * MINUTE)
    assert trace(planned.result) == ["09:00 node-1 api v1 successful 09:10"]


def test_a_job_that_has_ended_is_not_part_of_the_plan() -> None:
    engine = workspace(*fleet(), version("v1"))
    finish_jobs(engine, NOW + MINUTE)
    planned = plan(engine, version("v2"), at=NOW + MINUTE)
    assert trace(planned.result) == ["09:01 node-1 api v2 successful 09:02"]


def test_slots_that_are_held_count_in_the_peak() -> None:
    engine = workspace(*fleet(2), ONE_AT_A_TIME, version("v1"))
    [budget] = plan(engine, at=NOW + MINUTE // 2).document()["budgets"]
    assert (budget["limit"], budget["peak"], budget["peakAt"]) == (1, 1, "2026-03-01T09:00:30Z")


def test_groups_that_wait_go_on_in_the_plan() -> None:
    window = {"deploymentSelector": "true", "readinessWindowSeconds": 3600}
    bracket = manifest("Policy", "together", rules=[{"deploymentBracket": window}])
    engine = workspace(*fleet(), bracket, version("v1"))
    [group] = plan(engine, version("v2"), at=NOW + 30 * MINUTE).document()["groups"]
    assert [(step["at"][11:16], step["status"]) for step in group["history"]] == [
        ("09:00", "collecting"),
        ("10:00", "ready"),
        ("10:00", "executing"),
        ("10:01", "completed"),
    ]
    assert [member["version"] for member in group["members"]] == ["v2"]


def test_all_changes_of_a_plan_are_one_moment() -> None:
    """A freeze that comes after the version in the list still comes before the decision."""
    planned = plan(workspace(*fleet()), version("v1"), manifest("Freeze", "stop", reason="an incident"))
    assert planned.result.jobs == []


def test_what_the_world_can_not_know_waits_and_says_so() -> None:
    gate = manifest("Policy", "ask", rules=[{"approval": {"minApprovals": 1}}])
    [waiting] = plan(workspace(*fleet(), gate), version("v1")).document()["finish"]["waiting"]
    assert (waiting["target"], waiting["state"]) == ("api/prod/node-1", "waiting")
    assert "approval" in waiting["reason"]


def test_measurements_pass_in_a_plan() -> None:
    metric = {
        "name": "health",
        "provider": {"type": "http", "url": "http://localhost"},
        "intervalSeconds": 60,
        "count": 2,
        "successCondition": "result.ok == true",
    }
    verified = manifest("Policy", "verified", rules=[{"verification": {"metrics": [metric]}}])
    planned = plan(workspace(*fleet(), verified), version("v1"))
    assert planned.result.converged
    assert [job.verification for job in planned.result.jobs] == ["passed"]
    assert planned.result.warnings == []


def test_a_refused_change_is_the_whole_plan() -> None:
    engine = workspace(*fleet(), version("v1"))
    planned = plan(engine, version("v2"), version("v1", "nobody"))
    document = planned.document()
    assert [(item["step"], item["errors"][0]["path"]) for item in document["rejected"]] == [
        ("changes[1]", "spec.deployment")
    ]
    assert (document["jobs"], document["end"], document["converged"]) == ([], document["start"], False)


def test_a_plan_ends_at_until() -> None:
    engine = workspace(*fleet(3), ONE_AT_A_TIME)
    planned = plan(engine, version("v1"), until=NOW + MINUTE)
    assert trace(planned.result) == [
        "09:00 node-1 api v1 successful 09:01",
        "09:01 node-2 api v1 inProgress",
    ]
    assert planned.document()["finish"]["wasCut"]
    assert planned.document()["finish"]["at"] == "2026-03-01T09:01:00Z"


def test_a_plan_looks_at_most_ninety_days_ahead() -> None:
    nights = {
        "rrule": "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;BYHOUR=0;BYMINUTE=0;BYSECOND=0",
        "durationMinutes": 60,
    }
    yearly = manifest("Policy", "once a year", rules=[{"deploymentWindow": nights}])
    planned = plan(workspace(*fleet(), yearly), version("v1"), until=NOW + instants.hours(24 * 400))
    assert planned.result.was_cut
    assert planned.result.end == NOW + instants.hours(24 * 90)


def test_a_plan_has_a_bound_on_jobs() -> None:
    engine = workspace(*fleet(5), ONE_AT_A_TIME)
    planned = planning.foresee(
        engine.dump(),
        IDS,
        NOW,
        [changes.Put(parsed(version("v1")))],
        planning.TypicalAgents({}),
        most_jobs=2,
    )
    assert planned.result.was_cut
    assert len(planned.result.jobs) == 3


def asking(**approval: object) -> dict[str, object]:
    return manifest("Policy", "ask", rules=[{"approval": approval}])


def test_approvals_that_nobody_has_given_can_be_assumed() -> None:
    engine = workspace(*fleet(2), asking(minApprovals=2, roles=["release-manager"]))
    assert trace(plan(engine, version("v1")).result) == []
    assumed = plan(engine, version("v1"), assume=("approvals",))
    assert trace(assumed.result) == [
        "09:00 node-1 api v1 successful 09:01",
        "09:00 node-2 api v1 successful 09:01",
    ]
    assert assumed.document()["assumed"] == ["approvals"]


def test_approvals_of_a_scoped_version_are_assumed_too() -> None:
    scoped = manifest("Policy", "scoped", rules=[{"scopedVersion": {"requireApprovals": 1}}])
    version_for_one = version("v1", targetSelector="resource.name == 'node-2'")
    planned = plan(workspace(*fleet(2), scoped), version_for_one, assume=("approvals",))
    assert trace(planned.result) == ["09:00 node-2 api v1 successful 09:01"]


def test_a_rejection_is_not_assumed_away() -> None:
    engine = workspace(*fleet(1), asking(), version("v1"))
    engine.apply(changes.Vote("api", "v1", "prod", "ben", "rejected"), NOW)
    planned = plan(engine, assume=("approvals",))
    assert trace(planned.result) == []


def test_a_deletion_is_part_of_the_future() -> None:
    engine = workspace(*fleet(2), ONE_AT_A_TIME, version("v1"))
    planned = planning.plan(engine.dump(), IDS, NOW, [changes.Delete("Policy", "one at a time")], {})
    assert trace(planned.result) == [
        "09:00 node-1 api v1 successful 09:01",
        "09:00 node-2 api v1 successful 09:01",
    ]
