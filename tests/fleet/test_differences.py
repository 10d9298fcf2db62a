"""What manifests would change in a workspace, object by object and field by field."""

from typing import Any

import msgspec

from headgate.fleet.engine import manifests
from headgate.fleet.engine.differences import FieldDifference, compare
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes
from headgate.kernel import identifiers, instants

EARLIER = instants.parse("2026-03-01T09:00:00Z")
NOW = instants.parse("2026-03-02T09:00:00Z")
IDS = identifiers.NamedIds("test")
GIVEN_ID = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
LIMIT = {
    "name": "slots",
    "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 2},
}
RETRY = {"name": "again", "retry": {"maxRetries": 2}}


def manifest(kind: str, name: str, /, *, id: str | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name} if id is None else {"name": name, "id": id}
    return {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": metadata, "spec": spec}


def parsed(document: dict[str, Any], at: int = NOW) -> Any:
    return manifests.parse(document, IDS, at)


def workspace(*documents: dict[str, Any]) -> Engine:
    engine = Engine(IDS)
    for document in documents:
        engine.apply(changes.Put(parsed(document, EARLIER)), EARLIER)
    return engine


def fields_of(
    before: dict[str, Any], after: dict[str, Any], *others: dict[str, Any]
) -> list[FieldDifference]:
    [difference] = compare(workspace(*others, before), [parsed(after)])
    assert difference.action == ("configured" if difference.fields else "unchanged")
    return list(difference.fields)


ONE_OF_EACH = [
    manifest("Resource", "node-1", kind="Node", metadata={"zone": "a"}, config={"size": [1, 2]}),
    manifest("Environment", "prod", resourceSelector="true"),
    manifest("Deployment", "api", resourceSelector="true", variables={"size": 3}),
    manifest("Version", "api/v1", deployment="api", tag="v1"),
    manifest("Policy", "careful", rules=[LIMIT, RETRY]),
    manifest("JobAgent", "runner", type="exec"),
    manifest("VariableSet", "sizes", variables={"size": 1}),
    manifest("Freeze", "incident", reason="an incident"),
    manifest("Signal", "pager", value={"firing": True}),
]


def test_the_same_manifests_again_change_nothing() -> None:
    """At another time, with other ids: what is stamped is no difference."""
    again = [
        manifests.parse(document, identifiers.NamedIds("elsewhere"), NOW)
        for document in reversed(ONE_OF_EACH)
    ]
    found = compare(workspace(*ONE_OF_EACH), again)
    assert {difference.action for difference in found} == {"unchanged"}


def test_what_is_exported_changes_nothing() -> None:
    engine = workspace(*ONE_OF_EACH)
    engine.apply(changes.SetVersionStatus("api", "v1", "ready"), NOW)
    exported = [manifests.describe(thing) for thing in _stored(engine)]
    assert {one.action for one in compare(engine, map(parsed, exported))} == {"unchanged"}


def _stored(engine: Engine) -> list[Any]:
    state = engine.state
    nodes = (state.resources, state.environments, state.deployments, state.versions, state.policies)
    return [node.object for table in nodes for node in table.values()]


def test_everything_is_new_in_an_empty_workspace() -> None:
    found = compare(Engine(IDS), map(parsed, ONE_OF_EACH))
    assert [(one.kind, one.name, one.action, one.before, one.fields) for one in found] == [
        (document["kind"], document["metadata"]["name"], "created", None, ()) for document in ONE_OF_EACH
    ]


def test_what_is_created_is_shown_as_a_manifest_without_a_moment_it_has_not_got_yet() -> None:
    thing = parsed(ONE_OF_EACH[0])
    [difference] = compare(Engine(IDS), [thing])
    expected = manifests.describe(thing)
    del expected["spec"]["createdAt"]
    assert difference.after == expected


def test_a_changed_field_has_its_path_and_both_values() -> None:
    before = manifest("Resource", "node-1", kind="Node", metadata={"zone": "a", "rack": "7"})
    after = manifest("Resource", "node-1", kind="Host", metadata={"zone": "b", "owner": "core"})
    assert fields_of(before, after) == [
        FieldDifference("spec.kind", "Node", "Host"),
        FieldDifference("spec.metadata.zone", "a", "b"),
        FieldDifference("spec.metadata.rack", "7", None),
        FieldDifference("spec.metadata.owner", None, "core"),
    ]


def test_a_changed_object_keeps_its_id_and_its_creation_in_what_it_becomes() -> None:
    before = manifest("Environment", "prod", id=GIVEN_ID, resourceSelector="true")
    [difference] = compare(
        workspace(before), [parsed(manifest("Environment", "prod", resourceSelector="false"))]
    )
    assert difference.before is not None
    assert difference.after["metadata"] == difference.before["metadata"] == {"name": "prod", "id": GIVEN_ID}
    assert difference.after["spec"]["createdAt"] == "2026-03-01T09:00:00Z"


def test_a_default_that_is_written_out_is_no_difference() -> None:
    written = manifest("Policy", "careful", rules=[], enabled=True, priority=0)
    assert fields_of(manifest("Policy", "careful", rules=[]), written) == []


def test_true_is_not_one() -> None:
    before = manifest("Signal", "pager", value={"firing": 1})
    assert fields_of(before, manifest("Signal", "pager", value={"firing": True})) == [
        FieldDifference("spec.value.firing", 1, True)
    ]


def test_a_signal_that_is_set_to_the_same_value_is_unchanged() -> None:
    pager = manifest("Signal", "pager", value=1)
    assert fields_of(pager, pager) == []


def test_items_of_a_list_are_compared_one_by_one_while_it_is_as_long() -> None:
    before = manifest("Resource", "node-1", config={"disks": [1, 2, 3]})
    assert fields_of(before, manifest("Resource", "node-1", config={"disks": [1, 5, 3]})) == [
        FieldDifference("spec.config.disks[1]", 2, 5)
    ]
    assert fields_of(before, manifest("Resource", "node-1", config={"disks": [1]})) == [
        FieldDifference("spec.config.disks", [1, 2, 3], [1])
    ]


def test_a_changed_rule_is_named_by_its_place_and_field() -> None:
    stricter = {
        "name": "slots",
        "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 1},
    }
    before, after = (manifest("Policy", "careful", rules=[rule, RETRY]) for rule in (LIMIT, stricter))
    assert fields_of(before, after) == [FieldDifference("spec.rules[0].resourceConcurrency.limitValue", 2, 1)]


def test_a_rule_put_in_front_of_named_ones_is_the_only_difference() -> None:
    before = manifest("Policy", "careful", rules=[RETRY])
    [added] = fields_of(before, manifest("Policy", "careful", rules=[LIMIT, RETRY]))
    assert (added.path, added.before) == ("spec.rules[0]", None)
    assert isinstance(added.after, dict)
    assert added.after["name"] == "slots"


def test_a_rule_that_goes_is_named_by_where_it_was() -> None:
    before = manifest("Policy", "careful", rules=[LIMIT, RETRY])
    [removed] = fields_of(before, manifest("Policy", "careful", rules=[RETRY]))
    assert (removed.path, removed.after) == ("spec.rules[0]", None)


def test_the_order_of_rules_is_a_difference() -> None:
    before, after = (manifest("Policy", "careful", rules=rules) for rules in ([LIMIT, RETRY], [RETRY, LIMIT]))
    assert fields_of(before, after) == [FieldDifference("spec.rules", ["slots", "again"], ["again", "slots"])]


def test_rules_of_a_policy_with_an_id_of_its_own_are_known_again() -> None:
    rules = [{"retry": {"maxRetries": 2}}]
    before = manifest("Policy", "careful", id=GIVEN_ID, rules=rules)
    assert fields_of(before, manifest("Policy", "careful", rules=rules)) == []


def test_a_version_is_found_by_the_id_of_its_deployment() -> None:
    deployment = manifest("Deployment", "api", id=GIVEN_ID, resourceSelector="true")
    before = manifest("Version", "api/v1", deployment="api", tag="v1", message="first")
    after = manifest("Version", "api/v1", deployment=GIVEN_ID, tag="v1", message="second")
    assert fields_of(before, after, deployment) == [FieldDifference("spec.message", "first", "second")]


def test_a_version_of_a_deployment_that_comes_with_it_is_new() -> None:
    documents = [manifest("Deployment", "web"), manifest("Version", "web/v1", deployment="web", tag="v1")]
    found = compare(Engine(IDS), map(parsed, documents))
    assert [(one.kind, one.name, one.action) for one in found] == [
        ("Deployment", "web", "created"),
        ("Version", "web/v1", "created"),
    ]


def test_an_object_that_comes_twice_is_compared_with_its_first_appearance() -> None:
    documents = [manifest("Resource", "node-1", kind="Node"), manifest("Resource", "node-1", kind="Host")]
    found = compare(Engine(IDS), map(parsed, documents))
    assert [(one.action, one.fields) for one in found] == [
        ("created", ()),
        ("configured", (FieldDifference("spec.kind", "Node", "Host"),)),
    ]


def test_a_difference_is_a_document() -> None:
    before = manifest("JobAgent", "runner", type="exec")
    [difference] = compare(workspace(before), [parsed(manifest("JobAgent", "runner", type="http"))])
    document = msgspec.json.decode(msgspec.json.encode(difference))
    assert list(document) == ["kind", "name", "action", "before", "after", "fields", "note"]
    assert document["fields"] == [{"path": "spec.type", "before": "exec", "after": "http"}]


def test_comparing_leaves_the_workspace_as_it_is() -> None:
    engine = workspace(*ONE_OF_EACH)
    written = engine.dump()
    compare(engine, [parsed(manifest("Environment", "prod")), parsed(manifest("Environment", "dev"))])
    assert engine.dump() == written
