"""Clients made from the OpenAPI description by the field's generators, without options, work against the server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from .client import Client
from .server import Server

OPERATION = re.compile(r'"operationId": "(\w+)"')
USE = """
import sys
from made import AuthenticatedClient
from made.api.policies import create_policy, get_policy, create_rule
from made.models import *

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
body = PolicyInput(name="made", rules=[GradualRolloutRuleInput(GradualRolloutSpecInput(time_scale_interval=60))])
created = create_policy.sync(client=client, body=body, workspace=sys.argv[3])
assert isinstance(created, PolicyWithConcerns), created
create_rule.sync("made", client=client, body=ApprovalRuleInput(ApprovalSpecInput(min_approvals=2)), workspace=sys.argv[3])
read = get_policy.sync("made", client=client, workspace=sys.argv[3])
rollout, approval = read.rules
assert rollout.gradual_rollout.rollout_type == GradualRolloutSpecRolloutType.LINEAR, rollout
assert approval.approval.min_approvals == 2, approval
missing = get_policy.sync("none", client=client, workspace=sys.argv[3])
assert isinstance(missing, Problem) and missing.status == 404, missing
"""


@pytest.fixture
def description(server: Server, tmp_path: Path) -> Path:
    with urllib.request.urlopen(f"{server.address}/openapi.json") as answer:
        document = json.load(answer)
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(document))
    return file


def test_a_python_client_has_every_operation_and_speaks_with_the_server(
    client: Client, server: Server, description: Path, tmp_path: Path
) -> None:
    generator = Path(sys.executable).parent / "openapi-python-client"
    made = subprocess.run(
        [generator, "generate", "--path", description, "--output-path", tmp_path / "made", "--meta", "none"],
        capture_output=True,
        text=True,
        env={"PATH": str(generator.parent)},
        check=True,
    )
    troubles = [
        line for line in (made.stdout + made.stderr).splitlines() if "WARNING" in line or "Unable" in line
    ]
    assert [line for line in troubles if "/v1/apply" not in line and "/v1/diff" not in line] == []
    assert "Endpoint will not be generated" not in made.stdout + made.stderr
    modules = {file.stem.replace("_", "") for file in (tmp_path / "made" / "api").glob("*/*.py")}
    operations = {name.lower() for name in OPERATION.findall(description.read_text())}
    assert operations <= modules
    subprocess.run(
        [sys.executable, "-c", USE, server.address, client.token, client.workspace], cwd=tmp_path, check=True
    )


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not there: openapi-typescript is not tried")
def test_typescript_types_are_made_and_are_sound(description: Path, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"private": true}')
    installed = subprocess.run(
        ["npm", "install", "--silent", "--no-audit", "openapi-typescript@7", "typescript@5"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    if installed.returncode != 0:
        pytest.skip(f"openapi-typescript could not be installed: {installed.stderr.strip()[-200:]}")
    tools = tmp_path / "node_modules" / ".bin"
    subprocess.run([tools / "openapi-typescript", description, "-o", "api.d.ts"], cwd=tmp_path, check=True)
    (tmp_path / "use.ts").write_text(
        'import type { components, operations } from "./api";\n'
        'type Policy = components["schemas"]["PolicyInput"];\n'
        'const policy: Policy = {name: "p", rules: [{gradualRollout: {timeScaleInterval: 60, rolloutType: "linear"}}]};\n'
        'type Listed = operations["listPolicies"]["responses"]["200"]["content"]["application/json"]["items"][0];\n'
        "const name = (listed: Listed): string => listed.name;\n"
        "export { policy, name };\n"
    )
    subprocess.run([tools / "tsc", "--noEmit", "--strict", "use.ts"], cwd=tmp_path, check=True)
