"""`-o jsonpath`, `-o custom-columns`, `-o csv` and `--no-headers`: what scripts ask for."""

import pytest

from headgate.cli import chosen_fields

from . import fleet
from .conftest import Command
from .fake_api import FakeApi

DOCUMENT = {
    "items": [
        {"name": "a", "state": "waiting", "labels": {"app.kubernetes.io/name": "x"}, "n": 1},
        {"name": "b", "state": "running", "n": 2, "on": [True, None]},
    ]
}


@pytest.mark.parametrize(
    ("template", "printed"),
    [
        ("{.items[*].name}", "a b"),
        (".items[*].name", "a b"),
        ("{.items[0].name}", "a"),
        ("{.items[-1].n}", "2"),
        ("{.items[7].n}", ""),
        ("{.items[0].labels['app.kubernetes.io/name']}", "x"),
        ("{.items[?(@.state=='running')].name}", "b"),
        ('{.items[?(@.state != "running")].name}', "a"),
        ("{.items[?(@.n == 2)].name}", "b"),
        ("{.items[1].on}", "[true, null]"),
        ('{range .items[*]}{.name}{"\\t"}{.state}{"\\n"}{end}', "a\twaiting\nb\trunning\n"),
        ("name={.items[0].name}.", "name=a."),
    ],
)
def test_a_template_is_filled(template: str, printed: str) -> None:
    assert chosen_fields.fill(chosen_fields.template(template), DOCUMENT) == printed


@pytest.mark.parametrize(
    "template", ["", "{.items[}", "{.a", "{range .items[*]}{.name}", "{.name}{end}", "{.a..b}", "{.a[?(@)]}"]
)
def test_a_template_that_cannot_be_read_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        chosen_fields.template(template)


def test_columns_of_ones_own_choice(api: FakeApi, run: Command) -> None:
    api.lists("resources", [fleet.RESOURCE, {"name": "bare"}])
    lines = run("get", "res", "-o", "custom-columns=NAME:.name,CLUSTER:.metadata.cluster").stdout.splitlines()
    assert [line.split() for line in lines] == [
        ["NAME", "CLUSTER"],
        ["node-1", "prod-east"],
        ["bare", "<none>"],
    ]


def test_single_fields_of_one_object(api: FakeApi, run: Command) -> None:
    api.on("GET", "resources node-1", fleet.RESOURCE)
    assert run("get", "res", "node-1", "-o", "jsonpath={.kind}").stdout.strip() == fleet.RESOURCE["kind"]


def test_comma_separated_values_hold_whatever_a_cell_holds(api: FakeApi, run: Command) -> None:
    api.lists("signals", [{"name": 'a,"b"', "value": {"firing": True}}])
    assert run("get", "signals", "-o", "csv").stdout == 'NAME,SET,EXPIRES,VALUE\n"a,""b""",,,firing=true\n'
    assert run("get", "signals", "-o", "csv", "--no-headers").stdout.startswith('"a,')


def test_a_table_without_titles(api: FakeApi, run: Command) -> None:
    api.lists("resources", [fleet.RESOURCE])
    assert run("get", "res", "--no-headers").stdout.startswith("node-1 ")


def test_a_form_that_is_none_names_those_there_are(run: Command) -> None:
    result = run("get", "res", "-o", "xml")
    assert result.exit_code == 2
    assert (
        "allowed are table, wide, json, yaml, name, csv, jsonpath=EXPRESSION, custom-columns="
        in result.stderr
    )


def test_a_column_without_a_path_is_refused_before_the_server_is_asked(run: Command) -> None:
    result = run("get", "res", "-o", "custom-columns=NAME")
    assert result.exit_code == 2
    assert "TITLE:PATH" in result.stderr
