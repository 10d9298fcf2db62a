"""Revisions: what counts as new content, and what a stored one keeps."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel.objects import Object
from headgate.kernel.problems import Rejected
from headgate.workload import labels, model
from headgate.workload.expand import manifests, revisions
from headgate.workload.model import PodCliqueSet

from . import sets

FRONTEND = sets.clique("frontend", replicas=2)
WORKER = sets.clique("worker", replicas=3, minAvailable=2)
GROUPS = (sets.group("sg", "worker", replicas=2),)


def base(**fields: Any) -> PodCliqueSet:
    return sets.read(FRONTEND, WORKER, groups=GROUPS, **fields)


def changed(path: tuple[str | int, ...], value: Any) -> PodCliqueSet:
    document = copy.deepcopy(sets.document(FRONTEND, WORKER, groups=GROUPS))
    place: Any = document["spec"]
    for key in path[:-1]:
        if isinstance(place, dict):
            place = place.setdefault(key, {})
        else:
            place = place[key]
    place[path[-1]] = value
    return model.read(manifests.read(document))


CLIQUE = ("template", "cliques", 1)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((*CLIQUE, "labels"), {"tier": "gold"}),
        ((*CLIQUE, "annotations"), {"note": "x"}),
        ((*CLIQUE, "spec", "podSpec", "containers"), [{"name": "main", "image": "app:v2"}]),
        ((*CLIQUE, "spec", "podSpec", "terminationGracePeriodSeconds"), 5),
        (("template", "priorityClassName"), "urgent"),
    ],
)
def test_labels_annotations_pod_specs_and_priority_make_a_new_revision(
    path: tuple[str | int, ...], value: Any
) -> None:
    assert revisions.revision_hash(changed(path, value)) != revisions.revision_hash(base())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("replicas",), 5),
        (("updateStrategy",), {"type": "ReplicaRecreate"}),
        (("updateStrategy",), {"paused": True, "partition": 1, "progressDeadlineSeconds": 60}),
        ((*CLIQUE, "spec", "replicas"), 7),
        ((*CLIQUE, "spec", "minAvailable"), 1),
        ((*CLIQUE, "spec", "startsAfter"), ["frontend"]),
        (("template", "cliques", 0, "updateStrategy"), {"maxSurge": 1}),
        (("template", "cliques", 0, "spec", "autoScalingConfig"), {"maxReplicas": 9}),
        (("template", "podCliqueScalingGroups", 0, "replicas"), 4),
        (("template", "podCliqueScalingGroups", 0, "updateStrategy"), {"maxUnavailable": 2}),
        (("template", "podCliqueScalingGroups", 0, "scaleConfig"), {"maxReplicas": 9}),
        (("template", "terminationDelay"), "1m"),
        (("template", "headlessServiceConfig"), {"publishNotReadyAddresses": False}),
        ((*CLIQUE, "spec", "podSpec", "restartPolicy"), "Always"),
        ((*CLIQUE, "spec", "podSpec", "nodeSelector"), None),
        ((*CLIQUE, "labels"), {}),
    ],
)
def test_replicas_strategies_scaling_and_spelled_out_defaults_do_not(
    path: tuple[str | int, ...], value: Any
) -> None:
    assert revisions.revision_hash(changed(path, value)) == revisions.revision_hash(base())


def test_the_order_of_cliques_counts_only_where_they_start_in_order() -> None:
    def hashes(startup: str) -> set[str]:
        one = sets.read(FRONTEND, WORKER, cliqueStartupType=startup)
        other = sets.read(WORKER, FRONTEND, cliqueStartupType=startup)
        return {revisions.revision_hash(one), revisions.revision_hash(other)}

    assert len(hashes(model.ANY_ORDER)) == 1
    assert len(hashes(model.EXPLICIT)) == 1
    assert len(hashes(model.IN_ORDER)) == 2


def test_only_the_clique_whose_content_changed_has_a_new_hash() -> None:
    after = changed((*CLIQUE, "labels"), {"tier": "gold"})
    assert revisions.clique_hash(after, "frontend") == revisions.clique_hash(base(), "frontend")
    assert revisions.clique_hash(after, "worker") != revisions.clique_hash(base(), "worker")


def test_the_priority_class_of_the_set_stands_in_for_that_of_its_pods() -> None:
    pod_class = changed((*CLIQUE, "spec", "podSpec", "priorityClassName"), "low")
    both = sets.read(
        FRONTEND,
        sets.clique("worker", replicas=3, minAvailable=2),
        groups=GROUPS,
        priorityClassName="urgent",
    )
    assert revisions.clique_hash(pod_class, "worker") != revisions.clique_hash(base(), "worker")
    same = changed((*CLIQUE, "spec", "podSpec", "priorityClassName"), "urgent")
    assert revisions.clique_hash(both, "worker") == revisions.clique_hash(same, "worker")


def test_contents_are_numbered_as_they_appear_and_going_back_is_the_earlier_number() -> None:
    after = changed((*CLIQUE, "labels"), {"tier": "gold"})
    first = revisions.of(base(), ())
    second = revisions.of(after, (first,))
    assert (first.number, second.number) == (1, 2)
    assert revisions.of(base(replicas=4), (first, second)) is first
    assert revisions.of(changed((*CLIQUE, "labels"), {"tier": "tin"}), (first, second)).number == 3


def test_a_stored_revision_reads_back_whole() -> None:
    pcs = base()
    revision = revisions.of(pcs, ())
    stored = revisions.to_object(revision, pcs)
    assert revisions.from_object(stored) == revision
    assert (stored.api_version, stored.kind, stored.name) == (
        "apps/v1",
        "ControllerRevision",
        f"llm-{revision.hash}",
    )
    assert stored.labels[labels.PART_OF] == "llm"
    assert [(owner.kind, owner.name, owner.uid) for owner in stored.owners] == [
        ("PodCliqueSet", "llm", sets.UID)
    ]
    assert revisions.read_template(revision) == pcs.template


def test_an_object_that_is_no_revision_is_refused_by_name() -> None:
    with pytest.raises(Rejected, match="ControllerRevision other is not a stored revision"):
        revisions.from_object(Object("apps/v1", "ControllerRevision", "default", "other"))


def test_an_old_revision_gives_content_and_the_set_gives_the_counts() -> None:
    then = base()
    old = revisions.of(then, ())
    now = sets.read(
        sets.clique("frontend", replicas=5, image="app:v2", labels={"new": "yes"}),
        sets.clique("worker", replicas=6, minAvailable=2, image="app:v2"),
        groups=(sets.group("sg", "worker", replicas=4),),
        terminationDelay="1m",
    )
    mixed = revisions.template_at(now, old)
    frontend = mixed.clique("frontend")
    assert frontend.pod_spec["containers"][0]["image"] == "app:v1"
    assert frontend.labels == {}
    assert (frontend.replicas, mixed.clique("worker").replicas, mixed.group("sg").replicas) == (5, 6, 4)
    assert mixed.termination_delay.to_document() == "1m"


@given(st.dictionaries(st.sampled_from("abc"), st.integers(0, 3) | st.text("xyz", max_size=2), max_size=3))
def test_equal_content_has_one_hash_and_other_content_another(extra: dict[str, Any]) -> None:
    one = changed((*CLIQUE, "spec", "podSpec", "extra"), extra)
    again = changed((*CLIQUE, "spec", "podSpec", "extra"), dict(reversed(list(extra.items()))))
    assert revisions.revision_hash(one) == revisions.revision_hash(again)
    more = changed((*CLIQUE, "spec", "podSpec", "extra"), {**extra, "d": 1})
    assert revisions.revision_hash(one) != revisions.revision_hash(more)
