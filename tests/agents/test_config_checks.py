"""Configs of agents that work on clusters are judged before there is a job: every wrong field by its name."""

from __future__ import annotations

from typing import Any

import pytest

from headgate import validation

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


@pytest.mark.parametrize(
    ("agent_type", "config"),
    [
        ("kubernetes", {"jobTemplate": JOB, "timeoutSeconds": "${variables.limit}"}),
        ("kubernetes-node", {"verb": "drain", "allowedNodes": "pool=batch"}),
        ("graph", {"instanceTemplate": INSTANCE}),
        ("workload", {"setTemplate": SET, "kubeContext": "east"}),
        ("exec", {"anything": 1}),
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
    ],
)
def test_a_wrong_field_is_named(agent_type: str, config: dict[str, Any], place: str) -> None:
    found = problems(agent_type, config)
    assert found
    assert all(place in problem for problem in found)


def test_what_deployments_fill_need_not_be_there() -> None:
    assert problems("kubernetes-node", {}, overridable=["verb"]) == []
