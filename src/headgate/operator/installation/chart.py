"""The Helm chart: the same documents as `headgate operator manifests`, with the chart's values in their places."""

from __future__ import annotations

import re
from typing import Any

from headgate.kernel import yaml_text
from headgate.operator import crds
from headgate.operator.installation import deployment, roles, service, webhooks
from headgate.operator.installation.service import ServiceSettings
from headgate.operator.installation.settings import Settings

Document = dict[str, Any]
_NUMBER = re.compile(r"^(\s*replicas: )'(\{\{ [^'{}]+ \}\})'$", re.MULTILINE)
"""A value that has to stay a number when the chart is rendered: without quotes."""
_NAMESPACE = "{{ .Release.Namespace }}"
_IMAGE = "{{ .Values.image }}"


def files(version: str) -> dict[str, str]:
    """By their paths in the folder of the chart."""
    return {
        "Chart.yaml": yaml_text.write([_chart(version)]),
        "values.yaml": yaml_text.write([_values(version)]),
        "templates/crds.yaml": _if(".Values.operator.enabled", _written(_kept(crds.documents()))),
        "templates/operator.yaml": _if(".Values.operator.enabled", _written(_operator())),
        "templates/service.yaml": _if(".Values.service.enabled", _service()),
    }


def _chart(version: str) -> Document:
    return {
        "apiVersion": "v2",
        "name": "headgate",
        "description": "A rollout control plane: the service, and the operator for graphs and workloads.",
        "type": "application",
        "version": version,
        "appVersion": version,
    }


def _values(version: str) -> Document:
    return {
        "image": f"headgate:{version}",
        "operator": {"enabled": True, "replicas": 2},
        "service": {
            "enabled": True,
            "replicas": 2,
            "storage": "10Gi",
            "database": {"secret": "", "key": "url"},
        },
    }


def _operator() -> list[Document]:
    given = Settings(_IMAGE, _NAMESPACE, "{{ .Values.operator.replicas }}")
    return [*roles.documents(given), *deployment.documents(given), *webhooks.documents(given)]


def _service() -> str:
    given = ServiceSettings(
        image=_IMAGE,
        namespace=_NAMESPACE,
        replicas="{{ .Values.service.replicas }}",
        storage="{{ .Values.service.storage }}",
        database_secret="{{ .Values.service.database.secret }}",
        database_key="{{ .Values.service.database.key }}",
    )
    return (
        _written([service.service(given)])
        + "---\n{{- if .Values.service.database.secret }}\n"
        + _written([service.with_postgresql(given)])
        + "{{- else }}\n"
        + _written([service.with_sqlite(given)])
        + "{{- end }}\n"
    )


def _kept(documents: list[Document]) -> list[Document]:
    """With a definition all objects of its kind would go: removing a release must not do that."""
    for document in documents:
        document["metadata"]["annotations"] = {"helm.sh/resource-policy": "keep"}
    return documents


def _written(documents: list[Document]) -> str:
    return _NUMBER.sub(r"\1\2", yaml_text.write(documents))


def _if(condition: str, text: str) -> str:
    return f"{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n"
