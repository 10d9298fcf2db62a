"""The pages of agents name every field, and their examples can be used."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
import yaml

from headgate.agents.argocd import ArgocdConfig
from headgate.agents.exec import ExecConfig
from headgate.agents.github import GithubConfig
from headgate.agents.graph import GraphConfig
from headgate.agents.http import HttpConfig
from headgate.agents.kubernetes_job import KubernetesConfig
from headgate.agents.kubernetes_node import KubernetesNodeConfig
from headgate.agents.workload import WorkloadConfig
from headgate.kernel import documents

DOCS = Path(__file__).parents[2] / "docs" / "agents"
CONFIGS: dict[str, type[msgspec.Struct]] = {
    "exec": ExecConfig,
    "http": HttpConfig,
    "github": GithubConfig,
    "argocd": ArgocdConfig,
    "kubernetes": KubernetesConfig,
    "kubernetes-node": KubernetesNodeConfig,
    "graph": GraphConfig,
    "workload": WorkloadConfig,
}


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_field_of_a_config_is_on_its_page_and_no_other(kind: str) -> None:
    text = (DOCS / f"{kind}.md").read_text("utf-8")
    table = text[text.index("| field |") :].split("\n\n")[0]
    cells = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", table, re.MULTILINE)
    written = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert written == set(documents.fields_of(CONFIGS[kind]))


@pytest.mark.parametrize("kind", CONFIGS)
def test_the_example_of_a_page_is_a_config_that_can_be_used(kind: str) -> None:
    text = (DOCS / f"{kind}.md").read_text("utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    [example] = [yaml.safe_load(block) for block in blocks]
    assert example["spec"]["type"] == kind
    documents.read(CONFIGS[kind], example["spec"]["config"], "config")
