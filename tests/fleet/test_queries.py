"""What can be asked of an engine: by id or name, sorted, in slices; answers are values that stay as they were given."""

from __future__ import annotations

from typing import Any

import pytest

from headgate.fleet.engine import manifests, rewinding
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.orderings import NAME, KeyRange
from headgate.fleet.engine.queries import budget_lines, lookup, matrix, release_targets, versions
from headgate.fleet.engine.queries.release_targets import TargetFilter
from headgate.fleet.model import changes, kinds
from headgate.fleet.model.changes import Object
from headgate.kernel import identifiers, instants
from headgate.kernel.problems import Rejected

NOW = instants.parse("2026-03-02T09:00:00Z")
IDS = identifiers.NamedIds("test")
ALL = KeyRange(NAME, False, None, 100)


def put(engine: Engine, kind: str, name: str, /, **spec: Any) -> Object:
    document = {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    thing = manifests.parse(document, IDS, NOW)
    assert not isinstance(thing, manifests.ForeignObject)
    engine.apply(changes.Put(thing), NOW)
    return thing


@pytest.fixture
def engine() -> Engine:
    engine = Engine(IDS)
    for name in ("node-2", "node-1", "node-3"):
        put(engine, "Resource", name, kind="Node")
    put(engine, "JobAgent", "runner", type="pull")
    put(engine, "Environment", "prod", resourceSelector="true")
    put(engine, "Deployment", "web", resourceSelector="true", jobAgent="runner")
    put(engine, "Version", "web/v1", deployment="web", tag="v1")
    engine.decide(NOW)
    return engine


def test_an_object_is_found_by_name_and_by_id(engine: Engine) -> None:
    known = lookup.get(engine, kinds.RESOURCE, "node-1")
    assert known is not None
    assert lookup.find(engine, kinds.RESOURCE, "node-1") is known
    assert lookup.find(engine, kinds.RESOURCE, known.id.upper()) is known
    assert lookup.find(engine, kinds.RESOURCE, "node-9") is None


def test_a_list_is_sorted_and_goes_on_behind_a_key(engine: Engine) -> None:
    first = lookup.within(engine, kinds.RESOURCE, KeyRange(NAME, False, None, 2))
    assert [thing.name for _, thing in first] == ["node-1", "node-2"]
    rest = lookup.within(engine, kinds.RESOURCE, KeyRange(NAME, False, first[-1][0], 2))
    assert [thing.name for _, thing in rest] == ["node-3"]


def test_a_list_follows_a_state_that_another_one_takes_the_place_of(engine: Engine) -> None:
    lookup.within(engine, kinds.RESOURCE, ALL)
    earlier = NOW - instants.seconds(60)
    engine.state, _ = rewinding.rewound(engine.state, NOW, earlier)
    found = [thing for _, thing in lookup.within(engine, kinds.RESOURCE, ALL)]
    assert [thing.name for thing in found] == ["node-1", "node-2", "node-3"]
    assert all(thing is lookup.get(engine, kinds.RESOURCE, thing.name) for thing in found)


def test_a_version_has_room_in_its_deployment_by_name_or_id(engine: Engine) -> None:
    deployment = lookup.get(engine, kinds.DEPLOYMENT, "web")
    assert deployment is not None
    for reference in ("web", deployment.id):
        new, taken = versions.room_for(engine, reference, "v2"), versions.room_for(engine, reference, "v1")
        assert new is not None
        assert (new.deployment, new.is_taken) == ("web", False)
        assert taken is not None
        assert taken.is_taken
    assert versions.room_for(engine, "wob", "v1") is None


def test_targets_are_listed_with_what_leaves_some_of_them_out(engine: Engine) -> None:
    running = release_targets.listed(engine, TargetFilter(state="running"), ALL, NOW, is_read=False)
    assert [key for key, one in running if one is not None] == [
        ("web/prod/node-1",),
        ("web/prod/node-2",),
        ("web/prod/node-3",),
    ]
    failed = release_targets.listed(engine, TargetFilter(state="failed"), ALL, NOW, is_read=False)
    assert [one for _, one in failed] == [None, None, None]
    assert release_targets.listed(engine, TargetFilter(deployment="api"), ALL, NOW, is_read=False) == []


def test_a_status_stays_as_it_was_given(engine: Engine) -> None:
    before = release_targets.status(engine, "web/prod/node-1", NOW)
    assert before.job is not None
    assert before.state == "running"
    engine.apply(changes.JobReported(before.job.id, "successful"), NOW)
    engine.decide(NOW)
    assert before.state == "running"
    assert release_targets.status(engine, "web/prod/node-1", NOW).state == "upToDate"


def test_the_matrix_is_filled_in_slices(engine: Engine) -> None:
    wanted = matrix.cells(engine, None, None, asks_for_stuck=False)
    slices = 0
    done = 0
    while done < len(wanted):
        done = matrix.fill(engine, wanted, done, NOW, lambda: True)
        slices += 1
    [cell] = wanted
    assert (cell.deployment, cell.environment, cell.newest) == ("web", "prod", "v1")
    assert (slices, cell.counts["running"], cell.desired) == (3, 3, 3)


def test_a_rule_that_stops_no_line_cannot_be_resumed(engine: Engine) -> None:
    put(engine, "Policy", "careful", rules=[{"name": "again", "retry": {"maxRetries": 2}}])
    with pytest.raises(Rejected, match="again, a retry; allowed are a failureBudget and a gradualRollout"):
        budget_lines.rule(engine, "careful", "again")
