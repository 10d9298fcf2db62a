"""The OpenAPI 3.1 description, made from what the routes declare about themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from headgate.api.http import access, reading, routing
from headgate.api.http.calls import Parameter, Route
from headgate.api.http.problems import MEDIA_TYPE, ProblemView
from headgate.api.http.schema_words import TEXT_PATTERN
from headgate.api.http.schemas import OBJECTS, Components, Patch

Json = dict[str, Any]

_EVENTS = "text/event-stream"
_PROBLEM_WORDS = {
    400: ("BadRequest", "The path, a parameter, a header or the body cannot be read."),
    401: ("Unauthorized", "There is no token, or it is not valid."),
    403: ("Forbidden", "The token has not the permission that this needs."),
    404: ("NotFound", "There is no such object or workspace, or the token does not see it."),
    408: ("TooSlow", "The body did not arrive in time."),
    409: ("Conflict", "It exists already, is in use, or is not in a state for this."),
    412: ("PreconditionFailed", "The object has changed since the ETag in If-Match was read."),
    413: ("TooLarge", "The body is larger than allowed."),
    415: ("UnsupportedMediaType", "The Content-Type is not one of those allowed."),
    422: ("Invalid", "The document is invalid; `errors` names each place."),
    429: ("TooMany", "The caller has too many requests open at once; try again after the time given."),
    503: ("Unavailable", "The service cannot answer now; try again after the time given."),
}
_PATH_WORDS = {
    "agent": "Id or name of the job agent.",
    "freeze": "Id or name of the freeze.",
    "group": "Id of the group.",
    "job": "Id of the job.",
    "key": "Key of the variable.",
    "rule": "Id, name or position of the rule.",
    "skip": "Id of the skip.",
    "target": "The target: `deployment/environment/resource`, percent-encoded.",
    "token": "Id or name of the token.",
    "variableSet": "Id or name of the variable set.",
    "version": "Id of the version, or its tag; outside of its deployment, `deployment/tag`.",
}
_REQUEST_ID = {
    "description": "Names this request in the service's log and in the audit log.",
    "schema": {"type": "string", "format": "uuid"},
}
_ETAG = {"description": "For If-Match.", "schema": {"type": "string"}}


def document(routes: Sequence[Route], public_url: str = "") -> Json:
    components = Components()
    components.of(ProblemView, "answer")
    _check_templates(routes)
    answers = {route.operation: _answers(route, components) for route in routes}
    if len(answers) != len(routes):
        raise ValueError(f"an operation is declared twice: {_repeated(routes)}")
    conditional = {route.path for route in routes if route.conditional}
    paths: dict[str, Json] = {}
    for route in routes:
        operation = _operation(route, answers[route.operation], components, route.path in conditional)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Headgate",
            "version": version("headgate"),
            "description": "Decides when each piece of production may change, and says why it has not changed yet.",
        },
        "servers": [{"url": public_url.rstrip("/") or "/"}],
        "tags": [{"name": tag} for tag in dict.fromkeys(route.tag for route in routes)],
        "paths": paths,
        "components": {
            "schemas": components.schemas,
            "responses": dict(map(_problem_response, _used_problems(routes))),
            "headers": {"RequestId": _REQUEST_ID, "ETag": _ETAG},
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API token (`hg_...`), or a JWT of the configured OIDC issuer.",
                }
            },
        },
    }


def problem_statuses(route: Route) -> list[int]:
    statuses = {*route.problems}
    if route.path.startswith("/v1"):
        statuses |= {400, 429, 503}
    if route.permission is not None:
        statuses |= {401}
    if route.permission:
        statuses |= {403}
    if route.scope == "workspace" or routing.parameter_names(route.path):
        statuses |= {404}
    if route.body is not None:
        statuses |= {408, 413, 415, 422}
    if route.mutates:
        statuses |= {422}
    if route.conditional:
        statuses |= {412}
    return sorted(statuses)


def _used_problems(routes: Iterable[Route]) -> list[int]:
    return sorted({status for route in routes for status in problem_statuses(route)})


def _problem_response(status: int) -> tuple[str, Json]:
    headers: Json = {"Headgate-Request-Id": _component("headers", "RequestId")}
    if status == 401:
        headers["WWW-Authenticate"] = {"schema": {"type": "string"}}
    if status in (429, 503):
        headers["Retry-After"] = {"description": "Seconds.", "schema": {"type": "integer"}}
    name, words = _words(status)
    content = {MEDIA_TYPE: {"schema": _component("schemas", "Problem")}}
    return name, {"description": words, "headers": headers, "content": content}


def _words(status: int) -> tuple[str, str]:
    phrase = HTTPStatus(status).phrase
    return _PROBLEM_WORDS.get(status, (phrase.title().replace(" ", ""), phrase))


def _operation(route: Route, answers: Json, components: Components, has_etag: bool) -> Json:
    operation: Json = {
        "operationId": route.operation,
        "summary": route.summary,
        "tags": [route.tag],
        "description": _description(route),
        "parameters": list(_parameters(route)),
    }
    if route.body is not None:
        operation["requestBody"] = {
            "required": route.body_required,
            "content": _body(route, components),
        }
    if has_etag and route.method != "DELETE":
        for answer in answers.values():
            answer["headers"]["ETag"] = _component("headers", "ETag")
    problems = {str(status): _component("responses", _words(status)[0]) for status in problem_statuses(route)}
    operation["responses"] = {**answers, **problems}
    operation["security"] = [{"bearer": []}] if route.permission is not None else []
    if route.permission:
        operation["x-headgate-permission"] = route.permission
    return {key: value for key, value in operation.items() if value not in ("", None)}


def _description(route: Route) -> str:
    needs = f"Needs the permission `{route.permission}`." if route.permission else ""
    return "\n\n".join(part for part in (route.description, needs) if part)


def _answers(route: Route, components: Components) -> Json:
    return {
        str(status): _answer(route, status, schema, components) for status, schema in route.answers.items()
    }


def _answer(route: Route, status: int, schema: Any, components: Components) -> Json:
    answer: Json = {
        "description": HTTPStatus(status).phrase,
        "headers": {"Headgate-Request-Id": _component("headers", "RequestId")},
    }
    if schema is None:
        return answer
    described = components.of(schema, "answer")
    if route.media_type == _EVENTS:
        answer["content"] = {
            _EVENTS: {"schema": {"type": "string"}},
            "application/json": {"schema": described},
        }
    else:
        answer["content"] = {route.media_type: {"schema": described}}
    return answer


def _body(route: Route, components: Components) -> Json:
    is_object = isinstance(route.body, type) and route.body in OBJECTS
    schema = Patch(route.body) if is_object and route.method == "PATCH" else route.body
    described = components.of(schema, "input")
    return {
        media_type: {"schema": described if reading.is_json(media_type) else {"type": "string"}}
        for media_type in route.accepted_media_types
    }


def _parameters(route: Route) -> Iterable[Json]:
    for name in routing.parameter_names(route.path):
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PATH_WORDS.get(name, f"Id or name of the {name}."),
            "schema": {"type": "string", "minLength": 1, "pattern": TEXT_PATTERN},
        }
    for parameter in access.declared_query(route):
        yield _query_parameter(parameter)
    if route.mutates:
        yield _header(
            "Idempotency-Key",
            "The same key and request again gives the same answer and changes nothing more.",
            {"type": "string", "minLength": 1, "maxLength": reading.LONGEST_KEY, "pattern": "^[ -~]+$"},
        )
    if route.conditional:
        yield _header(
            "If-Match",
            "An ETag: the change is refused with 412 if the object has changed since.",
            {"type": "string", "pattern": r'^(\*|(W/)?"[!#-~]*")$'},
        )


def _query_parameter(parameter: Parameter) -> Json:
    described: Json = {"name": parameter.name, "in": "query", "schema": parameter.schema}
    if parameter.description:
        described["description"] = parameter.description
    if parameter.required:
        described["required"] = True
    return described


def _header(name: str, description: str, schema: Json) -> Json:
    return {"name": name, "in": "header", "description": description, "schema": schema}


def _component(kind: str, name: str) -> Json:
    return {"$ref": f"#/components/{kind}/{name}"}


def _check_templates(routes: Iterable[Route]) -> None:
    """Paths that differ only in the names of parameters are one path for OpenAPI, and would be ambiguous."""
    seen: dict[tuple[str, ...], str] = {}
    for route in routes:
        parts = route.path.split("/")
        shape = tuple("{}" if routing.is_parameter(part) else part for part in parts)
        other = seen.setdefault(shape, route.path)
        if other != route.path:
            raise ValueError(f"{route.path} and {other} are the same path with other names")


def _repeated(routes: Iterable[Route]) -> str:
    names = [route.operation for route in routes]
    counts = {name: names.count(name) for name in names}
    return ", ".join(name for name, count in counts.items() if count > 1)
