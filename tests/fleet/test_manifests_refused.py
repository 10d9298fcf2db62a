"""Every way a manifest can be wrong has its path and says what is allowed, and all of them are said at once."""

import json
from typing import Any

import pytest

from headgate.fleet.engine import manifests
from headgate.kernel import identifiers
from headgate.kernel.problems import Rejected

IDS = identifiers.NamedIds("test")


def problems_of(value: object) -> dict[str, str]:
    with pytest.raises(Rejected) as caught:
        manifests.parse(value, IDS, 0)
    messages: dict[str, list[str]] = {}
    for problem in caught.value.problems:
        messages.setdefault(problem.path, []).append(problem.message)
    return {path: "\n".join(said) for path, said in messages.items()}


def manifest(kind: str, name: object = "x", **spec: object) -> dict[str, Any]:
    return {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def rule(kind: str, **fields: object) -> dict[str, str]:
    """The problems of one rule, by the field they are about."""
    found = problems_of({"name": "p", "rules": [{kind: fields}]})
    prefix = f"rules[0].{kind}."
    assert all(path.startswith(prefix) for path in found), found
    return {path.removeprefix(prefix): message for path, message in found.items()}


@pytest.mark.parametrize(
    ("value", "path", "said"),
    [
        (5, "", "must be a map with apiVersion, kind, metadata and spec, not the number 5"),
        ({}, "kind", "is required; allowed are Resource, Environment"),
        ({"kind": "Resource", "metadata": {"name": "a"}}, "apiVersion", "is required; allowed is headgate.dev/v1"),
        ({**manifest("Resource"), "apiVersion": "headgate.dev/v2"}, "apiVersion", 'is "headgate.dev/v2"; allowed is'),
        ({**manifest("Resource"), "apiVersion": "v1"}, "apiVersion", 'is "v1"; allowed is headgate.dev/v1'),
        (manifest("Resourse"), "kind", "did you mean Resource?"),
        ({**manifest("Resource"), "status": {}}, "status", "is not a known key; allowed are apiVersion, kind"),
        ({**manifest("Resource"), "metadata": {}}, "metadata.name", "is required"),
        ({**manifest("Resource"), "metadata": None}, "metadata", "is required"),
        ({**manifest("Resource"), "metadata": []}, "metadata", "must be a map, not a list"),
        ({**manifest("Resource"), "metadata": {"name": "a", "labels": {}}}, "metadata.labels", "allowed are name, id"),
        ({**manifest("Resource"), "metadata": {"name": "a", "id": "7"}}, "metadata.id", 'must be a UUID, not "7"'),
        ({**manifest("Resource"), "spec": [1]}, "spec", "must be a map, not a list"),
        (manifest("Resource", ""), "metadata.name", "must not be empty"),
        (manifest("Resource", " a"), "metadata.name", "without space at the beginning"),
        (manifest("Resource", "a" * 300), "metadata.name", "is 300 characters long; allowed are 253"),
        (manifest("Resource", "a\nb"), "metadata.name", "printable characters only"),
        (manifest("Resource", 7), "metadata.name", "must be a string, not the number 7; write it in quotes"),
        (manifest("Resource", "a/b"), "metadata.name", "without '/', because it becomes part of target names"),
        (manifest("Environment", "a/b"), "metadata.name", "without '/'"),
        (manifest("Deployment", "a/b"), "metadata.name", "without '/'"),
        (manifest("Resource", metadata={"v": 1.1}), "spec.metadata.v", "not the number 1.1; write it in quotes"),
        (manifest("Resource", metadata={"v": True}), "spec.metadata.v", "not true; write it in quotes"),
        (manifest("Resource", config={"a": float("inf")}), "spec.config.a", "must be a finite number"),
        ({**manifest("Resource"), "spec": {"name": "b"}}, "spec.name", "is not a known key"),
        (manifest("Environment", systems="a"), "spec.systems", "must be a list"),
        (manifest("Environment", resourceSelector=""), "spec.resourceSelector", "must not be empty"),
        (manifest("Environment", resourceSelector="resource.kind =="), "spec.resourceSelector", "(line 1, column "),
        (manifest("Environment", resourceSelector="target.ready()"), "spec.resourceSelector", "'target'"),
        (manifest("Environment", resourceSelector="resource.name + 1"), "spec.resourceSelector", "column"),
        (manifest("Environment", resourceSelector="'text'"), "spec.resourceSelector", "bool"),
        (manifest("Deployment", jobAgent="a", jobAgentSelector="true"), "spec", "allowed is one of them"),
        (
            manifest("Deployment", variables={"k": {"values": [{"value": 1, "resourceSelector": "nope"}]}}),
            "spec.variables.k.values[0].resourceSelector",
            "nope",
        ),
        (manifest("Version"), "spec.deployment", "is required"),
        (manifest("Version", deployment="a", status="redy"), "spec.status", "did you mean ready?"),
        (manifest("Version", deployment="a", targetSelector="resource."), "spec.targetSelector", "(line 1, column"),
        (
            manifest("Version", deployment="a", dependencies={"b": {"versionSelector": "1 +"}}),
            "spec.dependencies.b.versionSelector",
            "(line 1, column",
        ),
        (manifest("Version", deployment="a", createdAt="soon"), "spec.createdAt", "is not a time in RFC 3339"),
        (manifest("Version", deployment="a", tag="half \ud800"), "spec.tag", "must be valid Unicode text"),
        (manifest("Resource", "half \ud800"), "metadata.name", "must be valid Unicode text"),
        (manifest("Freeze"), "spec.reason", "is required"),
        (manifest("Freeze", reason=" "), "spec.reason", "must say why"),
        (manifest("Signal"), "spec.value", "is required"),
        (manifest("Policy"), "spec.rules", "is required; [] means no rule"),
        (manifest("Policy", rules={}), "spec.rules", "must be a list, not a map"),
        (manifest("Policy", rules=["approval"]), "spec.rules[0]", "must be a map with one rule"),
        (manifest("Policy", rules=[{}]), "spec.rules[0]", "has no rule; allowed is exactly one of deploymentBracket"),
        (manifest("Policy", rules=[{"gate": {"when": []}, "retry": {"maxRetries": 1}}]), "spec.rules[0]", "has gate and retry"),
        (manifest("Policy", rules=[{"approvals": {}}]), "spec.rules[0].approvals", "did you mean approval?"),
        (manifest("Policy", rules=[{"id": "x", "approval": {}}]), "spec.rules[0].id", "must be a UUID"),
        (manifest("Policy", rules=[{"approval": None}]), "spec.rules[0].approval", "must be a map, not null"),
        ({"rules": []}, "name", "is required"),
        ({"name": "p", "rules": [], "selctor": "true"}, "selctor", "did you mean selector?"),
    ],
)  # fmt: skip
def test_one_thing_wrong_is_said_at_its_path(value: object, path: str, said: str) -> None:
    found = problems_of(value)
    assert path in found, found
    assert said in found[path]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    found = problems_of(
        manifest(
            "Policy",
            "a\tb",
            selector="resource.kind = 'x'",
            priority="high",
            rules=[
                {
                    "resourceConcurrency": {
                        "groupSelector": "true",
                        "limitType": "percentage",
                        "limitValue": 200,
                    }
                },
                {"deploymentWindow": {"rrule": "FREQ=WEEKY", "durationMinutes": 0, "timezone": "Mars/Base"}},
                {"gate": {"when": ["target.ready()", "tagret.ready()"]}},
                {"unknown": {}},
            ],
        )
    )
    assert sorted(found) == [
        "metadata.name",
        "spec.priority",
        "spec.rules[0].resourceConcurrency.limitValue",
        "spec.rules[1].deploymentWindow.durationMinutes",
        "spec.rules[1].deploymentWindow.rrule",
        "spec.rules[1].deploymentWindow.timezone",
        "spec.rules[2].gate.when[1]",
        "spec.rules[3]",
        "spec.rules[3].unknown",
        "spec.selector",
    ]


def test_an_expression_is_shown_with_a_caret_under_the_place() -> None:
    message = problems_of(manifest("Environment", resourceSelector="resource.kind == nope"))[
        "spec.resourceSelector"
    ]
    assert message.splitlines()[1:] == ["  resource.kind == nope", "                   ^"]


@pytest.mark.parametrize(
    ("kind", "fields", "field", "said"),
    [
        ("approval", {"minApprovals": -1}, "minApprovals", "must be at least 0"),
        ("approval", {"roles": []}, "roles", "must not be empty"),
        ("gradualRollout", {"timeScaleInterval": -1}, "timeScaleInterval", "must be at least 0"),
        ("gradualRollout", {}, "timeScaleInterval", "is required"),
        ("gradualRollout", {"timeScaleInterval": 1, "rolloutType": "cubic"}, "rolloutType", "allowed are linear, linearNormalized"),
        ("resourceConcurrency", {"groupSelector": "true", "limitType": "count", "limitValue": 0}, "limitValue", "at least 1"),
        ("resourceConcurrency", {"groupSelector": "true", "limitType": "percentage", "limitValue": 101}, "limitValue", "from 1 to 100 for a percentage, not 101"),
        ("resourceConcurrency", {"groupSelector": "true", "limitType": "share", "limitValue": 1}, "limitType", "allowed are percentage, count"),
        ("deploymentBracket", {"deploymentSelector": "true"}, "readinessWindowSeconds", "is required for readinessMode collection_window"),
        ("deploymentBracket", {"deploymentSelector": "true", "readinessMode": "wait_for_all"}, "readinessWindowSeconds", "is required"),
        ("deploymentBracket", {"deploymentSelector": "true", "readinessMode": "collectionWindow", "readinessWindowSeconds": 1}, "readinessMode", "did you mean collection_window?"),
        ("deploymentBracket", {"deploymentSelector": "true", "readinessMode": "immediate", "onStuck": "release"}, "stuckTimeoutSeconds", "is required for onStuck release"),
        ("deploymentBracket", {"deploymentSelector": "true", "readinessMode": "immediate", "preHookSelector": "nope"}, "preHookSelector", "nope"),
        ("deploymentDependency", {"dependsOn": "deployment.name =="}, "dependsOn", "column"),
        ("deploymentDependency", {"dependsOn": "true", "appliesTo": "1"}, "appliesTo", "bool"),
        ("environmentProgression", {"dependsOnEnvironmentSelector": "true", "minimumSuccessPercentage": 101}, "minimumSuccessPercentage", "must be at most 100"),
        ("environmentProgression", {"dependsOnEnvironmentSelector": "true", "minimumSoakTimeMinutes": 120, "maximumAgeHours": 1}, "maximumAgeHours", "nothing could pass"),
        ("environmentProgression", {"dependsOnEnvironmentSelector": "true", "require": "some"}, "require", "allowed are all, any"),
        ("deploymentWindow", {"rrule": "FREQ=DAILY", "durationMinutes": 1, "timezone": "Mars/Base"}, "timezone", "allowed are IANA names"),
        ("deploymentWindow", {"rrule": "daily", "durationMinutes": 1}, "rrule", "allowed is RFC 5545"),
        ("deploymentWindow", {"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "durationMinutes": 1}, "rrule", "never happens"),
        ("deploymentWindow", {"rrule": "FREQ=DAILY", "durationMinutes": 0}, "durationMinutes", "must be at least 1"),
        ("versionCooldown", {"intervalSeconds": 1.5}, "intervalSeconds", "must be a whole number"),
        ("versionSelector", {"selector": "target.ready()"}, "selector", "'target'"),
        ("retry", {"maxRetries": 1, "retryOnStatuses": ["successful"]}, "retryOnStatuses[0]", "allowed are failure, timedOut"),
        ("retry", {"maxRetries": 1, "backoffSeconds": 9, "maxBackoffSeconds": 1}, "maxBackoffSeconds", "must be at least backoffSeconds (9)"),
        ("rollback", {"onJobStatuses": ["failed"]}, "onJobStatuses[0]", 'is "failed"; allowed are failure'),
        ("verification", {"metrics": []}, "metrics", "must not be empty"),
        ("verification", {"metrics": [{"name": "m", "provider": {"type": "http", "url": "x"}, "successCondition": "true"}]}, "metrics[0].provider.url", "begin with http://"),
        ("verification", {"metrics": [{"name": "m", "provider": {"type": "datadog"}}]}, "metrics[0].provider.type", "allowed are http, prometheus, sleep"),
        ("verification", {"metrics": [{"name": "m", "provider": {"url": "x"}}]}, "metrics[0].provider.type", "is required; allowed are http, prometheus, sleep"),
        ("verification", {"metrics": [{"name": "m", "provider": {"type": "http", "url": "http://x"}}]}, "metrics[0].successCondition", "is required"),
        ("verification", {"metrics": [{"name": "m", "provider": {"type": "sleep", "durationSeconds": 1}, "successThreshold": 0}]}, "metrics[0].successThreshold", "must be at least 1"),
        ("verification", {"metrics": [{"name": "m", "provider": {"type": "sleep", "durationSeconds": 1}, "successThreshold": 2}]}, "metrics[0].successThreshold", "could never pass"),
        ("verification", {"metrics": [{"name": "m", "provider": {"type": "sleep", "durationSeconds": 1}}] * 2}, "metrics[1].name", "a second time"),
        ("gate", {"when": "true"}, "when", "must be a list"),
        ("gate", {"when": ["now > 5"]}, "when[0]", "column"),
        ("gate", {"when": [], "onError": "pass"}, "onError", "allowed are block"),
        ("failureBudget", {"maxFailed": "120%"}, "maxFailed", "is not a quantity; allowed is a whole number"),
        ("failureBudget", {"maxFailed": 1, "per": "fleet"}, "per", "allowed are environment, policy"),
        ("scopedVersion", {"requireApprovals": -1}, "requireApprovals", "must be at least 0"),
        ("scopedVersion", {"allowed": True}, "allowed", "did you mean allow?"),
    ],
)  # fmt: skip
def test_a_wrong_field_of_a_rule_is_named_with_what_is_allowed(
    kind: str, fields: dict[str, object], field: str, said: str
) -> None:
    found = rule(kind, **fields)
    assert list(found) == [field]
    assert said in found[field]


def test_dependencies_in_a_circle_are_refused() -> None:
    def dependency(upstream: str, downstream: str) -> dict[str, Any]:
        names = f"deployment.name == '{upstream}'", f"deployment.name in ['{downstream}']"
        return {"deploymentDependency": {"dependsOn": names[0], "appliesTo": names[1]}}

    found = problems_of(
        {"name": "p", "rules": [dependency("a", "b"), dependency("b", "c"), dependency("c", "a")]}
    )
    assert found == {"rules": "has dependencies in a circle: a needs c needs b needs a"}


def test_a_rule_name_is_unique_in_its_policy() -> None:
    found = problems_of(
        {"name": "p", "rules": [{"name": "n", "approval": {}}, {"name": "n", "approval": {}}]}
    )
    assert found["rules[1].name"] == 'is "n", as in rules[0]'


def test_the_reasons_can_be_encoded_even_if_the_document_could_not() -> None:
    assert problems_of(manifest("Resource", metadata={"half \ud800": 1})).popitem()[1].encode()
    assert all(path.encode() for path in problems_of({**manifest("Resource"), "half \ud800": 1}))


def refused_text(text: str) -> str:
    with pytest.raises(Rejected) as caught:
        manifests.read_documents(text, source="f.yaml")
    return str(caught.value)


def test_text_that_is_no_yaml_names_file_and_line() -> None:
    assert refused_text("a: 1\nb: [1, 2\nc: 3\n").startswith("f.yaml:3: is not YAML: ")
    assert "is not text that YAML allows" in refused_text("a: \x01")


def test_unknown_tags_are_refused() -> None:
    assert "f.yaml:2: has the tag !!python/object:os.system" in refused_text(
        "a: 1\nb: !!python/object:os.system {}\n"
    )
    assert "has the tag !secret" in refused_text("a: !secret x")


def test_aliases_are_taken_but_not_bombs_and_not_circles() -> None:
    [document] = manifests.read_documents("a: &x {k: 1}\nb: *x\nc: {<<: *x, l: 2}", source="f")
    assert document.value == {"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 1, "l": 2}}
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    assert "values, aliases written out" in refused_text(bomb)
    assert "that contains it" in refused_text("a: &a [*a]")


@pytest.mark.parametrize(
    "text", ["[" * 5000, "[" * 5000 + "]" * 5000, '{"a":' * 5000 + "1" + "}" * 5000, "- " * 5000 + "a"]
)
def test_deep_nesting_is_refused(text: str) -> None:
    assert "is nested more than 64 levels deep" in refused_text(text)


def test_a_repeated_key_is_refused_with_both_places() -> None:
    text = "apiVersion: headgate.dev/v1\nkind: JobAgent\nmetadata: {name: a}\nspec:\n  type: b\n  type: c\n"
    problems = manifests.validate(manifests.read_documents(text, source="f.yaml"))
    assert [str(problem) for problem in problems] == [
        "f.yaml:5: spec.type: is written twice, again in line 6"
    ]
    as_json = '{"name": "p", "rules": [], "rules": []}'
    assert [
        problem.path for problem in manifests.validate(manifests.read_documents(as_json, source="p"))
    ] == ["p:1: rules"]


def test_plain_scalars_are_what_they_look_like() -> None:
    text = "{a: yes, b: 2026-03-01, c: 12:30, d: 0x10, e: 0o17, f: 1e3, g: ~, h: 'true', i: !!str 5, j: 010}"
    [document] = manifests.read_documents(text, source="f")
    expected = {"a": "yes", "b": "2026-03-01", "c": "12:30", "d": 16, "e": 15, "f": 1000.0}
    assert document.value == {**expected, "g": None, "h": "true", "i": "5", "j": 10}


def validated(*values: dict[str, Any]) -> list[str]:
    text = "\n---\n".join(json.dumps(value) for value in values)
    return [
        str(problem) for problem in manifests.validate(manifests.read_documents("---\n" + text, source="f"))
    ]


def test_a_set_is_checked_for_repeated_names_and_tags() -> None:
    version = manifest("Version", deployment="a", tag="v1")
    assert validated(manifest("Resource", "n"), manifest("Environment", "n"), manifest("Resource", "n")) == [
        "f:6: metadata.id: the id " + IDS_OF_VALIDATION.new("Resource", "n") + " is already used in f:2",
        "f:6: metadata.name: the name of Resource n is already used in f:2",
        "f:6: spec.identifier: the identifier n is already used in f:2",
    ]
    assert any("the tag v1 of a is already used in f:2" in said for said in validated(version, version))


IDS_OF_VALIDATION = identifiers.NamedIds("validate")


def test_a_version_of_an_unknown_deployment_is_found_when_the_set_has_deployments() -> None:
    version = manifest("Version", deployment="api", dependencies={"db": "true"})
    assert validated(version) == []
    assert validated(version, manifest("Deployment", "web"), manifest("Deployment", "db")) == [
        'f:2: spec.deployment: is "api", which is not in this set; there are db, web'
    ]


def test_a_refused_deployment_still_counts_as_there() -> None:
    [said] = validated(manifest("Version", deployment="api"), manifest("Deployment", "api", oops=1))
    assert "spec.oops" in said


def test_a_circle_that_metadata_makes_is_found_when_the_set_has_the_deployments() -> None:
    policy = {
        "name": "p",
        "selector": "deployment.metadata['layer'] == 'node'",
        "rules": [
            {"deploymentDependency": {"dependsOn": "deployment.metadata['stage'] == '1'", "appliesTo": "deployment.name == 'b'"}},
            {"deploymentDependency": {"dependsOn": "deployment.name == 'b'", "appliesTo": "deployment.metadata['stage'] == '1'"}},
        ],
    }  # fmt: skip
    a = manifest("Deployment", "a", metadata={"layer": "node", "stage": "1"})
    b = manifest("Deployment", "b", metadata={"layer": "node"})
    assert validated(policy, a, b) == ["f:2: rules: has dependencies in a circle: a needs b needs a"]
    assert validated(policy, a) == []
    other = manifest("Deployment", "b", metadata={"layer": "other"})
    assert validated(policy, a, other) == []
