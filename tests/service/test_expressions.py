"""Expressions that try to run away: refused with a sentence or stopped, and those beside them are answered meanwhile."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from . import fleet, waiting
from .client import Answer, Client

TEN = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
REASONABLE_SECONDS = 5.0


def nested(inner: str, levels: int) -> str:
    for level in range(levels):
        inner = f"{TEN}.all(x{level}, {inner})"
    return inner


REFUSED = {
    "parentheses": "(" * 2_000 + "true" + ")" * 2_000,
    "lists": "[" * 1_500 + "]" * 1_500 + " == []",
    "chain": "true" + " && true" * 20_000,
    "fields": "resource" + ".a" * 1_500 + " == 1",
    "ternaries": "true ? " * 300 + "true" + " : false" * 300,
    "loops": nested("true", 20),
    "repetition": "'a'.matches('(a{1,1000}){1,1000}')",
    "pattern": "'a'.matches('" + "(a|b)" * 10_000 + "')",
    "text": "'" + "a" * 1_000_000 + "' == ''",
    "number": "9" * 5_000 + " > 1",
    "duration": "duration('" + "9" * 300 + "s') > duration('1s')",
    "escape": "'\\ud800' == ''",
    "words": "resource.name resource.name",
    "nothing": " ",
    "a number": "1 + 1",
}
STOPPED = {
    "loops": nested("resource.name != ''", 5),
    "backtracking": "'" + "a" * 3_000 + "!'.matches('^(a+)+$')",
    "texts": f"{TEN}.map(a, {TEN}.map(b, '" + "x" * 3_000 + "' + string(a))).size() > 0",
    "replacing": "'" + "a" * 1_000 + "'.replace('a', '" + "b" * 2_500 + "').size() > 0",
    "width": "'%1000000000d'.format([1]) != ''",
    "precision": "'%.1000000000f'.format([1.0]) != ''",
    "range": "lists.range(1000000000).size() > 0",
    "minus": "-" * 3_000 + "1 == 1",
    "not": "!" * 3_000 + "true",
    "product": "9223372036854775807 * 9223372036854775807 > 0",
}


@contextmanager
def others_are_answered(client: Client) -> Iterator[None]:
    """Somebody asks for something small all the time, and never waits long."""
    is_over = threading.Event()
    longest = [0.0]

    def ask() -> None:
        while not is_over.is_set():
            begin = time.monotonic()
            client.call("GET", "/v1/resources/beside")
            longest[0] = max(longest[0], time.monotonic() - begin)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
    assert longest[0] < REASONABLE_SECONDS


def places() -> dict[str, Callable[[Client, str], Answer]]:
    """Wherever somebody may write an expression that is true or false."""

    def put(path: str, body: Callable[[str], Any]) -> Callable[[Client, str], Answer]:
        return lambda client, text: client.call("PUT", path, body(text))

    def rule(kind: str, **fields: Any) -> Callable[[Client, str], Answer]:
        def body(text: str) -> Any:
            spec = {key: text if value is ... else value for key, value in fields.items()}
            return {"rules": [{kind: spec}]}

        return put("/v1/policies/written", body)

    def metric(text: str) -> Any:
        provider = {"type": "http", "url": "http://127.0.0.1:9/"}
        checked = {"name": "m", "provider": provider, "successCondition": text}
        return {"rules": [{"verification": {"metrics": [checked]}}]}

    def publish(client: Client, text: str) -> Answer:
        tag = f"v{time.monotonic_ns()}"
        return client.call("POST", "/v1/deployments/api/versions", {"tag": tag, "targetSelector": text})

    def depend(client: Client, text: str) -> Answer:
        tag = f"v{time.monotonic_ns()}"
        return client.call(
            "POST", "/v1/deployments/api/versions", {"tag": tag, "dependencies": {"web": text}}
        )

    return {
        "environment": put("/v1/environments/written", lambda text: {"resourceSelector": text}),
        "deployment": put("/v1/deployments/written", lambda text: {"resourceSelector": text}),
        "agent selector": put("/v1/deployments/written", lambda text: {"jobAgentSelector": text}),
        "policy": put("/v1/policies/written", lambda text: {"selector": text, "rules": []}),
        "freeze": put("/v1/freezes/written", lambda text: {"selector": text, "reason": "r"}),
        "variables": put("/v1/variables/written", lambda text: {"selector": text}),
        "version selector": rule("versionSelector", selector=...),
        "bracket": rule("deploymentBracket", deploymentSelector=..., readinessMode="immediate"),
        "concurrency": rule("resourceConcurrency", groupSelector=..., limitType="count", limitValue=1),
        "gate": put("/v1/policies/written", lambda text: {"rules": [{"gate": {"when": [text]}}]}),
        "verification": put("/v1/policies/written", metric),
        "target selector": publish,
        "dependency": depend,
    }


@pytest.fixture
def small(client: Client) -> Client:
    """A few things for expressions to be about."""
    client.apply(
        fleet.manifest("JobAgent", "puller"),
        fleet.manifest("Environment", "prod", resourceSelector="true"),
        fleet.manifest("Deployment", "api", resourceSelector="true", jobAgent="puller"),
        fleet.manifest("Deployment", "web", resourceSelector="true", jobAgent="puller"),
        *(fleet.resource(name) for name in ("beside", "one", "two")),
    )
    return client


@pytest.mark.parametrize("place", places())
def test_what_cannot_be_evaluated_within_bounds_is_refused_where_it_is_written(
    small: Client, place: str
) -> None:
    write = places()[place]
    before = small.get("/v1/export")
    with others_are_answered(small):
        for name, text in REFUSED.items():
            answer = write(small, text)
            assert answer.status == 422, f"{name}: {answer!r}"
            assert len(answer.json["errors"]) >= 1
            assert len(answer.body) < 20_000
    assert small.get("/v1/export") == before


@pytest.mark.parametrize("place", places())
def test_what_runs_away_is_stopped(small: Client, place: str) -> None:
    write = places()[place]
    with others_are_answered(small):
        for name, text in STOPPED.items():
            answer = write(small, text)
            assert answer.status in (200, 201, 422), f"{name}: {answer!r}"


@pytest.mark.parametrize(
    "collection", ["resources", "deployments", "versions", "jobs", "release-targets", "audit"]
)
def test_a_filter_that_runs_away_is_refused(small: Client, collection: str) -> None:
    with others_are_answered(small):
        for text in (*REFUSED.values(), *STOPPED.values()):
            if len(text) < 8_000 and text.strip():
                answer = small.call("GET", f"/v1/{collection}", cel=text)
                assert answer.status in (200, 400, 422), f"{text[:80]}: {answer!r}"
                if answer.status == 422:
                    assert answer.json["errors"][0]["path"] == "cel"


def test_a_filter_that_takes_too_many_steps_says_so(small: Client) -> None:
    answer = small.call("GET", "/v1/resources", cel=nested("resource.name != ''", 5))
    assert answer.status == 422
    assert "steps" in answer.sentences


def test_a_runaway_selector_is_refused(small: Client) -> None:
    many = [{"name": f"r{number}"} for number in range(100)]
    small.expect(200, "PUT", "/v1/resources/set", {"provider": "p", "resources": many})
    answer = small.call(
        "PUT", "/v1/environments/written", {"resourceSelector": nested("resource.name != ''", 5)}
    )
    assert answer.status == 422


TEMPLATES = {
    "loops": "${" + nested("resource.name != ''", 6) + "}",
    "texts": "${" + f"{TEN}.map(a, {TEN}.map(b, {TEN}.map(c, '" + "x" * 3_000 + "')))" + "}",
    "many": "${resource.name}" * 2_000,
    "range": "${lists.range(1000000000)}",
    "unclosed": "${" * 500,
    "many unclosed": "${" * 50_000,
    "unclosed literals": "${" + '"\\' * 50_000,
    "nothing": "${}",
    "missing": "${resource.nothing.at.all}",
    "secret": "${resource.__class__.__mro__}",
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_that_runs_away_ends_its_job_with_a_sentence(small: Client, name: str) -> None:
    """Or is refused where it is written."""
    with others_are_answered(small):
        answer = small.call("PATCH", "/v1/deployments/api", {"jobAgentConfig": {"image": TEMPLATES[name]}})
        assert answer.status in (200, 422), answer
        if answer.status == 200:
            small.expect(201, "POST", "/v1/deployments/api/versions", {"tag": "v1"})
            waiting.until(lambda: len(fleet.jobs(small, "api")) >= 3)
            for job in fleet.jobs(small, "api"):
                assert job["status"] in ("pending", "invalidIntegration", "invalidJobAgent"), job
                assert job["status"] == "pending" or job["message"], job


def test_a_plan_that_takes_too_long_is_cut(small: Client) -> None:
    """Whoever may look may plan, and one plan is made at a time."""
    runaway = {"gate": {"when": [nested("resource.name != ''", 5)]}}
    wanted = fleet.manifest(
        "Policy", "slow", rules=[runaway, {"gate": {"when": ["now > timestamp('2100-01-01T00:00:00Z')"]}}]
    )
    with others_are_answered(small):
        answer = small.call(
            "POST", "/v1/plan", {"manifests": [wanted], "version": {"deployment": "api", "tag": "v1"}}
        )
    assert answer.status == 200, answer
