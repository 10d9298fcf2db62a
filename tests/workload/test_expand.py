"""Expansion: the objects of a set, their labels, owners, environment, gates and startup order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.kernel import identifiers
from headgate.kernel.objects import Object
from headgate.workload import labels, model
from headgate.workload.expand import expansion as expand
from headgate.workload.expand import gangs, revisions, startup
from headgate.workload.model import PodCliqueSet

from . import sets

IDS = identifiers.NamedIds("test")


def a_set(**fields: Any) -> PodCliqueSet:
    return sets.read(
        sets.clique("frontend", replicas=2, labels={"tier": "web"}, annotations={"note": "x"}),
        sets.clique("leader"),
        sets.clique("worker", replicas=4, minAvailable=3),
        groups=(sets.group("sg", "leader", "worker", replicas=3, minAvailable=2, annotations={"a": "b"}),),
        metadata={"namespace": "prod", "labels": {"team": "ml", "grove.io/x": "y"}},
        **fields,
    )


def frontend(pcs: PodCliqueSet, pcs_index: int = 0, **options: Any) -> Object:
    revision = revisions.of(pcs, ())
    return expand.standalone_clique(pcs, revision, pcs_index, pcs.template.clique("frontend"), **options)


def worker(pcs: PodCliqueSet, group_index: int, **options: Any) -> Object:
    revision = revisions.of(pcs, ())
    group = pcs.template.group("sg")
    owner = expand.scaling_group(pcs, revision, 0, group)
    owner.uid = "group-uid"
    return expand.member_clique(
        pcs, revision, owner, group, group_index, pcs.template.clique("worker"), **options
    )


def test_the_service_is_headless_and_selects_the_pods_of_its_replica() -> None:
    service = expand.headless_service(a_set(), 1)
    assert (service.api_version, service.kind, service.namespace, service.name) == (
        "v1",
        "Service",
        "prod",
        "llm-1",
    )
    assert service.spec == {
        "clusterIP": "None",
        "selector": {
            "app.kubernetes.io/managed-by": "grove-operator",
            "app.kubernetes.io/part-of": "llm",
            "grove.io/podcliqueset-replica-index": "1",
        },
        "publishNotReadyAddresses": True,
    }
    assert service.labels["app.kubernetes.io/component"] == "pcs-headless-service"


def test_a_standalone_clique_is_owned_by_the_set_and_labelled_for_its_gang() -> None:
    pcs = a_set()
    revision = revisions.of(pcs, ())
    clique = frontend(pcs, 1)
    assert (clique.api_version, clique.kind, clique.name) == (
        "grove.io/v1alpha1",
        "PodClique",
        "llm-1-frontend",
    )
    assert clique.labels == {
        "tier": "web",
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "llm",
        "app.kubernetes.io/name": "llm-1-frontend",
        "app.kubernetes.io/component": "pcs-podclique",
        "grove.io/podcliqueset-replica-index": "1",
        "grove.io/podgang": "llm-1",
        "grove.io/pod-template-hash": revision.clique_hashes["frontend"],
        "headgate.dev/revision": revision.hash,
    }
    assert clique.annotations == {"note": "x"}
    assert [(owner.kind, owner.uid) for owner in clique.owners] == [("PodCliqueSet", sets.UID)]
    assert (clique.spec["replicas"], clique.spec["minAvailable"], clique.spec["roleName"]) == (
        2,
        2,
        "role-frontend",
    )


def test_no_label_of_a_clique_hides_one_that_the_set_is_found_by() -> None:
    pcs = sets.read(sets.clique("frontend", labels={"app.kubernetes.io/part-of": "other"}))
    assert frontend(pcs).labels["app.kubernetes.io/part-of"] == "llm"


def test_a_scaling_group_keeps_the_count_its_autoscaler_set() -> None:
    pcs = a_set()
    revision = revisions.of(pcs, ())
    group = pcs.template.group("sg")
    made = expand.scaling_group(pcs, revision, 0, group)
    assert (made.kind, made.name) == ("PodCliqueScalingGroup", "llm-0-sg")
    assert made.spec == {"replicas": 3, "minAvailable": 2, "cliqueNames": ["leader", "worker"]}
    assert made.annotations == {"a": "b"}
    assert expand.scaling_group(pcs, revision, 0, group, replicas=7).spec["replicas"] == 7
    assert frontend(pcs, replicas=9).spec["replicas"] == 9
    assert worker(pcs, 0, replicas=8).spec["replicas"] == 8


def test_a_member_clique_is_owned_by_its_group_and_names_group_and_replica() -> None:
    clique = worker(a_set(), 1)
    assert clique.name == "llm-0-sg-1-worker"
    assert [(owner.kind, owner.name, owner.uid) for owner in clique.owners] == [
        ("PodCliqueScalingGroup", "llm-0-sg", "group-uid")
    ]
    assert clique.labels[labels.COMPONENT] == "pcsg-podclique"
    assert clique.labels[labels.SCALING_GROUP] == "llm-0-sg"
    assert clique.labels[labels.SCALING_GROUP_REPLICA_INDEX] == "1"


def test_only_the_cliques_of_scaled_gangs_name_a_base_gang() -> None:
    pcs = a_set()
    assert worker(pcs, 1).labels[labels.POD_GANG] == "llm-0"
    assert labels.BASE_POD_GANG not in worker(pcs, 1).labels
    assert worker(pcs, 2).labels[labels.POD_GANG] == "llm-0-sg-0"
    assert worker(pcs, 2).labels[labels.BASE_POD_GANG] == "llm-0"


def test_a_pod_inherits_labels_waits_at_the_gate_and_has_the_hostname_of_its_index() -> None:
    pcs = a_set()
    clique = frontend(pcs)
    clique.uid = "clique-uid"
    pod = expand.pods(pcs, clique, (3,), IDS)[0]
    assert pod.labels == {
        **clique.labels,
        "grove.io/podclique": "llm-0-frontend",
        "grove.io/podclique-pod-index": "3",
    }
    assert pod.annotations == {"note": "x"}
    assert [(owner.kind, owner.name, owner.uid) for owner in pod.owners] == [
        ("PodClique", "llm-0-frontend", "clique-uid")
    ]
    assert (pod.spec["hostname"], pod.spec["subdomain"]) == ("llm-0-frontend-3", "llm-0")
    assert pod.spec["schedulingGates"] == [{"name": "grove.io/podgang-pending-creation"}]
    assert pod.spec["restartPolicy"] == "Always"


def environment(pod: Object, kind: str = "containers") -> dict[str, Any]:
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in pod.spec[kind][0]["env"]}


def test_a_pod_of_a_standalone_clique_is_told_where_it_is() -> None:
    pcs = a_set()
    assert environment(expand.pods(pcs, frontend(pcs, 1), (0,), IDS)[0]) == {
        "GROVE_PCS_NAME": "llm",
        "GROVE_PCS_INDEX": "1",
        "GROVE_PCLQ_NAME": "llm-1-frontend",
        "GROVE_HEADLESS_SERVICE": "llm-1.prod.svc.cluster.local",
        "GROVE_PCLQ_POD_INDEX": {
            "fieldRef": {"fieldPath": "metadata.labels['grove.io/podclique-pod-index']"}
        },
    }


def test_a_pod_of_a_scaling_group_is_also_told_its_group_its_replica_and_how_many_it_has() -> None:
    pcs = a_set()
    told = environment(expand.pods(pcs, worker(pcs, 2), (0,), IDS)[0])
    assert told["GROVE_PCSG_NAME"] == "llm-0-sg"
    assert told["GROVE_PCSG_INDEX"] == "2"
    assert told["GROVE_PCSG_TEMPLATE_NUM_PODS"] == "5"


def test_variables_come_first_in_every_container_and_its_own_are_kept() -> None:
    clique = sets.clique("frontend")
    own = {"name": "MODE", "value": "fast"}
    clique["spec"]["podSpec"] = {
        "initContainers": [{"name": "init"}],
        "containers": [{"name": "a", "env": [own]}],
        "schedulingGates": [{"name": "theirs"}],
    }
    pcs = sets.read(clique)
    pod = expand.pods(pcs, frontend(pcs), (0,), IDS)[0]
    names = [entry["name"] for entry in pod.spec["containers"][0]["env"]]
    assert (names[0], names[-1]) == ("GROVE_PCS_NAME", "MODE")
    assert list(environment(pod, "initContainers")) == names[:-1]
    assert [gate["name"] for gate in pod.spec["schedulingGates"]] == [
        "theirs",
        "grove.io/podgang-pending-creation",
    ]


def test_the_pods_of_a_clique_share_their_containers_and_have_names_of_their_own() -> None:
    pcs = a_set()
    made = expand.pods(pcs, frontend(pcs), range(3000), IDS)
    assert len({pod.name for pod in made}) == 3000
    assert all(pod.spec["containers"] is made[0].spec["containers"] for pod in made)


def test_a_gang_lists_the_pods_of_its_groups_sorted_and_mirrors_the_set() -> None:
    pcs = a_set(priorityClassName="urgent")
    scaled = gangs.of_member(pcs, 0, pcs.template.group("sg"), 2)
    gang = gangs.Gang(
        scaled.gang, 0, gangs.of_group_replica(pcs, 0, pcs.template.group("sg"), 2), scaled.base
    )
    references = {"llm-0-sg-2-worker": ["w-b", "w-a"], "elsewhere": ["x"]}
    made = expand.pod_gang(pcs, revisions.of(pcs, ()), gang, references)
    assert (made.api_version, made.kind, made.name) == (
        "scheduler.grove.io/v1alpha1",
        "PodGang",
        "llm-0-sg-0",
    )
    assert made.spec == {
        "podgroups": [
            {"name": "llm-0-sg-2-leader", "minReplicas": 1, "podReferences": []},
            {
                "name": "llm-0-sg-2-worker",
                "minReplicas": 3,
                "podReferences": [{"namespace": "prod", "name": "w-a"}, {"namespace": "prod", "name": "w-b"}],
            },
        ],
        "priorityClassName": "urgent",
    }
    assert made.labels["team"] == "ml"
    assert "grove.io/x" not in made.labels
    assert made.labels[labels.COMPONENT] == "podgang"


def test_the_priority_class_of_the_set_reaches_its_pods() -> None:
    pcs = a_set(priorityClassName="urgent")
    assert expand.pods(pcs, frontend(pcs), (0,), IDS)[0].spec["priorityClassName"] == "urgent"


def test_an_object_of_an_old_revision_has_its_content_and_the_counts_of_now() -> None:
    old = revisions.of(sets.read(sets.clique("frontend", replicas=1, image="app:v1")), ())
    now = sets.read(sets.clique("frontend", replicas=4, minAvailable=1, image="app:v2"))
    made = expand.standalone_clique(now, old, 0, now.template.clique("frontend"))
    assert made.spec["podSpec"]["containers"][0]["image"] == "app:v1"
    assert made.spec["replicas"] == 4
    assert made.labels[labels.REVISION] == old.hash


STARTS = {"frontend": (), "leader": ("frontend",), "worker": ("leader",), "router": ("worker",)}


def ordered(startup_type: str, group: dict[str, Any] | None = None) -> PodCliqueSet:
    after = startup_type == model.EXPLICIT
    return sets.read(
        *(
            sets.clique(name, **({"startsAfter": list(parents)} if after else {}))
            for name, parents in STARTS.items()
        ),
        groups=(sets.group("sg", "leader", "worker", **(group or {"replicas": 3, "minAvailable": 2})),),
        cliqueStartupType=startup_type,
    )


def starts(pcs: PodCliqueSet, name: str, group_index: int | None = None) -> tuple[str, ...]:
    clique = pcs.template.clique(name)
    if group_index is None:
        return startup.of_standalone(pcs, 0, clique)
    return startup.of_member(pcs, 0, pcs.template.group("sg"), group_index, clique)


def test_in_any_order_nobody_waits() -> None:
    pcs = ordered(model.ANY_ORDER)
    assert [starts(pcs, "frontend"), starts(pcs, "router"), starts(pcs, "worker", 0)] == [(), (), ()]


@pytest.mark.parametrize("startup_type", [model.IN_ORDER, model.EXPLICIT])
def test_who_waits_for_a_group_waits_for_its_replicas_in_the_base_gang(startup_type: str) -> None:
    pcs = ordered(startup_type)
    assert starts(pcs, "frontend") == ()
    assert starts(pcs, "router") == ("llm-0-sg-0-worker", "llm-0-sg-1-worker")
    assert starts(pcs, "leader", 1) == ("llm-0-frontend",)
    assert starts(pcs, "worker", 0) == ("llm-0-sg-0-leader", "llm-0-sg-1-leader")


@pytest.mark.parametrize("startup_type", [model.IN_ORDER, model.EXPLICIT])
def test_a_scaled_gang_orders_only_what_is_in_it(startup_type: str) -> None:
    pcs = ordered(startup_type)
    assert starts(pcs, "leader", 2) == ()
    assert starts(pcs, "worker", 2) == ("llm-0-sg-2-leader",)


def test_the_order_stands_on_the_clique_by_full_names() -> None:
    pcs = ordered(model.EXPLICIT)
    made = expand.standalone_clique(pcs, revisions.of(pcs, ()), 0, pcs.template.clique("router"))
    assert made.spec["startsAfter"] == ["llm-0-sg-0-worker", "llm-0-sg-1-worker"]
    assert "startsAfter" not in frontend(pcs).spec


@given(st.integers(0, 9), st.integers(0, 99), st.integers(1, 5), st.integers(1, 5))
def test_the_same_question_has_the_same_answer(pcs_index: int, now: int, replicas: int, count: int) -> None:
    def answer() -> list[object]:
        pcs = sets.read(sets.clique("frontend", replicas=replicas), replicas=3)
        clique = frontend(pcs, pcs_index)
        made = [
            expand.headless_service(pcs, pcs_index),
            clique,
            *expand.pods(pcs, clique, range(count), IDS),
        ]
        return [(item.key, item.labels, item.annotations, item.owners, item.spec) for item in made]

    assert answer() == answer()
