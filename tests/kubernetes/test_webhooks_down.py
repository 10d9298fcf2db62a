"""Webhooks that nobody answers for: our kinds are not taken without them, and nothing else waits for them."""

from __future__ import annotations

import kube
from headgate.kernel import yaml_text
from headgate.kubernetes.resources import PODS, Document

from . import operating
from .answering import Answering, apply, installed
from .operating import clique, pod_set
from .support import config_map, play, until


def test_our_kinds_are_refused_others_are_not_and_the_operator_goes_on(kube_session: kube.Session) -> None:
    with kube_session.private(2) as plane, kube.fresh_namespace(plane) as namespace:
        with Answering(plane) as answering:
            installed(plane, answering)
            apply(plane, _set(namespace, 1))

        lines = _refused(plane, _set(namespace, 2))
        assert "failed calling webhook" in lines
        assert "podcliquesets" in lines
        graph = {
            "apiVersion": "kro.run/v1alpha1",
            "kind": "ResourceGraphDefinition",
            "metadata": {"name": "app"},
            "spec": {"schema": {"apiVersion": "v1alpha1", "kind": "App"}, "resources": []},
        }
        lines = _refused(plane, graph)
        assert "failed calling webhook" in lines
        assert "resourcegraphdefinitions" in lines
        apply(plane, config_map("free", namespace, x="1"))

        async def story() -> None:
            async with plane.client() as client, operating.operating(plane, namespace):
                await until(lambda: operating.is_updated(client, "web", namespace), 60)
                first = await operating.pods_of(client, "web", namespace)
                lost = first[0]["metadata"]
                await client.delete(PODS, lost["name"], namespace)

                async def is_back() -> bool:
                    pods = await operating.pods_of(client, "web", namespace)
                    return len(pods) == 2 and all(pod["metadata"]["uid"] != lost["uid"] for pod in pods)

                await until(is_back, 60)
                await until(lambda: operating.is_updated(client, "web", namespace), 60)

        play(story(), 120)


def _set(namespace: str, replicas: int) -> Document:
    return pod_set("web", namespace, replicas, [clique("main", 2, "v1")])


def _refused(plane: kube.ControlPlane, document: Document) -> str:
    done = plane.kubectl("apply", "-f", "-", input=yaml_text.write([document]))
    assert done.returncode != 0, done.stdout
    return done.stderr
