"""One pass after another: what the planner writes, in which order, and what it finds again after a restart."""

from typing import Any

import pytest

from headgate.agents import workload
from headgate.kernel import instants
from headgate.kernel.decisions import Reason
from headgate.kernel.objects import Create, DeleteObject, Object, Update, UpdateStatus
from headgate.workload import labels
from headgate.workload.plan import explain, operate
from headgate.workload.plan.situation import ABORT, SCHEDULED_AT

from .world import START, World


def pod_clique_set(**spec: Any) -> dict[str, Any]:
    """One standalone clique `front` of three pods and a group `model` of two replicas with two pods each."""
    template = {
        "cliques": [
            {"name": "front", "spec": {"replicas": 3, "minAvailable": 2, "podSpec": _pod_spec("v1")}},
            {"name": "back", "spec": {"replicas": 2, "podSpec": _pod_spec("v1")}},
        ],
        "podCliqueScalingGroups": [
            {"name": "model", "cliqueNames": ["back"], "replicas": 2, "minAvailable": 1}
        ],
        "terminationDelay": "1h",
    }
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "llm"},
        "spec": {"replicas": 1, "template": template, **spec},
    }


def _pod_spec(image: str) -> dict[str, Any]:
    return {"containers": [{"name": "main", "image": image}]}


def edit_image(world: World, clique: int, image: str) -> None:
    world.set.spec["template"]["cliques"][clique]["spec"]["podSpec"]["containers"][0]["image"] = image
    world.set.generation += 1


@pytest.fixture
def world() -> World:
    return World(pod_clique_set())


@pytest.fixture
def running() -> World:
    world = World(pod_clique_set())
    world.come_up()
    return world


def test_objects_come_before_what_they_own_and_pods_last(world: World) -> None:
    first = [action.object for action in world.plan().actions if isinstance(action, Create)]
    assert [(item.kind, item.name) for item in first[1:]] == [
        ("Service", "llm-0"),
        ("PodClique", "llm-0-front"),
        ("PodCliqueScalingGroup", "llm-0-model"),
        ("PodGang", "llm-0"),
        ("PodGang", "llm-0-model-0"),
    ]
    assert first[0].kind == "ControllerRevision"


def test_a_set_at_rest_is_left_alone(running: World) -> None:
    assert running.plan().actions == ()
    assert running.live() == [
        "llm-0-front-0",
        "llm-0-front-1",
        "llm-0-front-2",
        "llm-0-model-0-back-0",
        "llm-0-model-0-back-1",
        "llm-0-model-1-back-0",
        "llm-0-model-1-back-1",
    ]


def test_the_set_s_own_status_is_written_before_anything_is_deleted(running: World) -> None:
    edit_image(running, 0, "v2")
    actions = running.plan().actions
    kinds = [type(action) for action in actions]
    own = next(
        place
        for place, action in enumerate(actions)
        if isinstance(action, UpdateStatus) and action.key == running.set.key
    )
    assert own < kinds.index(DeleteObject)


def test_pods_of_a_scaled_gang_stay_gated_until_the_base_gang_was_scheduled(world: World) -> None:
    world.settle()
    gated = {item.spec["hostname"] for item in world.pods() if item.spec["schedulingGates"]}
    assert gated == {"llm-0-model-1-back-0", "llm-0-model-1-back-1"}
    world.run_pods()
    world.settle()
    assert not any(item.spec["schedulingGates"] for item in world.pods())


def test_that_the_base_gang_was_scheduled_is_remembered_when_its_pods_are_gone(running: World) -> None:
    for item in list(running.pods()):
        del running.objects[item.key]
    running.settle()
    assert not any(item.spec["schedulingGates"] for item in running.pods())
    base = next(item for item in running.objects.values() if (item.kind, item.name) == ("PodGang", "llm-0"))
    assert SCHEDULED_AT in base.annotations


def test_only_units_whose_own_content_changed_are_replaced(running: World) -> None:
    edit_image(running, 0, "v2")
    for _ in range(12):
        running.settle(30)
        running.run_pods()
    hashes = {item.spec["hostname"]: item.labels[labels.REVISION] for item in running.pods()}
    newest = running.set.status["updateRevision"]
    moved = {name for name, revision in hashes.items() if revision == newest}
    assert moved == {"llm-0-front-0", "llm-0-front-1", "llm-0-front-2"}
    assert "updateEndedAt" in running.set.status["rollingUpdateProgress"]


def test_an_index_is_not_used_again_while_its_holder_is_terminating(running: World) -> None:
    running.pod("llm-0-front-1").deleted_at = running.now
    assert running.settle() == []
    running.run_pods()
    assert running.settle() == ["create Pod llm-0-front-1"]


def test_a_pod_whose_clique_is_another_incarnation_goes_and_counts_as_gone(running: World) -> None:
    clique = next(
        item for item in running.objects.values() if (item.kind, item.name) == ("PodClique", "llm-0-front")
    )
    clique.uid = "another"
    deleted = [action for action in running.plan().actions if isinstance(action, DeleteObject)]
    assert len(deleted) == 3
    assert running.plan().status["availableReplicas"] == 0


def test_a_second_pod_at_an_index_is_one_too_many(running: World) -> None:
    original = running.pod("llm-0-front-0")
    double = Object("v1", "Pod", original.namespace, "double", uid="double", labels=original.labels)
    double.owners, double.spec = original.owners, {**original.spec}
    running.objects[double.key] = double
    assert running.settle() == ["delete Pod double"]


def test_a_lost_status_is_found_again_in_the_objects(running: World) -> None:
    edit_image(running, 0, "v2")
    running.set.status = {}
    found = running.plan()
    assert found.status["rollingUpdateProgress"]["updatingReplicas"] == [
        {"replicaIndex": 0, "updateStartedAt": instants.show(START)}
    ]
    assert [action.key.kind for action in found.actions if isinstance(action, DeleteObject)] == ["Pod"]


def test_what_goes_because_it_is_down_goes_only_as_it_was_seen_and_first(running: World) -> None:
    """What was heard may be late: pods that serve by now must not go as if they were down, nor what they are part of."""
    down = [
        running.pod(f"llm-0-{name}") for name in ("front-1", "front-2", "model-1-back-0", "model-1-back-1")
    ]
    for version, pod in enumerate(down, 7):
        pod.resource_version, pod.status = version, {"scheduled": True}
    running.settle()
    edit_image(running, 0, "v2")
    edit_image(running, 1, "v2")
    deleted = [action for action in running.plan().actions if isinstance(action, DeleteObject)]
    assert [(action.key.name, action.resource_version) for action in deleted[: len(down)]] == [
        (pod.name, pod.resource_version) for pod in down
    ]
    assert [(action.key.kind, action.resource_version) for action in deleted[len(down) :]] == [
        ("PodClique", None)
    ]


def test_a_set_that_is_deleted_takes_everything_with_it(running: World) -> None:
    running.set.deleted_at = running.now
    deleted = [action for action in running.plan().actions if isinstance(action, DeleteObject)]
    assert len(deleted) == len(running.objects)


def test_nothing_of_a_recreated_replica_is_built_before_all_of_it_is_gone() -> None:
    world = World(pod_clique_set(updateStrategy={"type": "ReplicaRecreate"}))
    world.come_up()
    edit_image(world, 0, "v2")
    said = world.settle()
    assert all(word.startswith("delete") for word in said[1:]), said
    assert {item.kind for item in world.objects.values()} == {"Pod", "ControllerRevision"}
    world.run_pods()
    assert "create Service llm-0" in world.settle()


def test_a_half_torn_down_replica_is_torn_down_to_the_end_after_a_restart() -> None:
    world = World(pod_clique_set(updateStrategy={"type": "ReplicaRecreate"}))
    world.come_up()
    edit_image(world, 0, "v2")
    for action in world.plan().actions:
        world.apply(action)
        if isinstance(action, DeleteObject):
            break
    said = world.settle()
    assert said
    assert all(word.startswith("delete") for word in said)


def test_gang_termination_waits_for_the_delay_and_says_when_to_look_again(running: World) -> None:
    for name in ("llm-0-front-0", "llm-0-front-1"):
        running.pod(name).status = {"scheduled": True, "ready": False}
    running.settle()
    assert running.last is not None
    assert running.last.requeue_at == START + instants.hours(1)
    said = running.settle(3_600)
    assert sum(word.startswith("delete Pod ") for word in said) == 7


def test_what_the_update_took_down_is_not_terminated() -> None:
    world = World(pod_clique_set())
    world.come_up()
    edit_image(world, 0, "v2")
    world.settle()
    world.run_pods()
    world.settle()
    world.pod("llm-0-front-1").status = {"scheduled": True, "ready": False}
    world.settle()
    condition = world.status("PodClique", "llm-0-front")["conditions"][0]
    assert (condition["type"], condition["status"]) == ("MinAvailableBreached", "Unknown")
    assert not any("delete PodClique" in word for word in world.settle(7_200))


def test_pause_resume_and_abort_are_edits_of_the_set(running: World) -> None:
    paused = operate.pause(running.set)
    assert paused.spec["updateStrategy"] == {"paused": True}
    assert operate.resume(paused).spec == running.set.spec
    edit_image(running, 0, "v2")
    running.settle()
    running.set = operate.abort(running.set)
    order = f"{running.set.status['updateRevision']}@{running.set.generation}"
    assert running.set.annotations[ABORT] == order
    running.settle()
    assert "updateEndedAt" in running.set.status["rollingUpdateProgress"]


def test_the_explanation_names_the_units_that_are_waited_for(running: World) -> None:
    edit_image(running, 0, "v2")
    running.settle()
    running.run_pods()
    running.settle()
    running.now += instants.seconds(60)
    explained = explain.explain(running.set, tuple(running.objects.values()), running.now)
    sentences = [line.message for line in explained.lines]
    assert explained.state == "updating"
    assert any("replica 0 is being updated since" in sentence for sentence in sentences)
    assert any("not scheduled since" in sentence for sentence in sentences)
    assert (explained.subject, explained.message) == ("PodCliqueSet llm", "RollingUpdate, revision 2")
    assert any(unit.state == "not scheduled" for unit in explained.walk())
    stuck = [line for line in explained.lines if line.kind != "update"]
    assert {line.reason for line in explained.lines if line not in stuck} == {Reason.UPDATING}
    assert stuck
    assert all(line.kind == line.reason for line in stuck)
    assert workload.first_reason(explained) == stuck[0].message


def test_updates_carry_the_version_that_was_seen(running: World) -> None:
    for item in running.objects.values():
        item.resource_version = 7
    edit_image(running, 0, "v2")
    updates = [action.object for action in running.plan().actions if isinstance(action, Update)]
    assert updates
    assert all(item.resource_version == 7 for item in updates)


def test_autoscalers_are_told_which_pods_carry_the_load_and_surge_is_not_among_them(running: World) -> None:
    whole = "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=llm"
    assert running.set.status["hpaPodSelector"] == whole
    assert running.status("PodClique", "llm-0-front")["hpaPodSelector"] == "grove.io/podclique=llm-0-front"
    group = "grove.io/podcliquescalinggroup=llm-0-model"
    assert running.status("PodCliqueScalingGroup", "llm-0-model")["selector"] == group
    template = running.set.spec["template"]
    for owner in (template["cliques"][0], template["podCliqueScalingGroups"][0]):
        owner["updateStrategy"] = {"maxUnavailable": 0, "maxSurge": 1}
    edit_image(running, 0, "v2")
    edit_image(running, 1, "v2")
    running.settle()
    assert running.status("PodClique", "llm-0-front")["hpaPodSelector"] == (
        "grove.io/podclique=llm-0-front,grove.io/podclique-pod-index notin (3)"
    )
    assert running.status("PodCliqueScalingGroup", "llm-0-model")["selector"] == (
        f"{group},grove.io/podcliquescalinggroup-replica-index notin (2)"
    )


def test_a_set_that_nobody_can_read_keeps_what_it_has_and_says_which_fields_are_wrong(running: World) -> None:
    running.set.spec["template"]["cliques"][0]["spec"]["replicas"] = "many"
    running.set.spec["replicas"] = []
    found = running.plan()
    assert [type(action).__name__ for action in found.actions] == ["UpdateStatus"]
    assert [stuck.reason for stuck in found.stuck] == ["Misconfigured"]
    message = found.status["conditions"][0]["message"]
    assert "spec.replicas: " in message
    assert "spec.template.cliques[0].spec.replicas: " in message


def test_a_set_that_was_scaled_beyond_all_measure_is_held(running: World) -> None:
    running.set.spec["replicas"] = 10_000
    running.set.spec["template"]["cliques"][0]["spec"]["replicas"] = 10_000
    found = running.plan()
    assert [stuck.reason for stuck in found.stuck] == ["Misconfigured"]
    assert "allowed are 50000 pods in a set" in found.status["conditions"][0]["message"]


def test_who_makes_a_pod_once_more_gives_it_the_same_name(running: World) -> None:
    """The answer to its creation was lost, or another leads: the server says that it is there, and it is not doubled."""
    before = running.pod("llm-0-front-0").name
    del running.objects[running.pod("llm-0-front-0").key]
    running.now += instants.seconds(90)
    made = [action.object for action in running.plan().actions if isinstance(action, Create)]
    assert [item.name for item in made] == [before]
