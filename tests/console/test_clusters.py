"""Sets and graphs of a connected cluster, as a person who acts on them sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from service.server import Server

from .cluster import Cluster, kubeconfig, running
from .steps import confirm, log_in

pytestmark = pytest.mark.slow


def pod_set(name: str) -> dict[str, Any]:
    condition = {"type": "Progressing", "status": "True", "reason": "Updating", "message": "under way"}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {
            "name": name,
            "namespace": "inference",
            "uid": f"uid-{name}",
            "resourceVersion": "7",
            "generation": 2,
            "creationTimestamp": "2026-03-01T08:00:00Z",
        },
        "spec": {"replicas": 2, "template": {"cliques": [{"name": "decode", "spec": {"replicas": 1}}]}},
        "status": {"observedGeneration": 2, "updatedReplicas": 1, "conditions": [condition]},
    }


@pytest.fixture(scope="module")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Cluster]]:
    folder = tmp_path_factory.mktemp("clusters")
    with running() as cluster:
        cluster.objects["podcliquesets"] = [pod_set("web")]
        file = folder / "kubeconfig"
        file.write_text(kubeconfig(cluster))
        environment = {"KUBECONFIG": str(file)}
        server = Server(folder, "--allow-cluster", "east", environment=environment)
        server.start()
        template = {"metadata": {"name": "web"}, "spec": {"template": {"cliques": []}}}
        body = {"type": "workload", "config": {"kubeContext": "east", "setTemplate": template}}
        server.admin().expect(201, "PUT", "/v1/job-agents/inference", body)
        yield server, cluster
        server.stop()


def test_a_set_is_paused_partitioned_and_aborted(page: Page, connected: tuple[Server, Cluster]) -> None:
    server, cluster = connected
    log_in(page, server.address, server.token)
    page.get_by_role("link", name="Workloads").click()
    row = page.get_by_role("row", name="inference/web")
    expect(row).to_contain_text("1 of 2 updated")
    expect(row).to_contain_text("updating")
    row.get_by_role("link", name="inference/web").click()
    expect(page.get_by_role("heading", name="web in inference of east")).to_be_visible()
    expect(page.get_by_role("region", name="Replicas, groups and pods")).to_contain_text("PodCliqueSet web")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("an incident")
    confirm(page, "Pause")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="Partition").click()
    page.get_by_role("dialog").get_by_label("First replica to update").fill("1")
    page.get_by_role("dialog").get_by_label("Reason").fill("one first")
    confirm(page, "Partition")
    expect(page.get_by_text("partition 1")).to_be_visible()
    assert len(cluster.patches) == 2
    assert server.admin().get("/v1/audit")["items"][0]["user"] == "admin"
