"""Nodes that are cordoned, drained and uncordoned: by eviction, against real disruption budgets, each by its own cycle."""

from __future__ import annotations

from typing import Any

import pytest

import kube
from agents.support import clock
from headgate.agents.kubernetes_node import KubernetesNodeAgent
from headgate.agents.node_holds import ANNOTATION, NODES
from headgate.kernel.problems import Rejected
from headgate.kubernetes.resources import NAMESPACES, PODS, ApiResource

from .nodes import OWN_NODES, clusters_of, farm, lossy_clusters
from .support import BUDGETS, play, until

DAEMON_SETS = ApiResource("apps", "v1", "DaemonSet", "daemonsets")


def evictions(plane: kube.ControlPlane, namespace: str) -> list[tuple[str, int]]:
    """Pods by what the API server answered, in its order."""
    return [
        (event["objectRef"]["name"], event["responseStatus"]["code"])
        for event in plane.audit(namespace)
        if event["objectRef"].get("subresource") == "eviction"
    ]


def test_a_drained_node_is_cordoned_and_empty_and_each_pod_was_evicted_once(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace) as it:
            await it.deploy("web", 6)
            before = await it.pods_on()
            progress = await it.drained()
            assert progress.status == "successful"
            assert progress.message == f"{it.nodes[0]} is drained: {len(before)} pods evicted"
            assert await it.pods_on() == []
            assert await it.is_cordoned()
            assert sorted(evictions(control_plane, kube_namespace)) == [(name, 201) for name in before]

    play(story())


def test_a_budget_holds_an_eviction_until_it_allows_it(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace) as it:
            await it.deploy("web", 4, budget={"maxUnavailable": 0})
            count = len(await it.pods_on())
            await it.look()
            progress = await it.look()
            first = (await it.pods_on())[0]
            more = f" and {count - 1} more" if count > 1 else ""
            assert progress.status == "inProgress"
            assert progress.message == (
                f"0 of {count} pods evicted, waiting for {kube_namespace}/{first}: disruption budget web{more}"
            )
            await it.client.patch(BUDGETS, "web", kube_namespace, {"spec": {"maxUnavailable": 4}})
            assert (await it.drained()).status == "successful"

    play(story())


def test_looks_grow_rarer_while_nothing_changes(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.deploy("web", 1, budget={"maxUnavailable": 0})
            waits = [(await it.look()).requeue_seconds for _ in range(6)]
            assert waits == [0.2, 0.5, 1.0, 2.0, 5.0, 5.0]

    play(story())


def test_pods_of_daemon_sets_and_of_the_kubelet_and_those_that_have_ended_are_left(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            labels = {"app": "daemon"}
            template = {
                "metadata": {"labels": labels},
                "spec": {
                    "nodeSelector": {OWN_NODES: kube_namespace},
                    "containers": [{"name": "main", "image": "none"}],
                },
            }
            await it.client.create(
                DAEMON_SETS,
                {
                    "metadata": {"name": "daemon", "namespace": kube_namespace},
                    "spec": {"selector": {"matchLabels": labels}, "template": template},
                },
            )
            mirror = it.pod("mirror")
            mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
            await it.client.create(PODS, mirror)
            done = it.pod("done", restartPolicy="Never")
            done["metadata"]["annotations"] = {"headgate.test/fail-after": "0s"}
            await it.client.create(PODS, done)

            async def has_settled() -> bool:
                phase = (await it.client.get(PODS, "done", kube_namespace))["status"].get("phase")
                return phase == "Failed" and len(await it.pods_on()) == 3

            await until(has_settled)
            progress = await it.drained()
            assert progress.message == (
                f"{it.nodes[0]} is drained: 0 pods evicted, 3 left that a drain does not move"
            )
            assert evictions(control_plane, kube_namespace) == []

    play(story())


@pytest.mark.parametrize(
    ("spec", "words", "option"),
    [
        ({}, "has no controller and would not come back (config.force evicts them)", "force"),
        (
            {"volumes": [{"name": "scratch", "emptyDir": {}}]},
            "has data in emptyDir volumes that would be lost (config.deleteEmptyDirData evicts them)",
            "deleteEmptyDirData",
        ),
    ],
)
def test_what_would_be_lost_is_evicted_by_option_only_and_the_node_is_not_even_cordoned(
    control_plane: kube.ControlPlane, kube_namespace: str, spec: dict[str, Any], words: str, option: str
) -> None:
    given: dict[str, Any] = {} if option == "force" else {"force": True}

    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.add_pod("lonely", **spec)
            progress = await it.look(**given)
            assert progress.status == "failure"
            assert progress.message == f"{it.nodes[0]} is not drained: {kube_namespace}/lonely {words}"
            assert not await it.is_cordoned()
            assert (await it.drained(**given, **{option: True})).status == "successful"
            assert await it.pods_on() == []

    play(story())


def test_only_pods_of_the_selector_are_evicted(control_plane: kube.ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.add_pod("one")
            await it.add_pod("two")
            assert (await it.drained(force=True, podSelector="app=one")).status == "successful"
            assert await it.pods_on() == ["two"]
            progress = await it.look(job="job-2", podSelector="app in")
            assert progress.status == "invalidIntegration"

    play(story())


def test_uncordon_undoes_what_its_cycle_cordoned_and_may_be_repeated(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.drained()
            said = [(await it.look("uncordon", job=job)).message for job in ("job-2", "job-2")]
            assert said == [f"{it.nodes[0]} is uncordoned", f"{it.nodes[0]} is schedulable"]
            assert not await it.is_cordoned()
            assert ANNOTATION not in (await it.node())["metadata"].get("annotations", {})

    play(story())


def test_a_node_that_somebody_else_cordoned_stays_cordoned(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.patch_node({"spec": {"unschedulable": True}})
            drained = await it.drained()
            assert (drained.message or "").endswith(
                "it was cordoned before by somebody else, who has to uncordon it"
            )
            uncordoned = await it.look("uncordon", job="job-2")
            assert uncordoned.status == "successful"
            assert uncordoned.message == f"{it.nodes[0]} stays cordoned: this cycle had not cordoned it"
            assert await it.is_cordoned()

    play(story())


def test_a_node_that_two_cycles_need_is_uncordoned_by_the_last(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.look("cordon", job="a", group="first")
            await it.drained(group="second")
            said = (await it.look("uncordon", job="b", group="second")).message
            assert said == f"{it.nodes[0]} stays cordoned for node-cordon in prod (group first)"
            assert await it.is_cordoned()
            await it.look("uncordon", job="c", group="first")
            assert not await it.is_cordoned()

    play(story())


def test_a_target_that_drains_again_takes_over_what_its_earlier_cycle_left(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.drained(group="aborted")
            it.shelf.state = {}
            await it.drained(group="next")
            assert (
                await it.look("uncordon", job="a", group="next")
            ).message == f"{it.nodes[0]} is uncordoned"

    play(story())


def test_outside_of_groups_drain_and_uncordon_of_one_environment_belong_together(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.drained(group=None)
            said = (await it.look("uncordon", job="a", group="some")).message
            assert said == f"{it.nodes[0]} stays cordoned: this cycle had not cordoned it"
            assert (await it.look("uncordon", job="b", group=None)).message == f"{it.nodes[0]} is uncordoned"

    play(story())


def test_a_drain_that_is_stopped_gives_its_cordon_back(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.deploy("web", 2, budget={"maxUnavailable": 0})
            await it.look()
            assert await it.is_cordoned()
            assert await it.agent.stop(it.assignment()) == f"{it.nodes[0]} is uncordoned again"
            assert not await it.is_cordoned()
            assert await it.agent.stop(it.assignment()) is None

    play(story())


def test_a_node_that_was_cordoned_before_is_left_so_by_a_stop(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.patch_node({"spec": {"unschedulable": True}})
            await it.look()
            assert await it.agent.stop(it.assignment()) == f"{it.nodes[0]} stays cordoned, as it was before"
            assert await it.is_cordoned()

    play(story())


def test_a_node_that_somebody_uncordons_meanwhile_is_not_drained(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.deploy("web", 1, budget={"maxUnavailable": 0})
            await it.look()
            await it.patch_node({"spec": {"unschedulable": None}})
            progress = await it.look()
            assert progress.status == "failure"
            assert (
                progress.message == f"the node {it.nodes[0]} was uncordoned by somebody while it was drained"
            )
            assert not await it.is_cordoned()
            assert ANNOTATION not in (await it.node())["metadata"].get("annotations", {})

    play(story())


def test_a_node_that_goes_away_fails_its_drain_and_not_its_uncordon(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.look()
            await it.client.delete(NODES, it.nodes[0])
            gone = await it.look()
            assert (gone.status, gone.message) == ("failure", f"the node {it.nodes[0]} is gone")
            never = await it.look(job="job-2")
            assert (never.status, never.message) == ("failure", f"there is no node {it.nodes[0]}")
            uncordoned = await it.look("uncordon", job="job-3")
            assert uncordoned.status == "successful"
            assert uncordoned.message == f"there is no node {it.nodes[0]} any more, so nothing to uncordon"
            assert await it.agent.stop(it.assignment()) is None
            await it.add_nodes_again()
            other = await it.look()
            assert other.message == f"the node {it.nodes[0]} is gone, and another one has its name"
            assert not await it.is_cordoned()

    play(story())


def test_pods_that_do_not_mind_the_cordon_are_evicted_once_and_not_for_ever(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    tolerant = {
        "tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}],
    }

    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            await it.deploy("web", 2, **tolerant)
            progress = await it.drained()
            assert (progress.message or "").startswith(f"{it.nodes[0]} is drained: 2 pods evicted")
            assert len(evictions(control_plane, kube_namespace)) == 2

    play(story())


def test_a_terminating_pod_is_waited_for(control_plane: kube.ControlPlane, kube_namespace: str) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            slow = it.pod("slow", terminationGracePeriodSeconds=30)
            slow["metadata"]["annotations"] = {"headgate.test/gone-after": "1s"}
            await it.client.create(PODS, slow)
            await it.look(force=True)
            progress = await it.look(force=True)
            assert progress.message == f"0 of 1 pods evicted, waiting for {kube_namespace}/slow: terminating"
            assert (await it.drained(force=True)).status == "successful"
            assert evictions(control_plane, kube_namespace) == [("slow", 201)]

    play(story())


def test_a_drain_goes_on_from_any_moment_at_which_its_process_is_killed(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    """What was kept is lost once at each of its values: the node is cordoned once, and no pod is evicted twice."""

    async def story() -> None:
        async with farm(control_plane, kube_namespace) as it:
            await it.deploy("web", 6, budget={"maxUnavailable": 1})
            before = await it.pods_on()
            await it.look()
            it.shelf.state = {}
            progress = await it.drained()
            assert progress.status == "successful"
            granted = [name for name, code in evictions(control_plane, kube_namespace) if code == 201]
            assert sorted(granted) == before
            assert cordons(control_plane, it.nodes[0]) == [True]

    play(story())


def test_no_lost_answer_leads_to_a_second_cordon_or_a_second_eviction(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace) as it:
            await it.deploy("web", 4)
            before = await it.pods_on()
            clusters, transport = await lossy_clusters(control_plane)
            it.agent = KubernetesNodeAgent(clusters, clock)
            assert (await it.drained()).status == "successful"
            assert len(transport.lost) == 1 + len(before)
            granted = [name for name, code in evictions(control_plane, kube_namespace) if code == 201]
            assert sorted(granted) == before
            assert cordons(control_plane, it.nodes[0]) == [True]

    play(story())


def cordons(plane: kube.ControlPlane, node: str) -> list[bool]:
    """Every change of `unschedulable` that the API server has seen, in its order."""
    seen = [
        bool(event["responseObject"]["spec"].get("unschedulable"))
        for event in plane.audit()
        if (event.get("objectRef") or {}).get("resource") == "nodes"
        and event["objectRef"].get("name") == node
        and event["verb"] in ("patch", "update")
        and event.get("responseStatus", {}).get("code") == 200
        and "spec" in event.get("responseObject", {})
    ]
    return [now for before, now in zip([False, *seen], seen, strict=False) if now != before]


def test_a_resource_of_another_cluster_is_not_touched(
    control_plane: kube.ControlPlane, kube_namespace: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=1) as it:
            uid = (await it.client.get(NAMESPACES, "kube-system"))["metadata"]["uid"]
            it.of_cluster = "another"
            with pytest.raises(Rejected, match="is of the cluster another"):
                await it.look()
            assert not await it.is_cordoned()
            it.of_cluster = uid
            assert (await it.look()).status == "inProgress"

    play(story())


def test_a_context_that_the_server_does_not_allow_is_refused(control_plane: kube.ControlPlane) -> None:
    async def story() -> None:
        clusters = clusters_of(control_plane, ("east", "west"))
        with pytest.raises(
            Rejected, match=r'kubeContext: is "north"; allowed are east, west, and .*--allow-cluster'
        ):
            await clusters.named("north")
        with pytest.raises(Rejected, match="is required; allowed are east, west"):
            await clusters.named(None)
        with pytest.raises(Rejected, match="allowed are none"):
            await clusters_of(control_plane, ()).named(None)
        with pytest.raises(Rejected, match='has no context "east"'):
            await clusters.named("east")

    play(story())


@pytest.mark.parametrize("verb", ["drain", "cordon", "uncordon"])
def test_a_resource_names_no_node_that_the_agents_owner_does_not_allow(
    control_plane: kube.ControlPlane, kube_namespace: str, verb: str
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=2) as it:
            own = f"{OWN_NODES}={kube_namespace}"
            await it.patch_node({"metadata": {"labels": {"role": "control"}}}, 1)
            config = {"verb": verb, "allowedNodes": f"{own},role!=control"}
            before = await it.node(1)
            with pytest.raises(Rejected) as caught:
                await it.agent.start(it.shelf.assignment({**config, "node": it.nodes[1]}))
            assert f'config.allowedNodes: is "{own},role!=control"' in str(caught.value)
            after = await it.node(1)
            assert (after["spec"], after["metadata"].get("annotations")) == (
                before["spec"],
                before["metadata"].get("annotations"),
            )
            allowed = await it.agent.start(it.shelf.assignment({**config, "node": it.nodes[0]}))
            assert allowed.status != "invalidIntegration"

    play(story())
