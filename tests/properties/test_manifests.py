"""Random objects of every kind survive being written and read, as manifests and as scenario files."""

from typing import Any

from hypothesis import given

from headgate.fleet.engine import manifests
from headgate.kernel import instants, yaml_text
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.problems import Rejected
from headgate.simulate import scenario

from . import fleets, scenario_writer
from .effort import examples
from .objects import Document

NOW = instants.parse(fleets.START)


CIRCLE = "has dependencies in a circle"
"""Rules may be drawn so; a policy with such rules is refused, and reads back as nothing."""


def _objects(document: Document) -> list[Any]:
    steps = fleets.steps_of(document)
    written = [*document["spec"]["objects"], *(step["apply"] for step in steps if "apply" in step)]
    return [item for item in map(_parsed, written) if item is not None]


def _parsed(document: Document) -> Any:
    try:
        return manifests.parse(document, NamedIds(), NOW)
    except Rejected as refusal:
        if any(CIRCLE not in problem.message for problem in refusal.problems):
            raise
        return None


@examples(80)
@given(fleets.scenarios())
def test_an_object_that_is_described_reads_back_equal(document: Document) -> None:
    for item in _objects(document):
        assert manifests.parse(manifests.describe(item), NamedIds(), NOW) == item


@examples(40)
@given(fleets.scenarios())
def test_an_object_survives_yaml_text(document: Document) -> None:
    for item in _objects(document):
        text = yaml_text.write([manifests.describe(item)])
        (read,) = manifests.read_documents(text, source="object.yaml")
        assert manifests.parse(read, NamedIds(), NOW) == item


@examples(40)
@given(fleets.scenarios())
def test_a_scenario_that_is_written_as_a_file_reads_back_equal(document: Document) -> None:
    found = scenario.read(document)
    text = scenario_writer.to_yaml(found)
    (read,) = manifests.read_documents(text, source="scenario.yaml")
    assert scenario.read(read.value) == found


@examples(40)
@given(fleets.scenarios())
def test_the_objects_of_a_fleet_fit_together(document: Document) -> None:
    text = yaml_text.write(document["spec"]["objects"])
    problems = manifests.validate(manifests.read_documents(text, source="fleet.yaml"))
    assert [each for each in problems if "jobAgent" not in each.path and CIRCLE not in each.message] == []
