"""The Job that a template becomes for one job: with its name, what it is for, and what its containers are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.agents import job_marks
from headgate.agents.port import Assignment
from headgate.kernel import documents
from headgate.kernel.documents import field_path, item_path
from headgate.kernel.problems import Problem, Rejected
from headgate.kubernetes.resources import Document

_PATH = "config.jobTemplate"
_CONTAINERS = ("initContainers", "containers")


class JobMetadata(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The name is not to be chosen: it is made of the job's id."""

    namespace: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class PodTemplate(msgspec.Struct, frozen=True):
    spec: dict[str, Any]
    metadata: dict[str, Any] = {}


class JobTemplate(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    spec: dict[str, Any]
    metadata: JobMetadata = JobMetadata()
    api_version: str = "batch/v1"
    kind: str = "Job"


def namespace_of(template: Mapping[str, Any]) -> str:
    return documents.read(JobTemplate, template, _PATH).metadata.namespace


def manifest(
    template: Mapping[str, Any],
    assignment: Assignment,
    *,
    name: str,
    namespace: str,
    parameters: Mapping[str, object],
    ttl_seconds: int,
) -> Document:
    """Raises Rejected. A pod that fails is not replaced unless the template says so: retries are the policy's."""
    given = documents.read(JobTemplate, template, _PATH)
    _check_kind(given)
    pods = documents.read(PodTemplate, given.spec.get("template"), f"{_PATH}.spec.template")
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {**given.metadata.labels, "app.kubernetes.io/managed-by": "headgate"},
            "annotations": {**given.metadata.annotations, **job_marks.of(assignment)},
        },
        "spec": {
            "backoffLimit": 0,
            **given.spec,
            "ttlSecondsAfterFinished": ttl_seconds,
            "template": {
                **given.spec["template"],
                "spec": {"restartPolicy": "Never", **_with_variables(pods.spec, assignment, parameters)},
            },
        },
    }


def _check_kind(given: JobTemplate) -> None:
    if (given.api_version, given.kind) != ("batch/v1", "Job"):
        message = f'is "{given.kind}" of "{given.api_version}"; allowed is Job of batch/v1'
        raise Rejected((Problem(f"{_PATH}.kind", message),))


def _with_variables(
    pod: Mapping[str, Any], assignment: Assignment, parameters: Mapping[str, object]
) -> dict[str, Any]:
    """What every container is told, if its own variables do not say otherwise."""
    facts = assignment.job
    variables = {
        "HEADGATE_JOB_ID": facts.id,
        "HEADGATE_WORKSPACE": assignment.workspace,
        "HEADGATE_DEPLOYMENT": facts.deployment,
        "HEADGATE_ENVIRONMENT": facts.environment,
        "HEADGATE_RESOURCE": facts.resource,
        "HEADGATE_VERSION": facts.version,
        "HEADGATE_PARAMETERS": msgspec.json.encode(parameters).decode(),
    }
    # Kubelets read `$(NAME)` in a variable as a reference to another one.
    given = [{"name": name, "value": value.replace("$", "$$")} for name, value in variables.items()]
    result = dict(pod)
    for kind in _CONTAINERS:
        if kind in pod:
            path = field_path(f"{_PATH}.spec.template.spec", kind)
            result[kind] = [
                _in_environment(container, given, item_path(path, index))
                for index, container in enumerate(pod[kind] if isinstance(pod[kind], list) else [pod[kind]])
            ]
    return result


def _in_environment(container: object, variables: list[dict[str, str]], path: str) -> dict[str, Any]:
    if not isinstance(container, dict) or not isinstance(container.get("env", []), list):
        raise Rejected((Problem(path, "must be a container, with a list as its env if it has one"),))
    own = container.get("env", [])
    names = {one.get("name") for one in own if isinstance(one, dict)}
    return {**container, "env": [*(one for one in variables if one["name"] not in names), *own]}
