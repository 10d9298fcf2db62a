"""What explain says of a target that waits: what changes it, whether only a person can, and what that person can do."""

from typing import Any

import pytest

from headgate.simulate.model.result import Explained

from .small import fleet, manifest, play, publish

HOOKS = {"preHookSelector": "deployment.name == 'drain'", "postHookSelector": "deployment.name == 'uncordon'"}


def bracket(*more: dict[str, Any], **fields: object) -> dict[str, Any]:
    spec = {"deploymentSelector": "true", "readinessMode": "immediate", **HOOKS, **fields}
    return manifest("Policy", "cycles", rules=[{"name": "cycle", "deploymentBracket": spec}, *more])


def nodes(count: int = 1) -> list[dict[str, Any]]:
    return fleet(count, "drain", "kubelet", "containerd", "uncordon")


def ask(target: str, at: str) -> dict[str, Any]:
    return {"at": at, "explain": {"target": target}}


HOOK_VERSIONS = (publish(deployment="drain"), publish(deployment="uncordon"))


def explained(*timeline: dict[str, Any], **spec: Any) -> Explained:
    """The last answer of the run."""
    return play(*timeline, **spec).explanations[-1]


def test_a_rollback_that_is_queued_behind_its_cycle_says_what_it_waits_for() -> None:
    found = explained(
        *HOOK_VERSIONS,
        publish(deployment="kubelet", at="+1m"),
        publish("v2", deployment="kubelet", at="+1h"),
        publish("v2", deployment="containerd", at="+1h"),
        {
            "at": "+70m",
            "rejectVersion": {"deployment": "kubelet", "tag": "v2", "reason": "leaks", "rollback": True},
        },
        ask("kubelet/prod/node-1", "+71m"),
        objects=[*nodes(), bracket()],
        agents=[{"match": "deployment.name == 'containerd'", "duration": "1h"}],
    )
    assert (found.state, found.is_blocked) == ("waiting", False)
    assert found.changes == "when the group here goes on or ends"


def test_a_cycle_whose_hook_has_no_version_left_waits_for_a_person() -> None:
    found = explained(
        *HOOK_VERSIONS,
        publish(deployment="kubelet", at="+1m"),
        {"at": "+3m", "rejectVersion": {"deployment": "uncordon", "tag": "v1", "reason": "leaks"}},
        ask("kubelet/prod/node-1", "+1h"),
        ask("uncordon/prod/node-1", "+1h"),
        objects=[*nodes(), bracket()],
        agents=[{"match": "deployment.name == 'kubelet'", "duration": "10m"}],
        until="+2h",
    )
    assert (found.state, found.is_blocked) == ("waiting", True)
    assert found.changes == "when a person decides: see what you can do"
    publishing, skipping, aborting = found.commands
    assert publishing == "headgate publish uncordon TAG"
    assert skipping.startswith("headgate skip-member ")
    assert aborting.startswith("headgate abort ")


def test_a_window_that_no_version_of_a_hook_closes_waits_for_a_person() -> None:
    found = explained(
        publish(deployment="drain"),
        publish(deployment="kubelet", at="+1m"),
        ask("kubelet/prod/node-1", "+1h"),
        objects=[*nodes(), bracket()],
        until="+2h",
    )
    assert (found.state, found.is_blocked) == ("waiting", True)
    assert found.commands[0] == "headgate publish uncordon TAG"


def test_a_hook_that_waits_for_a_time_is_no_matter_for_a_person() -> None:
    cooling = manifest(
        "Policy",
        "slow hooks",
        selector="deployment.name == 'uncordon'",
        rules=[{"versionCooldown": {"intervalSeconds": 36000}}],
    )
    found = explained(
        *HOOK_VERSIONS,
        publish(deployment="kubelet", at="+1m"),
        publish("v2", deployment="uncordon", at="+1h"),
        {"at": "+1h", "setVersion": {"deployment": "uncordon", "tag": "v1", "status": "paused"}},
        publish("v2", deployment="kubelet", at="+1h"),
        ask("kubelet/prod/node-1", "+2h"),
        objects=[*nodes(), bracket(), cooling],
    )
    assert (found.state, found.is_blocked) == ("waiting", False)


def test_behind_a_stopped_line_a_newer_version_that_waits_for_others_changes_nothing() -> None:
    budget = {"name": "none may fail", "failureBudget": {"maxFailed": 0}}
    found = explained(
        *HOOK_VERSIONS,
        publish(deployment="kubelet", at="+1m"),
        publish("v2", deployment="kubelet", at="+2h", dependencies={"containerd": "version.tag == 'v9'"}),
        ask("kubelet/prod/node-2", "+3h"),
        objects=[*nodes(2), bracket(budget, ONE_AT_A_TIME)],
        agents=[{"match": "deployment.name == 'kubelet'", "outcomes": ["failure"]}],
        until="+4h",
    )
    assert (found.state, found.is_blocked) == ("waiting", True)
    assert "headgate resume 'none may fail' --policy cycles --environment prod" in found.commands


ONE_AT_A_TIME = {
    "name": "one",
    "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 1},
}


def test_who_is_under_two_brackets_is_told_which_policies_to_change() -> None:
    other = manifest(
        "Policy",
        "other",
        rules=[{"deploymentBracket": {"deploymentSelector": "true", "readinessMode": "immediate"}}],
    )
    found = explained(
        *HOOK_VERSIONS,
        publish(deployment="kubelet"),
        ask("kubelet/prod/node-1", "+1h"),
        objects=[*nodes(), bracket(), other],
    )
    assert found.is_blocked
    assert found.commands == ("headgate get policies cycles -o yaml", "headgate get policies other -o yaml")


def test_who_waits_for_the_slot_of_a_failed_cycle_can_do_something_about_that_cycle() -> None:
    found = explained(
        *HOOK_VERSIONS,
        publish(deployment="kubelet", at="+1m"),
        ask("kubelet/prod/node-2", "+1h"),
        objects=[*nodes(2), bracket(ONE_AT_A_TIME)],
        agents=[{"match": "deployment.name == 'kubelet'", "outcomes": ["failure"]}],
        until="+2h",
    )
    assert (found.state, found.is_blocked) == ("waiting", True)
    words = [command.split()[1] for command in found.commands]
    assert words == ["retry", "skip-member", "abort", "release-slot", "skip"]


def test_who_waits_for_the_slot_of_a_cycle_that_goes_on_waits_for_no_person() -> None:
    found = explained(
        *HOOK_VERSIONS,
        publish(deployment="kubelet", at="+1m"),
        ask("kubelet/prod/node-2", "+10m"),
        objects=[*nodes(2), bracket(ONE_AT_A_TIME)],
        agents=[{"match": "deployment.name == 'kubelet'", "duration": "1h"}],
    )
    assert (found.state, found.is_blocked) == ("waiting", False)
    assert [command.split()[1] for command in found.commands] == ["skip"]


@pytest.mark.parametrize("rollback", [False, True])
def test_who_runs_a_rejected_version_says_so_and_what_replaces_it(rollback: bool) -> None:
    reject = {"deployment": "api", "tag": "v1", "reason": "leaks", "user": "ana", "rollback": rollback}
    found = explained(publish(), {"at": "+1h", "rejectVersion": reject}, ask("api/prod/node-1", "+2h"))
    assert "v1 was rejected by ana: leaks" in found.message
    assert (found.state, found.is_blocked) == (("waiting", True) if rollback else ("upToDate", False))
    assert found.commands == ("headgate publish api TAG",)


def test_who_runs_a_rejected_version_that_nobody_took_back_can_go_back() -> None:
    reject = {"deployment": "api", "tag": "v2", "reason": "leaks", "user": "ana"}
    found = explained(
        publish(),
        publish("v2", at="+1h"),
        {"at": "+2h", "rejectVersion": reject},
        ask("api/prod/node-1", "+3h"),
    )
    assert found.commands == ("headgate rollback api/prod/node-1", "headgate publish api TAG")


def test_since_when_a_slot_is_held_is_the_same_after_a_crash() -> None:
    """The slot was taken when the limit came, in the middle of a cycle; and again after it was released."""
    limit = manifest("Policy", "limit", rules=[ONE_AT_A_TIME])
    timeline = [
        *HOOK_VERSIONS,
        publish(deployment="kubelet", at="+1m"),
        {"at": "+20m", "apply": limit},
        ask("kubelet/prod/node-2", "+25m"),
        {"at": "+30m", "crash": "engine"},
        ask("kubelet/prod/node-2", "+31m"),
    ]
    result = play(
        *timeline,
        publish("v2", deployment="kubelet", at="+24m", targetSelector="resource.name == 'node-2'"),
        objects=[*nodes(2), bracket()],
        agents=[{"match": "deployment.name == 'kubelet'", "duration": "1h"}],
    )
    before, after = result.explanations
    assert [line.message for line in before.rules] == [line.message for line in after.rules]


def test_a_failed_rollback_names_what_a_person_can_do_there_and_to_whoever_waits_for_its_slot() -> None:
    reject = {"deployment": "api", "tag": "v2", "reason": "leaks", "rollback": True}
    asked = [ask(f"api/prod/node-{number}", "+2h") for number in (1, 2)]
    failed, waits = play(
        publish(deployment="api"),
        publish("v2", deployment="api", at="+30m"),
        {"at": "+1h", "rejectVersion": reject},
        {"at": "+60m20s", "report": {"target": "api/prod/node-1", "status": "failure"}},
        *asked,
        objects=[*fleet(2, "api"), manifest("Policy", "careful", rules=[ONE_AT_A_TIME])],
    ).explanations
    again = ("headgate retry api/prod/node-1", "headgate adopt api/prod/node-1 TAG")
    assert (failed.state, waits.state, waits.is_blocked) == ("failed", "waiting", True)
    assert failed.commands == again
    assert waits.commands[:2] == again
