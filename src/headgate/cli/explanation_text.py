"""An explanation as the simulator prints it, of a live target: times are of the clock, not of a scenario's days."""

import textwrap
from collections.abc import Iterator
from typing import Any

from headgate.cli.tables import printable
from headgate.kernel import instants
from headgate.kernel.instants import Instant

WIDTH = 100
_MARK = {"allowed": "ok", "pending": "wait", "denied": "NO"}
_RULE_INDENT = 20


def render(explanation: dict[str, Any], now: Instant) -> Iterator[str]:
    yield f"Explain {explanation['target']} at {instants.show_clock(now)}: {explanation['state']}"
    yield from _wrapped(explanation.get("message") or "", 2)
    for rule in explanation.get("rules") or []:
        yield from _rule(rule, now)
    said = {(rule.get("policy"), rule.get("rule")) for rule in explanation.get("rules") or []}
    for slot in explanation.get("slots") or []:
        if (slot["policy"], slot["rule"]) in said:
            continue
        mark = "held" if slot.get("held") else "slot"
        yield from _noted(f"  {mark}  {'':<10}  {slot['policy']}, {slot['rule']}", slot["message"])
    group = explanation.get("group")
    if group:
        yield from _wrapped(f"group {group['id']}, {group['role']}: {group['message']}", 2)
    for warning in explanation.get("warnings") or []:
        yield from _wrapped(f"warning: {warning}", 2)
    yield f"  {_versions(explanation)}"


def _versions(explanation: dict[str, Any]) -> str:
    current, desired = explanation.get("current"), explanation.get("desired")
    runs = f"runs {current}" if current else "runs nothing yet"
    return runs if desired in (None, current) else f"{runs}, {desired} is next"


def _rule(rule: dict[str, Any], now: Instant) -> Iterator[str]:
    looked_at = rule.get("nextEvaluationTime")
    again = f"; looked at again {_clock(looked_at, now)}" if looked_at else ""
    whose = f"{rule['policy']}, {rule['rule']}" if rule.get("policy") else rule["type"]
    mark = _MARK.get(rule["verdict"], rule["verdict"])
    yield from _noted(f"  {mark:<4}  {rule.get('version') or '':<10}  {whose}", f"{rule['message']}{again}")


def _clock(moment: str, now: Instant) -> str:
    return instants.show_clock(instants.parse(moment), near=now)


def _noted(text: str, note: str) -> Iterator[str]:
    """On the same line if it fits, else below it."""
    text, note = printable(text).rstrip(), printable(note)
    if not note:
        yield text
    elif len(text) + 2 + len(note) <= WIDTH:
        yield f"{text}  {note}"
    else:
        yield text
        yield from _wrapped(note, _RULE_INDENT)


def _wrapped(text: str, indent: int) -> Iterator[str]:
    spaces = " " * indent
    yield from textwrap.wrap(
        printable(text), WIDTH, initial_indent=spaces, subsequent_indent=spaces, break_on_hyphens=False
    )
