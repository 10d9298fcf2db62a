"""Every operation does what its description says, whatever is sent: requests made up from the description itself.

`HEADGATE_EXAMPLES=10` makes up ten times as many, and those at the edges of every schema.
"""

import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS
from schemathesis.specs.openapi.checks import negative_data_rejection

from headgate.api.http import openapi
from headgate.api.routes import ALL
from headgate.fleet.model import kinds

from . import fleet, operations
from .client import Client
from .conftest import new_workspace
from .server import Server

FURTHER = float(os.environ.get("HEADGATE_EXAMPLES", "1"))
EXAMPLES = max(1, int(10 * FURTHER))
NOT_HERE = ("deleteWorkspace", "deleteToken")
"""They may take away what the others need; who may do so is tested elsewhere."""
UNSAID = {
    "positive_data_acceptance",
    "allow_header_conformance",
    "use_after_free",
    "ensure_resource_availability",
}
"""No schema can say which names exist, which expressions compile, or which texts are YAML."""

SCHEMA = schemathesis.openapi.from_dict(openapi.document(ALL)).exclude(operation_id=list(NOT_HERE))
SCHEMA.config.checks.negative_data_rejection.expected_statuses += ["412"]
SCHEMA.config.phases.coverage.enabled = FURTHER > 1
EXCLUDED = [check for check in CHECKS.get_all() if check.__name__ in UNSAID]


@pytest.fixture(scope="session")
def fuzzed(server: Server) -> Client:
    client = new_workspace(server)
    fleet.fill(client)
    return client


@pytest.fixture(scope="session")
def names(fuzzed: Client) -> dict[str, list[str]]:
    """What the parameters of paths may be called so that something is found."""
    known = operations.known(fuzzed)
    return {
        **{kind.parameter: ["spare"] for kind in kinds.NAMED},
        "resource": ["node-1", "node-2"],
        "environment": ["prod"],
        "deployment": ["api", "web"],
        "policy": ["careful", "together"],
        "agent": ["puller", "caller"],
        "freeze": ["holidays"],
        "signal": ["load"],
        "variableSet": ["defaults"],
        "version": ["v1", "api/v1", "spare/v1"],
        "system": ["shop"],
        "key": ["zone"],
        "rule": ["0", "two eyes"],
        "job": [known.job, known.claimed_job, known.called_job],
        "group": [known.group],
        "skip": [known.skip],
        "target": ["api/prod/node-1", "calm/prod/node-2"],
    }


@SCHEMA.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_an_operation_answers_as_it_is_described(
    case: Case, fuzzed: Client, names: dict[str, list[str]]
) -> None:
    if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
        aim(case, fuzzed, names)
    if (
        isinstance(case.body, dict)
        and isinstance(wait := case.body.get("waitSeconds"), int | float)
        and 0 < wait <= 30
    ):
        case.body["waitSeconds"] = 0
    if case.query and "follow" in case.query and case.method == "GET":
        # A log that is followed is a stream until its job ends; that has its own tests.
        case.query["follow"] = "false"
    headers = {"Authorization": f"Bearer {fuzzed.token}", "Accept": "application/json"}
    unsaid = [*EXCLUDED, negative_data_rejection] if is_read_generously(case) else EXCLUDED
    case.call_and_validate(base_url=fuzzed.address, headers=headers, excluded_checks=unsaid, timeout=60)


def is_read_generously(case: Case) -> bool:
    """Any text may be YAML, and what is put under a name need not repeat it."""
    is_unnamed = case.method == "PUT" and isinstance(case.body, dict) and "name" not in case.body
    return is_unnamed or case.media_type == "application/yaml"


def aim(case: Case, client: Client, names: dict[str, list[str]]) -> None:
    """At what is there, most of the time: what is not there is soon answered."""
    made_up: dict[str, Any] = case.path_parameters or {}
    for name, value in made_up.items():
        choices = names.get(name, [])
        if choices and len(str(value)) % 4:
            made_up[name] = choices[len(str(value)) % len(choices)]
    declared = {parameter.name for parameter in case.operation.query}
    if "workspace" in declared:
        case.query = {**(case.query or {}), "workspace": client.workspace}
