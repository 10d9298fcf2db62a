"""Reading a scenario: all of the format, and every problem at once."""

from pathlib import Path

import pytest

from headgate.kernel import instants
from headgate.kernel.problems import Rejected
from headgate.kernel.spans import Span
from headgate.simulate import scenario
from headgate.simulate.model.times import When
from properties import scenario_writer

START = "2026-03-01T09:00:00Z"


def document(**spec: object) -> dict[str, object]:
    return {
        "apiVersion": "headgate.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": "example"},
        "spec": {"start": START, **spec},
    }


def problems(value: object) -> list[str]:
    with pytest.raises(Rejected) as refusal:
        scenario.read(value)
    return [str(problem) for problem in refusal.value.problems]


EVERY_STEP: list[dict[str, object]] = [
    {"publish": {"deployment": "api", "tag": "v1", "targetSelector": "true", "metadata": {"a": "b"}}},
    {"approve": {"deployment": "api", "tag": "v1", "environment": "prod", "user": "ana"}},
    {"reject": {"deployment": "api", "tag": "v1", "environment": "prod", "user": "ben"}},
    {"withdraw": {"deployment": "api", "tag": "v1", "environment": "prod", "user": "ben"}},
    {"apply": {"apiVersion": "headgate.dev/v1", "kind": "Resource", "metadata": {"name": "a"}}},
    {"delete": {"kind": "Resource", "name": "node-4"}},
    {"patch": {"kind": "PodCliqueSet", "name": "llm", "patch": {"spec": {"replicas": 3}}}},
    {"setVersion": {"deployment": "api", "tag": "v1", "status": "rejected"}},
    {"skip": {"policy": "p", "rule": "r", "deployment": "api", "tag": "v1", "reason": "hotfix"}},
    {"unskip": "the-skip"},
    {"freeze": {"name": "incident-42", "selector": "true", "reason": "outage", "expiresAt": "+3h"}},
    {"unfreeze": "incident-42"},
    {"signal": {"name": "pager", "value": {"firing": True}}},
    {"group": {"action": "skipMember", "environment": "prod", "resource": "node-3", "member": "kubelet"}},
    {"target": {"action": "retry", "target": "api/prod/node-1"}},
    {"resume": {"rule": "budget", "policy": "p"}},
    {"setVariable": {"resource": "node-1", "key": "size", "value": 3}},
    {"report": {"target": "api/prod/node-1", "status": "failure", "attempt": 1}},
    {"killPod": {"match": "pod.clique == 'frontend'", "count": 1}},
    {"cordon": {"nodes": 3}},
    {"uncordon": {"nodes": 3}},
    {"crash": "engine"},
    {"explain": {"target": "api/prod/node-3"}},
    {"snapshot": {}},
]


@pytest.mark.parametrize("step", EVERY_STEP, ids=lambda step: next(iter(step)))
def test_every_step_of_the_format_is_read(step: dict[str, object]) -> None:
    read = scenario.read(document(timeline=[{"at": "+20h", **step}]))
    assert read.timeline[0].kind == next(iter(step))
    assert read.timeline[0].at == When(offset=instants.hours(20))


def test_times_are_absolute_or_count_from_the_start() -> None:
    steps = [{"at": "2026-03-02T00:00:00Z", "crash": "engine"}, {"at": "+1h30m", "crash": "engine"}]
    read = scenario.read(document(until="+72h", timeline=steps))
    start = instants.parse(START)
    assert read.until == start + instants.hours(72)
    assert [instants.show(step.at.resolve(start)) for step in read.timeline] == [
        "2026-03-02T00:00:00Z",
        "2026-03-01T10:30:00Z",
    ]


def test_agents_and_cluster_have_the_defaults_of_the_format() -> None:
    read = scenario.read(document(agents=[{"match": "true"}], cluster={}))
    assert read.agents[0].duration == Span(instants.minutes(1))
    assert read.agents[0].outcomes == ("successful",)
    assert read.cluster.schedule == Span(instants.seconds(1))
    assert read.cluster.start == Span(instants.seconds(30))
    assert read.cluster.terminate == Span(instants.seconds(10))
    assert read.cluster.nodes is None
    assert read.seed == 1


def test_every_problem_is_said_at_once_with_its_path() -> None:
    broken = document(
        untill="+1h",
        agents=[{"match": "deployment.name ==", "duration": 8, "outcomes": ["maybe"]}],
        timeline=[
            {"publish": {"deployment": "api", "tag": "v1"}},
            {"at": "soon", "crash": "engine"},
            {"at": "+1h", "publsh": {}},
            {"at": "+1h", "publish": {"deployment": "api", "tagg": "v1"}},
            {"at": "+1h", "crash": "engine", "explain": {"target": "a/b/c"}},
        ],
    )
    said = problems(broken)
    paths = {line.split(":")[0] for line in said}
    assert paths >= {
        "spec.untill",
        "spec.agents[0].duration",
        "spec.agents[0].outcomes[0]",
        "spec.timeline[0].at",
        "spec.timeline[1].at",
        "spec.timeline[2].publsh",
        "spec.timeline[3].publish.tagg",
        "spec.timeline[3].publish.tag",
        "spec.timeline[4]",
    }
    assert any("did you mean publish" in line for line in said)
    assert any("successful, failure" in line for line in said)


def test_expressions_are_checked_when_the_scenario_is_read() -> None:
    said = problems(
        document(
            agents=[{"match": "deploymnt.name == 'x'"}],
            expect=[{"name": "a", "that": "result.jobs.size("}, {"name": "a", "that": "true"}],
        )
    )
    assert any(line.startswith("spec.agents[0].match") and "^" in line for line in said)
    assert any(line.startswith("spec.expect[0].that") for line in said)
    assert any(line.startswith("spec.expect[1].name") and "unique" in line for line in said)


def test_a_step_before_the_start_is_refused() -> None:
    said = problems(document(timeline=[{"at": "2026-02-01T00:00:00Z", "crash": "engine"}]))
    assert said == ["spec.timeline[0].at: is before the start, 2026-03-01T09:00:00Z"]


def test_a_relative_start_is_refused() -> None:
    assert problems(document(start="+1h")) == [
        "spec.start: must be an absolute time such as 2026-03-01T09:00:00Z"
    ]


def test_values_that_an_api_would_refuse_are_left_for_the_run() -> None:
    read = scenario.read(
        document(
            objects=[{"kind": "Nonsense"}],
            timeline=[{"at": "+0s", "publish": {"deployment": "api", "tag": 3, "targetSelector": "(("}}],
        )
    )
    assert len(read.objects) == 1
    assert len(read.timeline) == 1


def test_objects_come_from_files_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text("kind: A\n---\nkind: B\n")
    (tmp_path / "policies.json").write_text('[{"name": "one", "rules": []}, {"name": "two", "rules": []}]')
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "apiVersion: headgate.dev/v1\nkind: Scenario\nmetadata: {name: files}\n"
        f"spec:\n  start: {START}\n  files: [fleet.yaml, policies.json]\n"
    )
    assert [source.place for source in scenario.load(file).objects] == [
        "fleet.yaml:1",
        "fleet.yaml:3",
        "policies.json:1",
        "policies.json:1",
    ]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "apiVersion: headgate.dev/v1\nkind: Scenario\nmetadata: {name: files}\n"
        f"spec:\n  start: {START}\n  files:\n    - gone.yaml\n"
    )
    with pytest.raises(Rejected) as refusal:
        scenario.load(file)
    assert str(refusal.value) == f"{file}:7: spec.files[0]: cannot read gone.yaml: No such file or directory"


def test_a_scenario_written_out_reads_back_the_same() -> None:
    read = scenario.read(
        document(
            until="+3d",
            seed=7,
            objects=[{"name": "p", "rules": []}],
            agents=[{"match": "true", "duration": "8m", "outcomes": ["failure", "successful"]}],
            cluster={"nodes": 3},
            timeline=[{"at": f"+{number}h", **step} for number, step in enumerate(EVERY_STEP)],
            expect=[{"name": "none", "that": "result.jobs.size() == 0"}],
        )
    )
    from headgate.fleet.engine import manifests

    text = scenario_writer.to_yaml(read)
    again = scenario.read(manifests.read_documents(text, source="written")[0].value)
    assert again == read
