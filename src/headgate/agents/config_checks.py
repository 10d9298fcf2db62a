"""What is wrong with the config of an agent that works on clusters, before there is a job for it.

Values that hold expressions have no type yet; of everything else it is known by now whether a job could use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from headgate.agents.applied_objects import InstanceTemplate, SetTemplate
from headgate.agents.graph import GraphConfig
from headgate.agents.job_manifests import JobTemplate
from headgate.agents.kubernetes_job import KubernetesConfig
from headgate.agents.kubernetes_node import KubernetesNodeConfig
from headgate.agents.workload import WorkloadConfig
from headgate.fleet.model.careful_texts import has_expression
from headgate.kernel import documents
from headgate.kernel.documents import field_path
from headgate.kernel.problems import Problem

CONFIGS: Mapping[str, type[msgspec.Struct]] = {
    "kubernetes": KubernetesConfig,
    "kubernetes-node": KubernetesNodeConfig,
    "graph": GraphConfig,
    "workload": WorkloadConfig,
}
_TEMPLATES: Mapping[str, tuple[str, type[msgspec.Struct]]] = {
    "kubernetes": ("jobTemplate", JobTemplate),
    "graph": ("instanceTemplate", InstanceTemplate),
    "workload": ("setTemplate", SetTemplate),
}


def problems_of(
    agent_type: str, config: Mapping[str, object], overridable: Sequence[str], path: str
) -> list[Problem]:
    """`overridable` are the fields that deployments and versions may fill, which so need not be there."""
    kind = CONFIGS.get(agent_type)
    problems: list[Problem] = []
    if kind is None:
        return problems
    fields = documents.fields_of(kind)
    documents.refuse_unknown_keys(config, tuple(fields), path, problems)
    types = msgspec.structs.fields(kind)
    for field in types:
        name, place = field.encode_name, field_path(path, field.encode_name)
        if name not in config:
            if field.required and name not in overridable:
                problems.append(Problem(place, "is required"))
        elif not has_expression(config[name]):
            documents.read_into(field.type, config[name], place, problems)
    name, template = _TEMPLATES.get(agent_type, ("", None))
    if template is not None and isinstance(config.get(name), Mapping):
        documents.read_into(template, config[name], field_path(path, name), problems)
    return problems
