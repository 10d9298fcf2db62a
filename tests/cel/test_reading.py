"""What an expression reads and calls."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headgate import cel

RECORD = cel.map_of(cel.STRING, cel.DYN)
ENVIRONMENT = cel.CelEnvironment(
    {
        "resource": RECORD,
        "deployment": RECORD,
        "targets": cel.list_of(cel.DYN),
        "now": cel.TIMESTAMP,
        "key": cel.STRING,
    },
    [cel.Function("ready", (cel.DYN,), cel.BOOL, bool, member=True)],
)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("true", []),
        ("resource.metadata['cluster'] == 'a'", ["resource.metadata.cluster"]),
        ("resource.name == deployment.name", ["resource.name", "deployment.name"]),
        ("has(resource.metadata.zone)", ["resource.metadata.zone"]),
        ("resource.?metadata[?'zone'].orValue('')", ["resource.metadata.zone"]),
        ("resource.metadata[key] == 'a'", ["resource.metadata", "key"]),
        ("resource.list[0].name == 'a'", ["resource.list"]),
        ("resource.tags.exists(t, t.name == resource.name)", ["resource.tags", "resource.name"]),
        ("targets.all(resource, resource.ready())", ["targets"]),
        ("cel.bind(m, resource.metadata, m.zone == 'a')", ["resource.metadata"]),
        ("size(resource) > 0", ["resource"]),
    ],
)
def test_paths_are_the_fields_that_are_read(text: str, paths: list[str]) -> None:
    program = ENVIRONMENT.compile(text)
    assert {".".join(path) for path in program.paths} == set(paths)
    assert program.roots == {path.split(".")[0] for path in paths}


@pytest.mark.parametrize(
    ("text", "functions"),
    [
        ("resource.name == 'a' && !(1 + 1 > 2)", set()),
        ("targets.filter(t, t.ready()).size() > 1", {"ready", "size"}),
        ("math.greatest(1, 2) > [2, 1].sortBy(x, -x)[0]", {"math.greatest", "sortBy"}),
        ("now > timestamp('2030-01-01T00:00:00Z')", {"timestamp"}),
    ],
)
def test_functions_are_those_the_author_wrote(text: str, functions: set[str]) -> None:
    assert ENVIRONMENT.compile(text).functions == functions


def test_timestamp_literals_are_found_in_order_of_time() -> None:
    text = "now > timestamp('2031-01-01T00:00:00Z') || now < timestamp('2030-01-01T00:00:00+01:00')"
    assert ENVIRONMENT.compile(text).timestamps == (
        datetime(2029, 12, 31, 23, tzinfo=UTC),
        datetime(2031, 1, 1, tzinfo=UTC),
    )
