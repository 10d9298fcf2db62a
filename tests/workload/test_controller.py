"""Whom the controller takes for a part of a set, and what is news for one."""

from typing import Any

import msgspec
import pytest

from headgate.cluster.cache import ObjectCache
from headgate.kernel import identifiers
from headgate.kernel.objects import DeleteObject, Object, OwnerReference
from headgate.workload import labels, model
from headgate.workload.plan import planner
from headgate.workload.plan.controller import WorkloadController
from headgate.workload.plan.family import Family, claim_templates, request_for
from headgate.workload.plan.planner import WorkloadPlan

from . import sets

OURS = {labels.PART_OF: "shop", labels.MANAGED_BY: labels.MANAGER}
CLIQUE = OwnerReference("PodClique", "shop-0-web", "u1")
REPLICA_SET = OwnerReference("ReplicaSet", "shop-5d", "u2")


def item(kind: str, given: dict[str, str], *owners: OwnerReference) -> Object:
    return Object("v1", kind, "default", "one", labels=given, owners=owners)


@pytest.mark.parametrize("kind", ["Pod", "Service"])
@pytest.mark.parametrize("manager", [{}, {labels.MANAGED_BY: "Helm"}])
def test_what_others_made_under_the_common_label_is_no_part_of_a_set(
    kind: str, manager: dict[str, str]
) -> None:
    foreign = item(kind, {labels.PART_OF: "shop", **manager})
    assert Family().set_of(foreign) is None
    assert Family().set_of(item(kind, {labels.PART_OF: "shop", **manager}, REPLICA_SET)) is None


def test_what_another_object_owns_is_no_part_whatever_its_labels_say() -> None:
    assert Family().set_of(item("Pod", OURS, REPLICA_SET)) is None


def test_what_lost_its_owner_is_found_by_its_labels() -> None:
    assert Family().set_of(item("Pod", OURS)) == request_for("default", "shop")
    assert Family().set_of(item("Pod", OURS, CLIQUE)) == request_for("default", "shop")


def _controller(*items: Object) -> WorkloadController[WorkloadPlan]:
    controller = WorkloadController(planner.plan, identifiers.NamedIds("test"))
    controller.restarted(ObjectCache(controller.index, items), lambda _: None)
    return controller


def _claim(**fields: Any) -> Object:
    return Object(
        "resource.k8s.io/v1", "ResourceClaim", "default", "llm-all-gpu", labels=labels.of_set("llm"), **fields
    )


def test_who_uses_a_claim_is_no_news_for_its_set() -> None:
    before, after = _claim(uid="u"), _claim(uid="u", status={"reservedFor": [{"name": "one"}]})
    found = _controller().requests(after, before, is_gone=False, is_own_status=False)
    assert list(found) == []


def test_the_end_of_a_claim_that_was_on_its_way_out_is_news() -> None:
    """Nothing of it is another, and it may be the last that the set waits for."""
    before, after = _claim(uid="u", deleted_at=5, finalizers=("f",)), _claim(uid="u", deleted_at=5)
    assert list(_controller().requests(before, before, is_gone=False, is_own_status=False)) == []
    found = _controller().requests(after, before, is_gone=True, is_own_status=False)
    assert list(found) == [request_for("default", "llm")]


def _template(namespace: str, name: str = "gpu") -> Object:
    return Object("resource.k8s.io/v1", "ResourceClaimTemplate", namespace, name, labels=labels.of_set("llm"))


def test_a_claim_template_is_news_for_the_sets_that_refer_to_it_and_nobodys_part() -> None:
    sharing = [{"name": "gpu", "namespace": "devices", "scope": "AllReplicas"}]
    subject = sets.item(resourceSharing=sharing)
    controller = _controller(subject, sets.item(name="other"))
    for namespace, expected in (("devices", [subject.key]), ("default", [])):
        template = _template(namespace)
        assert controller.watches(template)
        assert controller.index(template) is None
        found = controller.requests(template, None, is_gone=False, is_own_status=False)
        assert list(found) == expected


def test_a_template_of_the_set_itself_is_not_looked_for_in_the_cluster() -> None:
    own = [{"name": "gpu", "templateSpec": {}}]
    subject = sets.item(resourceClaimTemplates=own, resourceSharing=[{"name": "gpu", "scope": "AllReplicas"}])
    assert claim_templates(subject, lambda _: _template("default")) == []


def test_templates_are_nothing_that_goes_with_a_set() -> None:
    going = sets.item(resourceSharing=[{"name": "gpu", "scope": "AllReplicas"}])
    going.deleted_at = 5
    plan = planner.plan(going, [_claim(uid="u"), _template("default")], 6, identifiers.NamedIds("test"))
    assert [action.key.kind for action in plan.actions if isinstance(action, DeleteObject)] == [
        "ResourceClaim"
    ]


def test_what_a_clique_owns_goes_to_another_set_with_it() -> None:
    owner = OwnerReference(model.KIND, "one", "uid-one")
    clique = Object(
        model.API_VERSION, model.CLIQUE_KIND, "default", "clique", uid="uid-clique", owners=(owner,)
    )
    controller = _controller(clique)
    moved = msgspec.structs.replace(clique, owners=(OwnerReference(model.KIND, "two", "uid-two"),))
    asked = controller.requests(moved, clique, is_gone=False, is_own_status=False)
    assert list(asked) == [request_for("default", "one"), request_for("default", "two")]
    pod = Object(
        "v1", "Pod", "default", "pod", owners=(OwnerReference(model.CLIQUE_KIND, "clique", "uid-clique"),)
    )
    found = controller.requests(pod, None, is_gone=False, is_own_status=False)
    assert list(found) == [request_for("default", "two")]
