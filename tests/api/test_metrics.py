from typing import cast

from headgate.api.http.metrics import Metrics
from headgate.fleet.model.records import Job
from headgate.kernel.decisions import Reason
from headgate.runtime.worker import wall_clock
from headgate.runtime.workspace_engine import AfterCommit, WorkspaceEngine
from headgate.store import Workspace

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


class KeeperOfOne:
    """A workspace as the worker shows it to its meter."""

    def __init__(self, name: str) -> None:
        self.workspace = Workspace("id", name, "", 0)
        self.position = 99
        self.is_leader = True

    def live_jobs(self) -> dict[str, int]:
        return {"inProgress": 7}

    def waiting_counts(self) -> dict[Reason, int]:
        return {Reason.PAUSED: 2}


def tell(metrics: Metrics, workspace: str) -> None:
    ended = Job("j", "api", "prod", "node", "v", "v1", (), 1, "deploy", 0, status="successful")
    outcome = AfterCommit(has_written=True, kinds={"Put": 1}, created={"deploy": 1}, ended=[ended])
    metrics.batch(workspace, outcome, 0.004, 12)
    metrics.kept(cast(WorkspaceEngine, KeeperOfOne(workspace)), 5, wall_clock() - 1_500_000)


def test_the_worker_reports_what_it_does() -> None:
    metrics = Metrics()
    tell(metrics, "default")
    found = figures(metrics)
    assert found['headgate_changes_accepted_total{kind="Put",workspace="default"}'] == 1
    assert found['headgate_decisions_total{workspace="default"}'] == 1
    assert found['headgate_jobs_created_total{kind="deploy",workspace="default"}'] == 1
    assert found['headgate_jobs_ended_total{status="successful",workspace="default"}'] == 1
    assert found['headgate_jobs{status="inProgress",workspace="default"}'] == 7
    assert found['headgate_units_waiting{level="fleet",reason="Paused",workspace="default"}'] == 2
    assert found['headgate_commit_seconds_sum{workspace="default"}'] == 0.004
    assert found['headgate_batch_commands_sum{workspace="default"}'] == 12
    assert found['headgate_replica_position{workspace="default"}'] == 99
    assert found['headgate_lease_held{workspace="default"}'] == 1
    assert found['headgate_queue_depth{workspace="default"}'] == 5
    assert found["headgate_oldest_pending_order_seconds"] >= 1.5


def test_a_removed_workspace_leaves_no_figures() -> None:
    metrics = Metrics()
    tell(metrics, "gone")
    tell(metrics, "stays")
    metrics.forgotten("gone")
    assert b"gone" not in metrics.render()
    assert b"stays" in metrics.render()


def test_two_services_in_a_process_count_apart() -> None:
    first, second = Metrics(), Metrics()
    tell(first, "default")
    assert 'headgate_decisions_total{workspace="default"}' not in figures(second)
