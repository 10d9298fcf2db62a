"""`get`: kinds, filters and the five ways to print."""

import json

import pytest

from headgate.cli import kinds
from headgate.fleet.engine import manifests
from headgate.kernel import identifiers

from . import fleet, golden
from .conftest import Command
from .fake_api import FakeApi, problem


@pytest.mark.parametrize("name", ["resources", "resource", "res", "Resource"])
def test_a_kind_goes_by_all_its_names(api: FakeApi, run: Command, name: str) -> None:
    api.lists("resources", [fleet.RESOURCE])
    assert run("get", name, "-o", "name").stdout == "node-1\n"


def test_no_name_stands_for_two_kinds() -> None:
    names = [name for kind in kinds.ALL for name in dict.fromkeys(kind.names)]
    assert len(names) == len(set(names))


def test_an_unknown_kind_names_the_known_ones(run: Command) -> None:
    result = run("get", "pods")
    assert result.exit_code == 2
    assert result.stderr.startswith('KIND: is "pods"; allowed are workspaces, systems, resources,')


def test_lists_are_tables(api: FakeApi, run: Command) -> None:
    screens = []
    for place, items in (
        ("resources", [fleet.RESOURCE, {**fleet.RESOURCE, "name": "node-10", "kind": ""}]),
        ("versions", [fleet.VERSION]),
        ("policies", [fleet.POLICY]),
        ("jobs", fleet.JOBS),
        ("budgets", fleet.BUDGETS),
    ):
        api.lists(place, items)
        screens += [run("get", place, *options).stdout for options in ((), ("-o", "wide"))]
    golden.compare("get", "\n".join(screens))


@pytest.mark.parametrize("kind", kinds.ALL, ids=lambda kind: kind.collection)
def test_every_table_takes_a_document_without_any_field(
    api: FakeApi, run: Command, kind: kinds.Collection
) -> None:
    api.lists(kind.collection, [{}])
    for form in ("table", "wide", "json", "name"):
        assert run("get", kind.collection, "-o", form).exit_code == 0


def test_an_empty_list_says_so_beside_the_output(api: FakeApi, run: Command) -> None:
    api.lists("freezes", [])
    result = run("get", "freezes")
    assert (result.stdout, result.stderr) == ("", "no freezes\n")


def test_json_is_what_the_api_gives(api: FakeApi, run: Command) -> None:
    api.lists("versions", [fleet.VERSION])
    assert json.loads(run("get", "versions", "-o", "json").stdout) == {"items": [fleet.VERSION], "next": None}
    api.on("GET", "versions api/12e4567", fleet.VERSION)
    assert json.loads(run("get", "version", "api/12e4567", "-o", "json").stdout) == fleet.VERSION


@pytest.mark.parametrize(
    "document", [fleet.RESOURCE, fleet.VERSION, fleet.POLICY], ids=lambda one: one["name"]
)
def test_yaml_of_objects_can_be_applied(api: FakeApi, run: Command, document: dict[str, object]) -> None:
    kind = {"node-1": "resources", "api/12e4567": "versions", "careful": "policies"}[str(document["name"])]
    api.lists(kind, [document, document])
    text = run("get", kind, "-o", "yaml").stdout
    first, second = manifests.read_documents(text, source="-")
    assert first.value == second.value
    parsed = manifests.parse(first, identifiers.NamedIds("x"), 0)
    assert manifests.describe(parsed) == first.value
    assert first.value["metadata"]["id"] == document["id"]


def test_yaml_leaves_out_what_holds_its_default(api: FakeApi, run: Command) -> None:
    api.on("GET", "resources node-1", fleet.RESOURCE)
    golden.compare("get-yaml", run("get", "resource", "node-1", "-o", "yaml").stdout)


def test_filters_reach_the_server(api: FakeApi, run: Command) -> None:
    api.lists("jobs", [])
    run(
        "get",
        "jobs",
        "-l",
        "job.attempt > 1",
        "--filter",
        "status=failure",
        "--sort",
        "-createdAt",
        "--limit",
        "5",
    )
    assert api.last.query == {
        "cel": "job.attempt > 1",
        "status": "failure",
        "sort": "-createdAt",
        "limit": "5",
    }


def test_versions_of_a_deployment_are_asked_for_there(api: FakeApi, run: Command) -> None:
    api.lists("deployments api versions", [fleet.VERSION])
    assert run("get", "versions", "--filter", "deployment=api", "-o", "name").stdout == "api/12e4567\n"


def test_a_filter_that_the_kind_has_not_is_refused(run: Command) -> None:
    result = run("get", "resources", "--filter", "colour=red")
    assert result.exit_code == 2
    assert result.stderr == '--filter: is "colour"; there is none for resources\n'


def test_names_and_filters_do_not_go_together(run: Command) -> None:
    assert run("get", "resources", "node-1", "-l", "true").exit_code == 2


def test_a_bad_expression_is_said_as_the_server_says_it(api: FakeApi, run: Command) -> None:
    api.on("GET", "resources", problem(422, "invalid", ("cel", "1:10: unexpected end")))
    result = run("get", "resources", "-l", "resource.")
    assert (result.exit_code, result.stderr) == (1, "cel: 1:10: unexpected end\n")


def test_what_is_not_there_ends_with_one(api: FakeApi, run: Command) -> None:
    api.on("GET", "resources gone", problem(404, "there is no resource gone"))
    result = run("get", "resource", "gone")
    assert (result.exit_code, result.stderr) == (1, "there is no resource gone\n")


def test_kinds_without_a_place_of_their_own_are_looked_up_in_the_list(api: FakeApi, run: Command) -> None:
    api.lists("tokens", [{"id": "t-1", "name": "ci"}, {"id": "t-2", "name": "ana"}])
    assert json.loads(run("get", "token", "t-2", "-o", "json").stdout)["name"] == "ana"
    assert run("get", "token", "gone").exit_code == 1
