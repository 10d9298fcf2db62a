"""Sets and graphs of a connected cluster, as a person who acts on them sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from service.server import Server

from .cluster import Cluster, kubeconfig, running
from .steps import because, confirm, log_in, told

pytestmark = pytest.mark.slow


def metadata(name: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "uid": f"uid-{name}",
        "resourceVersion": "7",
        "generation": 1,
        "creationTimestamp": "2026-03-01T08:00:00Z",
        **more,
    }


def pod_set(name: str) -> dict[str, Any]:
    condition = {"type": "Progressing", "status": "True", "reason": "Updating", "message": "under way"}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": metadata(name, namespace="inference"),
        "spec": {"replicas": 2, "template": {"cliques": [{"name": "decode", "spec": {"replicas": 1}}]}},
        "status": {"observedGeneration": 1, "updatedReplicas": 1, "conditions": [condition]},
    }


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def definition() -> dict[str, Any]:
    """A shop has its settings, and in each zone a stall that is opened by them."""
    fields = {"zones": '[]string | default=["east", "west"]', "version": "string"}
    settings = {"id": "settings", "template": config_map("settings", version="${schema.spec.version}")}
    stalls = {
        "id": "stalls",
        "forEach": [{"zone": "${schema.spec.zones}"}],
        "propagateWhen": ["${settings.data.version != ''}"],
        "template": config_map("stall-${zone}", version="${settings.data.version}"),
    }
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "ResourceGraphDefinition",
        "metadata": metadata("shop"),
        "spec": {
            "schema": {"apiVersion": "v1", "group": "example.com", "kind": "Shop", "spec": fields},
            "resources": [settings, stalls],
        },
        "status": {
            "topologicalOrder": ["settings", "stalls"],
            "resources": [{"id": "stalls", "dependencies": [{"id": "settings"}]}],
        },
    }


def instance(name: str) -> dict[str, Any]:
    marks = {"kro.run/owned": "true", "kro.run/resource-graph-definition-name": "shop"}
    return {
        "apiVersion": "example.com/v1",
        "kind": "Shop",
        "metadata": metadata(
            name,
            namespace="default",
            labels={**marks, "kro.run/resource-graph-definition-id": "uid-shop"},
            annotations={"headgate.dev/started-on": "1"},
            finalizers=["kro.run/finalizer"],
        ),
        "spec": {"version": "v1", "zones": ["east", "west"]},
    }


@pytest.fixture(scope="module")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Cluster]]:
    folder = tmp_path_factory.mktemp("clusters")
    with running() as cluster:
        cluster.objects["podcliquesets"] = [pod_set("web")]
        cluster.objects["resourcegraphdefinitions"] = [definition()]
        cluster.objects["shops"] = [instance("corner"), instance("market")]
        file = folder / "kubeconfig"
        file.write_text(kubeconfig(cluster))
        environment = {"KUBECONFIG": str(file)}
        server = Server(folder, "--allow-cluster", "east", environment=environment)
        server.start()
        template = {"metadata": {"name": "web"}, "spec": {"template": {"cliques": []}}}
        body = {"type": "workload", "config": {"kubeContext": "east", "setTemplate": template}}
        server.admin().expect(201, "PUT", "/v1/job-agents/inference", body)
        shop = {"apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "corner"}}
        body = {"type": "graph", "config": {"kubeContext": "east", "instanceTemplate": shop}}
        server.admin().expect(201, "PUT", "/v1/job-agents/shops", body)
        yield server, cluster
        server.stop()


def order(page: Page, button: str, reason: str) -> None:
    page.get_by_role("button", name=button, exact=True).click()
    because(page, reason)


def test_a_set_is_paused_resumed_partitioned_and_aborted(
    page: Page, connected: tuple[Server, Cluster]
) -> None:
    """What the cluster was told is seen once the cluster says so: nobody asks again."""
    server, cluster = connected
    log_in(page, server.address, server.token)
    page.get_by_role("link", name="Workloads").click()
    row = page.get_by_role("row", name="inference/web")
    expect(row).to_contain_text("1 of 2 updated")
    expect(row).to_contain_text("updating")
    row.get_by_role("link", name="inference/web").click()
    expect(page.get_by_role("heading", name="web in inference of east")).to_be_visible()
    expect(page.get_by_role("region", name="Replicas, groups and pods")).to_contain_text("PodCliqueSet web")
    order(page, "Pause", "an incident")
    confirm(page, "Pause")
    order(page, "Resume", "it is over")
    confirm(page, "Resume")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    page.get_by_role("button", name="Partition").click()
    page.get_by_role("dialog").get_by_label("First replica to update").fill("1")
    because(page, "one first")
    confirm(page, "Partition")
    expect(page.get_by_text("partition 1")).to_be_visible()
    order(page, "Abort", "it does not help")
    expect(page.get_by_role("dialog").get_by_role("button", name="Abort")).to_be_disabled()
    page.get_by_role("dialog").get_by_label("Type web to go on").fill("web")
    confirm(page, "Abort")
    told(page, "Abort of web: ordered")
    assert len(cluster.patches) == 4
    kept = [entry["after"] for entry in server.admin().get("/v1/audit", kind="workload")["items"]]
    assert [(one["action"], one["reason"]) for one in reversed(kept)] == [
        ("pause", "an incident"),
        ("resume", "it is over"),
        ("partition", "one first"),
        ("abort", "it does not help"),
    ]


def test_pages_follow_the_cluster_by_themselves(page: Page, connected: tuple[Server, Cluster]) -> None:
    server, cluster = connected
    log_in(page, server.address, server.token)
    page.get_by_role("link", name="Workloads").click()
    expect(page.get_by_role("row", name="inference/web")).to_be_visible()
    cluster.objects["podcliquesets"] = [*cluster.objects["podcliquesets"], pod_set("late")]
    row = page.get_by_role("row", name="inference/late")
    row.get_by_role("link", name="inference/late").click()
    replicas = page.locator("dl > div", has_text="replicas")
    expect(replicas).to_contain_text("1 of 2 updated")
    cluster.objects["podcliquesets"][-1]["status"]["updatedReplicas"] = 2
    expect(replicas).to_contain_text("2 of 2 updated")
    cluster.objects["podcliquesets"].pop()
    expect(page.get_by_role("alert")).to_be_visible()


def test_a_definition_is_drawn_with_its_nodes_and_instances(
    page: Page, connected: tuple[Server, Cluster]
) -> None:
    server, _ = connected
    log_in(page, server.address, server.token)
    page.get_by_role("link", name="Graphs").click()
    page.get_by_role("row", name="definition of Shop").get_by_role("link", name="shop").click()
    expect(page.get_by_role("heading", name="shop definition of Shop in east")).to_be_visible()
    nodes = page.locator(".react-flow__node")
    expect(nodes).to_have_count(2)
    expect(page.locator(".react-flow__edge")).to_have_count(1)
    expect(nodes.filter(has_text="stalls")).to_contain_text("settings.data.version")
    page.get_by_text("As a table").click()
    table = page.get_by_role("region", name="Table of nodes")
    expect(table.get_by_role("row", name="stalls")).to_contain_text("collection")
    expect(table.get_by_role("row", name="stalls")).to_contain_text("passes on when")
    instances = page.get_by_role("region", name="Instances, in the order of their waves")
    expect(instances.get_by_role("listitem")).to_have_count(2)
    instances.get_by_role("link", name="default/corner").click()
    expect(page.get_by_role("heading", name="corner Shop in east")).to_be_visible()
    expect(nodes.filter(has_text="stalls")).to_contain_text("waits for settings to be ready")
    expect(page.get_by_role("region", name="What waits, and for what")).to_contain_text("not ready yet")


def test_a_graph_is_paused_and_goes_on(page: Page, connected: tuple[Server, Cluster]) -> None:
    server, _ = connected
    log_in(page, server.address, server.token)
    page.get_by_role("link", name="Graphs").click()
    page.get_by_role("link", name="default/market").click()
    order(page, "Pause", "stocktaking")
    confirm(page, "Pause")
    expect(page.locator(".answer")).to_contain_text("paused")
    order(page, "Resume", "open again")
    confirm(page, "Resume")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect(page.locator(".answer .badge")).to_have_count(0)
