"""Which fields of a config are the agent's own, by name, and what an old config that fills them comes to."""

from __future__ import annotations

import msgspec
import pytest

from headgate.agents.config_checks import CONFIGS
from headgate.fleet.engine import manifest_checks, manifests
from headgate.fleet.model import agent_fields

MAY_BE_OPENED = {
    "exec": {"parameters", "successExitCodes", "timeoutSeconds", "stopGraceSeconds"},
    "http": {"parameters", "pollSeconds", "requestTimeoutSeconds", "timeoutSeconds"},
    "github": {
        "owner",
        "repo",
        "workflow",
        "ref",
        "inputs",
        "jobIdInput",
        "pollSeconds",
        "findSeconds",
        "timeoutSeconds",
    },
    "argocd": {
        "application",
        "appNamespace",
        "project",
        "revision",
        "prune",
        "syncOptions",
        "pollSeconds",
        "timeoutSeconds",
    },
    "kubernetes": {"parameters", "logLines", "ttlSecondsAfterFinished", "timeoutSeconds"},
    "kubernetes-node": {
        "verb",
        "node",
        "podSelector",
        "deleteEmptyDirData",
        "force",
        "gracePeriodSeconds",
        "timeoutSeconds",
    },
    "graph": {"progressDeadlineSeconds", "timeoutSeconds"},
    "workload": {"progressDeadlineSeconds", "timeoutSeconds"},
}


def test_what_is_open_is_decided_of_every_agent() -> None:
    assert set(agent_fields.OPEN_BY_DEFAULT) == set(CONFIGS) == set(MAY_BE_OPENED)


@pytest.mark.parametrize("agent_type", CONFIGS)
def test_of_every_field_it_is_decided_whether_an_owner_may_open_it(agent_type: str) -> None:
    fields = msgspec.structs.fields(CONFIGS[agent_type])
    found = {field.encode_name for field in fields if not agent_fields.is_owners(field.encode_name)}
    assert found == MAY_BE_OPENED[agent_type]


@pytest.mark.parametrize("agent_type", CONFIGS)
def test_what_is_open_by_default_is_a_field_of_the_type(agent_type: str) -> None:
    opened = agent_fields.open_fields(agent_type, None)
    assert set(opened) <= MAY_BE_OPENED[agent_type]


@pytest.mark.parametrize(
    "field",
    [
        *("URL", "baseUrl", "base_url", "BASEURL", "webhook-url", "serverURL", "apiUrl", "proxy", "HostName"),
        *(
            "apiToken",
            "api_token",
            "clientSecret",
            "githubTokenEnv",
            "headers",
            "extraHeaders",
            "Authorization",
        ),
        *(
            "command",
            "preCommand",
            "env",
            "workingDirectory",
            "tlsServerName",
            "insecureSkipVerify",
            "caFile",
        ),
        *("ｕｒｌ", "tоken"),
    ],
)
def test_a_field_is_the_owners_however_it_is_written(field: str) -> None:
    assert agent_fields.is_owners(field)


@pytest.mark.parametrize("field", ["ref", "inputs", "image", "parameters", "revision", "channel", "replicas"])
def test_inputs_are_not(field: str) -> None:
    assert not agent_fields.is_owners(field)


def test_a_stored_list_that_opens_what_cannot_be_opened_opens_nothing_of_it() -> None:
    assert agent_fields.open_fields("http", ("url", "parameters")) == ("parameters",)


def test_a_set_of_manifests_is_checked_against_the_agents_that_it_declares() -> None:
    text = """
apiVersion: headgate.dev/v1
kind: JobAgent
metadata: {name: argo}
spec: {type: argocd, config: {serverUrl: "https://argo.example.com"}}
---
apiVersion: headgate.dev/v1
kind: Deployment
metadata: {name: shop}
spec: {jobAgent: argo, jobAgentConfig: {application: other}}
---
apiVersion: headgate.dev/v1
kind: Version
metadata: {name: shop-v1}
spec: {deployment: shop, tag: v1, jobAgentConfig: {tokenEnv: HOME, revision: main}}
---
apiVersion: headgate.dev/v1
kind: Deployment
metadata: {name: elsewhere}
spec: {jobAgent: argo-of-another-set, jobAgentConfig: {channel: beta, command: [id]}}
"""
    found = manifest_checks.validate(manifests.read_documents(text, source="fleet.yaml"))
    paths = [problem.path.rpartition(" ")[2] for problem in found if "jobAgentConfig" in problem.path]
    assert paths == [
        "spec.jobAgentConfig.application",
        "spec.jobAgentConfig.tokenEnv",
        "spec.jobAgentConfig.command",
    ]
