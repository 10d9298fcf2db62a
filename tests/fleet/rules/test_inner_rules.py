"""Rules that act inside a rollout: dependency, retry, rollback, verification."""

import pytest

from headgate.fleet.rules import deployment_dependency, retry, rollback, verification
from headgate.fleet.rules.deployment_dependency import DeploymentDependency, Upstream
from headgate.fleet.rules.retry import Attempt, Retry
from headgate.fleet.rules.rollback import Rollback
from headgate.fleet.rules.verification import Http, Metric, MetricState, ProviderError, Sleep
from headgate.kernel import instants
from headgate.kernel.instants import Instant

NINE = instants.parse("2026-03-02T09:00:00Z")
DRAIN = DeploymentDependency("deployment.name == 'node-drain'")


def after(seconds: int) -> int:
    return NINE + instants.seconds(seconds)


def test_a_dependency_that_matches_nothing_is_denied_naming_the_expression() -> None:
    verdict = deployment_dependency.judge(DRAIN, [])
    assert verdict.outcome == "denied"
    assert "deployment.name == 'node-drain'" in verdict.message


def test_a_dependency_names_every_upstream_that_is_missing_and_its_status() -> None:
    upstreams = [
        Upstream("node-drain", True, "succeeded", after(10)),
        Upstream("os-patch", False, "job inProgress since 09:05"),
        Upstream("firmware", False, "no job yet"),
    ]
    verdict = deployment_dependency.judge(DRAIN, upstreams)
    assert verdict.outcome == "pending"
    assert verdict.message == "waits for os-patch (job inProgress since 09:05), firmware (no job yet)"


def test_a_dependency_is_satisfied_when_the_last_upstream_was() -> None:
    upstreams = [Upstream("a", True, "", after(10)), Upstream("b", True, "", after(5))]
    assert deployment_dependency.judge(DRAIN, upstreams).satisfied_at == after(10)


def dependency(upstream: str, downstream: str | None = None) -> DeploymentDependency:
    applies_to = f"deployment.name == '{downstream}'" if downstream else None
    return DeploymentDependency(f"deployment.name == '{upstream}'", applies_to)


def test_a_cycle_is_found_among_the_deployments_there_are() -> None:
    rules = [dependency("a", "b"), dependency("b", "c"), dependency("c", "a")]
    views = [{"name": name} for name in ("a", "b", "c", "d")]
    assert deployment_dependency.find_cycle(rules, views) == ["a", "c", "b", "a"]
    assert deployment_dependency.find_cycle(rules, views[1:]) is None
    assert deployment_dependency.find_cycle(rules[:2], views) is None


def test_no_deployment_depends_on_itself() -> None:
    assert deployment_dependency.find_cycle([dependency("a")], [{"name": "a"}, {"name": "b"}]) is None


def test_a_rule_that_reads_the_resource_is_left_for_later() -> None:
    rules = [dependency("a", "b"), DeploymentDependency("resource.kind == 'x'")]
    assert deployment_dependency.find_cycle(rules, [{"name": "a"}, {"name": "b"}]) is None


def test_a_cycle_of_spelled_out_names_is_certain_without_any_deployment() -> None:
    assert deployment_dependency.find_certain_cycle([dependency("a", "b"), dependency("b", "a")]) == [
        "a",
        "b",
        "a",
    ]
    by_layer = DeploymentDependency("deployment.metadata['layer'] == 'a'", "deployment.name == 'a'")
    assert deployment_dependency.find_certain_cycle([dependency("a", "b"), by_layer]) is None


def plan(rules: list[Retry], *attempts: tuple[str, int]) -> tuple[bool, int | None]:
    result = retry.judge(rules, [Attempt(status, after(seconds)) for status, seconds in attempts])
    return result.retry, result.at


def test_without_a_rule_there_is_one_attempt() -> None:
    assert plan([], ("failure", 0)) == (False, None)


def test_retries_wait_their_backoff_from_completion_and_run_out() -> None:
    rule = Retry(max_retries=2, backoff_seconds=60)
    assert plan([rule], ("failure", 10)) == (True, after(70))
    assert plan([rule], ("failure", 10), ("timedOut", 100)) == (True, after(160))
    assert plan([rule], ("failure", 10), ("timedOut", 100), ("failure", 200)) == (False, None)


def test_only_the_named_statuses_are_retried() -> None:
    assert plan([Retry(5)], ("cancelled", 0)) == (False, None)
    assert plan([Retry(5, retry_on_statuses=("cancelled",))], ("cancelled", 0)) == (True, after(0))


def test_every_retry_rule_must_allow_and_the_longest_backoff_counts() -> None:
    patient, eager = Retry(3, backoff_seconds=90), Retry(1, backoff_seconds=5)
    assert plan([patient, eager], ("failure", 0)) == (True, after(90))
    assert plan([patient, eager], ("failure", 0), ("failure", 100)) == (False, None)


def test_exponential_backoff_doubles_up_to_its_cap() -> None:
    rule = Retry(100, backoff_seconds=10, backoff_strategy="exponential", max_backoff_seconds=60)
    waits = [retry.backoff(rule, number) // 1_000_000 for number in (1, 2, 3, 4, 99)]
    assert waits == [10, 20, 40, 60, 60]


@pytest.mark.parametrize(
    ("rule", "status", "verification_failed", "fires"),
    [
        (Rollback(), "failure", False, True),
        (Rollback(), "timedOut", False, True),
        (Rollback(), "cancelled", False, False),
        (Rollback(), "successful", True, True),
        (Rollback(), "successful", False, False),
        (Rollback(on_verification_failure=True), "failure", False, False),
        (Rollback(on_verification_failure=True), "successful", True, True),
        (Rollback(on_verification_failure=False), "failure", True, True),
        (Rollback(on_verification_failure=False), "successful", True, False),
        (Rollback(on_job_statuses=("cancelled",)), "cancelled", False, True),
        (Rollback(on_job_statuses=("cancelled",)), "failure", False, False),
        (Rollback(on_job_statuses=("failure",)), "successful", True, False),
    ],
)
def test_a_rollback_fires_for_the_causes_it_names(
    rule: Rollback, status: str, verification_failed: bool, fires: bool
) -> None:
    assert rollback.fires(rule, status, verification_failed) is fires


HTTP = Http("https://example.test/health")


def measured(metric: Metric, state: MetricState, result: object, now: Instant) -> MetricState:
    return verification.after(metric, state, verification.find(metric, result), now)


def run(metric: Metric, *results: object) -> str:
    state = MetricState()
    for number, result in enumerate(results):
        state = measured(metric, state, result, after(number * metric.interval_seconds))
    return verification.status(metric, state)


OK, BAD, ODD = {"ok": True}, {"ok": False}, {"no": 1}


def test_without_thresholds_a_metric_passes_after_its_count_and_fails_at_once() -> None:
    metric = Metric("m", HTTP, "result.ok", count=3)
    assert run(metric, OK, OK) == "running"
    assert run(metric, OK, OK, OK) == "passed"
    assert run(metric, OK, BAD) == "failed"


def test_failures_up_to_the_threshold_are_tolerated() -> None:
    metric = Metric("m", HTTP, "result.ok", count=3, failure_threshold=1)
    assert run(metric, OK, BAD, OK) == "passed"
    assert run(metric, BAD, BAD) == "failed"


def test_a_success_threshold_is_reached_by_passes_in_a_row() -> None:
    metric = Metric("m", HTTP, "result.ok", count=5, success_threshold=2, failure_threshold=5)
    assert run(metric, OK, OK) == "passed"
    assert run(metric, OK, BAD, OK, BAD) == "running"
    assert run(metric, OK, BAD, OK, BAD, OK) == "failed"


def test_a_failure_condition_leaves_the_rest_undecided() -> None:
    metric = Metric("m", HTTP, "result.ok", count=2, failure_condition="result.code >= 500")
    assert run(metric, {"ok": False, "code": 500}) == "failed"
    assert run(metric, {"ok": False, "code": 404}) == "running"
    assert (
        run(metric, {"ok": False, "code": 404}, {"ok": True, "code": 1}, {"ok": True, "code": 1}) == "passed"
    )


@pytest.mark.parametrize("nothing", [ProviderError("connection refused"), ODD])
def test_what_decides_nothing_is_bounded(nothing: object) -> None:
    metric = Metric("m", HTTP, "result.ok", count=2)
    assert run(metric, nothing, OK, OK) == "passed"
    assert run(metric, nothing) == "running"
    assert run(metric, nothing, nothing) == "failed"


def test_a_metric_that_has_ended_measures_no_more() -> None:
    metric = Metric("m", HTTP, "result.ok")
    ended = measured(metric, MetricState(), OK, NINE)
    assert measured(metric, ended, BAD, after(60)) is ended
    assert verification.next_measurement_at(metric, ended, NINE) is None


def test_measurements_are_one_interval_apart_and_sleep_waits_first() -> None:
    metric = Metric("m", HTTP, "result.ok", interval_seconds=30, count=2)
    assert verification.next_measurement_at(metric, MetricState(), NINE) == NINE
    once = measured(metric, MetricState(), OK, after(5))
    assert verification.next_measurement_at(metric, once, NINE) == after(35)
    nap = Metric("nap", Sleep(90))
    assert verification.next_measurement_at(nap, MetricState(), NINE) == after(90)
    assert run(nap, {}) == "passed"
