"""Every promise of the fleet can be broken: one function of the engine is made wrong, and its checker says so.

Each run is played twice: as the engine is, where nothing is broken, and with the fault.
"""

from typing import Any

import msgspec
import pytest

import smallest
from headgate.fleet import rules
from headgate.fleet.cycles import cycle, jobs, ordering
from headgate.fleet.engine import snapshot
from headgate.fleet.gates import breakers, gates, judges, version_dependencies
from headgate.fleet.model import objects as model
from headgate.fleet.rules import approval
from headgate.fleet.state import catalog, holds, state, wakes
from headgate.kernel import decisions
from headgate.kernel.wakes import Wake

from .mutations import Step, broken_by, policy
from .small import fleet, publish


def limit(value: int) -> Step:
    rule = {"groupSelector": "true", "limitType": "count", "limitValue": value}
    return policy("limit", {"name": "slots", "resourceConcurrency": rule})


ASKED = policy("ask", {"name": "two", "approval": {"minApprovals": 1}})
NIGHTS = policy(
    "nights",
    {
        "name": "night",
        "deploymentWindow": {"rrule": "FREQ=DAILY;BYHOUR=22;BYMINUTE=0", "durationMinutes": 60},
    },
)


def approve(tag: str, at: str) -> Step:
    return {"at": at, "approve": {"deployment": "api", "tag": tag, "environment": "prod", "user": "ana"}}


def skip(at: str, rule: str, **named: Any) -> Step:
    return {"at": at, "skip": {"rule": rule, "reason": "look", "user": "ana", **named}}


def _everybody_has_room(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(holds, "lacking", lambda *_: [])


def test_slots_that_nobody_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [*fleet(3), limit(1)]
    assert broken_by(monkeypatch, _everybody_has_room, publish(), objects=objects) == ["BudgetNeverExceeded"]


def test_slots_that_nobody_counts_any_more_once_one_was_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [*fleet(3), limit(1)]
    one = skip("+0s", "slots", resource="node-1", expiresAt="+1m")
    found = broken_by(monkeypatch, _everybody_has_room, one, publish(at="+5m"), objects=objects)
    assert found == ["BudgetNeverExceeded"]


def _a_new_version_forgets_the_live_job(patched: pytest.MonkeyPatch) -> None:
    original = catalog.put_version

    def put_version(known: state.State, version: model.Version) -> Any:
        for target in known.targets.values():
            target.record.job = None
        return original(known, version)

    patched.setattr(catalog, "put_version", put_version)


def test_a_live_job_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [publish("v1"), publish("v2", at="+10s")]
    assert "OneJobPerTarget" in broken_by(monkeypatch, _a_new_version_forgets_the_live_job, *steps)


def _everything_is_approved(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(approval, "judge", lambda *_: decisions.allowed("why not"))


def test_an_approval_that_nobody_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    found = broken_by(monkeypatch, _everything_is_approved, publish(), objects=[*fleet(), ASKED])
    assert found == ["NoGateSkipped"]


def test_a_gate_that_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its verdict cannot be computed again from outside."""

    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(gates, "of_moment", lambda *_: iter(()))

    closed = policy("closed", {"gate": {"when": ["signals['open'] == true"]}})
    signal = {"at": "+0s", "signal": {"name": "open", "value": False}}
    assert broken_by(monkeypatch, fault, signal, publish(), objects=[*fleet(), closed]) == ["NoGateSkipped"]


ALWAYS_JUDGED = [
    kind for kind, spec in rules.KINDS.items() if spec in judges.OF_SPEC and kind != "scopedVersion"
]


@pytest.mark.parametrize("kind", ALWAYS_JUDGED)
def test_a_rule_that_is_asked_at_no_stage(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """As if its file named none, or one at which nobody asks."""

    def fault(patched: pytest.MonkeyPatch) -> None:
        for name in ("_OF_VERSION", "_OF_PACE", "_OF_MOMENT"):
            table = dict(getattr(gates, name))
            table.pop(rules.KINDS[kind], None)
            patched.setattr(gates, name, table)

    objects = [*fleet(), policy("the rule", {kind: smallest.RULES.get(kind, {})})]
    assert broken_by(monkeypatch, fault, publish(), objects=objects) == ["NoGateSkipped"]


def test_a_window_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        allowed = decisions.allowed("open at all times")
        patched.setattr(judges, "window", lambda rule, *_: state.GateResult(rule, rule.kind, allowed))

    assert broken_by(monkeypatch, fault, publish(), objects=[*fleet(), NIGHTS]) == ["NoGateSkipped"]


@pytest.mark.parametrize(
    "named", [{"resource": "node-2"}, {"deployment": "api", "tag": "v1"}, {"expiresAt": "+1h"}]
)
def test_a_skip_that_reaches_further_than_it_says(
    monkeypatch: pytest.MonkeyPatch, named: dict[str, str]
) -> None:
    """It is not for this node, not for this version, or over."""

    def fault(patched: pytest.MonkeyPatch) -> None:
        def any_skip(known: state.State, rule: Any, *_: Any) -> model.Skip | None:
            return next(iter(known.skips_by_rule.get(rule.id, {}).values()), None)

        patched.setattr(state.State, "skip_for", any_skip)

    steps = [publish("v1"), skip("+1m", "two", **named), publish("v2", at="+2h")]
    found = broken_by(monkeypatch, fault, *steps, objects=[*fleet(2), ASKED])
    assert found == ["NoGateSkipped"]


def test_a_skip_that_was_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr("headgate.fleet.state.skips.delete", lambda *_: None)

    steps = [
        skip("+0s", "two", id="5b3b9a4e-6a3e-4e0c-9a55-0d2d1c6a1c11"),
        {"at": "+1m", "unskip": "5b3b9a4e-6a3e-4e0c-9a55-0d2d1c6a1c11"},
        publish("v1", at="+2m"),
    ]
    assert broken_by(monkeypatch, fault, *steps, objects=[*fleet(), ASKED]) == ["NoGateSkipped"]


def bracket(**spec: Any) -> Step:
    rule = {"deploymentSelector": "true", "readinessMode": "immediate", **spec}
    return {"name": "cycle", "deploymentBracket": rule}


def cycles(*more: Step, **spec: Any) -> list[Step]:
    order = {"dependsOn": "deployment.name == 'drain'", "appliesTo": "deployment.name == 'api'"}
    rules = [bracket(**spec), {"name": "order", "deploymentDependency": order}]
    return [*fleet(1, "drain", "api"), policy("lifecycle", *rules, *more)]


def test_members_of_a_group_in_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(ordering, "verdicts_of", lambda *_: iter(()))

    steps = [publish(deployment="drain"), publish(deployment="api")]
    spec = {"preHookSelector": "false", "postHookSelector": "false"}
    assert broken_by(monkeypatch, fault, *steps, objects=cycles(**spec)) == ["NoGateSkipped"]


def test_a_group_that_starts_outside_the_window_of_a_member(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr("headgate.fleet.cycles.readiness.moment_verdicts", lambda *_: iter(()))

    only_api = {**NIGHTS, "spec": {**NIGHTS["spec"], "selector": "deployment.name == 'api'"}}
    steps = [publish(deployment="drain"), publish(deployment="api")]
    objects = [*cycles(preHookSelector="deployment.name == 'drain'"), only_api]
    assert broken_by(monkeypatch, fault, *steps, objects=objects) == ["NoGateSkipped"]


def test_a_resource_whose_targets_stay_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(catalog, "remove_resource", lambda *_: None)

    steps = [{"at": "+0s", "delete": {"kind": "Resource", "name": "node-1"}}, publish(at="+1m")]
    assert "NoStaleWrite" in broken_by(monkeypatch, fault, *steps, objects=fleet(2))


def test_a_report_that_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(jobs, "report", lambda *_: None)

    assert "NoLostEvent" in broken_by(monkeypatch, fault, publish())


def test_votes_that_a_crash_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        original = snapshot.restore

        def restore(document: snapshot.Snapshot, ids: Any) -> state.State:
            return original(msgspec.structs.replace(document, approvals=[]), ids)

        patched.setattr(snapshot, "restore", restore)

    steps = [publish(), approve("v1", "+1h"), {"at": "+1h", "crash": "engine"}]
    found = broken_by(monkeypatch, fault, *steps, objects=[*fleet(), ASKED])
    assert {"NoLostEvent", "ReplayEqualsDecision"} <= set(found)


def test_a_success_that_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(jobs, "note_running", lambda *_: None)

    assert "NoDoubleEffect" in broken_by(monkeypatch, fault, publish(), until="+10m")


def test_a_second_report_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(model, "JOB_TERMINAL", model.JOB_TERMINAL - {"failure"})
        patched.setattr(model, "JOB_LIVE", model.JOB_LIVE | {"failure"})
        original = jobs.report

        def report(known: state.State, change: Any, now: int) -> None:
            original(known, change, now)
            job = known.jobs.get(change.job)
            if job is not None and change.status == "failure":
                known.observer.on_job_changed(job, "failure")

        patched.setattr(jobs, "report", report)

    agents = [{"match": "true", "outcomes": ["failure"]}]
    assert "NoDoubleEffect" in broken_by(monkeypatch, fault, publish(), agents=agents, until="+10m")


def test_a_freeze_that_nobody_heeds(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(state.State, "freeze_on", lambda *_: None)

    freeze = {"at": "+0s", "freeze": {"name": "incident", "selector": "true", "reason": "look"}}
    assert broken_by(monkeypatch, fault, freeze, publish()) == ["StopIsAbsolute"]


def test_a_vote_that_wakes_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        original = wakes.Waiting.happened
        patched.setattr(
            wakes.Waiting,
            "happened",
            lambda self, reason: original(self, reason) if reason[0] != "votes" else None,
        )

    steps = [publish(), approve("v1", "+1h")]
    found = broken_by(monkeypatch, fault, *steps, objects=[*fleet(), ASKED])
    assert "MonotoneProgress" in found


def test_a_group_whose_released_slot_is_free_and_that_does_not_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        original = cycle.advance

        def advance(known: Any, place: Any, group: Any, *more: Any) -> None:
            if not group.slot_released:
                original(known, place, group, *more)

        patched.setattr(cycle, "advance", advance)

    release = {"at": "+30s", "group": {"action": "release", "environment": "prod", "resource": "node-1"}}
    steps = [publish(deployment="drain"), publish(deployment="api"), release]
    assert "MonotoneProgress" in broken_by(monkeypatch, fault, *steps, objects=cycles())


def test_a_unit_that_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        original = wakes.Waiting.wait
        patched.setattr(wakes.Waiting, "wait", lambda self, unit, *_: original(self, unit, (), None))

    found = broken_by(monkeypatch, fault, publish(), objects=[*fleet(), ASKED])
    assert "NoStuckWithoutReason" in found


def test_a_unit_that_waits_for_what_nothing_fires(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands on the list, and says what it waits for; only nobody ever calls that name."""

    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(wakes, "votes", lambda *names: Wake(("ballots", *names)))

    found = broken_by(monkeypatch, fault, publish(), objects=[*fleet(), ASKED])
    assert found == ["NoStuckWithoutReason"]


def test_a_unit_that_waits_for_a_vote_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        original = wakes.votes
        patched.setattr(wakes, "votes", lambda version, _: original(version, "elsewhere"))

    found = broken_by(monkeypatch, fault, publish(), objects=[*fleet(), ASKED])
    assert found == ["NoStuckWithoutReason"]


@pytest.mark.parametrize("topic", ["votes", "skips"])
def test_a_call_that_nobody_hears(monkeypatch: pytest.MonkeyPatch, topic: str) -> None:
    """Nobody votes or skips in the run: the promise finds out by doing so itself."""

    def fault(patched: pytest.MonkeyPatch) -> None:
        original = wakes.Waiting.happened
        patched.setattr(
            wakes.Waiting,
            "happened",
            lambda self, wake: original(self, wake) if wake[0] != topic else None,
        )

    found = broken_by(monkeypatch, fault, publish(), objects=[*fleet(), ASKED])
    assert found == ["NoStuckWithoutReason"]


def test_a_state_that_loses_something_when_it_is_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        original = snapshot.restore

        def restore(document: snapshot.Snapshot, ids: Any) -> state.State:
            return original(msgspec.structs.replace(document, sequence=0), ids)

        patched.setattr(snapshot, "restore", restore)

    steps = [publish(), {"at": "+10m", "crash": "engine"}]
    assert "ReplayEqualsDecision" in broken_by(monkeypatch, fault, *steps)


LINE = policy("line", {"name": "line", "gradualRollout": {"timeScaleInterval": 300, "stopAfterFailures": 1}})
FAILING = [{"match": "version.tag == 'v1'", "outcomes": ["failure"]}]


def _no_line_stops(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(breakers, "rollout_stopped", lambda *_: None)


def test_a_line_that_does_not_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [*fleet(3), LINE]
    found = broken_by(monkeypatch, _no_line_stops, publish(), objects=objects, agents=FAILING)
    assert found == ["NoGateSkipped"]


def test_a_line_of_cycles_that_does_not_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    bracket = policy(
        "cycles",
        {"name": "cycle", "deploymentBracket": {"deploymentSelector": "true", "readinessMode": "immediate"}},
    )
    objects = [*fleet(3), LINE, bracket]
    found = broken_by(monkeypatch, _no_line_stops, publish(), objects=objects, agents=FAILING)
    assert found == ["NoGateSkipped"]


def _everything_it_needs_is_there(patched: pytest.MonkeyPatch) -> None:
    allowed = state.GateResult(None, "dependencies", decisions.allowed("it is there"))
    patched.setattr(version_dependencies, "judge", lambda *_: allowed)


def test_a_version_that_does_not_wait_for_what_it_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    step = publish(dependencies={"db": "version.tag == 'v1'"})
    found = broken_by(monkeypatch, _everything_it_needs_is_there, step, objects=fleet(1, "api", "db"))
    assert found == ["NoGateSkipped"]
