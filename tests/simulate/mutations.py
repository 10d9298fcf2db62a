"""Runs in which the engine is made wrong on purpose."""

from collections.abc import Callable
from typing import Any

import pytest

from .small import manifest, play

Fault = Callable[[pytest.MonkeyPatch], None]
Step = dict[str, Any]


def broken_by(monkeypatch: pytest.MonkeyPatch, fault: Fault, *timeline: Step, **spec: Any) -> list[str]:
    """The promises that are broken with the fault; without it there is none."""
    whole = play(*timeline, **spec)
    assert whole.violations == [], "the run breaks a promise without the fault"
    with monkeypatch.context() as patched:
        fault(patched)
        return sorted({violation.promise for violation in play(*timeline, **spec).violations})


def policy(name: str, *rules: Step, **spec: Any) -> Step:
    return manifest("Policy", name, rules=list(rules), **spec)
