"""Whom the controller takes for a part of a set."""

import pytest

from headgate.kernel.objects import Object, OwnerReference
from headgate.workload import labels
from headgate.workload.controller import Family, request_for

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
