"""Traces from the accepted request to the finished job. Without an exporter nothing is recorded, contexts still pass."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from headgate.fleet.model.records import Job
from headgate.kernel.instants import Instant

ENDPOINT_VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"
_TRACER = "headgate"
_NANOSECONDS_PER_MICROSECOND = 1_000
_PROPAGATOR = TraceContextTextMapPropagator()


def configure_from_environment() -> bool:
    """True when spans are exported: the endpoint is set and the extra `otel` is installed."""
    if not os.environ.get(ENDPOINT_VARIABLE):
        return False
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        return False
    name = os.environ.get("OTEL_SERVICE_NAME", "headgate")
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return True


def shut_down() -> None:
    """Sends what is still waiting."""
    stop = getattr(trace.get_tracer_provider(), "shutdown", None)
    if stop is not None:
        stop()


@contextmanager
def request_span(method: str, operation: str, path: str, headers: Mapping[str, str]) -> Iterator[Span]:
    """The span's parent is what the request's traceparent names."""
    attributes = {"http.request.method": method, "http.route": path}
    with trace.get_tracer(_TRACER).start_as_current_span(
        operation,
        context=_PROPAGATOR.extract(dict(headers)),
        kind=SpanKind.SERVER,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield span


def answered(span: Span, status: int) -> None:
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_status(Status(StatusCode.ERROR))


def current_trace_parent() -> str | None:
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return carrier.get("traceparent")


def job_spans(job: Job, trace_parent: str | None) -> None:
    """One span from the job's creation to its end, one in it for the time that it ran."""
    if job.completed_at is None:
        return
    tracer = trace.get_tracer(_TRACER)
    attributes: dict[str, str | int] = {
        "headgate.job.id": job.id,
        "headgate.job.kind": job.kind,
        "headgate.job.status": job.status,
        "headgate.job.attempt": job.attempt,
        "headgate.target": job.target,
        "headgate.version": job.tag,
    }
    whole = tracer.start_span(
        f"job {job.target}",
        context=_context(trace_parent),
        attributes=attributes,
        start_time=_nanoseconds(job.created_at),
    )
    if job.started_at is not None:
        running = tracer.start_span(
            "run",
            context=trace.set_span_in_context(whole, Context()),
            start_time=_nanoseconds(job.started_at),
        )
        running.end(_nanoseconds(job.completed_at))
    if job.status not in ("successful", "skipped"):
        whole.set_status(Status(StatusCode.ERROR, job.message or job.status))
    whole.end(_nanoseconds(job.completed_at))


def _context(trace_parent: str | None) -> Context:
    """Never the context of whoever happens to report the job's end."""
    carrier = {"traceparent": trace_parent} if trace_parent else {}
    return _PROPAGATOR.extract(carrier, context=Context())


def _nanoseconds(instant: Instant) -> int:
    return instant * _NANOSECONDS_PER_MICROSECOND
