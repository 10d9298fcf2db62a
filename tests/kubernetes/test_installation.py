"""What `headgate operator manifests` prints, on a real API server, with webhooks that really answer."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import kube
from headgate.graph.compile import validate
from headgate.kernel import yaml_text
from headgate.operator import crds, manifests
from headgate.operator.installation import settings

from .answering import Answering, apply, installed, pod_clique_set

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "manifests"
GIVEN = settings.Settings("headgate:test")


def refused(plane: kube.ControlPlane, document: dict[str, Any]) -> list[str]:
    """The lines of the refusal."""
    done = plane.kubectl("apply", "-f", "-", input=yaml_text.write([document]))
    assert done.returncode != 0, done.stdout
    return done.stderr.splitlines()


def found(plane: kube.ControlPlane, *what: str) -> dict[str, Any]:
    done = plane.kubectl("get", *what, "-o", "json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.fixture
def guarded(private_control_plane: kube.ControlPlane) -> Iterator[kube.ControlPlane]:
    """A cluster with our kinds and webhooks."""
    with Answering(private_control_plane) as answering:
        installed(private_control_plane, answering)
        yield private_control_plane


def test_everything_is_taken_and_taken_again(private_control_plane: kube.ControlPlane) -> None:
    documents = manifests.documents(GIVEN)
    apply(private_control_plane, *documents)
    for _ in range(100):
        role = found(private_control_plane, "clusterrole", settings.NAME)
        if role.get("rules"):
            break
        time.sleep(0.05)
    resources = {resource for rule in role["rules"] for resource in rule["resources"]}
    assert {"pods", "podcliquesets/status", "events", "customresourcedefinitions"} <= resources
    apply(private_control_plane, *documents)


def may(
    plane: kube.ControlPlane,
    *what: str,
    who: str = f"system:serviceaccount:{GIVEN.namespace}:{settings.NAME}",
) -> bool:
    return plane.kubectl("auth", "can-i", *what, "--as", who).stdout.strip() == "yes"


def test_the_operator_may_do_its_work_and_no_more(private_control_plane: kube.ControlPlane) -> None:
    plane = private_control_plane
    apply(plane, *manifests.documents(GIVEN))
    for _ in range(100):
        if may(plane, "patch", "podcliquesets.grove.io", "--subresource=status"):
            break
        time.sleep(0.05)
    assert may(plane, "create", "pods")
    assert may(plane, "delete", "podgangs.scheduler.grove.io")
    assert may(plane, "get", f"secrets/{settings.WEBHOOK_SECRET}", "-n", GIVEN.namespace)
    assert may(plane, "update", f"leases.coordination.k8s.io/{settings.LEASE}", "-n", GIVEN.namespace)
    assert may(plane, "patch", f"validatingwebhookconfigurations/{settings.WEBHOOKS}")
    for what in (
        ("get", "secrets", "-n", GIVEN.namespace),
        ("get", f"secrets/{settings.WEBHOOK_SECRET}", "-n", "default"),
        ("create", "deployments.apps"),
        ("delete", "namespaces"),
        ("delete", "podcliquesets.grove.io"),
        ("patch", "validatingwebhookconfigurations/somebody-elses"),
        ("create", "clusterroles"),
    ):
        assert not may(plane, *what), what
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "graphs-of-ours", "labels": {settings.AGGREGATE: "true"}},
        "rules": [{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["create"]}],
    }
    apply(plane, role)
    for _ in range(100):
        if may(plane, "create", "deployments.apps"):
            return
        time.sleep(0.05)
    raise AssertionError("the label does not make a role the operator's")


def test_a_set_is_refused_with_every_field_and_stored_with_its_defaults(guarded: kube.ControlPlane) -> None:
    bad = pod_clique_set(replicas="three", updateStrategy={"type": "Sometimes", "maxSurge": 1})
    bad["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 9
    lines = refused(guarded, bad)
    assert lines[0].startswith('The PodCliqueSet "llm" is invalid')
    for field in (
        "spec.replicas:",
        "spec.updateStrategy.type:",
        "spec.updateStrategy.maxSurge:",
        "spec.template.cliques[0].spec.minAvailable:",
    ):
        assert any(line.startswith(f"* {field}") for line in lines), lines
    apply(guarded, pod_clique_set())
    stored = found(guarded, "pcs", "llm")
    assert stored["spec"]["template"]["terminationDelay"] == "4h"
    assert stored["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] == 2
    changed = pod_clique_set()
    changed["spec"]["template"]["cliques"][0]["spec"]["roleName"] = "other"
    assert any(
        "spec.template.cliques[0].spec.roleName: must not change" in line
        for line in refused(guarded, changed)
    )


def definition(*resources: dict[str, Any], kind: str = "App") -> dict[str, Any]:
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "ResourceGraphDefinition",
        "metadata": {"name": "app"},
        "spec": {
            "schema": {"apiVersion": "v1alpha1", "kind": kind, "spec": {"name": "string"}},
            "resources": list(resources),
        },
    }


def config_map(identifier: str, name: str = "a", **fields: Any) -> dict[str, Any]:
    template = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    return {"id": identifier, "template": template, **fields}


def test_a_definition_is_refused_with_every_field(guarded: kube.ControlPlane) -> None:
    lines = refused(guarded, definition(config_map("one", readyWhenn=[]), kind="app"))
    for field in ("spec.schema.kind:", "spec.resources[0].readyWhenn:"):
        assert any(line.startswith(f"* {field}") for line in lines), lines
    lines = refused(guarded, definition(config_map("One"), config_map("two", "${schema.spec.nam}")))
    for field in ("spec.resources[0].id:", "spec.resources[1].template.metadata.name:"):
        assert any(line.startswith(f"* {field}") for line in lines), lines
    endless = {
        "id": "again",
        "template": {"apiVersion": "kro.run/v1alpha1", "kind": "App", "metadata": {"name": "a"}},
    }
    assert "would never end" in refused(guarded, definition(endless))[0]
    ring = [config_map(each, f"${{{other}.metadata.name}}") for each, other in ("ab", "bc", "ca")]
    said = "\n".join(refused(guarded, definition(*ring)))
    assert "spec.resources" in said
    assert "resources wait for each other: a -> b -> c -> a" in said
    apply(guarded, definition(config_map("one")))


def test_a_set_does_not_get_the_names_of_another(guarded: kube.ControlPlane) -> None:
    first = pod_clique_set()
    first["spec"]["template"]["podCliqueScalingGroups"] = [{"name": "g", "cliqueNames": ["web"]}]
    apply(guarded, first)
    second = pod_clique_set()
    second["metadata"]["name"] = "llm-0-g"
    assert "PodCliqueSet llm" in refused(guarded, second)[0]


def test_a_definition_takes_nothing_over_and_does_not_leave_its_instances(guarded: kube.ControlPlane) -> None:
    graph = validate.compile_document(definition(config_map("one")))
    crd = {**graph.crd, "metadata": {"name": graph.crd["metadata"]["name"]}}
    apply(guarded, crd)
    assert "is not taken over" in refused(guarded, definition(config_map("one")))[0]
    apply(guarded, graph.crd)
    apply(guarded, definition(config_map("one")))
    guarded.kubectl("wait", "--for=condition=Established", f"crd/{graph.crd['metadata']['name']}")
    metadata = {"name": "first", "namespace": "default"}
    apply(
        guarded,
        {"apiVersion": "kro.run/v1alpha1", "kind": "App", "metadata": metadata, "spec": {"name": "a"}},
    )
    assert "has 1 instance of App" in guarded.kubectl("delete", "rgd", "app").stderr
    guarded.kubectl("annotate", "rgd", "app", "headgate.dev/deletion=cascade")
    assert guarded.kubectl("delete", "rgd", "app").returncode == 0


def test_sets_are_listed_with_how_far_they_are_and_scaled(guarded: kube.ControlPlane) -> None:
    apply(guarded, pod_clique_set())
    status = {
        "replicas": 1,
        "updatedReplicas": 0,
        "availableReplicas": 1,
        "hpaPodSelector": "app.kubernetes.io/part-of=llm",
        "memory": {"kept": True},
        "conditions": [
            {"type": "Progressing", "status": "True", "reason": "Updating", "message": "under way"}
        ],
    }
    patch = json.dumps({"status": status})
    assert (
        guarded.kubectl("patch", "pcs", "llm", "--subresource=status", "--type=merge", "-p", patch).returncode
        == 0
    )
    assert found(guarded, "pcs", "llm")["status"] == status
    header, line = guarded.kubectl("get", "pcs").stdout.splitlines()
    assert header.split() == ["NAME", "DESIRED", "UPDATED", "AVAILABLE", "REASON", "AGE"]
    assert line.split()[:5] == ["llm", "1", "0", "1", "Updating"]
    assert "under way" in guarded.kubectl("get", "pcs", "-o", "wide").stdout
    assert guarded.kubectl("scale", "pcs", "llm", "--replicas=3").returncode == 0
    assert found(guarded, "pcs", "llm")["spec"]["replicas"] == 3
    scale = json.loads(
        guarded.kubectl(
            "get", "--raw", "/apis/grove.io/v1alpha1/namespaces/default/podcliquesets/llm/scale"
        ).stdout
    )
    assert scale["status"] == {"replicas": 1, "selector": "app.kubernetes.io/part-of=llm"}
    clique = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodClique",
        "metadata": {"name": "llm-0-web", "namespace": "default"},
        "spec": {"roleName": "web", "replicas": 2, "minAvailable": 1, "podSpec": {"containers": []}},
    }
    apply(guarded, clique)
    assert guarded.kubectl("scale", "pclq", "llm-0-web", "--replicas=5").returncode == 0
    assert found(guarded, "pclq", "llm-0-web")["spec"]["replicas"] == 5


def applied_documents() -> list[dict[str, Any]]:
    documents = [
        document
        for file in sorted(SHARED.rglob("*.yaml"))
        if "assert" not in file.name and file.name != "chainsaw-test.yaml"
        for document in yaml.safe_load_all(file.read_text("utf-8"))
        if document
    ]
    known = {(kind.api_version, kind.kind) for kind in crds.ALL}
    return [document for document in documents if (document["apiVersion"], document["kind"]) in known]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared manifests are not here")
@pytest.mark.parametrize("way", ["--server-side", "--server-side=false"])
def test_manifests_from_elsewhere_are_taken_as_they_are(guarded: kube.ControlPlane, way: str) -> None:
    documents = applied_documents()
    assert len(documents) > 20
    for index, document in enumerate(documents):
        if document["kind"] == "PodCliqueSet":
            document["metadata"]["name"] = f"set-{index}"
    unique = {(document["kind"], document["metadata"]["name"]): document for document in documents}
    apply(guarded, *unique.values(), way=way)
