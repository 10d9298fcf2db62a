"""What is wrong with the config of an agent that a server runs, before there is a job for it.

Values that hold expressions have no type yet; of everything else it is known by now whether a job could use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from headgate.agents.applied_objects import InstanceTemplate, SetTemplate
from headgate.agents.argocd import ArgocdConfig
from headgate.agents.exec import ExecConfig
from headgate.agents.github import GithubConfig
from headgate.agents.graph import GraphConfig
from headgate.agents.http import HttpConfig
from headgate.agents.job_manifests import JobTemplate
from headgate.agents.kubernetes_job import KubernetesConfig
from headgate.agents.kubernetes_node import KubernetesNodeConfig
from headgate.agents.workload import WorkloadConfig
from headgate.fleet.model import agent_configs, agent_fields
from headgate.fleet.model.careful_texts import has_expression
from headgate.kernel import documents
from headgate.kernel.documents import field_path
from headgate.kernel.problems import Problem, Rejected

CONFIGS: Mapping[str, type[msgspec.Struct]] = {
    "exec": ExecConfig,
    "http": HttpConfig,
    "github": GithubConfig,
    "argocd": ArgocdConfig,
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
    agent_type: str, config: Mapping[str, object], overridable: Sequence[str] | None, path: str
) -> list[Problem]:
    """`overridable` are the fields that deployments and versions may fill, which so need not be there; None: those that
    they may fill of every agent of the type."""
    kind = CONFIGS.get(agent_type)
    problems: list[Problem] = []
    if kind is None:
        return problems
    opened = agent_fields.open_fields(agent_type, None) if overridable is None else overridable
    config = agent_configs.merge(config)
    documents.refuse_unknown_keys(config, tuple(documents.fields_of(kind)), path, problems)
    for field in msgspec.structs.fields(kind):
        name, place = field.encode_name, field_path(path, field.encode_name)
        if name not in config:
            if field.required and name not in opened:
                problems.append(Problem(place, "is required"))
        elif not has_expression(config[name]):
            _check_value(agent_type, field, config[name], place, problems)
    name, template = _TEMPLATES.get(agent_type, ("", None))
    if template is not None and isinstance(config.get(name), Mapping):
        documents.read_into(template, config[name], field_path(path, name), problems)
    return problems


def _check_value(
    agent_type: str, field: msgspec.structs.FieldInfo, value: object, place: str, problems: list[Problem]
) -> None:
    """As a job is given it: texts that stand in expressions for the sake of their characters are texts by then."""
    name = field.encode_name
    try:
        given = agent_configs.resolve(agent_type, {name: value}, {})[name]
    except Rejected:  # whoever checks expressions says so
        return
    documents.read_into(field.type, given, place, problems)
