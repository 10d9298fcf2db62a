"""Each promise is broken on purpose, and kept where a careless check would call it broken."""

import msgspec

from headgate.fleet import rules
from headgate.fleet.model import changes, records
from headgate.fleet.rules.spec import GateStage
from headgate.kernel import decisions, instants
from headgate.promises import ALL, FLEET, GRAPH, WORKLOAD, no_gate_skipped
from headgate.promises.base import RunEnding, Unconverged
from headgate.promises.no_gate_skipped import NoGateSkipped

from .synthetic import START, ObservedFleet, group, job, put, version


def limited(value: int, kind: str = "count", **spec: object) -> changes.Put:
    rule = {"groupSelector": "resource.kind == 'Node'", "limitType": kind, "limitValue": value}
    return put("Policy", "limit", rules=[{"name": "slots", "resourceConcurrency": rule}], **spec)


def test_every_promise_has_a_sentence_and_a_name_of_its_own() -> None:
    for level in (FLEET, GRAPH, WORKLOAD):
        assert len({promise.name for promise in level}) == len(level)
        assert all(promise.sentence for promise in level)


def test_a_promise_is_one_file_for_all_levels() -> None:
    homes = {(promise.name, promise.__module__) for promise in ALL}
    assert len(homes) == len({promise.name for promise in ALL}) == len({home for _, home in homes})


def test_a_target_has_at_most_one_live_job() -> None:
    fleet = ObservedFleet()
    fleet.create(job(id="one"), job(id="two"))
    assert fleet.broken == ["OneJobPerTarget"]
    assert "api/prod/node-1 has the jobs one and two" in fleet.messages


def test_a_second_job_after_the_first_has_ended_is_fine() -> None:
    fleet = ObservedFleet()
    first = job(id="one")
    fleet.create(first)
    fleet.end(first, "failure")
    fleet.create(job(id="two", attempt=2))
    assert fleet.broken == []


def test_a_resource_too_many_exceeds_the_budget() -> None:
    fleet = ObservedFleet(limited(2))
    fleet.create(job("node-1"), job("node-2"))
    assert fleet.broken == []
    fleet.create(job("node-3"))
    assert fleet.broken == ["BudgetNeverExceeded"]
    assert "api/prod/node-3 started as number 3 of 2 allowed by limit, slots" in fleet.messages


def test_a_percentage_is_rounded_up() -> None:
    fleet = ObservedFleet(limited(30, "percentage"))
    fleet.create(job("node-1"), job("node-2"))
    assert fleet.broken == []
    fleet.create(job("node-3"))
    assert fleet.broken == ["BudgetNeverExceeded"]


def test_two_jobs_of_one_resource_use_one_slot() -> None:
    fleet = ObservedFleet(limited(1))
    fleet.accept(put("Deployment", "agent", resourceSelector="true"))
    fleet.create(job("node-1"), job("node-1", deployment="agent"))
    assert fleet.broken == []


def test_an_ended_job_gives_its_slot_back_outside_brackets() -> None:
    fleet = ObservedFleet(limited(1))
    first = job("node-1")
    fleet.create(first)
    fleet.end(first)
    fleet.create(job("node-2"))
    assert fleet.broken == []


def test_a_failed_group_still_holds_its_slot() -> None:
    fleet = ObservedFleet(limited(1))
    held = group("node-1")
    first = job("node-1", group=held.id)
    fleet.watch.on_group_changed(held)
    fleet.create(first)
    fleet.end(first, "failure")
    held.status = "failed"
    fleet.watch.on_group_changed(held)
    fleet.create(job("node-2"))
    assert fleet.broken == ["BudgetNeverExceeded"]


def test_a_group_that_is_over_or_released_holds_nothing() -> None:
    fleet = ObservedFleet(limited(1))
    for number, ended in enumerate(("completed", "failed"), start=1):
        held = group(f"node-{number}")
        fleet.create(job(f"node-{number}", group=held.id))
        held.status = ended  # type: ignore[assignment]
        held.slot_released = ended == "failed"
        fleet.watch.on_group_changed(held)
    fleet.create(job("node-3"))
    assert fleet.broken == []


def test_a_limit_that_shrinks_takes_nothing_away() -> None:
    fleet = ObservedFleet(limited(2))
    fleet.create(job("node-1"), job("node-2"))
    fleet.accept(limited(1))
    assert fleet.broken == []
    fleet.create(job("node-3"))
    assert fleet.broken == ["BudgetNeverExceeded"]


def test_a_policy_counts_only_what_its_selector_matches() -> None:
    fleet = ObservedFleet(limited(1, selector="deployment.name == 'other'"))
    fleet.create(job("node-1"), job("node-2"))
    assert fleet.broken == []


def test_nothing_starts_under_a_freeze() -> None:
    fleet = ObservedFleet()
    fleet.accept(put("Freeze", "incident", selector="resource.name == 'node-1'", reason="outage"))
    fleet.create(job("node-2"))
    assert fleet.broken == []
    fleet.create(job("node-1"))
    assert fleet.broken == ["StopIsAbsolute"]
    assert "under the freeze incident" in fleet.messages


def test_a_freeze_that_is_over_stops_nothing() -> None:
    fleet = ObservedFleet()
    fleet.accept(put("Freeze", "incident", reason="outage", expiresAt=instants.show(START)))
    fleet.create(job("node-1"))
    assert fleet.broken == []


def test_a_paused_version_is_not_started() -> None:
    fleet = ObservedFleet()
    fleet.accept(changes.SetVersionStatus("api", "v1", "paused"))
    fleet.create(job())
    assert set(fleet.broken) == {"StopIsAbsolute", "NoGateSkipped"}


def test_a_job_for_a_deleted_resource_is_a_stale_write() -> None:
    fleet = ObservedFleet()
    fleet.accept(changes.Delete("Resource", "node-1"))
    fleet.create(job("node-1"))
    assert "NoStaleWrite" in fleet.broken
    assert "Resource node-1 is gone" in fleet.messages


def test_a_job_dated_in_another_moment_is_a_stale_write() -> None:
    fleet = ObservedFleet()
    fleet.create(job(created_at=START - 1))
    assert fleet.broken == ["NoStaleWrite"]


def test_a_verdict_that_is_not_allowed_stops_a_start() -> None:
    class Judged(msgspec.Struct):
        rule: None
        kind: str
        verdict: decisions.Verdict
        is_allowed: bool

    fleet = ObservedFleet()
    pending = Judged(
        None,
        "dependencies",
        decisions.pending(decisions.Reason.AWAITING_DEPENDENCY, "waits for os-patch"),
        False,
    )
    fleet.watch.on_job_created(job(), (pending,))
    assert fleet.broken == ["NoGateSkipped"]
    assert "dependencies said 'waits for os-patch'" in fleet.messages


def approval(count: int) -> changes.Put:
    return put("Policy", "approvals", rules=[{"name": "ask", "approval": {"minApprovals": count}}])


def vote(user: str, status: str = "approved") -> changes.Vote:
    return changes.Vote("api", "v1", "prod", user, status)  # type: ignore[arg-type]


def test_approvals_are_counted_again() -> None:
    fleet = ObservedFleet(approval(2))
    fleet.accept(vote("ana"))
    fleet.create(job("node-1"))
    assert fleet.broken == ["NoGateSkipped"]
    assert "v1 with 1 of 2 approvals (approvals, ask)" in fleet.messages
    fleet.accept(vote("ben"))
    fleet.create(job("node-2"))
    assert fleet.broken == ["NoGateSkipped"]


def test_one_rejection_is_a_veto_until_it_is_withdrawn() -> None:
    fleet = ObservedFleet(approval(1))
    fleet.accept(vote("ana"))
    fleet.accept(vote("ben", "rejected"))
    fleet.create(job("node-1"))
    assert "which was rejected" in fleet.messages
    fleet.accept(vote("ben", "withdrawn"))
    fleet.create(job("node-2"))
    assert len(fleet.broken) == 1


def test_a_skipped_rule_is_not_judged_again() -> None:
    fleet = ObservedFleet(approval(2))
    fleet.accept(changes.PutSkip(reason="hotfix", rule="ask", policy="approvals"))
    fleet.create(job())
    assert fleet.broken == []


def test_a_skip_holds_for_what_it_names_and_until_it_is_over() -> None:
    fleet = ObservedFleet(approval(2))
    later = START + instants.seconds(60)
    fleet.accept(changes.PutSkip(reason="hotfix", rule="ask", resource="node-1", expires_at=later))
    fleet.create(job("node-1"))
    assert fleet.broken == []
    fleet.create(job("node-2"))
    assert fleet.broken == ["NoGateSkipped"]
    fleet.watch.now = later
    fleet.accept(version("api", "v3"))
    fleet.create(job("node-1", tag="v3", created_at=later))
    assert "api/prod/node-1 started v3 with 0 of 2 approvals" in fleet.messages


def test_a_rule_that_was_not_asked_was_skipped() -> None:
    fleet = ObservedFleet(put("Policy", "gated", rules=[{"gate": {"when": ["true"]}}]))
    fleet.watch.on_job_created(job(), ())
    assert fleet.broken == ["NoGateSkipped"]
    assert "without being asked about by gated" in fleet.messages


ASKED_WHERE_THEY_APPLY = {
    GateStage.SCOPE, GateStage.DEPENDENCIES, GateStage.CYCLE, GateStage.UPSTREAM, GateStage.SLOTS,
}  # fmt: skip


def test_a_rule_is_looked_at_or_excepted_with_a_reason() -> None:
    """The promise says by itself what need not be asked. What a rule's file says of its stage has to agree: a gate that it
    does not call one would be asked by nobody."""
    stages = set(GateStage) - ASKED_WHERE_THEY_APPLY
    always_asked = {kind for kind, spec in rules.KINDS.items() if spec.traits.stage in stages}
    assert set(rules.KINDS) - set(no_gate_skipped.NOT_ALWAYS_ASKED) == always_asked
    assert set(no_gate_skipped.NOT_ALWAYS_ASKED) <= set(rules.KINDS)
    assert all(no_gate_skipped.NOT_ALWAYS_ASKED.values())


def test_a_retry_does_not_pass_the_version_gates_again() -> None:
    fleet = ObservedFleet(approval(2))
    fleet.create(job(attempt=2))
    assert fleet.broken == []


def test_a_version_out_of_scope_does_not_start() -> None:
    fleet = ObservedFleet()
    fleet.accept(version("api", "v2", targetSelector="resource.name == 'node-1'"))
    fleet.create(job("node-1", tag="v2"))
    assert fleet.broken == []
    fleet.create(job("node-2", tag="v2"))
    assert fleet.broken == ["NoGateSkipped"]


def test_a_scope_that_fails_to_evaluate_includes_the_version() -> None:
    fleet = ObservedFleet()
    fleet.accept(version("api", "v2", targetSelector="resource.metadata['tier'] == 'gold'"))
    fleet.create(job("node-1", tag="v2"))
    assert fleet.broken == []


def test_nothing_starts_outside_its_window() -> None:
    nights = {"rrule": "FREQ=DAILY;BYHOUR=22;BYMINUTE=0;BYSECOND=0", "durationMinutes": 60}
    fleet = ObservedFleet(put("Policy", "nights", rules=[{"deploymentWindow": nights}]))
    fleet.create(job())
    assert fleet.broken == ["NoGateSkipped"]
    assert "outside the window of api" in fleet.messages


def cycle() -> records.Group:
    roles = {"drain": "preHook", "api": "member", "agent": "member", "uncordon": "postHook"}
    members = [records.Member(name, role, "v1", START) for name, role in roles.items()]  # type: ignore[arg-type]
    return group("node-1", members=members)


def ordered_fleet() -> ObservedFleet:
    rule = {"dependsOn": "deployment.name == 'api'", "appliesTo": "deployment.name == 'agent'"}
    fleet = ObservedFleet(put("Policy", "order", rules=[{"deploymentDependency": rule}]))
    for name in ("drain", "agent", "uncordon"):
        fleet.accept(put("Deployment", name, resourceSelector="true"))
    return fleet


def run(fleet: ObservedFleet, held: records.Group, name: str, kind: str = "deploy") -> None:
    done = job("node-1", deployment=name, group=held.id, kind=kind)
    fleet.create(done)
    fleet.end(done)


def test_hooks_and_dependencies_in_their_order_break_nothing() -> None:
    fleet, held = ordered_fleet(), cycle()
    fleet.watch.on_group_changed(held)
    for name, kind in (("drain", "hook"), ("api", "deploy"), ("agent", "deploy"), ("uncordon", "hook")):
        run(fleet, held, name, kind)
    assert fleet.broken == []


def test_a_member_before_its_pre_hook_skips_a_gate() -> None:
    fleet, held = ordered_fleet(), cycle()
    fleet.watch.on_group_changed(held)
    run(fleet, held, "api")
    assert "api/prod/node-1 v1 started before drain (waiting) succeeded in this group" in fleet.messages


def test_a_member_before_its_upstream_skips_a_gate() -> None:
    fleet, held = ordered_fleet(), cycle()
    fleet.watch.on_group_changed(held)
    run(fleet, held, "drain", "hook")
    run(fleet, held, "agent")
    assert "started before api (waiting)" in fleet.messages


def test_an_upstream_that_needs_no_job_is_not_waited_for() -> None:
    fleet, held = ordered_fleet(), cycle()
    held.members[1].state = "unchanged"
    fleet.watch.on_group_changed(held)
    run(fleet, held, "drain", "hook")
    run(fleet, held, "agent")
    assert fleet.broken == []


def test_a_post_hook_waits_for_every_member() -> None:
    fleet, held = ordered_fleet(), cycle()
    fleet.watch.on_group_changed(held)
    for name in ("drain", "api"):
        run(fleet, held, name)
    run(fleet, held, "uncordon", "hook")
    assert "uncordon/prod/node-1 v1 started before agent (waiting)" in fleet.messages


def test_a_report_that_is_accepted_and_changes_nothing_is_lost() -> None:
    fleet = ObservedFleet()
    fleet.create(job(id="one"))
    fleet.accept(changes.JobReported("one", "successful"))
    fleet.watch.decided()
    assert fleet.broken == ["NoLostEvent"]


def test_a_late_report_for_an_ended_job_may_change_nothing() -> None:
    fleet = ObservedFleet()
    ended = job(id="one")
    fleet.create(ended)
    fleet.end(ended)
    fleet.accept(changes.JobReported("one", "failure"))
    fleet.watch.decided()
    assert fleet.broken == []


def test_decisions_that_differ_after_a_crash_lost_something() -> None:
    fleet = ObservedFleet()
    fleet.watch.compared(b'{"created": [1]}', b'{"created": []}')
    assert fleet.broken == ["NoLostEvent"]


def test_a_state_that_reads_back_as_another_one_is_no_replay() -> None:
    fleet = ObservedFleet()
    fleet.watch.reloaded(b'{"a": 1, "b": 2}', b'{"b": 2, "a": 1}')
    assert fleet.broken == []
    fleet.watch.reloaded(b'{"a": 1}', b'{"a": 1.0}')
    assert fleet.broken == ["ReplayEqualsDecision"]


def test_a_second_report_that_changes_the_job_has_an_effect_twice() -> None:
    fleet = ObservedFleet()
    fleet.watch.repeated(job(), False)
    assert fleet.broken == []
    fleet.watch.repeated(job(), True)
    assert fleet.broken == ["NoDoubleEffect"]


def test_a_release_that_runs_already_is_not_started_again() -> None:
    fleet = ObservedFleet()
    first = job(id="one")
    fleet.create(first)
    fleet.end(first)
    fleet.create(job(id="two"))
    assert fleet.broken == ["NoDoubleEffect"]


def test_a_person_may_ask_for_the_same_release_again() -> None:
    fleet = ObservedFleet()
    first = job(id="one")
    fleet.create(first)
    fleet.end(first)
    fleet.accept(changes.TargetAction("redeploy", "api/prod/node-1"))
    fleet.create(job(id="two"))
    assert fleet.broken == []


def ending(*unconverged: Unconverged, was_cut: bool = False) -> RunEnding:
    return RunEnding(START, False, was_cut, None, unconverged)


def test_a_target_that_waits_for_nothing_is_stuck() -> None:
    fleet = ObservedFleet()
    fleet.watch.ended(ending(Unconverged("api/prod/node-1", "waiting", "", "a slot")))
    assert fleet.broken == ["NoStuckWithoutReason"]


def test_a_target_that_nothing_wakes_is_stuck() -> None:
    fleet = ObservedFleet()
    fleet.watch.ended(ending(Unconverged("api/prod/node-1", "waiting", "waits for a vote", "")))
    assert fleet.broken == ["NoStuckWithoutReason"]
    assert "nothing wakes it" in fleet.messages


def test_a_target_that_waits_with_every_gate_open_makes_no_progress() -> None:
    fleet = ObservedFleet()
    unit = Unconverged("api/prod/node-1", "waiting", "its turn", "a slot", (("allowed", "fine"),))
    fleet.watch.ended(ending(unit))
    assert fleet.broken == ["MonotoneProgress"]


def test_a_run_that_was_cut_short_may_leave_work() -> None:
    fleet = ObservedFleet()
    unit = Unconverged("api/prod/node-1", "waiting", "its turn", "a slot", (("allowed", "fine"),))
    fleet.watch.ended(ending(unit, was_cut=True))
    assert fleet.broken == []


def test_a_target_held_back_by_a_gate_has_its_reason() -> None:
    fleet = ObservedFleet()
    unit = Unconverged("api/prod/node-1", "waiting", "", "votes", (("pending", "waits for 1 approval"),))
    fleet.watch.ended(ending(unit))
    assert fleet.broken == []


def test_a_message_is_the_promise_and_the_fact() -> None:
    fleet = ObservedFleet()
    fleet.accept(changes.SetVersionStatus("api", "v1", "rejected"))
    fleet.create(job())
    assert fleet.messages == (
        f"{NoGateSkipped.sentence}: api/prod/node-1 started v1, whose status is rejected"
    )
