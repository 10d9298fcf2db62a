"""Functions and methods that an environment adds."""

from __future__ import annotations

from typing import Any

import pytest

from headgate import cel


class Pod:
    """An object that is no CEL value: its fields are read through a protocol, its methods are functions."""

    def __init__(self, name: str, ready: bool) -> None:
        self.name = name
        self.is_ready = ready

    def __cel_field__(self, name: str) -> object:
        return {"name": self.name, "labels": {"app": "web"}}[name]


def place(item: object, items: list[object]) -> int:
    return next(number for number, each in enumerate(items) if each is item)


def fail(message: str) -> bool:
    raise ValueError(message)


ENVIRONMENT = cel.CelEnvironment(
    {"pods": cel.list_of(cel.DYN), "pod": cel.DYN},
    [
        cel.Function("ready", (cel.DYN,), cel.BOOL, lambda pod: pod.is_ready, member=True),
        cel.Function("indexOf", (cel.DYN, cel.list_of(cel.DYN)), cel.INT, place),
        cel.Function("fail", (cel.STRING,), cel.BOOL, fail),
        cel.Function("double_of", (cel.INT,), cel.INT, lambda number: 2 * number),
        cel.Function("double_of", (cel.STRING,), cel.STRING, lambda text: text + text),
        cel.Function("truthy", (cel.DYN,), cel.BOOL, lambda value: value),
    ],
)
PODS = [Pod("a", True), Pod("b", False), Pod("c", True)]


def value(text: str, **bindings: Any) -> object:
    program = ENVIRONMENT.compile(text)
    exact, _ = program.evaluate_counted({"pods": PODS, **bindings})
    assert program.evaluate({"pods": PODS, **bindings}) == exact
    return exact


def test_a_method_gets_its_receiver_by_reference() -> None:
    assert value("pods.filter(p, p.ready())") == [PODS[0], PODS[2]]
    assert value("pod.ready()", pod=PODS[1]) is False


def test_a_function_gets_a_collection_by_reference() -> None:
    assert value("pods.map(p, indexOf(p, pods))") == [0, 1, 2]


def test_a_custom_function_stands_beside_a_method_of_the_same_name() -> None:
    assert value("'abc'.indexOf('c') == 2 && indexOf(pods[1], pods) == 1") is True


def test_overloads_are_chosen_by_the_values_given() -> None:
    assert value("[double_of(2), double_of('a'), double_of(pods.map(p, 'x')[0])]") == [4, "aa", "xx"]
    with pytest.raises(cel.EvaluationError, match=r"no such overload: double_of applied to \(double\)"):
        value("double_of(dyn(1.5))")


def test_fields_of_an_object_are_read_through_its_protocol() -> None:
    assert value("pod.name == 'a' && pod.labels.app == 'web' && pod['name'] == 'a'", pod=PODS[0]) is True
    assert (
        value("has(pod.name) && !has(pod.spec) && pod.?spec.orValue('none') == 'none'", pod=PODS[0]) is True
    )
    with pytest.raises(cel.MissingKey, match="no such key: 'spec'"):
        value("pod.spec", pod=PODS[0])


def test_an_object_equals_itself() -> None:
    assert value("pods[0] == pods[0] && pods[0] != pods[1] && pods[1] in pods") is True


def test_a_failure_is_an_evaluation_error_that_logic_can_absorb() -> None:
    with pytest.raises(cel.EvaluationError, match="fail: no luck"):
        value("fail('no luck')")
    assert value("fail('no luck') || true") is True


def test_a_function_that_breaks_its_promised_type_is_found_out() -> None:
    selector = ENVIRONMENT.selector("truthy(pod)")
    assert selector.matches({"pod": True})
    assert not selector.matches({"pod": 1})
    with pytest.raises(cel.EvaluationError, match="a bool is needed, not int"):
        value("truthy(pod) && true", pod=1)


def test_wrong_arguments_are_refused_before_evaluation() -> None:
    with pytest.raises(cel.CompileError, match="no matching overload for 'double_of'"):
        ENVIRONMENT.compile("double_of(true)")
    with pytest.raises(cel.CompileError, match="undeclared reference to 'unknown'"):
        ENVIRONMENT.compile("unknown(1)")
