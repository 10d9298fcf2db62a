from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from headgate.api.http import tracing
from headgate.api.http.calls import Answer, Request
from headgate.fleet.model.records import Job

from .machinery import NOW, app_of, route, send

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    found = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(found))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield found
    provider.shutdown()


async def trace_parent(call: Request) -> Answer:
    return Answer(200, {"traceParent": call.trace_parent})


async def failing(call: Request) -> Answer:
    raise RuntimeError


APP = app_of(
    route("GET", "/v1/x/{name}", trace_parent, operation="getX"),
    route("GET", "/v1/broken", failing, operation="broken"),
)


def job(status: str = "successful") -> Job:
    return Job(
        id="j-1",
        deployment="api",
        environment="prod",
        resource="node-1",
        version="v-1",
        tag="v2",
        variables=(),
        attempt=2,
        kind="deploy",
        created_at=NOW,
        started_at=NOW + 1_000_000,
        completed_at=NOW + 3_000_000,
        status=status,
    )


def names(spans: tuple[ReadableSpan, ...]) -> list[str]:
    return [span.name for span in spans]


def trace_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.trace_id:032x}"


def test_a_request_continues_the_trace_of_its_caller(exporter: InMemorySpanExporter) -> None:
    answer = send(APP, "GET", "/v1/x/a", headers={"traceparent": PARENT})
    (span,) = exporter.get_finished_spans()
    assert (span.name, trace_of(span)) == ("getX", TRACE)
    assert span.attributes == {
        "http.request.method": "GET",
        "http.route": "/v1/x/{name}",
        "http.response.status_code": 200,
    }
    assert span.context is not None
    assert answer.json["traceParent"] == f"00-{TRACE}-{span.context.span_id:016x}-01"


def test_without_an_exporter_the_callers_trace_is_passed_on() -> None:
    assert send(APP, "GET", "/v1/x/a", headers={"traceparent": PARENT}).json["traceParent"] == PARENT
    assert send(APP, "GET", "/v1/x/a").json["traceParent"] is None


def test_a_malformed_traceparent_is_ignored() -> None:
    assert send(APP, "GET", "/v1/x/a", headers={"traceparent": "00-xyz"}).json["traceParent"] is None


def test_a_failed_request_is_marked(exporter: InMemorySpanExporter, caplog: pytest.LogCaptureFixture) -> None:
    send(APP, "GET", "/v1/broken")
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is trace.StatusCode.ERROR


def test_a_finished_job_is_a_span_in_the_trace_of_its_cause(exporter: InMemorySpanExporter) -> None:
    tracing.job_spans(job(), PARENT)
    run, whole = exporter.get_finished_spans()
    assert (run.name, whole.name) == ("run", "job api/prod/node-1")
    assert trace_of(run) == trace_of(whole) == TRACE
    assert whole.parent is not None
    assert run.parent is not None
    assert f"{whole.parent.span_id:016x}" == PARENT.split("-")[2]
    assert run.parent == whole.context
    assert (whole.start_time, whole.end_time) == (NOW * 1_000, (NOW + 3_000_000) * 1_000)
    assert run.start_time == (NOW + 1_000_000) * 1_000
    assert dict(whole.attributes or {}) == {
        "headgate.job.id": "j-1",
        "headgate.job.kind": "deploy",
        "headgate.job.status": "successful",
        "headgate.job.attempt": 2,
        "headgate.target": "api/prod/node-1",
        "headgate.version": "v2",
    }


def test_a_job_that_did_not_succeed_is_marked(exporter: InMemorySpanExporter) -> None:
    tracing.job_spans(job("failure"), None)
    whole = exporter.get_finished_spans()[-1]
    assert (whole.parent, whole.status.description) == (None, "failure")


def test_a_job_that_never_ran_has_no_running_part(exporter: InMemorySpanExporter) -> None:
    cancelled = job("cancelled")
    cancelled.started_at = None
    tracing.job_spans(cancelled, PARENT)
    assert names(exporter.get_finished_spans()) == ["job api/prod/node-1"]


def test_nothing_is_exported_unless_somebody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(tracing.ENDPOINT_VARIABLE, raising=False)
    assert tracing.configure_from_environment() is False


def test_an_endpoint_turns_the_export_on(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[TracerProvider] = []
    monkeypatch.setenv(tracing.ENDPOINT_VARIABLE, "http://127.0.0.1:9")
    monkeypatch.setattr(trace, "set_tracer_provider", taken.append)
    assert tracing.configure_from_environment() is True
    assert taken[0].resource.attributes["service.name"] == "headgate"
    taken[0].shutdown()
