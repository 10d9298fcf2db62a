"""What other servers and agents say: shown without the secrets that they were given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from . import fleet, waiting
from .client import Client
from .listener import Listener

SECRET = "sentinel-that-came-back"
ECHO = {"status": "inProgress", "message": f"hello {SECRET}", "externalId": f"run-{SECRET}", "links": {SECRET: f"https://a.invalid/{SECRET}"}}  # fmt: skip


@pytest.fixture
def echo() -> Iterator[Listener]:
    found = Listener(body=json.dumps(ECHO).encode(), **{"X-Echo": SECRET})
    yield found
    found.close()


def _fleet(client: Client, config: dict[str, Any], **agent: Any) -> None:
    client.apply(
        fleet.manifest("JobAgent", "agent", config=config, **agent),
        fleet.manifest("Environment", "prod", resourceSelector="true"),
        fleet.resource("one"),
        fleet.manifest("Deployment", "api", resourceSelector="true", jobAgent="agent"),
    )


def _publish(client: Client) -> dict[str, Any]:
    client.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
    waiting.until(lambda: len(fleet.jobs(client, "api")) == 1)
    return fleet.jobs(client, "api")[0]


def _told(client: Client) -> bytes:
    accept = {"Accept": "application/json"}
    events = client.call("GET", "/v1/events", after=0, limit=1000, headers=accept).body
    return client.call("GET", "/v1/jobs").body + events + client.call("GET", "/v1/release-targets").body


@pytest.mark.parametrize(
    "given",
    [
        {"secret": SECRET},
        {"secret": "between us", "headers": {"Authorization": f"Bearer {SECRET}"}},
        {"secret": "between us", "parameters": {"database": {"password": SECRET}}},
    ],
)
def test_a_good_answer_of_another_server(client: Client, echo: Listener, given: dict[str, Any]) -> None:
    _fleet(client, {"url": echo.address, **given}, type="http")
    _publish(client)
    waiting.until(lambda: fleet.jobs(client, "api")[0]["externalId"])
    job = fleet.jobs(client, "api")[0]
    assert (job["message"], job["externalId"]) == ("hello ***", "run-***")
    assert SECRET.encode() not in _told(client)


def test_an_answer_of_a_provider(client: Client, echo: Listener) -> None:
    _fleet(client, {}, type="pull")
    provider = {"type": "http", "url": echo.address, "headers": {"X-Key": SECRET}}
    metric = {"name": "m", "provider": provider, "successCondition": "result.body.status == 'no'"}
    client.apply(fleet.manifest("Policy", "checks", rules=[{"verification": {"metrics": [metric]}}]))
    job = _publish(client)
    client.expect(200, "PATCH", f"/v1/jobs/{job['id']}", {"status": "successful"})
    waiting.until(lambda: b"hello ***" in _told(client))
    assert SECRET.encode() not in _told(client)


def test_a_report_of_a_pull_agent(client: Client) -> None:
    _fleet(client, {"parameters": {"password": SECRET}}, type="pull")
    _publish(client)
    claimed = client.expect(200, "POST", "/v1/job-agents/agent/claim", {}).json["jobs"][0]
    said = {"token": claimed["claim"]["token"], "status": "failure", "message": f"no user for {SECRET}"}
    client.expect(200, "POST", f"/v1/jobs/{claimed['job']['id']}/report", said)
    assert fleet.jobs(client, "api")[0]["message"] == "no user for ***"


@pytest.mark.parametrize(
    "config",
    [
        {"token": f"${{'{SECRET}' + 1}}"},
        {"token": f"Bearer ${{'{SECRET}'.size().nothing}}"},
        {
            "parameters": {"password": SECRET},
            "timeoutSeconds": "${deployment.jobAgentConfig.parameters.password}",
        },
        {"password": SECRET, "url": f"${{{{'{SECRET}': 1}}.nothing}}"},
    ],
)
def test_a_template_that_fails(client: Client, config: dict[str, Any]) -> None:
    parameters = {"parameters": {"password": SECRET}}
    _fleet(client, {key: item for key, item in config.items() if "deployment" not in str(item)}, type="pull")
    client.expect(200, "PUT", "/v1/job-agents/agent", {"type": "pull", "config": config})
    client.expect(200, "PATCH", "/v1/deployments/api", {"jobAgentConfig": parameters})
    _publish(client)
    assert SECRET.encode() not in _told(client)
