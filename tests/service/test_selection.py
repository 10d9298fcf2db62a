"""Whom a selector reaches, and where the values of a target come from."""

import pytest

from . import fleet
from .client import Client

PROD = "environment.name == 'prod'"


@pytest.fixture
def small(client: Client) -> Client:
    manifest = fleet.manifest
    client.apply(
        manifest("Environment", "prod", resourceSelector="true"),
        manifest(
            "Deployment",
            "web",
            resourceSelector="true",
            variables={
                "replicas": {
                    "default": 1,
                    "values": [{"value": 3, "resourceSelector": "resource.name == 'b'"}],
                },
                "zone": {"default": "none"},
                "colour": {"default": "grey"},
            },
        ),
        manifest("Deployment", "agent", resourceSelector="resource.name == 'a'"),
        manifest("Resource", "a", kind="Node", variables={"zone": "eu"}),
        manifest("Resource", "b", kind="Node"),
        manifest("VariableSet", "colours", selector=PROD, variables={"colour": "blue"}),
    )
    return client


def test_a_selector_says_whom_it_reaches(small: Client) -> None:
    viewer = small.token_with("asks", role="viewer")
    assert viewer.get("/v1/selection")["targets"] == 3
    assert viewer.get("/v1/selection", selector=PROD, deployment="web")["sample"] == [
        "web/prod/a",
        "web/prod/b",
    ]
    found = viewer.get("/v1/selection", selector="resource.name == 'c'", deployment="web")
    assert (found["targets"], found["note"]) == (0, "matches none of the 2 release targets")


def test_a_selector_that_cannot_be_read_says_where(small: Client) -> None:
    answer = small.call("GET", "/v1/selection", selector="resource.name = 'c'")
    assert answer.status == 422
    assert answer.json["errors"][0]["path"] == "selector"
    assert small.call("GET", "/v1/selection", deployment="none").status == 404


def test_each_value_of_a_target_says_who_has_set_it(small: Client) -> None:
    items = small.get("/v1/release-targets/web/prod/b/variables")["items"]
    assert [(one["key"], one["value"], one["source"], one["name"]) for one in items] == [
        ("colour", "blue", "variableSet", "colours"),
        ("replicas", 3, "deploymentValue", "web"),
        ("zone", "none", "default", "web"),
    ]
    items = small.get("/v1/release-targets/web/prod/a/variables")["items"]
    assert [(one["key"], one["value"], one["source"], one["name"]) for one in items] == [
        ("colour", "blue", "variableSet", "colours"),
        ("replicas", 1, "default", "web"),
        ("zone", "eu", "resource", "a"),
    ]
