"""What the webhooks answer: defaults, or every problem with its field."""

import base64
import copy
import json
from typing import Any

import pytest
import reviews
from hypothesis import given
from hypothesis import strategies as st

from headgate.graph.compile import validate as graphs
from headgate.graph.reconcile import labels
from headgate.kernel.objects import Object
from headgate.operator import admission
from headgate.operator.admission import patches
from headgate.workload.checks import validate
from headgate.workload.expand import manifests


def test_a_set_gets_the_defaults_of_the_one_validation_path_as_a_patch() -> None:
    document = reviews.pod_clique_set()
    response = reviews.answered(document, stage=admission.DEFAULTING)
    assert response["allowed"] is True
    assert response["patchType"] == "JSONPatch"
    stored = reviews.patched(document, response)
    assert stored["spec"] == validate.check(manifests.read(document)).object.spec
    assert stored["metadata"] == document["metadata"]
    assert "patch" not in reviews.answered(stored, stage=admission.DEFAULTING)


def test_every_problem_is_a_cause_with_its_field_and_in_the_message() -> None:
    document = reviews.pod_clique_set(replicas=-1, updateStrategy={"type": "Sometimes", "maxSurge": 1})
    document["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 9
    response = reviews.answered(document)
    found = reviews.causes(response)
    assert {"spec.replicas", "spec.updateStrategy.type"} <= set(found)
    assert "spec.template.cliques[0].spec.minAvailable" in found
    assert response["status"]["reason"] == "Invalid"
    assert response["status"]["code"] == 422
    assert response["status"]["details"]["kind"] == "PodCliqueSet"
    assert all(f"{field}: {message}" in response["status"]["message"] for field, message in found.items())


@pytest.mark.parametrize(("replicas", "pods"), [(2_000_000_000, 1), (10_001, 1), (10_000, 6), (1, 10_001)])
def test_a_set_that_nobody_could_run_is_not_given_to_the_operator_of_all(replicas: int, pods: int) -> None:
    document = reviews.pod_clique_set(replicas=replicas)
    document["spec"]["template"]["cliques"][0]["spec"]["replicas"] = pods
    found = reviews.causes(reviews.answered(document))
    message = found["spec.template.cliques[0].spec.replicas" if pods > 10_000 else "spec.replicas"]
    assert "10000" in message or "50000" in message


@pytest.mark.parametrize("stage", [admission.DEFAULTING, admission.VALIDATING])
def test_both_stages_refuse_so_that_the_schema_of_the_server_does_not_speak_first(stage: Any) -> None:
    document = reviews.pod_clique_set(replicas="three", updateStrategy={"type": "Sometimes"})
    found = reviews.causes(reviews.answered(document, stage=stage))
    assert set(found) >= {"spec.replicas", "spec.updateStrategy.type"}


def test_an_update_is_judged_beside_what_is_stored() -> None:
    old = reviews.patched(
        reviews.pod_clique_set(),
        reviews.answered(reviews.pod_clique_set(), stage=admission.DEFAULTING),
    )
    document = copy.deepcopy(old)
    document["spec"]["template"]["cliques"][0]["spec"]["roleName"] = "other"
    found = reviews.causes(reviews.answered(document, old))
    assert list(found) == ["spec.template.cliques[0].spec.roleName"]
    assert "must not change" in found["spec.template.cliques[0].spec.roleName"]


def test_a_warning_is_said_and_refuses_nothing() -> None:
    document = reviews.pod_clique_set(updateStrategy={"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}})
    response = reviews.answered(document)
    assert response["allowed"] is True
    assert any("updateStrategy" in warning for warning in response["warnings"])


def test_a_set_whose_children_would_have_the_names_of_another_is_refused() -> None:
    other = reviews.pod_clique_set()
    other["spec"]["template"]["podCliqueScalingGroups"] = [{"name": "g", "cliqueNames": ["web"]}]
    document = reviews.pod_clique_set()
    document["metadata"]["name"] = "llm-0-g"
    found = reviews.causes(reviews.answered(document, None, manifests.read(other)))
    assert "PodCliqueSet llm" in found["metadata.name"]


def test_another_set_that_nobody_can_read_is_in_nobodys_way() -> None:
    broken = manifests.read(reviews.pod_clique_set(template={"cliques": 3}))
    document = reviews.pod_clique_set()
    document["metadata"]["name"] = "llm-0-g"
    assert reviews.answered(document, None, broken)["allowed"] is True


def test_a_name_that_the_server_is_to_make_is_no_problem() -> None:
    document = reviews.pod_clique_set()
    document["metadata"] = {"generateName": "llm-", "namespace": "team"}
    response = reviews.answered(document, stage=admission.DEFAULTING)
    assert response["allowed"] is True
    assert reviews.patched(document, response)["metadata"] == document["metadata"]


@pytest.mark.parametrize("document", [reviews.pod_clique_set(replicas=-1), reviews.definition(kind="app")])
def test_what_is_stored_and_wrong_can_lose_its_finalizers_and_go(document: dict[str, Any]) -> None:
    assert reviews.answered(document)["allowed"] is False
    without = copy.deepcopy(document)
    document["metadata"]["finalizers"] = ["x"]
    assert reviews.answered(without, document)["allowed"] is True
    leaving = copy.deepcopy(document)
    leaving["metadata"]["deletionTimestamp"] = "2026-03-02T09:00:00Z"
    leaving["spec"]["replicas"] = -2
    assert reviews.answered(leaving, document)["allowed"] is True


def test_a_definition_is_refused_with_every_field_named() -> None:
    document = reviews.definition(kind="app")
    document["spec"]["resources"][0]["id"] = "One"
    document["spec"]["resources"][0]["readyWhenn"] = []
    found = reviews.causes(reviews.answered(document))
    assert {"spec.schema.kind", "spec.resources[0].readyWhenn"} <= set(found)


def test_a_definition_that_is_right_is_allowed() -> None:
    assert reviews.answered(reviews.definition()) == {"uid": "u1", "allowed": True}


def test_a_change_that_breaks_instances_is_refused_unless_it_is_asked_for() -> None:
    old, document = reviews.definition(), reviews.definition()
    document["spec"]["schema"]["spec"] = {"name": "string", "size": "string"}
    found = reviews.causes(reviews.answered(document, old))
    assert list(found) == ["spec.schema.spec.size"]
    document["metadata"]["annotations"] = {"kro.run/allow-breaking-changes": "true"}
    response = reviews.answered(document, old)
    assert response["allowed"] is True
    assert "spec.schema.spec.size" in response["warnings"][0]


def stored(document: dict[str, Any]) -> Object:
    return graphs.as_object(document)


def test_a_kind_that_another_definition_has_is_refused() -> None:
    found = reviews.causes(reviews.answered(reviews.definition("second"), None, stored(reviews.definition())))
    assert found == {"spec.schema.kind": "App is defined by app already"}


@pytest.mark.parametrize(
    ("marks", "is_taken"),
    [
        ({}, True),
        ({labels.OWNED: "true", labels.DEFINITION_NAME: "other"}, True),
        ({labels.OWNED: "true", labels.DEFINITION_NAME: "gone"}, False),
        ({labels.OWNED: "true", labels.DEFINITION_NAME: "app"}, False),
    ],
)
def test_a_kind_that_somebody_else_brought_is_not_taken_over(marks: dict[str, str], is_taken: bool) -> None:
    crd = Object(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "apps.kro.run", uid="c", labels=marks
    )
    other = stored(reviews.definition("other", "Other"))
    response = reviews.answered(reviews.definition(), None, crd, other)
    assert response["allowed"] is not is_taken
    if is_taken:
        assert "apps.kro.run" in reviews.causes(response)["spec.schema.kind"]


def test_definitions_that_would_make_each_other_without_end_are_refused() -> None:
    own = reviews.definition()
    own["spec"]["resources"][0]["template"] |= {"apiVersion": "kro.run/v1alpha1", "kind": "App"}
    (field,) = reviews.causes(reviews.answered(own))
    assert field == "spec.resources[0].template.kind"
    first = reviews.definition()
    first["spec"]["resources"][0]["template"] |= {"apiVersion": "kro.run/v1alpha1", "kind": "Part"}
    second = reviews.definition("part", "Part")
    second["spec"]["resources"][0]["template"] |= {"apiVersion": "kro.run/v1alpha1", "kind": "App"}
    assert reviews.answered(first)["allowed"] is True
    found = reviews.causes(reviews.answered(second, None, stored(first)))
    assert found == {field: "is App; Part makes App makes Part, which would never end"}


def test_a_definition_with_instances_is_deleted_only_when_that_is_asked_for() -> None:
    instance = Object("kro.run/v1alpha1", "App", "team", "one", uid="i")
    old = reviews.definition()
    assert reviews.answered(None, old, operation="DELETE")["allowed"] is True
    found = reviews.causes(reviews.answered(None, old, instance, operation="DELETE"))
    assert found["metadata.name"].startswith("has 1 instance of App; delete them first")
    old["metadata"]["annotations"] = {labels.DELETION: labels.CASCADE}
    assert reviews.answered(None, old, instance, operation="DELETE")["allowed"] is True


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "Pod"}, "the body must be an AdmissionReview"),
        ({"apiVersion": "admission.k8s.io/v1beta1"}, "the body must be an AdmissionReview"),
        ({"request": None}, "request must be a map"),
        ({"request": {"uid": 3}}, "request.uid is required"),
        ({"request": {"uid": "u", "kind": {"kind": "Pod"}}}, "is not judged here"),
    ],
)
def test_what_is_no_review_of_ours_is_malformed(change: dict[str, Any], message: str) -> None:
    with pytest.raises(admission.Malformed, match=message):
        admission.answer(
            {**reviews.review(reviews.definition()), **change},
            "validate",
            admission.Surroundings(reviews.Known()),
        )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("a/~", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("a/~b", max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text("a/~", max_size=2), JSON), st.dictionaries(st.text("a/~", max_size=2), JSON))
def test_a_patch_makes_the_one_document_of_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    text = json.dumps(patches.difference(before, after)).encode()
    found = reviews.patched(before, {"patch": base64.b64encode(text).decode()})
    assert json.dumps(found, sort_keys=True) == json.dumps(after, sort_keys=True)


@given(JSON, st.sampled_from(["PodCliqueSet", "ResourceGraphDefinition"]))
def test_whatever_stands_in_a_spec_is_answered(spec: Any, kind: str) -> None:
    document = {
        **(reviews.pod_clique_set() if kind == "PodCliqueSet" else reviews.definition()),
        "spec": spec,
    }
    assert reviews.answered(document)["allowed"] is False
