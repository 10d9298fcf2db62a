"""The operator's Deployment, and how it is reached."""

from __future__ import annotations

from typing import Any

from headgate.operator.installation import settings
from headgate.operator.installation.settings import Settings

Document = dict[str, Any]


def documents(given: Settings) -> list[Document]:
    return [_service(given), _network_policy(given), _disruption_budget(given), _deployment(given)]


def namespace(given: Settings) -> Document:
    labels = {**settings.LABELS, "pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": given.namespace, "labels": labels}}


def _metadata(name: str, given: Settings) -> Document:
    return {"name": name, "namespace": given.namespace, "labels": dict(settings.LABELS)}


def _service(given: Settings) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(settings.WEBHOOK_SERVICE, given),
        "spec": {
            "selector": dict(settings.SELECTOR),
            "ports": [{"name": "webhook", "port": 443, "targetPort": "webhook", "protocol": "TCP"}],
        },
    }


def _network_policy(given: Settings) -> Document:
    """What comes in is for the webhooks or asks how it is. From where cannot be said: API servers and kubelets call from
    outside of every namespace. Nothing is said of what goes out, which is to the API server alone."""
    ports = [{"port": name, "protocol": "TCP"} for name in ("webhook", "health")]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": _metadata(settings.NAME, given),
        "spec": {
            "podSelector": {"matchLabels": dict(settings.SELECTOR)},
            "policyTypes": ["Ingress"],
            "ingress": [{"ports": ports}],
        },
    }


def _disruption_budget(given: Settings) -> Document:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": _metadata(settings.NAME, given),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": dict(settings.SELECTOR)}},
    }


def _deployment(given: Settings) -> Document:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _metadata(settings.NAME, given),
        "spec": {
            "replicas": given.replicas,
            "selector": {"matchLabels": dict(settings.SELECTOR)},
            "template": {"metadata": {"labels": dict(settings.LABELS)}, "spec": _pod(given)},
        },
    }


def _pod(given: Settings) -> Document:
    return {
        "serviceAccountName": settings.NAME,
        "securityContext": pod_security(),
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": dict(settings.SELECTOR)},
            }
        ],
        "containers": [_container(given)],
        "volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}}],
    }


def _container(given: Settings) -> Document:
    return {
        "name": "operator",
        "image": given.image,
        "args": ["operator", "run", "--webhook-port", str(settings.WEBHOOK_PORT)],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        ],
        "ports": [
            {"name": "webhook", "containerPort": settings.WEBHOOK_PORT, "protocol": "TCP"},
            {"name": "health", "containerPort": settings.HEALTH_PORT, "protocol": "TCP"},
        ],
        **probes("health"),
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        "securityContext": container_security(),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }


def probes(port: str) -> Document:
    return {
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": port},
            "initialDelaySeconds": 10,
            "periodSeconds": 20,
            "timeoutSeconds": 5,
        },
        "readinessProbe": {
            "httpGet": {"path": "/readyz", "port": port},
            "periodSeconds": 5,
            "timeoutSeconds": 5,
        },
    }


def pod_security() -> Document:
    return {
        "runAsNonRoot": True,
        "runAsUser": settings.USER,
        "runAsGroup": settings.USER,
        "fsGroup": settings.USER,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container_security() -> Document:
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
