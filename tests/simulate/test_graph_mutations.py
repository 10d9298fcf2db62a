"""The promises of graphs can be broken: one function of the planner is made wrong, and its checker says so."""

from types import ModuleType
from typing import Any

import pytest

from headgate.graph.reconcile import instances, judging, labels, planner_cache, propagate, rollouts, writing
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason
from headgate.kernel.objects import Update

from .mutations import Step, broken_by


def definition(image: str, *gates: str) -> Step:
    made: Step = {
        "id": "copies",
        "forEach": [{"n": "${schema.spec.names}"}],
        "template": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "${n}"},
            "data": {"image": image},
        },
    }
    if gates:
        made["propagateWhen"] = list(gates)
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "ResourceGraphDefinition",
        "metadata": {"name": "app"},
        "spec": {
            "schema": {
                "apiVersion": "v1",
                "kind": "App",
                "group": "example.com",
                "spec": {"names": "[]string"},
            },
            "resources": [made],
        },
    }


APP: Step = {
    "apiVersion": "example.com/v1",
    "kind": "App",
    "metadata": {"name": "demo"},
    "spec": {"names": ["a", "b", "c"]},
}


def edited(image: str, *gates: str, at: str = "+10m") -> Step:
    return {"at": at, "apply": definition(image, *gates)}


def _gates_let_everything_pass(patched: pytest.MonkeyPatch) -> None:
    patched.setattr(judging.GateEvaluator, "ask", lambda *_: judging.PASS)


@pytest.mark.parametrize("gates", [(), ("${signals['go'].value == true}",)])
def test_a_gate_that_is_shut(monkeypatch: pytest.MonkeyPatch, gates: tuple[str, ...]) -> None:
    """Without gates of their own, items go in waves."""
    signal = {"at": "+0s", "signal": {"name": "go", "value": True}}
    shut = {"at": "+5m", "signal": {"name": "go", "value": False}}
    never = {"behaviors": [{"match": "object.kind == 'ConfigMap' && revision == 2", "never": "ready"}]}
    found = broken_by(
        monkeypatch,
        _gates_let_everything_pass,
        signal,
        shut,
        edited("app:2", *gates),
        objects=[definition("app:1", *gates), APP],
        cluster=never,
        until="+1h",
    )
    assert "NoGateSkipped" in found


def _nothing_is_paused(patched: pytest.MonkeyPatch) -> None:
    deaf = ModuleType("labels")
    deaf.__dict__.update(vars(labels))
    deaf.__dict__["is_paused"] = lambda _: False
    for module in (instances, rollouts):
        patched.setattr(module, "labels", deaf)


def test_a_pause_that_nobody_heeds(monkeypatch: pytest.MonkeyPatch) -> None:
    note = {"metadata": {"annotations": {labels.PROPAGATION: labels.PAUSED}}}
    pause = {"at": "+5m", "patch": {"kind": "App", "name": "demo", "patch": note}}
    template = definition("app:2")["spec"]["resources"]
    edit = {
        "kind": "ResourceGraphDefinition",
        "name": "app",
        "patch": {"spec": {"resources": template}},
    }
    found = broken_by(
        monkeypatch,
        _nothing_is_paused,
        pause,
        {"at": "+10m", "patch": edit},
        objects=[definition("app:1"), APP],
        until="+1h",
    )
    assert found == ["StopIsAbsolute"]


def test_an_object_that_goes_back_to_an_older_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        original = writing.Writer.write

        def write(self: writing.Writer, *what: Any) -> None:
            original(self, *what)
            action = self.actions[-1]
            if isinstance(action, Update):
                action.object.annotations[labels.REVISION] = "0"

        patched.setattr(writing.Writer, "write", write)

    found = broken_by(monkeypatch, fault, edited("app:2"), objects=[definition("app:1"), APP], until="+1h")
    assert "NoStaleWrite" in found


def test_an_edit_that_nobody_carries_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(writing.Writer, "write", lambda *_: None)

    found = broken_by(monkeypatch, fault, edited("app:2"), objects=[definition("app:1"), APP], until="+1h")
    assert "MonotoneProgress" in found


def test_a_gate_that_is_open_and_said_to_be_shut(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        shut = decisions.pending(Reason.GATE_FALSE, "is false", gate="${true}")
        original = judging.GateEvaluator.ask
        patched.setattr(
            judging.GateEvaluator,
            "ask",
            lambda self, item: shut if item.object is not None else original(self, item),
        )

    gates = ("${signals['go'].value == true}",)
    found = broken_by(
        monkeypatch,
        fault,
        {"at": "+0s", "signal": {"name": "go", "value": {"value": True}}},
        edited("app:2", *gates),
        objects=[definition("app:1", *gates), APP],
        until="+1h",
    )
    assert found == ["NoStuckWithoutReason"]


def test_an_instance_that_is_not_done_and_about_which_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(writing.Writer, "write", lambda *_: None)
        patched.setattr(propagate.InstancePlan, "lines", lambda _: [])

    found = broken_by(monkeypatch, fault, edited("app:2"), objects=[definition("app:1"), APP], until="+1h")
    assert "NoStuckWithoutReason" in found


def test_a_memory_that_hides_what_somebody_else_has_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planner that remembers leaves the object as it is; the one that comes back puts it right."""

    def fault(patched: pytest.MonkeyPatch) -> None:
        patched.setattr(
            planner_cache.PlannerCache, "is_in_force", lambda self, item, _: item.uid in self._in_force
        )

    by_hand = {"kind": "ConfigMap", "name": "a", "patch": {"data": {"image": "app:other"}}}
    found = broken_by(
        monkeypatch,
        fault,
        {"at": "+10m", "patch": by_hand},
        {"at": "+20m", "crash": "engine"},
        objects=[definition("app:1"), APP],
        until="+1h",
    )
    assert "ReplayEqualsDecision" in found


def test_an_instance_that_takes_a_graph_revision_before_it_is_let_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(patched: pytest.MonkeyPatch) -> None:
        original = propagate.instances.reconcile

        def reconcile(instance: Any, number: int, accepted: Any, *rest: Any) -> instances.InstancePass:
            return original(instance, max(accepted.graphs), accepted, *rest)

        patched.setattr(propagate.instances, "reconcile", reconcile)

    held = definition("app:2")
    held["spec"]["propagateWhen"] = ["${signals['go'] == true}"]
    found = broken_by(
        monkeypatch,
        fault,
        {"at": "+0s", "signal": {"name": "go", "value": False}},
        {"at": "+10m", "apply": held},
        objects=[definition("app:1"), APP],
        until="+1h",
    )
    assert "NoGateSkipped" in found
