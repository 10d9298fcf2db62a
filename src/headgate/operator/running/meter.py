"""Figures of the operator for Prometheus."""

from __future__ import annotations

from collections import Counter as Occurrences
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from headgate.kernel.decisions import Reason
from headgate.kernel.objects import Key

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LEVELS = {"graphs": "graph", "workloads": "workload"}
"""Whose units a controller changes."""


class OperatorMeter:
    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._passes = Counter(
            "headgate_operator_passes", "Objects that were looked at.", ("controller",), registry=registry
        )
        self._failures = Counter(
            "headgate_operator_pass_failures",
            "Objects that could not be planned; the log says why.",
            ("controller",),
            registry=registry,
        )
        self._writes = Counter(
            "headgate_operator_writes", "Writes that were taken.", ("controller", "verb"), registry=registry
        )
        self._refusals = Counter(
            "headgate_operator_refusals",
            "Writes that were not taken, by the API server's reason.",
            ("controller", "verb", "reason"),
            registry=registry,
        )
        self._reviews = Counter(
            "headgate_operator_webhook_calls",
            "Reviews that API servers asked for, by what became of them.",
            ("stage", "outcome"),
            registry=registry,
        )
        self._review_seconds = Histogram(
            "headgate_operator_webhook_seconds",
            "From a review's arrival to its answer.",
            ("stage",),
            buckets=(0.005, 0.02, 0.1, 0.5, 2.0, 10.0),
            registry=registry,
        )
        self._units_waiting = Gauge(
            "headgate_units_waiting",
            "Units that do not change yet, by why.",
            ("level", "reason"),
            registry=registry,
        )
        self._waiting: dict[tuple[str, Key], Occurrences[Reason]] = {}
        """What is counted in `_units_waiting`, by level and what was looked at."""
        self._leads = Gauge("headgate_operator_leads", "1 while this process leads.", registry=registry)
        self._kinds = Gauge("headgate_operator_watched_kinds", "Kinds that are watched.", registry=registry)
        self._silent = Gauge(
            "headgate_operator_silent_watches",
            "Kinds of which nothing is heard at present.",
            registry=registry,
        )

    def passed(self, controller: str) -> None:
        self._passes.labels(controller).inc()

    def failed(self, controller: str) -> None:
        self._failures.labels(controller).inc()

    def wrote(self, controller: str, verb: str, reason: str) -> None:
        """`reason` is why it was refused, or empty."""
        if reason:
            self._refusals.labels(controller, verb, reason).inc()
        else:
            self._writes.labels(controller, verb).inc()

    def reviewed(self, stage: str, outcome: str, seconds: float) -> None:
        self._reviews.labels(stage, outcome).inc()
        self._review_seconds.labels(stage).observe(seconds)

    def waits(self, controller: str, request: Key, reasons: Iterable[Reason]) -> None:
        """What was found of one object, instead of what was found of it before."""
        level = _LEVELS[controller]
        before = self._waiting.pop((level, request), Occurrences[Reason]())
        occurrences = Occurrences(reasons)
        if occurrences:
            self._waiting[level, request] = occurrences
        for reason in before.keys() | occurrences.keys():
            self._units_waiting.labels(level, reason.value).inc(occurrences[reason] - before[reason])

    def leads(self, is_leader: bool) -> None:
        """Who begins counts anew, and who ends knows nothing of what waits any more."""
        self._leads.set(is_leader)
        self._waiting.clear()
        self._units_waiting.clear()

    def watches(self, kinds: int, silent: int) -> None:
        self._kinds.set(kinds)
        self._silent.set(silent)

    def text(self) -> bytes:
        return generate_latest(self.registry)
