"""Environments in the order in which versions pass through them."""

from headgate.fleet.engine import manifests
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model.changes import Put
from headgate.fleet.state import promotion
from headgate.kernel import identifiers


def fleet(*progressions: tuple[str, str]) -> Engine:
    """`(environment, selector of those before it)` each."""
    engine = Engine(identifiers.NamedIds("promotion"))
    documents: list[dict[str, object]] = [
        {"kind": "Resource", "metadata": {"name": "c"}, "spec": {"kind": "Cluster"}},
        *(
            {"kind": "Environment", "metadata": {"name": name}, "spec": {"resourceSelector": "true"}}
            for name in ("canary", "dev", "prod", "staging")
        ),
        {"kind": "Deployment", "metadata": {"name": "api"}, "spec": {"resourceSelector": "true"}},
    ]
    for environment, before in progressions:
        rule = {"environmentProgression": {"dependsOnEnvironmentSelector": before}}
        documents.append(
            {
                "kind": "Policy",
                "metadata": {"name": f"into {environment}"},
                "spec": {"selector": f"environment.name == '{environment}'", "rules": [rule]},
            }
        )
    for document in documents:
        parsed = manifests.parse(
            {"apiVersion": manifests.API_VERSION, **document}, identifiers.NamedIds("x"), 0
        )
        assert not isinstance(parsed, manifests.ForeignObject)
        engine.apply(Put(parsed), 0)
    return engine


def test_without_a_rule_they_go_by_name() -> None:
    assert promotion.order(fleet().state) == ["canary", "dev", "prod", "staging"]


def test_each_comes_behind_those_it_waits_for() -> None:
    engine = fleet(
        ("staging", "environment.name == 'dev'"),
        ("canary", "environment.name == 'staging'"),
        ("prod", "environment.name in ['canary', 'staging']"),
    )
    assert promotion.order(engine.state) == ["dev", "staging", "canary", "prod"]


def test_those_that_wait_for_each_other_come_last_by_name() -> None:
    engine = fleet(("staging", "environment.name == 'prod'"), ("prod", "environment.name == 'staging'"))
    assert promotion.order(engine.state) == ["canary", "dev", "prod", "staging"]
