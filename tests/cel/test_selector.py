"""Selectors: an expression asked whether it is true."""

from __future__ import annotations

import pytest

from headgate import cel

RECORD = cel.map_of(cel.STRING, cel.DYN)
ENVIRONMENT = cel.CelEnvironment({"resource": RECORD, "deployment": RECORD})
NODE = {"resource": {"name": "n1", "ready": True, "metadata": {"zone": "a"}}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("resource.metadata.zone == 'a'", True),
        ("resource.metadata.zone == 'b'", False),
        ("resource.metadata.missing == 'a'", False),
        ("resource.metadata.missing != 'a'", False),
        ("!(resource.metadata.missing == 'a')", False),
        ("resource.metadata.missing == 'a' || resource.ready", True),
        ("resource.ready || resource.metadata.missing == 'a'", True),
        ("resource.ready && resource.metadata.missing == 'a'", False),
        ("!(resource.metadata.missing == 'a' && resource.name == 'other')", True),
        ("(resource.metadata.missing == 'a' || resource.ready) && resource.name == 'n1'", True),
        ("deployment.name == 'x' || resource.ready", True),
        ("resource.name", False),
        ("resource.ready", True),
        ("!resource.name", False),
        ("resource.name && resource.ready", False),
        ("resource.name.nothing.at.all", False),
        ("!(resource.name in ['n2', 'n3'])", True),
        ("!(resource.metadata in ['n2', 'n3'])", True),
        ("resource.name in ['n0','n1','n2','n3','n4','n5','n6','n7','n8','n9']", True),
        ("!(resource.metadata in ['n0','n1','n2','n3','n4','n5','n6','n7','n8','n9'])", True),
        ("cel.bind(x, resource.missing, true)", True),
        ("resource.missing.exists(x, true) || resource.ready", True),
    ],
)
def test_a_selector_matches_only_what_it_is_true_of(text: str, expected: bool) -> None:
    assert ENVIRONMENT.selector(text).matches(NODE) is expected


def test_judge_raises_what_matches_takes_for_false() -> None:
    selector = ENVIRONMENT.selector("resource.metadata.missing == 'a'")
    with pytest.raises(cel.MissingKey, match="no such key: 'missing'"):
        selector.judge(NODE)
    with pytest.raises(cel.EvaluationError, match="a bool is needed, not string"):
        ENVIRONMENT.selector("resource.name").judge(NODE)
    assert ENVIRONMENT.selector("resource.ready").judge(NODE) is True
    assert ENVIRONMENT.selector("resource.name == 'x'").judge(NODE) is False


def test_a_selector_knows_what_it_reads() -> None:
    selector = ENVIRONMENT.selector("resource.metadata['zone'] == deployment.zone")
    assert selector.paths == {("resource", "metadata", "zone"), ("deployment", "zone")}
    assert selector.roots == {"resource", "deployment"}
    assert selector.text == "resource.metadata['zone'] == deployment.zone"


def test_a_selector_over_a_costly_loop_is_false_rather_than_slow() -> None:
    selector = ENVIRONMENT.selector("resource.l.all(a, resource.l.all(b, resource.l.all(c, true)))")
    assert selector.matches({"resource": {"l": [1] * 10}})
    assert not selector.matches({"resource": {"l": [1] * 1000}})
