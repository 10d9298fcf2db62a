from headgate.api.metrics import Metrics

from .machinery import app_of, route, send


def figures(metrics: Metrics) -> dict[str, float]:
    found = {}
    for line in metrics.render().decode().splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            found[name] = float(value)
    return found


def test_requests_are_counted_by_operation_and_status() -> None:
    app = app_of(route("GET", "/v1/x/{name}", operation="getX"))
    send(app, "GET", "/v1/x/a")
    send(app, "GET", "/v1/x/b")
    send(app, "GET", "/v1/x/b?colour=red")
    send(app, "GET", "/v1/elsewhere")
    found = figures(app.metrics)
    assert found['headgate_http_requests_total{operation="getX",status="200"}'] == 2
    assert found['headgate_http_requests_total{operation="getX",status="400"}'] == 1
    assert found['headgate_http_requests_total{operation="unmatched",status="404"}'] == 1
    assert found['headgate_http_request_seconds_count{operation="getX"}'] == 3


def test_the_page_is_for_prometheus() -> None:
    answer = send(app_of(), "GET", "/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert b"# TYPE headgate_http_requests_total counter" in answer.body


def test_the_worker_reports_what_it_does() -> None:
    metrics = Metrics()
    metrics.change_accepted("default", "Put")
    metrics.decided("default", 3)
    metrics.job_created("default", "deploy")
    metrics.job_ended("default", "successful")
    metrics.jobs_live("default", "inProgress", 7)
    metrics.committed("default", 0.004, 12)
    metrics.replica_at("default", 99)
    metrics.lease_held("default", True)
    metrics.queue_depth("default", 5)
    metrics.oldest_pending_order(1.5)
    found = figures(metrics)
    assert found['headgate_changes_accepted_total{kind="Put",workspace="default"}'] == 1
    assert found['headgate_decisions_total{workspace="default"}'] == 3
    assert found['headgate_jobs_created_total{kind="deploy",workspace="default"}'] == 1
    assert found['headgate_jobs_ended_total{status="successful",workspace="default"}'] == 1
    assert found['headgate_jobs{status="inProgress",workspace="default"}'] == 7
    assert found['headgate_commit_seconds_sum{workspace="default"}'] == 0.004
    assert found['headgate_batch_commands_sum{workspace="default"}'] == 12
    assert found['headgate_replica_position{workspace="default"}'] == 99
    assert found['headgate_lease_held{workspace="default"}'] == 1
    assert found['headgate_queue_depth{workspace="default"}'] == 5
    assert found["headgate_oldest_pending_order_seconds"] == 1.5


def test_a_removed_workspace_leaves_no_figures() -> None:
    metrics = Metrics()
    metrics.change_accepted("gone", "Put")
    metrics.decided("gone")
    metrics.jobs_live("gone", "inProgress", 7)
    metrics.decided("stays")
    metrics.forget_workspace("gone")
    assert b"gone" not in metrics.render()
    assert b"stays" in metrics.render()


def test_two_services_in_a_process_count_apart() -> None:
    first, second = Metrics(), Metrics()
    first.decided("default")
    assert 'headgate_decisions_total{workspace="default"}' not in figures(second)
