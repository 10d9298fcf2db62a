"""Verification providers: any answer is a result, any failure an error, and nothing is raised."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import parse_qs

import pytest
from aiohttp import web

from headgate.agents.addresses import ANYWHERE, Addresses
from headgate.agents.providers.answers import MetricAnswer
from headgate.agents.providers.measuring import Measurer
from headgate.agents.web import Web
from headgate.fleet.rules import verification
from headgate.kernel import documents
from headgate.kernel.problems import Rejected

from .support import Handler, drop, free_port, play, serving

BINDINGS = {"resource": {"name": "node-1"}, "version": {"tag": "v2"}, "variables": {}, "job": {"id": "job-1"}}


def metric(provider: dict[str, Any]) -> verification.Metric:
    return documents.read(
        verification.Metric, {"name": "health", "provider": provider, "successCondition": "true"}
    )


def measured(provider: dict[str, Any], handler: Handler, bindings: dict[str, Any] = BINDINGS) -> MetricAnswer:
    """`URL` in the provider's address is where the handler listens."""
    found: list[MetricAnswer] = []

    async def story() -> None:
        async with serving(handler) as url:
            measurer = Measurer(Web(ANYWHERE))
            given = {
                key: value.replace("URL", url) if isinstance(value, str) else value
                for key, value in provider.items()
            }
            found.append(await measurer.measure(metric(given), bindings))
            await measurer.close()

    play(story())
    return found[0]


def answering(status: int, body: str, **headers: str) -> Handler:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=status, text=body, headers=headers)

    return handle


def test_an_address_gives_status_headers_and_a_json_body() -> None:
    answer = measured({"type": "http", "url": "URL/"}, answering(200, '{"ready": true}', Color="green"))
    assert answer.error is None
    result: Any = answer.result
    assert (result["status"], result["statusCode"], result["ok"]) == (200, 200, True)
    assert result["body"] == {"ready": True}
    assert result["headers"]["color"] == "green"


def test_a_bad_status_is_a_result_too() -> None:
    answer = measured({"type": "http", "url": "URL/"}, answering(503, "busy"))
    result: Any = answer.result
    assert (result["status"], result["ok"], result["body"]) == (503, False, "busy")


def test_the_request_is_as_written_with_expressions_computed() -> None:
    seen: list[tuple[str, str, str, bytes]] = []

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        seen.append((request.method, request.path_qs, request.headers["X-Version"], await request.read()))
        return web.Response()

    provider = {
        "type": "http",
        "url": "URL/${resource.name}?job=${job.id}",
        "method": "POST",
        "headers": {"X-Version": "${version.tag}"},
        "body": "hello ${resource.name}",
    }
    assert measured(provider, handle).error is None
    assert seen == [("POST", "/node-1?job=job-1", "v2", b"hello node-1")]


def test_an_expression_that_fails_is_an_error() -> None:
    answer = measured({"type": "http", "url": "URL/${resource.zone}"}, answering(200, ""))
    assert answer.result is None
    assert (answer.error or "").startswith("health.provider.url: ${resource.zone}: ")


def test_an_answer_that_is_too_large_is_an_error() -> None:
    answer = measured({"type": "http", "url": "URL/"}, answering(200, "x" * 2_000_000))
    assert answer == MetricAnswer(error="the answer is larger than 1048576 bytes")


def test_a_broken_connection_is_an_error() -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return drop(request)

    assert "broke the connection off" in (measured({"type": "http", "url": "URL/"}, handle).error or "")


def test_an_address_where_nobody_listens_is_an_error() -> None:
    async def story() -> None:
        measurer = Measurer(Web(ANYWHERE))
        port = await free_port()
        answer = await measurer.measure(metric({"type": "http", "url": f"http://127.0.0.1:{port}"}), BINDINGS)
        assert f"127.0.0.1:{port} cannot be reached" in (answer.error or "")
        await measurer.close()

    play(story())


def test_no_answer_in_time_is_an_error() -> None:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        await asyncio.sleep(5)
        return web.Response()

    answer = measured({"type": "http", "url": "URL/", "timeoutSeconds": 1}, handle)
    assert "did not answer within 1 s" in (answer.error or "")


def queried(data: Any, status: str = "success", **more: Any) -> MetricAnswer:
    body = json.dumps({"status": status, "data": data, **more})
    return measured({"type": "prometheus", "address": "URL/", "query": "up"}, answering(200, body))


def test_a_query_gives_the_value_of_its_first_series_and_all_values() -> None:
    series = [{"metric": {"a": "1"}, "value": [1.5, "0.25"]}, {"metric": {}, "value": [1.5, "3"]}]
    answer = queried({"resultType": "vector", "result": series})
    assert answer == MetricAnswer({"value": 0.25, "values": [0.25, 3.0]})


def test_a_query_may_give_a_scalar() -> None:
    assert queried({"resultType": "scalar", "result": [1.5, "7"]}) == MetricAnswer(
        {"value": 7.0, "values": [7.0]}
    )


def test_the_query_is_sent_with_expressions_computed() -> None:
    seen: list[tuple[str, dict[str, list[str]]]] = []

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        seen.append((request.path, parse_qs((await request.read()).decode())))
        return web.json_response({"status": "success", "data": {"resultType": "scalar", "result": [1, "1"]}})

    measured(
        {"type": "prometheus", "address": "URL/prefix/", "query": 'sum(up{node="${resource.name}"})'}, handle
    )
    assert seen == [
        ("/prefix/api/v1/query", {"query": ['sum(up{node="node-1"})'], "timeout": ["30s"]}),
    ]


@pytest.mark.parametrize(
    ("data", "more", "error"),
    [
        ({"resultType": "vector", "result": []}, {}, "the query gave no series"),
        ({"resultType": "vector", "result": [{"value": [1, "NaN"]}]}, {}, "the value is not a number"),
        ({"resultType": "vector", "result": [{"value": [1, "+Inf"]}]}, {}, "the value is not a number"),
        ({"resultType": "vector", "result": ["odd"]}, {}, "the value is not a number"),
        ({"resultType": "matrix", "result": []}, {}, "the answer is not that of an instant query"),
        ({"resultType": "vector", "result": {}}, {}, "the answer is not that of an instant query"),
        (None, {}, "the answer is not that of an instant query"),
        (None, {"status": "error", "error": "parse error"}, "the query failed: parse error"),
        (None, {"status": "error"}, "the query failed: it answered 200"),
    ],
)
def test_a_query_without_a_value_is_an_error(data: Any, more: dict[str, Any], error: str) -> None:
    assert queried(data, **({"status": "success"} | more)) == MetricAnswer(error=error)


def test_a_server_that_is_no_prometheus_is_an_error() -> None:
    answer = measured({"type": "prometheus", "address": "URL", "query": "up"}, answering(404, "not here"))
    assert answer == MetricAnswer(error="the query failed: it answered 404")


def test_sleeping_is_over_when_it_is_asked_for() -> None:
    answer = measured({"type": "sleep", "durationSeconds": 3600}, answering(200, ""))
    assert answer == MetricAnswer({"sleptSeconds": 3600})


def test_an_address_that_may_not_be_reached_is_an_error_that_names_the_option() -> None:
    async def story() -> None:
        measurer = Measurer(Web(Addresses(("public",))))
        answer = await measurer.measure(metric({"type": "http", "url": "http://localhost:1/"}), BINDINGS)
        await measurer.close()
        assert answer.result is None
        assert "localhost:1" in (answer.error or "")
        assert "--allow-address" in (answer.error or "")

    play(story())


def test_with_headers_nobody_else_says_where_the_request_goes() -> None:
    provider = {"type": "http", "url": "https://${resource.name}/x", "headers": {"Authorization": "hush"}}
    with pytest.raises(Rejected, match="has an expression in its host"):
        metric(provider)
    assert metric({**provider, "headers": {}})
    assert metric({**provider, "url": "https://${resource.name}.deploy.example.com/x"})


def test_a_value_in_a_query_cannot_end_its_string() -> None:
    seen: list[str] = []

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        seen.append(parse_qs((await request.read()).decode())["query"][0])
        return web.json_response({"status": "success", "data": {"resultType": "scalar", "result": [0, "1"]}})

    hostile = {**BINDINGS, "resource": {"name": 'x"}) or vector(0) #'}}
    provider = {"type": "prometheus", "address": "URL", "query": 'sum(up{node="${resource.name}"})'}
    measured(provider, handle, hostile)
    assert seen == ['sum(up{node="x\\"}) or vector(0) #"})']
