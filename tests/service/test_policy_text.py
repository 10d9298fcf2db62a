"""Policies in words, as everybody may read them who may read the policy."""

from . import fleet
from .client import Client


def test_a_policy_is_said_in_one_sentence_a_rule(client: Client) -> None:
    client.apply(
        fleet.manifest(
            "Policy",
            "careful",
            selector="environment.name == 'prod'",
            rules=[{"name": "two eyes", "approval": {"minApprovals": 2}}, {"retry": {"maxRetries": 1}}],
        )
    )
    viewer = client.token_with("reader", role="viewer")
    found = viewer.get("/v1/policies/careful/text")
    assert (found["policy"], found["text"]) == (
        "careful",
        "It binds targets with `environment.name == 'prod'`.",
    )
    assert [(rule["name"], rule["kind"]) for rule in found["rules"]] == [
        ("two eyes", "approval"),
        ("retry[1]", "retry"),
    ]
    assert found["rules"][0]["text"].startswith("A version needs 2 approvals in an environment")


def test_what_a_measurement_is_sent_is_not_said(client: Client) -> None:
    provider = {"type": "http", "url": "https://example.com/a-path", "headers": {"Authorization": "hunter22"}}
    metric = {"name": "health", "provider": provider, "successCondition": "result.ok"}
    client.apply(fleet.manifest("Policy", "measured", rules=[{"verification": {"metrics": [metric]}}]))
    answer = client.expect(200, "GET", "/v1/policies/measured/text")
    assert b"hunter22" not in answer.body
    assert b"a-path" not in answer.body


def test_a_policy_that_is_not_there_is_not_found(client: Client) -> None:
    assert "there is no policy" in client.expect(404, "GET", "/v1/policies/none/text").sentences
