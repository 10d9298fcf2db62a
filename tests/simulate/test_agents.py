from headgate.fleet.rules.verification import Http, Metric
from headgate.kernel import instants
from headgate.kernel.spans import Span
from headgate.promises.books.mirror import Mirror
from headgate.simulate.agents import Agents, plausible
from headgate.simulate.scenario import AgentEntry

from .synthetic import job

PROVIDER = Http("https://metrics.example/")


def agents(**fields: object) -> Agents:
    return Agents([AgentEntry(**fields)], Mirror())  # type: ignore[arg-type]


def test_an_agent_serves_a_job_to_its_end_as_it_began() -> None:
    served = agents(duration=Span(instants.minutes(8)), outcomes=("failure", "successful"))
    assert served.ending(job(attempt=1)).status == "failure"
    assert served.ending(job(attempt=2)).status == "successful"
    assert served.ending(job(attempt=9)).status == "successful"
    assert served.ending(job(attempt=1)).after == instants.minutes(8)


def test_a_timeout_shorter_than_the_job_ends_it() -> None:
    ending = agents(duration=Span(instants.minutes(8)), timeout=Span(instants.minutes(5))).ending(job())
    assert (ending.status, ending.after) == ("timedOut", instants.minutes(5))
    assert ending.message == "no answer within 5m"


def test_a_match_that_fails_to_evaluate_does_not_match() -> None:
    chosen = Agents([AgentEntry(match="resource.metadata['gone'] == 'x'", message="no")], Mirror())
    assert chosen.ending(job()).message is None


def test_measurements_are_counted_for_each_job_and_metric() -> None:
    measured = agents(measurements={"errors": ({"value": 1}, {"error": "no route"})})
    metric = Metric("errors", PROVIDER, "result.value == 1")
    first, second, third = (measured.measure(job(), "rule", metric) for _ in range(3))
    assert first.result == {"value": 1}
    assert second.error == "no route"
    assert third.error == "no route"
    assert measured.measure(job("node-2"), "rule", metric).result == {"value": 1}


def test_an_ordinary_answer_is_found_for_ordinary_conditions() -> None:
    for condition in ("result.ok", "result.statusCode == 200", "result.value < 0.01", "result.value >= 99"):
        assert plausible(Metric("m", PROVIDER, condition)).is_known, condition


def test_an_answer_does_not_meet_the_failure_condition() -> None:
    answer = plausible(Metric("m", PROVIDER, "result.value >= 0", failure_condition="result.value == 0"))
    assert answer.is_known
    assert isinstance(answer.result, dict)
    assert answer.result["value"] != 0


def test_a_condition_that_nothing_ordinary_meets_is_said_to_be_unknown() -> None:
    assert not plausible(Metric("m", PROVIDER, "result.colour == 'mauve'")).is_known
