"""Names and ports that the manifests and the running operator have to agree on."""

from __future__ import annotations

import msgspec

NAME = "headgate-operator"
NAMESPACE = "headgate"
WEBHOOK_SERVICE = "headgate-webhook"
WEBHOOK_SECRET = "headgate-webhook-certificates"
WEBHOOKS = "headgate.dev"
"""Of both configurations of webhooks."""
SIGNALS = "headgate-signals"
"""The ConfigMap with what gates of graphs read as `signals`."""
LEASE = NAME
WEBHOOK_PORT = 9443
HEALTH_PORT = 8081
"""Answers /healthz, /readyz and /metrics, without TLS."""
USER = 65532
AGGREGATE = "headgate.dev/aggregate-to-operator"
"""The label of ClusterRoles that are the operator's too: what the objects in graphs need."""
SELECTOR = {"app.kubernetes.io/name": NAME}
LABELS = {**SELECTOR, "app.kubernetes.io/part-of": "headgate"}


class Settings(msgspec.Struct, frozen=True):
    """What differs between installations. In a chart texts stand for values that are not known yet."""

    image: str
    namespace: str = NAMESPACE
    replicas: int | str = 2


def webhook_names(namespace: str) -> tuple[str, ...]:
    """What an API server may call the webhooks' server by."""
    service = f"{WEBHOOK_SERVICE}.{namespace}"
    return (f"{service}.svc", f"{service}.svc.cluster.local", service, WEBHOOK_SERVICE)
