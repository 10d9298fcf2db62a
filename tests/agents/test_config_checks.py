"""Configs of agents are judged before there is a job: every wrong field by its name."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from headgate import validation
from headgate.agents import config_checks
from headgate.agents.addresses import Addresses
from headgate.agents.web import Web
from headgate.cli import serving
from headgate.fleet.model import agent_fields

META = {"name": "web", "namespace": "shop"}
JOB = {"spec": {"template": {"spec": {"containers": []}}}}
INSTANCE = {"apiVersion": "kro.run/v1alpha1", "kind": "Shop", "metadata": META, "spec": {}}
SET = {"metadata": META, "spec": {"replicas": "${variables.replicas}"}}


def problems(agent_type: str, config: dict[str, Any], **spec: Any) -> list[str]:
    agent = {
        "apiVersion": "headgate.dev/v1",
        "kind": "JobAgent",
        "metadata": {"name": "cluster"},
        "spec": {"type": agent_type, "config": config, **spec},
    }
    return [str(problem) for problem in validation.validate([agent])]


def test_the_config_of_every_agent_that_a_server_runs_is_known(tmp_path: Path) -> None:
    """Its page and its open fields are asked for by this list too."""
    assert set(asyncio.run(_served_types(tmp_path))) == set(config_checks.CONFIGS)


async def _served_types(folder: Path) -> tuple[str, ...]:
    process = serving.Process(serving.Options(folder, database="memory:", port=None))
    web = Web(Addresses(()))
    runner = process._build_runner(web, "")
    await runner.close()
    await web.close()
    process.store.close()
    return runner.types


@pytest.mark.parametrize(
    ("agent_type", "config"),
    [
        ("kubernetes", {"jobTemplate": JOB, "timeoutSeconds": "${variables.limit}"}),
        ("kubernetes-node", {"verb": "drain", "allowedNodes": "pool=batch"}),
        ("graph", {"instanceTemplate": INSTANCE}),
        ("workload", {"setTemplate": SET, "kubeContext": "east"}),
        ("exec", {"command": ["./deploy", "${version.tag}"], "env": {"A": "${'${HOME}'}"}}),
        ("exec", {"command": "echo ${'${HOME}'}", "successExitCodes": [0, 3], "stopGraceSeconds": None}),
        ("http", {"url": "https://${resource.name}.example.com", "secretEnv": "HEADGATE_AGENT_SECRET"}),
        ("http", {"url": "https://example.com/${ 'a' }", "headers": {"X-Team": "web", "X-Old": None}}),
        ("github", {"owner": "o", "repo": "r", "workflow": "deploy.yaml", "tokenEnv": "HEADGATE_AGENT_T"}),
        ("argocd", {"serverUrl": "https://argo.example.com", "application": "${deployment.name}"}),
        ("pull", {"anything": 1}),
        ("of-somebody-else", {"anything": 1}),
    ],
)
def test_what_a_job_could_use_is_accepted(agent_type: str, config: dict[str, Any]) -> None:
    assert problems(agent_type, config) == []


@pytest.mark.parametrize(
    ("agent_type", "config", "place"),
    [
        ("kubernetes", {}, "spec.config.jobTemplate"),
        ("kubernetes", {"jobTemplate": {**JOB, "status": {}}}, "spec.config.jobTemplate.status"),
        ("kubernetes", {"jobTemplate": JOB, "logLines": -1}, "spec.config.logLines"),
        ("kubernetes", {"jobTemplate": JOB, "kubecontext": "a"}, "spec.config.kubecontext"),
        ("kubernetes-node", {}, "spec.config.verb"),
        ("kubernetes-node", {"verb": "reboot"}, "spec.config.verb"),
        ("kubernetes-node", {"verb": "drain", "force": "maybe"}, "spec.config.force"),
        ("graph", {"instanceTemplate": "x"}, "spec.config.instanceTemplate"),
        ("graph", {"instanceTemplate": {**INSTANCE, "metadata": {}}}, "instanceTemplate.metadata.name"),
        (
            "graph",
            {"instanceTemplate": {**INSTANCE, "metadata": {**META, "finalizers": ["a"]}}},
            "instanceTemplate.metadata.finalizers",
        ),
        ("graph", {"instanceTemplate": INSTANCE, "timeoutSeconds": 0}, "spec.config.timeoutSeconds"),
        ("workload", {"instanceTemplate": INSTANCE, "setTemplate": SET}, "spec.config.instanceTemplate"),
        ("workload", {"setTemplate": {"metadata": META}}, "spec.config.setTemplate.spec"),
        ("workload", {"setTemplate": SET, "progressDeadlineSeconds": 0}, "progressDeadlineSeconds"),
        ("exec", {}, "spec.config.command"),
        ("exec", {"command": "make", "workingdirectory": "/srv"}, "spec.config.workingdirectory"),
        ("exec", {"command": "make", "successExitCodes": [256]}, "spec.config.successExitCodes"),
        ("exec", {"command": "make", "env": {"A": 1}}, "spec.config.env.A"),
        ("http", {"url": "ftp://example.com"}, "spec.config.url"),
        ("http", {"url": "https://example.com/${'a b'}"}, "spec.config.url"),
        ("http", {"url": None}, "spec.config.url"),
        ("http", {"url": "https://example.com", "pollSeconds": 0}, "spec.config.pollSeconds"),
        ("http", {"url": "https://example.com", "headers": {"Host": "a"}}, "spec.config.headers"),
        ("github", {"owner": "o", "repo": "", "workflow": "w"}, "spec.config.repo"),
        ("github", {"owner": "o", "repo": "r"}, "spec.config.workflow"),
        ("argocd", {"serverUrl": "https://argo.example.com"}, "spec.config.application"),
        (
            "argocd",
            {"serverUrl": "https://argo.example.com", "application": "a", "prune": "yes"},
            "spec.config.prune",
        ),
    ],
)
def test_a_wrong_field_is_named(agent_type: str, config: dict[str, Any], place: str) -> None:
    found = problems(agent_type, config)
    assert found
    assert all(place in problem for problem in found)


def test_what_deployments_fill_need_not_be_there() -> None:
    assert problems("kubernetes-node", {}, overridable=["verb"]) == []
    assert problems("github", {}, overridable=["owner", "repo", "workflow"]) == []


def test_what_they_fill_of_every_agent_of_the_type_need_not_be_there_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = {"owner": "o", "repo": "r"}
    monkeypatch.setattr(agent_fields, "OPEN_BY_DEFAULT", {"github": ("workflow",)})
    assert problems("github", config) == []
    assert problems("github", config, overridable=[]) == ["documents[0]: spec.config.workflow: is required"]
