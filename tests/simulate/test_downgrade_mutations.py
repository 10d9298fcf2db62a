"""An engine that goes back without a cause is found out, whatever rules, orders and rollbacks there are elsewhere."""

from typing import Any

import pytest

from headgate.fleet.cycles import jobs
from headgate.fleet.state import candidates, state

from .mutations import Step, broken_by, policy
from .small import fleet, publish


def _nothing_is_too_old(patched: pytest.MonkeyPatch) -> None:
    """Neither what is older than what runs nor what was put back here."""

    def deployed_version(known: Any, target: Any) -> Any:
        target.record.rolled_back.clear()
        return known.version(target.record.deployed)

    patched.setattr(candidates, "watermark_by", lambda deployed: None)
    patched.setattr(candidates, "deployed_version", deployed_version)


PAUSED = {"at": "+10m", "setVersion": {"deployment": "api", "tag": "v2", "status": "paused"}}
TWO = (publish("v1"), publish("v2", at="+5m"))


def test_an_older_version_behind_one_that_is_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken_by(monkeypatch, _nothing_is_too_old, *TWO, PAUSED) == ["NoSilentDowngrade"]


def test_a_rollback_rule_of_another_deployment_is_no_excuse(monkeypatch: pytest.MonkeyPatch) -> None:
    other = policy("back", {"rollback": {}}, selector="deployment.name == 'web'")
    found = broken_by(
        monkeypatch, _nothing_is_too_old, *TWO, PAUSED, objects=[*fleet(1, "api", "web"), other]
    )
    assert found == ["NoSilentDowngrade"]


def test_a_rollback_rule_that_has_not_fired_is_no_excuse(monkeypatch: pytest.MonkeyPatch) -> None:
    found = broken_by(
        monkeypatch, _nothing_is_too_old, *TWO, PAUSED, objects=[*fleet(), policy("back", {"rollback": {}})]
    )
    assert found == ["NoSilentDowngrade"]


def test_an_order_that_was_carried_out_is_no_excuse_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    back = {"at": "+10m", "target": {"action": "rollback", "target": "api/prod/node-1", "user": "ana"}}
    third = publish("v3", at="+20m")
    paused = {"at": "+30m", "setVersion": {"deployment": "api", "tag": "v3", "status": "paused"}}
    found = broken_by(monkeypatch, _nothing_is_too_old, *TWO, back, third, paused)
    assert found == ["NoSilentDowngrade"]


def failing(tag: str) -> list[Step]:
    return [{"match": f"version.tag == '{tag}'", "measurements": {"errors": [{"error": "too many"}]}}]


VERIFIED = [
    *fleet(),
    policy(
        "verify",
        {
            "verification": {
                "metrics": [
                    {
                        "name": "errors",
                        "intervalSeconds": 60,
                        "count": 1,
                        "provider": {"type": "http", "url": "http://example.com"},
                        "successCondition": "result.ok",
                    }
                ]
            }
        },
    ),
]
THREE = (publish("v1"), publish("v2", at="+10m"), publish("v3", at="+20m"))


def test_a_rollback_that_goes_too_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        original = jobs.order_rollback

        def order(known: state.State, target: Any, from_version: str, to: Any, cause: str) -> None:
            oldest = target.deployment.versions[0].id
            original(known, target, from_version, oldest, cause)

        patched.setattr(jobs, "order_rollback", order)

    objects = [*VERIFIED, policy("back", {"rollback": {"onVerificationFailure": True}})]
    found = broken_by(monkeypatch, fault, *THREE, objects=objects, agents=failing("v3"))
    assert found == ["NoSilentDowngrade"]


def test_a_rollback_that_its_rule_does_not_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule speaks of failed jobs, not of measurements."""

    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(jobs, "fires_rollback", lambda *_, **__: True)

    objects = [*VERIFIED, policy("back", {"rollback": {"onJobStatuses": ["failure"]}})]
    found = broken_by(monkeypatch, fault, *THREE, objects=objects, agents=failing("v3"))
    assert found == ["NoSilentDowngrade"]
