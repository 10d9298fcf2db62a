"""A plan as it is printed, whole screens compared with files. `HEADGATE_GOLDEN=write` writes them anew."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headgate.fleet.engine import differences
from headgate.fleet.model import changes
from headgate.kernel import instants
from headgate.screens import plan_text, timeline_text
from headgate.simulate import result_reading
from simulate.planned import NOW, answer, finish_jobs, plan, version, workspace
from simulate.small import fleet, manifest

GOLDEN = Path(__file__).parent / "golden"
MINUTE = instants.minutes(1)


def slots(limit: int, **more: object) -> dict[str, Any]:
    spec = {"groupSelector": "resource.kind == 'Node'", "limitType": "count", "limitValue": limit}
    return manifest("Policy", "careful", rules=[{"name": "slots", "resourceConcurrency": spec}], **more)


def retry() -> dict[str, Any]:
    return {"name": "again", "retry": {"maxRetries": 2}}


def a_version_for_a_few_nodes() -> dict[str, Any]:
    return answer(workspace(*fleet(3), slots(2)), version("v1"), durations={"api": 8 * MINUTE})


def a_policy_that_changes() -> dict[str, Any]:
    engine = workspace(*fleet(4), slots(1, description="slowly", metadata={"team": "core"}), version("v1"))
    changed = slots(2, metadata={"owner": "core"}, selector="environment.name == 'prod'")
    changed["spec"]["rules"].insert(0, retry())
    return answer(engine, changed, *fleet(4), at=NOW + MINUTE // 2)


def a_fleet_that_is_new() -> dict[str, Any]:
    bracket = {"deploymentSelector": "true", "readinessWindowSeconds": 3600}
    together = manifest("Policy", "together", rules=[{"deploymentBracket": bracket}])
    return answer(workspace(), *fleet(12, "api", "db"), together, version("v1"), version("v3", "db"))


def nothing_to_do() -> dict[str, Any]:
    engine = workspace(*fleet(2), version("v1"))
    finish_jobs(engine, NOW + MINUTE)
    return answer(engine, *fleet(2), version("v1"), at=NOW + 2 * MINUTE)


def somebody_has_to_approve() -> dict[str, Any]:
    ask = manifest("Policy", "ask", selector="environment.name == 'prod'", rules=[{"approval": {}}])
    stages = manifest("Environment", "staging", resourceSelector="true")
    return answer(workspace(*fleet(2), stages, ask), version("v1"))


def refused() -> dict[str, Any]:
    return answer(workspace(*fleet()), version("v1"), version("v1", "apo"))


def cut_short() -> dict[str, Any]:
    return answer(workspace(*fleet(3), slots(1)), version("v1"), until=NOW + MINUTE)


def with_deletions() -> dict[str, Any]:
    engine = workspace(*fleet(6), slots(1), version("v1"))
    found = answer(engine, assume=("approvals",), at=NOW + MINUTE // 2)
    gone = [engine.state.policies["careful"].object]
    gone += [node.object for node in engine.state.resources.values()][:5]
    found["differences"] += [msgspec.to_builtins(differences.removed(thing, None)) for thing in gone]
    kept = differences.removed(
        engine.state.deployments["api"].versions[0].object, "v1 runs on api/prod/node-1"
    )
    found["differences"].append(msgspec.to_builtins(kept))
    return found


SCREENS = [
    with_deletions,
    a_version_for_a_few_nodes,
    a_policy_that_changes,
    a_fleet_that_is_new,
    nothing_to_do,
    somebody_has_to_approve,
    refused,
    cut_short,
]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_a_plan_is_printed_as_in_its_file(screen: Any) -> None:
    """From the document as it comes over the wire."""
    text = plan_text.render(json.loads(json.dumps(screen())))
    file = GOLDEN / f"{screen.__name__.replace('_', '-')}.txt"
    if os.environ.get("HEADGATE_GOLDEN") == "write":
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")


def test_many_changed_objects_are_counted() -> None:
    field = {"path": "spec.kind", "before": "Node", "after": "Host"}
    changed = [
        {"kind": "Resource", "name": f"node-{number}", "action": "configured", "fields": [field]}
        for number in range(1, 51)
    ]
    lines = list(plan_text.render_differences(changed))
    assert lines[:2] == ["~ Resource node-1", "    ~ spec.kind: Node -> Host"]
    assert lines[-1] == "~ 10 more objects"


def test_long_values_are_cut() -> None:
    field = {"path": "spec.config.script", "before": None, "after": "echo hello\n" * 20}
    [_, line] = plan_text.render_differences(
        [{"kind": "Resource", "name": "node-1", "action": "configured", "fields": [field]}]
    )
    assert line == "    + spec.config.script: echo hello echo hello echo hello echo hello echo hello ec..."


def test_a_result_that_was_read_back_tells_the_same_story() -> None:
    """But for the slots at each start, which the document does not have."""
    planned = plan(workspace(*fleet(3)), version("v1"))
    read = result_reading.read(json.loads(json.dumps(planned.document())))
    assert timeline_text.render(read) == timeline_text.render(planned.result)
    assert read.document() == planned.result.document()


def test_minutes_of_real_jobs_are_told_without_their_fractions() -> None:
    odd = NOW + 123_456
    engine = workspace(*fleet(), version("v1"), at=odd)
    [job] = engine.jobs.values()
    engine.apply(changes.JobReported(job.id, "inProgress"), odd)
    text = plan_text.render(answer(engine, at=odd + 30_000_000, durations={"api": 95_700_000}))
    assert "successful  (after 1m36s)" in text
    assert "1 job on 1 resource (1 running already), finished in 1m6s (2026-03-01T09:01:36Z)." in text
