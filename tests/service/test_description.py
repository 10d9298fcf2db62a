"""The OpenAPI document that the running service gives: a client can be generated from it."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from schemathesis.specs.openapi import definitions

from .server import Server

Json = dict[str, Any]
OPEN = {"beginOidcLogin", "beginSession", "callbackJob", "endSession", "finishOidcLogin", "listLoginWays"}
"""Who asks these has no token yet, or brings its proof along."""
METHODS = {"get", "put", "post", "patch", "delete"}


@pytest.fixture(scope="module")
def document(server: Server) -> Json:
    answer = server.anybody().expect(200, "GET", "/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    found: Json = answer.json
    return found


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert method in METHODS
            yield path, method, operation


def walk(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from walk(item)
    elif isinstance(value, list):
        for item in value:
            yield from walk(item)


def resolve(document: Json, reference: str) -> Any:
    assert reference.startswith("#/"), reference
    found: Any = document
    for part in reference[2:].split("/"):
        found = found[part.replace("~1", "/").replace("~0", "~")]
    return found


def test_it_is_what_the_specification_calls_a_description(document: Json) -> None:
    jsonschema_rs.validator_for(definitions.OPENAPI_31).validate(document)


def test_every_reference_leads_somewhere(document: Json) -> None:
    references = [one["$ref"] for one in walk(document) if isinstance(one.get("$ref"), str)]
    assert len(references) > 500
    for reference in references:
        assert resolve(document, reference)


def test_no_component_is_left_over(document: Json) -> None:
    used = {one["$ref"] for one in walk(document) if isinstance(one.get("$ref"), str)}
    for kind in ("schemas", "responses", "headers"):
        for name in document["components"][kind]:
            assert f"#/components/{kind}/{name}" in used or name == "Problem", name


def test_every_schema_is_a_schema(document: Json) -> None:
    for name, schema in document["components"]["schemas"].items():
        jsonschema_rs.validator_for(
            {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        )
        assert jsonschema_rs.meta.is_valid(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
        ), name


def test_every_operation_says_all_that_a_client_needs(document: Json) -> None:
    seen = set()
    for path, method, operation in operations(document):
        name = operation["operationId"]
        assert re.fullmatch(r"[a-z][A-Za-z]*", name)
        assert name not in seen
        seen.add(name)
        assert operation["summary"]
        assert operation["tags"][0] in {tag["name"] for tag in document["tags"]}
        declared = {one["name"] for one in operation["parameters"] if one["in"] == "path"}
        assert declared == set(re.findall(r"{(\w+)}", path)), path
        assert all(one.get("required") for one in operation["parameters"] if one["in"] == "path")
        names = [(one["name"], one["in"]) for one in operation["parameters"]]
        assert len(names) == len(set(names))
        assert any(status[0] in "23" for status in operation["responses"]), name
        assert all(re.fullmatch("[1-5][0-9][0-9]", status) for status in operation["responses"])
        is_open = not path.startswith("/v1") or name in OPEN
        assert operation["security"] == ([] if is_open else [{"bearer": []}]), name
        assert is_open or {"400", "401", "503"} <= set(operation["responses"]), name
        if "requestBody" in operation:
            assert method != "get"
            assert {"400", "413", "415", "422"} <= set(operation["responses"]), name
            assert all("schema" in one for one in operation["requestBody"]["content"].values())


def test_every_refusal_is_described_as_problem_details(document: Json) -> None:
    for path, _, operation in operations(document):
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                content = resolve(document, answer["$ref"])["content"]
                assert list(content) == ["application/problem+json"], path


def test_the_server_that_is_named_is_the_one_that_answers(server: Server, document: Json) -> None:
    assert document["servers"] == [{"url": server.address}]
    assert document["openapi"] == "3.1.0"
    assert document["info"]["version"]


def test_every_operation_that_changes_something_can_be_sent_again(document: Json) -> None:
    without = set()
    for _, method, operation in operations(document):
        headers = {one["name"] for one in operation["parameters"] if one["in"] == "header"}
        if method != "get" and "Idempotency-Key" not in headers:
            without.add(operation["operationId"])
        if method in ("put", "patch", "delete") and "412" in operation["responses"]:
            assert "If-Match" in headers
    assert without == {
        "appendJobLog",
        "beginOidcLogin",
        "beginSession",
        "callbackJob",
        "claimJobs",
        "createLoginCode",
        "diff",
        "endSession",
        "heartbeatJob",
        "plan",
        "simulate",
    }
