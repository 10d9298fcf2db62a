"""From a job to its order: there with the job, gone with its end, and everything in it that an agent needs."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from headgate.fleet.model.changes import Change, Put
from headgate.kernel import instants

from .fleet import ONE_NODE, agent, delete, deployment, policy, resource, thing, version
from .seen import TARGET, claim, only, order, rows
from .stage import ANA, HOME, Stage

V1 = version("api", "v1")


def test_a_job_and_its_order_are_there_with_the_same_commit(stage: Stage) -> None:
    stage.each(*ONE_NODE)
    seen = stage.picture_with(V1)
    assert seen.jobs == [f"{TARGET} v1"]
    found = order(stage)
    assert (found.agent, found.type, found.claims, found.cancelled) == ("runner", "pull", 0, False)


@pytest.mark.parametrize("status", ["successful", "failure", "skipped", "externalRunNotFound"])
def test_an_order_is_gone_with_the_end_of_its_job(status: str, stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    claimed = claim(stage)
    stage.report(TARGET, status)
    assert stage.store.dispatch(HOME, claimed.job) is None


def test_a_claimed_order_of_a_cancelled_job_stays_until_its_agent_has_stopped(stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    claimed = claim(stage)
    stage.submit(delete("Resource", "a"))
    (left,) = stage.store.cancelled_dispatches(["pull"])
    assert left.job == claimed.job
    assert not stage.store.renew_dispatch(claimed, stage.clock.now)


def test_a_claimed_order_of_a_job_that_timed_out_stays_until_its_agent_has_stopped(stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    claimed = claim(stage)
    stage.clock.advance(3_600)
    stage.look()
    assert only(stage.store)["status"] == "timedOut"
    (left,) = stage.store.cancelled_dispatches(["pull"])
    assert left.job == claimed.job


def test_an_order_that_nobody_claimed_goes_with_its_cancelled_job(stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    job = order(stage).job
    stage.submit(delete("Resource", "a"))
    assert stage.store.dispatch(HOME, job) is None


def without(agents: tuple[Change, ...], **spec: Any) -> tuple[Change, ...]:
    return (*agents, resource("a"), ONE_NODE[2], deployment("api", **{"jobAgent": None, **spec}))


NOBODY = {
    "no agent is registered": (
        (ONE_NODE[1], ONE_NODE[2], deployment("api")),
        "invalidJobAgent",
        "there is no job agent runner",
    ),
    "the agent that is named is not there": (
        (agent("other"), *ONE_NODE[1:]),
        "invalidJobAgent",
        "there is no job agent runner",
    ),
    "no agent is named": (without((agent(),)), "invalidJobAgent", "names no job agent"),
    "several agents match": (
        without((agent("one"), agent("two")), jobAgentSelector="jobAgent.type == 'pull'"),
        "invalidJobAgent",
        "several job agents match (one, two): jobAgent.type == 'pull'",
    ),
    "no agent matches": (
        without((agent("one"),), jobAgentSelector="jobAgent.type == 'exec'"),
        "invalidJobAgent",
        "no job agent matches",
    ),
    "a template cannot be computed": (
        (*ONE_NODE[:3], deployment("api", jobAgentConfig={"image": "${resource.config.image}:x"})),
        "invalidIntegration",
        "config.image: ${resource.config.image}",
    ),
    "the timeout is no number": (
        (*ONE_NODE[:3], deployment("api", jobAgentConfig={"timeoutSeconds": "soon"})),
        "invalidIntegration",
        'config.timeoutSeconds: is "soon"; allowed is a number of seconds above 0',
    ),
    "the timeout never ends": (
        (*ONE_NODE[:3], deployment("api", jobAgentConfig={"timeoutSeconds": 10**15})),
        "invalidIntegration",
        "config.timeoutSeconds: is the number 1000000000000000; allowed is",
    ),
}


@pytest.mark.parametrize("name", NOBODY, ids=lambda name: name.replace(" ", "-"))
def test_a_job_that_no_agent_can_be_given_ends_with_the_same_commit(name: str, stage: Stage) -> None:
    given, status, words = NOBODY[name]
    stage.each(*given)
    seen = stage.picture_with(V1)
    assert seen.jobs == []
    job = only(stage.store)
    assert job["status"] == status
    assert words in job["message"]
    assert stage.store.dispatch(HOME, job["id"]) is None
    assert stage.store.load(HOME).consumed == stage.store.head(HOME)


def test_retries_without_a_pause_of_what_cannot_be_delivered_come_to_an_end(stage: Stage) -> None:
    stage.each(
        *ONE_NODE[:3],
        deployment("api", jobAgentConfig={"image": "${variables.host}"}),
        policy("again", {"retry": {"maxRetries": 70}}),
    )
    stage.submit(V1)
    stage.picture()
    found = rows(stage.store)
    assert len(found) == 71
    assert {job["status"] for job in found} == {"invalidIntegration"}


def test_a_job_that_says_nothing_until_its_deadline_has_timed_out(stage: Stage) -> None:
    stage.each(*ONE_NODE[:3], deployment("api", jobAgentConfig={"timeoutSeconds": 90}), V1)
    assert order(stage).deadline_at == stage.clock.now + instants.seconds(90)
    stage.clock.advance(89)
    stage.look()
    assert only(stage.store)["status"] == "pending"
    stage.clock.advance(1)
    stage.look()
    job = only(stage.store)
    assert job["status"] == "timedOut"
    assert "until the deadline of the job, 2026-03-02T09:01:30Z" in job["message"]
    assert stage.store.dispatch(HOME, job["id"]) is None


def test_without_a_timeout_a_job_has_an_hour(stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    assert order(stage).deadline_at == stage.clock.now + instants.hours(1)


def test_the_order_says_everything_that_an_agent_needs(stage: Stage) -> None:
    stage.each(
        agent(
            "runner",
            type="exec",
            config={"inputs": {"A": "agent", "B": "agent"}, "gone": 1, "image": "${version.config.image}"},
            overridable=["inputs", "gone", "size"],
        ),
        resource("a", config={"host": "a.example"}, metadata={"zone": "1"}, variables={"size": 3}),
        ONE_NODE[2],
        deployment(
            "api",
            jobAgentConfig={"inputs": {"B": "deployment", "C": "deployment"}, "gone": None},
            variables={"colour": "red", "size": 1},
        ),
    )
    stage.submit(
        Put(
            thing(
                "Version",
                "api/v7",
                deployment="api",
                tag="v7",
                config={"image": "api:7"},
                jobAgentConfig={
                    "inputs": {"C": "version", "host": "to ${resource.config.host}"},
                    "size": "${variables.size}",
                },
            )
        )
    )
    found = order(stage)
    document = msgspec.json.decode(found.document)
    assert found.type == "exec"
    assert document["agent"] == {"name": "runner", "type": "exec"}
    assert document["config"] == {
        "image": "api:7",
        "inputs": {"A": "agent", "B": "deployment", "C": "version", "host": "to a.example"},
        "size": 3,
    }
    assert document["variables"] == {"colour": "red", "size": 3}
    shown = document["job"]
    assert {key: shown[key] for key in shown if key not in ("id", "versionId")} == {
        "deployment": "api",
        "environment": "prod",
        "resource": "a",
        "version": "v7",
        "attempt": 1,
        "kind": "deploy",
        "group": None,
        "createdAt": "2026-03-02T09:00:00Z",
    }
    assert shown["id"] == found.job
    assert document["version"]["tag"] == "v7"
    assert document["resource"]["metadata"] == {"zone": "1"}
    assert document["environment"]["name"] == "prod"
    assert document["deployment"]["name"] == "api"
    assert document["traceParent"] is None


def test_the_trace_of_the_publication_goes_with_the_job(stage: Stage) -> None:
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    stage.each(*ONE_NODE)
    stage.submit(V1, caller=msgspec.structs.replace(ANA, trace_parent=parent))
    assert msgspec.json.decode(order(stage).document)["traceParent"] == parent
