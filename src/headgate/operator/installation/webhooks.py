"""The configurations of the webhooks, for our kinds alone. Who signs is written into them by the running operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.operator.crds import graphs, workloads
from headgate.operator.crds.kinds import CustomKind
from headgate.operator.installation import settings
from headgate.operator.installation.settings import Settings

Document = dict[str, Any]
_TIMEOUT_SECONDS = 10
_JUDGED: tuple[tuple[CustomKind, tuple[str, ...]], ...] = (
    (workloads.SET, ()),
    (graphs.DEFINITION, ("DELETE",)),
)
"""With what else than creations and updates is judged."""


def documents(given: Settings) -> list[Document]:
    service = {"namespace": given.namespace, "name": settings.WEBHOOK_SERVICE}

    def client(path: str) -> Document:
        return {"service": {**service, "path": path, "port": 443}}

    return configurations(client("/default"), client("/validate"))


def configurations(default: Document, validate: Document) -> list[Document]:
    """By where each stage is served: the `clientConfig` of its webhooks."""
    return [
        _configuration(
            "MutatingWebhookConfiguration",
            [
                {**_webhook("default", kind, ("CREATE", "UPDATE"), default), "reinvocationPolicy": "IfNeeded"}
                for kind, _ in _JUDGED
            ],
        ),
        _configuration(
            "ValidatingWebhookConfiguration",
            [_webhook("validate", kind, ("CREATE", "UPDATE", *more), validate) for kind, more in _JUDGED],
        ),
    ]


def _configuration(kind: str, webhooks: Sequence[Document]) -> Document:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": settings.WEBHOOKS, "labels": dict(settings.LABELS)},
        "webhooks": list(webhooks),
    }


def _webhook(stage: str, kind: CustomKind, operations: tuple[str, ...], client: Document) -> Document:
    return {
        "name": f"{stage}.{kind.plural}.{settings.WEBHOOKS}",
        "admissionReviewVersions": ["v1"],
        "clientConfig": client,
        "rules": [
            {
                "apiGroups": [kind.group],
                "apiVersions": [kind.api_version.partition("/")[2]],
                "operations": list(operations),
                "resources": [kind.plural],
                "scope": "Namespaced" if kind.is_namespaced else "Cluster",
            }
        ],
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": _TIMEOUT_SECONDS,
    }


def trusting(configuration: Mapping[str, Any], ca_bundle: str) -> Document | None:
    """The configuration as the running operator writes it: with who signs its certificates. None if it is that
    already."""
    given = configuration.get("webhooks") or ()
    named = [
        {**each, "clientConfig": {**each.get("clientConfig", {}), "caBundle": ca_bundle}} for each in given
    ]
    return None if named == list(given) else {**configuration, "webhooks": named}
