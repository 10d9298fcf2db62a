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


_VALUES = """\
# Of the operator and of the service.
image: headgate:{version}

operator:
  # Installs the operator and its kinds.
  enabled: true
  # How many of it; one leads, all of them answer webhooks.
  replicas: 2

service:
  # Installs the service, at headgate:4380 in its namespace.
  enabled: true
  # The volume for SQLite: one process.
  storage: 10Gi
  database:
    # A Secret with the address of PostgreSQL, and its key there; then there is no volume.
    secret: ''
    key: url
  # How many processes, with PostgreSQL.
  replicas: 2
  cluster:
    # Lets job agents use the cluster that the service runs in: Jobs in its namespace, drains of all nodes.
    enabled: false
    # Its nodes become resources: in-cluster, or in-cluster=NAME with what the cluster is called.
    discover: ''
"""


def files(version: str) -> dict[str, str]:
    """By their paths in the folder of the chart."""
    return {
        "Chart.yaml": yaml_text.write([_chart(version)]),
        "values.yaml": _VALUES.format(version=version),
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


def _operator() -> list[Document]:
    given = Settings(_IMAGE, _NAMESPACE, "{{ .Values.operator.replicas }}")
    return [*roles.documents(given), *deployment.documents(given), *webhooks.documents(given)]


def _service() -> str:
    return (
        "{{- if .Values.service.cluster.enabled }}\n"
        + _service_with(_service_settings(reaches_cluster=True))
        + "{{- else }}\n"
        + _service_with(_service_settings(reaches_cluster=False))
        + "{{- end }}\n"
    )


def _service_settings(*, reaches_cluster: bool) -> ServiceSettings:
    return ServiceSettings(
        image=_IMAGE,
        namespace=_NAMESPACE,
        replicas="{{ .Values.service.replicas }}",
        storage="{{ .Values.service.storage }}",
        database_secret="{{ .Values.service.database.secret }}",
        database_key="{{ .Values.service.database.key }}",
        reaches_cluster=reaches_cluster,
        discovered="{{ .Values.service.cluster.discover }}",
    )


def _service_with(given: ServiceSettings) -> str:
    allowed = service.permissions(given) if given.reaches_cluster else []
    return (
        _written([*allowed, service.service(given)])
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
