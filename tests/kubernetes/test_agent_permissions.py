"""What the pages say that agents may do in a cluster is enough for them; without it they say what is forbidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import kube
from agents.support import Shelf, clock
from docs import pages
from headgate.agents import cluster_resources
from headgate.agents.clusters import Clusters
from headgate.agents.kubernetes_job import KubernetesJobAgent
from headgate.agents.kubernetes_node import KubernetesNodeAgent
from headgate.agents.workload import WorkloadAgent
from headgate.api.clusters.connected_clusters import ClusterConnection, ConnectedClusters, Viewer
from headgate.kubernetes import kubeconfig
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import NotFoundError
from headgate.kubernetes.resources import NAMESPACES, ApiResource
from headgate.kubernetes.transport import Transport
from headgate.workload.plan import operate

from .nodes import farm
from .rollouts import Jobs
from .support import play, until
from .test_workload_agent import scene as workload_scene

ROLES = ApiResource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", is_namespaced=False)
BINDINGS = ApiResource(
    "rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", is_namespaced=False
)


def rules_of(page: str) -> list[dict[str, Any]]:
    [block] = [
        block
        for block in pages.blocks_of(pages.ROOT / "docs" / "agents" / page)
        if block.text.startswith("rules:")
    ]
    rules: list[dict[str, Any]] = yaml.safe_load(block.text)["rules"]
    return rules


@pytest.fixture
def impersonating(control_plane: kube.ControlPlane, kube_namespace: str, tmp_path: Path) -> Path:
    """A kubeconfig of a user who has no rights but those that a test gives."""
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    for one in config["users"]:
        one["user"] |= {
            name: str(control_plane.folder / path)
            for name, path in one["user"].items()
            if name in ("client-certificate", "client-key", "tokenFile")
        }
        one["user"]["as"] = kube_namespace
    for one in config["clusters"]:
        authority = one["cluster"].get("certificate-authority")
        if authority:
            one["cluster"]["certificate-authority"] = str(control_plane.folder / authority)
    file = tmp_path / "kubeconfig"
    file.write_text(yaml.safe_dump(config))
    return file


async def allow(client: Client, user: str, rules: list[dict[str, Any]]) -> None:
    await client.create(ROLES, {"metadata": {"name": user}, "rules": rules})
    await client.create(
        BINDINGS,
        {
            "metadata": {"name": user},
            "roleRef": {"apiGroup": ROLES.group, "kind": "ClusterRole", "name": user},
            "subjects": [{"apiGroup": ROLES.group, "kind": "User", "name": user}],
        },
    )


async def forbid(client: Client, user: str) -> None:
    for kind in (ROLES, BINDINGS):
        try:
            await client.delete(kind, user)
        except NotFoundError:
            continue


def test_nodes_are_discovered_drained_and_uncordoned_with_the_rights_of_the_page(
    control_plane: kube.ControlPlane, kube_namespace: str, impersonating: Path
) -> None:
    async def story() -> None:
        async with farm(control_plane, kube_namespace, nodes=2) as it:
            await it.deploy("web", 2, budget={"maxUnavailable": 1})
            access = kubeconfig.load(path=str(impersonating))
            it.agent = KubernetesNodeAgent(Clusters(None, lambda context: access), clock)
            it.of_cluster = (await it.client.get(NAMESPACES, "kube-system"))["metadata"]["uid"]
            refused = await it.look()
            assert refused.status == "invalidIntegration"
            assert "forbidden" in (refused.message or "")
            assert not await it.is_cordoned()
            await allow(it.client, kube_namespace, rules_of("kubernetes-node.md"))

            async def is_let() -> bool:
                return (await it.look()).status != "invalidIntegration"

            try:
                # Rights that were given are known to the server's authorizer a moment later.
                await until(is_let)
                assert (await it.drained()).status == "successful"
                assert (await it.look("uncordon", job="job-2")).message == f"{it.nodes[0]} is uncordoned"
                async with Client(Transport(access)) as discovering:
                    await cluster_resources.facts_of(discovering, "east", "")
                    states = cluster_resources.following(discovering)
                    assert it.nodes[0] in await anext(states)
                    await states.aclose()
            finally:
                await forbid(it.client, kube_namespace)

    play(story())


def test_jobs_are_made_followed_and_deleted_with_the_rights_of_the_page(
    control_plane: kube.ControlPlane, kube_namespace: str, impersonating: Path
) -> None:
    container = {"name": "main", "image": "none"}
    template = {
        "metadata": {"namespace": kube_namespace},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }

    async def story() -> None:
        async with control_plane.client() as client:
            access = kubeconfig.load(path=str(impersonating))
            agent = KubernetesJobAgent(Clusters(None, lambda context: access), clock)
            shelf = Shelf()
            refused = await agent.start(shelf.assignment({"jobTemplate": template}))
            assert refused.status == "invalidIntegration"
            await allow(client, kube_namespace, rules_of("kubernetes.md"))

            async def has_succeeded() -> bool:
                progress = await agent.start(shelf.assignment({"jobTemplate": template}))
                return progress.status == "successful"

            try:
                await until(has_succeeded)
            finally:
                await forbid(client, kube_namespace)
                await agent.close()

    play(story())


def test_sets_are_applied_listed_explained_and_paused_with_the_rights_of_the_page(
    control_plane: kube.ControlPlane, kube_namespace: str, impersonating: Path
) -> None:
    async def story() -> None:
        async with workload_scene(control_plane, kube_namespace) as it:
            access = kubeconfig.load(path=str(impersonating))
            clusters = Clusters(None, lambda context: access)
            jobs = Jobs(WorkloadAgent, clusters, it.jobs.config)
            connected = ConnectedClusters(clusters, clock)
            connection = ClusterConnection("east", None, ("inference",))
            assert (await jobs.look("job-1", "v1")).status == "invalidIntegration"
            [silent] = await connected.sets([connection])
            assert silent.message == "the cluster does not allow this to the access of its job agents"
            await allow(it.client, kube_namespace, rules_of("workload.md"))

            async def is_let() -> bool:
                return (await jobs.look("job-1", "v1")).status != "invalidIntegration"

            try:
                await until(is_let)
                assert (await jobs.ended("job-1", "v1")).status == "successful"
                [answer] = await connected.sets([connection])
                [held] = [each for each in answer.items if each.item.namespace == kube_namespace]
                seen = await connected.explain(connection, held, Viewer("home", sees_all=True))
                assert seen is not None
                assert seen.tree.state == "done"
                assert await connected.order(connection, held, operate.pause)
            finally:
                await forbid(it.client, kube_namespace)
                await connected.close()

    play(story(), 120)
