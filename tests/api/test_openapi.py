from typing import Any

import jsonschema_rs
import pytest
from schemathesis import openapi as schemathesis_openapi

from headgate.api.http import openapi
from headgate.api.http.calls import Parameter, Route
from headgate.api.http.schemas import PageSchema, Patch
from headgate.api.routes import ALL
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model

from .machinery import app_of, route, send


def routes_for(kind: type) -> tuple[Route, ...]:
    name = kind.__name__
    paths = f"/v1/{name.lower()}s", f"/v1/{name.lower()}s/{{{name.lower()}}}"
    limit = Parameter("limit", {"type": "integer", "minimum": 1, "maximum": 9}, "How many")
    return (
        route("GET", paths[0], operation=f"list{name}s", answers={200: PageSchema(kind)}, query=(limit,)),
        route(
            "POST", paths[0], operation=f"create{name}", answers={201: kind}, body=kind, mutates=True,
            permission="fleet:write", problems=(409,),
        ),
        route("GET", paths[1], operation=f"get{name}", answers={200: kind}),
        route(
            "PATCH", paths[1], operation=f"patch{name}", answers={200: kind}, body=Patch(kind),
            permission="fleet:write", mutates=True, conditional=True,
        ),
        route(
            "DELETE", paths[1], operation=f"delete{name}", answers={204: None}, permission="fleet:write",
            conditional=True, mutates=True,
        ),
    )  # fmt: skip


ROUTES = tuple(one for kind in kinds.ALL for one in routes_for(kind.model))
APP = app_of(*ROUTES)
DOCUMENT: Any = send(APP, "GET", "/openapi.json").json


def operation(name: str) -> Any:
    for methods in DOCUMENT["paths"].values():
        for one in methods.values():
            if one["operationId"] == name:
                return one
    raise AssertionError(name)


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [found for item in value.values() for found in references(item)]
    return [found for item in value for found in references(item)] if isinstance(value, list) else []


@pytest.fixture(params=["of the test", "of the service"])
def whole(request: pytest.FixtureRequest) -> Any:
    return DOCUMENT if request.param == "of the test" else app_of(*ALL).openapi


def test_it_is_openapi_3_1() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    assert DOCUMENT["info"]["title"] == "Headgate"


def test_every_reference_leads_somewhere(whole: Any) -> None:
    for reference in references(whole):
        place = whole
        for part in reference.removeprefix("#/").split("/"):
            assert part in place, reference
            place = place[part]


def test_every_schema_is_valid_json_schema(whole: Any) -> None:
    for name, schema in whole["components"]["schemas"].items():
        jsonschema_rs.meta.validate({**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"})
        complete = {**schema, "components": whole["components"]}
        assert jsonschema_rs.Draft202012Validator(complete) is not None, name


def test_a_tool_that_reads_openapi_finds_every_operation() -> None:
    found = schemathesis_openapi.from_dict(DOCUMENT)
    names = {result.ok().definition.raw["operationId"] for result in found.get_all_operations()}
    assert names >= {one.operation for one in ROUTES}


def test_problems_are_documented_where_they_can_happen() -> None:
    assert sorted(operation("listResources")["responses"]) == [
        "200",
        "400",
        "401",
        "403",
        "404",
        "429",
        "503",
    ]
    assert sorted(operation("createResource")["responses"]) == [
        "201", "400", "401", "403", "404", "408", "409", "413", "415", "422", "429", "503",
    ]  # fmt: skip
    assert "412" in operation("patchResource")["responses"]


def test_an_open_route_asks_for_no_token() -> None:
    assert operation("isAlive")["security"] == []
    assert operation("listResources")["security"] == [{"bearer": []}]


def test_a_permission_is_said_in_words_and_for_programs() -> None:
    found = operation("createResource")
    assert found["x-headgate-permission"] == "fleet:write"
    assert "Needs the permission `fleet:write`." in found["description"]


def test_headers_are_parameters_where_they_count() -> None:
    def headers(name: str) -> list[str]:
        return [one["name"] for one in operation(name)["parameters"] if one["in"] == "header"]

    assert headers("listResources") == []
    assert headers("createResource") == ["Idempotency-Key"]
    assert headers("patchResource") == ["Idempotency-Key", "If-Match"]


def test_single_objects_have_an_etag() -> None:
    assert "ETag" in operation("getResource")["responses"]["200"]["headers"]
    assert "ETag" not in operation("listResources")["responses"]["200"]["headers"]


def test_the_workspace_is_a_parameter_of_all_that_is_in_one() -> None:
    assert [one["name"] for one in operation("getResource")["parameters"]] == ["resource", "workspace"]
    assert operation("isAlive")["parameters"] == []


def test_a_patch_has_two_media_types() -> None:
    content = operation("patchResource")["requestBody"]["content"]
    assert list(content) == ["application/json", "application/merge-patch+json"]


def test_an_event_stream_can_be_had_as_json_too() -> None:
    stream = route(
        "GET", "/v1/events", media_type="text/event-stream", answers={200: PageSchema(model.Signal)}
    )
    answer = openapi.document([stream])["paths"]["/v1/events"]["get"]["responses"]["200"]
    assert list(answer["content"]) == ["text/event-stream", "application/json"]


def test_a_real_problem_is_what_the_schema_promises() -> None:
    problem = send(APP, "GET", "/v1/resources?limit=0").json
    schema = {"$ref": "#/components/schemas/Problem", "components": DOCUMENT["components"]}
    assert jsonschema_rs.Draft202012Validator(schema).is_valid(problem)


def test_one_path_under_two_names_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="same path"):
        openapi.document([route("GET", "/v1/a/{x}"), route("PUT", "/v1/a/{y}")])


def test_one_operation_declared_twice_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="declared twice: same"):
        openapi.document([route("GET", "/a", operation="same"), route("GET", "/b", operation="same")])
