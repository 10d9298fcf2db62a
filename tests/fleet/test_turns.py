"""Targets that only their turn tells apart wait for exactly what each would wait for if it were judged by itself."""

from unittest import mock

import pytest

from headgate.fleet.engine import manifests
from headgate.fleet.engine.engine import Engine
from headgate.fleet.gates import rollouts
from headgate.fleet.model import changes
from headgate.fleet.model import objects as model
from headgate.fleet.state.units import Target
from headgate.kernel import identifiers, instants

START = instants.parse("2026-03-01T09:00:00Z")
IDS = identifiers.NamedIds("turns")
HOSTS = {"resourceSelector": "resource.kind == 'Host'"}
MINUTE = instants.minutes(1)

ROLLOUT = {"gradualRollout": {"timeScaleInterval": 300}}
SPECIAL = "resource.name == 'host-07'"
RULES: dict[str, list[dict[str, object]]] = {
    "linear": [ROLLOUT],
    "exponential": [{"gradualRollout": {"rolloutType": "exponential", "timeScaleInterval": 60}}],
    "by zone": [{"gradualRollout": {"timeScaleInterval": 60, "groupBy": "resource.metadata['zone']"}}],
    "by success": [{"gradualRollout": {"timeScaleInterval": 60, "advanceOn": "success"}}],
    "two of them": [ROLLOUT, {"gradualRollout": {"timeScaleInterval": 60}}],
    "behind an approval": [{"approval": {"minApprovals": 1}}, ROLLOUT],
    "behind a selector": [{"versionSelector": {"selector": f"version.tag != 'v2' || {SPECIAL}"}}, ROLLOUT],
    "behind a cooldown": [{"versionCooldown": {"intervalSeconds": 3600}}, ROLLOUT],
    "in a window": [
        {"deploymentWindow": {"rrule": "FREQ=DAILY;BYHOUR=10", "durationMinutes": 60}},
        ROLLOUT,
    ],
}


def _put(engine: Engine, now: int, kind: str, name: str, spec: dict[str, object]) -> None:
    document = {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    thing = manifests.parse(document, IDS, now)
    engine.apply(changes.Put(thing), now)  # type: ignore[arg-type]


def _engine(rules: list[dict[str, object]]) -> Engine:
    engine = Engine(IDS)
    _put(engine, START, "Policy", "in-turn", {"rules": rules})
    _put(engine, START, "Environment", "prod", HOSTS)
    _put(engine, START, "Deployment", "api", HOSTS)
    for number in range(12):
        spec = {"kind": "Host", "metadata": {"zone": str(number % 3)}}
        _put(engine, START, "Resource", f"host-{number:02}", spec)
    return engine


def _publish(engine: Engine, tag: str, now: int, *, for_some: bool = False) -> None:
    version = model.Version(
        id=IDS.new("Version", f"api/{tag}"),
        name=tag,
        deployment="api",
        tag=tag,
        created_at=now,
        target_selector=f"!({SPECIAL})" if for_some else None,
    )
    engine.apply(changes.Put(version), now)


def _waits(target: Target) -> tuple[object, ...]:
    return target.waits, target.requeue_at, target.held_by, target.record.job


def _history(rules: list[dict[str, object]]) -> list[dict[str, tuple[object, ...]]]:
    """What each target waits for, step by step: three versions, approved in turn, while jobs end well or badly."""
    engine = _engine(rules)
    seen: list[dict[str, tuple[object, ...]]] = []
    now = START
    for number in range(12):
        now += 4 * MINUTE
        if number % 4 == 0:
            _publish(engine, f"v{number // 4}", now, for_some=number == 4)
        if number % 4 == 1:
            engine.apply(changes.Vote("api", f"v{number // 4}", "prod", "ana", "approved"), now)
        live = [job for job in engine.jobs.values() if job.completed_at is None]
        for job in live:
            status = "failure" if job.resource == "host-03" else "successful"
            engine.apply(changes.JobReported(job.id, status), now)
        engine.decide(now)
        seen.append({name: _waits(target) for name, target in engine.state.targets.items()})
    return seen


@pytest.mark.parametrize("name", RULES)
def test_all_wait_for_what_each_would_wait_for_by_itself(name: str) -> None:
    with mock.patch.object(rollouts, "line_of", return_value=None):
        by_itself = _history(RULES[name])
    assert _history(RULES[name]) == by_itself


def test_one_is_judged_for_all() -> None:
    engine = _engine([ROLLOUT])
    engine.decide(START)
    _publish(engine, "v1", START + MINUTE)
    with mock.patch.object(rollouts, "found_line", wraps=rollouts.found_line) as found:
        engine.decide(START + MINUTE)
    assert found.call_count <= 2
    assert len({target.requeue_at for target in engine.state.targets.values()}) == 12
