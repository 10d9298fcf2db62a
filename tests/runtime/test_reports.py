"""From an agent's reports to the job's end, whatever order they come in."""

from __future__ import annotations

from typing import Any

import pytest

from headgate.fleet.model.changes import JobReported, Measured
from headgate.kernel import instants
from headgate.kernel.problems import Rejected

from .fleet import ONE_NODE, TWO_NODES, delete, policy, version
from .seen import TARGET, only, rows
from .stage import HOME, Stage

V1 = version("api", "v1")


@pytest.mark.parametrize("late", ["failure", "inProgress", "successful", "cancelled"])
def test_what_arrives_after_the_end_changes_nothing_and_is_not_kept(late: str, stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    job = stage.job(TARGET)
    stage.submit(JobReported(job, "successful", "done"))
    before, head = rows(stage.store), stage.store.head(HOME)
    stage.submit(JobReported(job, late, "something else", "run-2", {"log": "elsewhere"}))
    assert rows(stage.store) == before
    assert stage.store.head(HOME) == head


def test_a_job_that_the_engine_has_forgotten_keeps_its_status(stage: Stage) -> None:
    """It is history by then: only the store knows it."""
    stage.each(*ONE_NODE, V1)
    old = stage.job(TARGET)
    stage.submit(JobReported(old, "successful"))
    stage.submit(version("api", "v2"))
    stage.report(TARGET)
    head = stage.store.head(HOME)
    stage.submit(JobReported(old, "failure"))
    found = stage.store.job(HOME, old)
    assert found is not None
    assert found["status"] == "successful"
    assert stage.store.head(HOME) == head


def test_a_report_that_says_nothing_new_is_not_kept(stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    told = JobReported(stage.job(TARGET), "inProgress", "half way", "run-1", {"log": "http://x"})
    stage.submit(told)
    head = stage.store.head(HOME)
    stage.submit(told)
    stage.submit(JobReported(told.job, "inProgress"))
    assert stage.store.head(HOME) == head


@pytest.mark.parametrize(
    "news",
    [{"message": "further"}, {"external_id": "run-2"}, {"links": {"plan": "http://y"}}],
    ids=lambda news: next(iter(news)),
)
def test_a_report_that_says_something_new_is_kept(news: dict[str, Any], stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    told = JobReported(stage.job(TARGET), "inProgress", "half way", "run-1", {"log": "http://x"})
    stage.submit(told)
    head = stage.store.head(HOME)
    stage.submit(JobReported(told.job, "inProgress", **news))
    assert stage.store.head(HOME) > head


def test_what_a_running_job_says_reaches_the_stored_job(stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    stage.report(TARGET, "inProgress", message="10%")
    stage.report(TARGET, "inProgress", message="20%", links={"log": "http://x"})
    job = only(stage.store)
    assert (job["message"], job["links"]) == ("20%", {"log": "http://x"})


def test_reports_out_of_order_end_the_job_at_the_first_end(stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    job = stage.job(TARGET)
    with stage.held():
        for status in ("failure", "inProgress", "queued", "successful"):
            stage.worker.report(HOME, JobReported(job, status))
    stage.picture()
    assert only(stage.store)["status"] == "failure"


def test_a_report_on_a_job_that_never_was_changes_nothing(stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    head = stage.store.head(HOME)
    stage.submit(JobReported("00000000-0000-4000-8000-000000000000", "successful"))
    assert stage.store.head(HOME) == head


def test_an_unknown_status_is_refused_by_name(stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    with pytest.raises(Rejected, match="status: is 'done'; allowed are"):
        stage.report(TARGET, "done")


def test_a_report_after_the_job_was_cancelled_changes_nothing(stage: Stage) -> None:
    stage.each(*TWO_NODES, V1)
    job = stage.job(TARGET)
    stage.submit(delete("Resource", "a"))
    head = stage.store.head(HOME)
    stage.submit(JobReported(job, "successful"))
    found = stage.store.job(HOME, job)
    assert found is not None
    assert found["status"] == "cancelled"
    assert stage.store.head(HOME) == head


def test_a_measurement_is_handed_out_whenever_it_is_due(stage: Stage) -> None:
    """Also when nothing else happens at that moment."""
    metric = {
        "name": "health",
        "provider": {"type": "http", "url": "http://127.0.0.1/health"},
        "successCondition": "result.ok",
        "intervalSeconds": 60,
        "count": 3,
    }
    due: list[tuple[str, int]] = []

    def note(workspace: str, outcome: Any) -> None:
        due.extend((one.metric.name, stage.clock.now) for one, _ in outcome.measurements)

    stage.worker.after_commit = note
    stage.each(*ONE_NODE, policy("checks", {"verification": {"metrics": [metric]}}), V1)
    job = stage.job(TARGET)
    stage.report(TARGET)
    begin = stage.clock.now
    for count in (1, 2, 3):
        assert due == [("health", begin + instants.seconds(60 * turn)) for turn in range(count)]
        rule = stage.ask(lambda view: view.engine.jobs[job].metrics[0].rule)
        stage.submit(Measured(job, rule, "health", {"ok": True}))
        stage.clock.advance(60)
        stage.look()
    assert stage.ask(lambda view: view.engine.jobs[job].verification) == "passed"
