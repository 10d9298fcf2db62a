"""Manifests in, objects out, and back again."""

import json
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import smallest
from headgate.fleet import rules
from headgate.fleet.engine import manifests
from headgate.fleet.model import objects as model
from headgate.fleet.model import rule_ids
from headgate.fleet.rules import deployment_bracket
from headgate.kernel import identifiers, instants, yaml_text
from headgate.kernel.problems import Problem, Rejected

SHARED = Path(__file__).parents[3] / "shared"
NOW = instants.parse("2026-03-01T09:00:00Z")
IDS = identifiers.NamedIds("test")


def parse(text: str) -> Any:
    [document] = manifests.read_documents(text, source="fleet.yaml")
    return manifests.parse(document, IDS, NOW)


def test_a_resource_has_its_name_as_identifier_and_now_as_creation() -> None:
    resource = parse(
        "{apiVersion: headgate.dev/v1, kind: Resource, metadata: {name: node-3},"
        " spec: {kind: KubernetesNode, metadata: {cluster: prod-east}}}"
    )
    assert resource == model.Resource(
        id=IDS.new("Resource", "node-3"),
        name="node-3",
        identifier="node-3",
        kind="KubernetesNode",
        metadata={"cluster": "prod-east"},
        created_at=NOW,
    )


def test_an_id_and_a_workspace_of_its_own_are_kept() -> None:
    text = "{apiVersion: headgate.dev/v1, kind: JobAgent, metadata: {name: a, id: %s, workspace: team}}"
    agent = parse(text % "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")
    assert (agent.id, agent.workspace) == ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "team")


def test_a_deployment_variable_is_a_default_or_has_values() -> None:
    deployment = parse("""
apiVersion: headgate.dev/v1
kind: Deployment
metadata: {name: api}
spec:
  variables:
    size: 3
    shape: {width: 1}
    region:
      default: eu
      values: [{value: us, resourceSelector: "resource.metadata['region'] == 'us'", priority: 2}]
""")
    selector = "resource.metadata['region'] == 'us'"
    assert deployment.variables == {
        "size": model.DeploymentVariable(3),
        "shape": model.DeploymentVariable({"width": 1}),
        "region": model.DeploymentVariable("eu", (model.VariableValue("us", selector, 2),)),
    }


def test_a_version_is_known_by_deployment_and_tag() -> None:
    text = "{apiVersion: headgate.dev/v1, kind: Version, spec: {deployment: api, tag: v1.2, dependencies: {db: \"version.tag == 'v9'\"}}}"
    version = parse(text)
    assert (version.name, version.tag, version.deployment) == ("api/v1.2", "v1.2", "api")
    assert version.id == IDS.new("Version", "api/v1.2")
    assert version.published_at == NOW
    assert version.dependencies == {"db": model.VersionDependency("version.tag == 'v9'")}


def test_a_version_that_is_not_ready_is_not_published() -> None:
    version = parse(
        "{apiVersion: headgate.dev/v1, kind: Version, metadata: {name: v1}, spec: {deployment: api, status: building}}"
    )
    assert (version.tag, version.status, version.published_at) == ("v1", "building", None)


def test_rules_have_ids_from_policy_and_name_else_index() -> None:
    policy = parse(
        "{name: p, id: 6ba7b810-9dad-11d1-80b4-00c04fd430c8, rules: [{name: people, approval: {}},"
        " {anyApproval: {minApprovals: 2}}, {id: 00000000-0000-0000-0000-000000000001, gate: {when: []}}]}"
    )
    namespace = uuid.UUID(policy.id)
    assert [rule.id for rule in rule_ids.settled(policy, None)] == [
        str(uuid.uuid5(namespace, "people")),
        str(uuid.uuid5(namespace, "1")),
        "00000000-0000-0000-0000-000000000001",
    ]
    assert [rule.kind for rule in policy.rules] == ["approval", "approval", "gate"]
    assert policy.rule("people") == policy.rule("0") == policy.rule(policy.rules[0].id) == policy.rules[0]
    assert policy.rule("3") is None


NODE_LIFECYCLE = {
    "name": "Node Lifecycle",
    "selector": "deployment.metadata['layer'] == 'node' AND resource.metadata['cluster'] == 'prod-east'",
    "rules": [
        {
            "deploymentBracket": {
                "deploymentSelector": "deployment.metadata['layer'] == 'node'",
                "readinessMode": "collection_window",
                "readinessWindowSeconds": 86400,
            }
        },
        {
            "resourceConcurrency": {
                "groupSelector": "resource.kind == 'n'",
                "limitType": "percentage",
                "limitValue": 20,
            }
        },
        {"gradualRollout": {"rolloutType": "linear-normalized", "timeScaleInterval": 300}},
        {
            "deploymentDependency": {
                "dependsOn": "deployment.name == 'node-drain'",
                "appliesTo": "deployment.name in ['os-patch', 'kubelet-upgrade']",
            }
        },
    ],
}


def test_a_document_with_rules_and_no_kind_is_a_policy() -> None:
    policy = parse(json.dumps(NODE_LIFECYCLE))
    assert isinstance(policy, model.Policy)
    assert policy.name == "Node Lifecycle"
    assert [rule.kind for rule in policy.rules] == [
        "deploymentBracket",
        "resourceConcurrency",
        "gradualRollout",
        "deploymentDependency",
    ]
    assert policy.rules[0].spec == deployment_bracket.DeploymentBracket(
        "deployment.metadata['layer'] == 'node'", readiness_window_seconds=86400
    )
    assert policy.rules[2].spec.rollout_type == "linearNormalized"


def test_a_list_of_policies_is_several_documents() -> None:
    text = json.dumps([NODE_LIFECYCLE, {**NODE_LIFECYCLE, "name": "Other"}])
    found = [
        manifests.parse(document, IDS, NOW) for document in manifests.read_documents(text, source="p.json")
    ]
    assert [policy.name for policy in found] == ["Node Lifecycle", "Other"]


def test_a_kind_list_is_several_documents_with_their_lines() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n- kind: Resource\n  metadata: {name: a}\n- kind: Resource\n  metadata:\n    name: b\n"
    first, second = manifests.read_documents(text, source="fleet.yaml")
    assert (first.value["metadata"]["name"], second.value["metadata"]["name"]) == ("a", "b")
    assert (first.line, second.line_of("metadata.name")) == (4, 8)


def test_objects_of_other_groups_are_kept_as_they_are() -> None:
    value = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "labels": {}},
        "spec": {"a": [1]},
    }
    found = manifests.parse(value, IDS, NOW)
    assert found == manifests.ForeignObject("apps/v1", "Deployment", "web", value)
    assert manifests.describe(found) == value


@pytest.mark.skipif(not SHARED.exists(), reason="the shared material is not here")
def test_public_manifests_of_other_levels_are_read_as_foreign_objects() -> None:
    files = sorted((SHARED / "data" / "manifests").rglob("*.yaml"))
    assert files
    for file in files:
        for document in manifests.read_documents(file.read_text(), source=file.name):
            if isinstance(document.value, dict) and (document.value.get("metadata") or {}).get("name"):
                assert isinstance(manifests.parse(document, IDS, NOW), manifests.ForeignObject), file


@pytest.mark.parametrize("kind", rules.KINDS)
def test_every_kind_of_rule_is_registered_under_its_key(kind: str) -> None:
    assert rules.KINDS[kind].__name__ == kind[0].upper() + kind[1:]


def test_every_file_of_a_rule_is_registered() -> None:
    files = Path(rules.__file__).parent.glob("[a-z]*.py")
    of_rules = {file.stem.replace("_", "") for file in files if "(RuleSpec, " in file.read_text("utf-8")}
    assert of_rules == {kind.lower() for kind in rules.KINDS}


EVERY_RULE: list[dict[str, Any]] = [
    *NODE_LIFECYCLE["rules"],  # type: ignore[list-item]
    {"name": "people", "approval": {"minApprovals": 2, "roles": ["sre"]}},
    {"environmentProgression": {"dependsOnEnvironmentSelector": "environment.name == 'staging'", "maximumAgeHours": 1.5}},
    {"deploymentWindow": {"rrule": "FREQ=DAILY", "durationMinutes": 60, "timezone": "Europe/Paris", "allowWindow": False}},
    {"versionCooldown": {"intervalSeconds": 5}},
    {"versionSelector": {"selector": "version.tag != 'v0'"}},
    {"retry": {"maxRetries": 2, "retryOnStatuses": ["failure"], "backoffStrategy": "exponential"}},
    {"rollback": {"onJobStatuses": ["failure"]}},
    {
        "verification": {
            "metrics": [
                {"name": "web", "provider": {"type": "http", "url": "https://x", "headers": {"a": "b"}}, "successCondition": "result.ok"},
                {"name": "nap", "provider": {"type": "sleep", "durationSeconds": 9}},
                {"name": "rate", "provider": {"type": "prometheus", "address": "http://p", "query": "up"}, "successCondition": "result.value > 0.5"},
            ],
            "triggerOn": "jobStarted",
        }
    },
    {"gate": {"when": ["targets.ready()", "signals['x'] == true"]}},
    {"failureBudget": {"maxFailed": "10%", "per": "policy"}},
    {"scopedVersion": {"requireApprovals": 1}},
]  # fmt: skip
EVERY_RULE += [
    {kind: smallest.RULES.get(kind, {})}
    for kind in rules.KINDS
    if not any(kind in rule for rule in EVERY_RULE)
]

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,12}", fullmatch=True)
STRING_MAPS = st.dictionaries(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5) | st.text("0.e+-", max_size=5),
    st.text("ab 1", max_size=4),
    max_size=3,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text("ab'\"\n"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
JSON_MAPS = st.dictionaries(st.text("abcd", min_size=1), JSON, max_size=3)
TIMES = st.integers(0, 4_000_000_000).map(instants.seconds).map(instants.show)
SELECTORS = st.sampled_from(["true", "resource.name == 'a' AND NOT (environment.name == 'b')"])


def manifest(kind: str, /, **spec: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "apiVersion": st.just("headgate.dev/v1"),
            "kind": st.just(kind),
            "metadata": st.fixed_dictionaries({"name": NAMES}, optional={"workspace": NAMES}),
            "spec": st.fixed_dictionaries({}, optional={"metadata": STRING_MAPS, "createdAt": TIMES, **spec}),
        }
    )


MANIFESTS = st.one_of(
    manifest("Resource", identifier=NAMES, kind=NAMES, config=JSON, variables=JSON_MAPS),
    manifest("Environment", resourceSelector=SELECTORS, systems=st.lists(NAMES)),
    manifest("Deployment", resourceSelector=SELECTORS, jobAgent=NAMES, variables=JSON_MAPS, jobAgentConfig=JSON_MAPS),
    manifest("JobAgent", type=NAMES, config=JSON_MAPS),
    manifest("VariableSet", selector=SELECTORS, variables=JSON_MAPS, priority=st.integers(-5, 5)),
    manifest("Version", config=JSON, targetSelector=SELECTORS, status=st.sampled_from(["ready", "building", "paused"])).map(
        lambda value: {**value, "spec": {**value["spec"], "deployment": "api"}}
    ),
    manifest("Policy", selector=SELECTORS, enabled=st.booleans(), priority=st.integers(-5, 5)).flatmap(
        lambda value: st.lists(st.sampled_from(EVERY_RULE), max_size=4, unique_by=str).map(
            lambda chosen: {**value, "spec": {**value["spec"], "rules": chosen}}
        )
    ),
    manifest("Freeze", selector=SELECTORS, expiresAt=TIMES).map(lambda value: {**value, "spec": {**value["spec"], "reason": "r"}}),
    manifest("Signal", expiresAt=TIMES).flatmap(lambda value: JSON.map(lambda item: {**value, "spec": {**value["spec"], "value": item}})),
)  # fmt: skip


@given(MANIFESTS)
def test_what_is_described_reads_back_as_the_same_object(value: dict[str, Any]) -> None:
    thing = manifests.parse(value, IDS, NOW)
    text = yaml_text.write([manifests.describe(thing)])
    [document] = manifests.read_documents(text, source="described.yaml")
    assert manifests.parse(document, identifiers.NamedIds("other"), NOW) == thing


def test_a_policy_with_every_rule_reads_back() -> None:
    policy = manifests.parse({"name": "all", "rules": EVERY_RULE}, IDS, NOW)
    assert manifests.parse(manifests.describe(policy), IDS, NOW) == policy


def refusals(read: Callable[[], object]) -> Sequence[Problem]:
    try:
        read()
    except Rejected as rejected:
        return rejected.problems or [Problem("", "")]
    return []


@given(
    JSON | st.dictionaries(st.sampled_from(["apiVersion", "kind", "metadata", "spec", "rules", "name"]), JSON)
)
def test_any_value_is_read_or_refused_with_reasons(value: object) -> None:
    assert all(problem.message for problem in refusals(lambda: manifests.parse(value, IDS, NOW)))


@given(st.text(st.characters(exclude_categories=[])) | st.text("[]{}:,&*!<-|>'\"\n a1"))
def test_any_text_is_read_or_refused_with_reasons(text: str) -> None:
    found = refusals(lambda: manifests.validate(manifests.read_documents(text, source="f")))
    assert all(problem.message for problem in found)
