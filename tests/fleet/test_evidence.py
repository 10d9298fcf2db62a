"""What is kept of many measurements: the first ones, the last ones, and how many were in between."""

from typing import Any

from headgate.fleet.state import evidence
from simulate.small import fleet, manifest, play, publish


def measured(count: int, measurements: list[Any]) -> Any:
    metric = {
        "name": "errors",
        "provider": {"type": "prometheus", "address": "http://metrics.example", "query": "errors"},
        "successCondition": "result.value < 100",
        "intervalSeconds": 60,
        "count": count,
    }
    policy = manifest("Policy", "careful", rules=[{"verification": {"metrics": [metric]}}])
    agents = [{"match": "true", "measurements": {"errors": measurements}}]
    (job,) = play(publish(), objects=[*fleet(), policy], agents=agents).jobs
    (progress,) = job.metrics
    return progress


def test_few_measurements_are_all_kept() -> None:
    found = measured(10, [{"value": number} for number in range(10)])
    assert [one.value for one in found.measurements] == [str(number) for number in range(10)]
    assert found.dropped == 0


def test_of_many_the_first_three_and_the_last_seven_are_kept() -> None:
    found = measured(50, [{"value": number} for number in range(50)])
    assert [one.value for one in found.measurements] == ["0", "1", "2", *(str(n) for n in range(43, 50))]
    assert found.dropped == 40


def test_an_answer_is_cut_at_four_kibibytes() -> None:
    found = measured(1, [{"value": 1, "note": "\u00e4" * 5_000}])
    (one,) = found.measurements
    assert evidence.LONGEST_ANSWER_BYTES == 4096
    assert 4_000 < len(one.answer.encode()) <= 4096
