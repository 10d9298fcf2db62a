"""The service on a cluster: one process with SQLite on a volume, or several with PostgreSQL."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.operator.installation import agents, deployment

Document = dict[str, Any]
NAME = "headgate"
PORT = 4380
_SELECTOR = {"app.kubernetes.io/name": NAME}
_LABELS = {**_SELECTOR, "app.kubernetes.io/part-of": "headgate"}
_DATA = "/data"


class ServiceSettings(msgspec.Struct, frozen=True):
    image: str
    namespace: str
    replicas: int | str
    """With PostgreSQL; SQLite has one writer."""
    storage: str
    """The size of the volume for SQLite."""
    database_secret: str
    """Where the address of PostgreSQL is, and under which key."""
    database_key: str
    reaches_cluster: bool = False
    """Whether its job agents may use the cluster that it runs in."""
    discovered: str = ""
    """As `--discover` takes it: that cluster, if its nodes are to become resources."""


def service(given: ServiceSettings) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(given),
        "spec": {
            "selector": dict(_SELECTOR),
            "ports": [{"name": "http", "port": PORT, "targetPort": "http", "protocol": "TCP"}],
        },
    }


def with_sqlite(given: ServiceSettings) -> Document:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": given.storage}}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": _metadata(given),
        "spec": {
            "replicas": 1,
            "serviceName": NAME,
            "selector": {"matchLabels": dict(_SELECTOR)},
            "template": _template(given, [], []),
            "volumeClaimTemplates": [claim],
        },
    }


def with_postgresql(given: ServiceSettings) -> Document:
    address = {
        "name": "HEADGATE_DATABASE",
        "valueFrom": {"secretKeyRef": {"name": given.database_secret, "key": given.database_key}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(given),
        "spec": {
            "replicas": given.replicas,
            "selector": {"matchLabels": dict(_SELECTOR)},
            "template": _template(given, [address], [{"name": "data", "emptyDir": {}}]),
        },
    }


def permissions(given: ServiceSettings) -> list[Document]:
    return agents.documents(NAME, given.namespace, _LABELS)


def _metadata(given: ServiceSettings) -> Document:
    return {"name": NAME, "namespace": given.namespace, "labels": dict(_LABELS)}


def _template(given: ServiceSettings, environment: list[Document], volumes: list[Document]) -> Document:
    if given.reaches_cluster:
        environment = [*environment, {"name": "HEADGATE_ALLOW_CLUSTER", "value": "in-cluster"}]
        environment.append({"name": "HEADGATE_DISCOVER", "value": given.discovered})
    container: Document = {
        "name": "headgate",
        "image": given.image,
        "args": ["up", "--host", "0.0.0.0", "--port", str(PORT), "--data", _DATA],
        "env": environment,
        "ports": [{"name": "http", "containerPort": PORT, "protocol": "TCP"}],
        **deployment.probes("http"),
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "2Gi"}},
        "securityContext": deployment.container_security(),
        "volumeMounts": [{"name": "data", "mountPath": _DATA}, {"name": "tmp", "mountPath": "/tmp"}],
    }
    return {
        "metadata": {"labels": dict(_LABELS)},
        "spec": {
            **({"serviceAccountName": NAME} if given.reaches_cluster else {}),
            "automountServiceAccountToken": given.reaches_cluster,
            "securityContext": deployment.pod_security(),
            "containers": [container],
            "volumes": [*volumes, {"name": "tmp", "emptyDir": {}}],
        },
    }
