"""An explanation as people read it, of a live target and in a simulation: what can change it first, what one can do last.

It is made of the API's document; what a simulation does not say (slots, actions, roles) is left out.
"""

import textwrap
from collections.abc import Iterator
from typing import Any

from headgate.kernel import explanations, instants
from headgate.kernel.instants import Instant

WIDTH = 100
_MARK = {"allowed": "ok", "pending": "wait", "denied": "NO", "error": "wait"}
"""What could not be asked is asked again."""
_RULE_INDENT = 20


def render(explanation: dict[str, Any], now: Instant, day: str = "", width: int = WIDTH) -> Iterator[str]:
    """`day` is beside the moment in a simulation."""
    moment = instants.show_to_the_second(now) + (f" ({day})" if day else "")
    yield f"Explain {explanation['target']} at {moment}: {explanation['state']}"
    if explanation.get("changes"):
        yield from _wrapped(f"changes {explanation['changes']}", 2, width)
    yield from _wrapped(explanation.get("message") or "", 2, width)
    for rule in explanation.get("rules") or []:
        yield from _rule(rule, width)
    yield from _levels_below(explanation.get("tree"), width)
    rules_shown = {(rule.get("policy"), rule.get("rule")) for rule in explanation.get("rules") or []}
    for slot in explanation.get("slots") or []:
        if (slot["policy"], slot["rule"]) in rules_shown:
            continue
        mark = "held" if slot.get("held") else "slot"
        yield from _noted(f"  {mark}  {'':<10}  {slot['policy']}, {slot['rule']}", slot["message"], width)
    group = explanation.get("group")
    if group:
        yield from _wrapped(f"group {group['id']}, {group['role']}: {group['message']}", 2, width)
    for warning in explanation.get("warnings") or []:
        yield from _wrapped(f"warning: {warning}", 2, width)
    yield from _job(explanation.get("job"), width)
    if "current" in explanation:
        yield f"  {_versions(explanation)}"
    yield from actions(explanation.get("actions") or [])


def _levels_below(tree: dict[str, Any] | None, width: int) -> Iterator[str]:
    """What the levels below say of what is not done there; what is said above stays unsaid."""
    for child in tree["children"] if tree else ():
        if child["level"] == (tree or {})["level"]:
            yield from _levels_below(child, width)
        elif not is_settled(child):
            yield from _unsettled(child, 2, width)


def is_settled(tree: dict[str, Any]) -> bool:
    """It, and all that it is made of: a graph is propagated before what it has written is ready."""
    is_own = explanations.is_settled(tree["level"], tree["state"])
    return is_own and all(is_settled(child) for child in tree["children"])


def _unsettled(tree: dict[str, Any], indent: int, width: int) -> Iterator[str]:
    yield from _wrapped(f"{tree['subject']}: {_joined(tree['state'], tree['message'])}", indent, width)
    yield from _reasons(tree, indent + 2, width)


def reasons(tree: dict[str, Any], width: int = WIDTH) -> Iterator[str]:
    """What is said below a heading about the tree."""
    yield from _wrapped(tree["message"], 2, width)
    yield from _reasons(tree, 2, width)


def _reasons(tree: dict[str, Any], indent: int, width: int) -> Iterator[str]:
    for line in tree["lines"]:
        if line["message"] != tree["message"]:
            yield from _wrapped(line["message"], indent, width)
    for child in tree["children"]:
        if not is_settled(child):
            yield from _unsettled(child, indent, width)


def _joined(*words: str) -> str:
    return ", ".join(word for word in words if word)


def of_deployment(explanation: dict[str, Any], now: Instant, width: int = WIDTH) -> Iterator[str]:
    """Reason by reason: how many, for example whom, the sentence of the first, and what one can do."""
    total = explanation["targets"]
    moment = instants.show_to_the_second(now)
    yield f"Explain {explanation['deployment']} at {moment}: {total} {'target' if total == 1 else 'targets'}"
    for sentence in explanation.get("withoutTargets") or []:
        yield from _wrapped(sentence, 2, width)
    for reason in explanation["reasons"]:
        yield ""
        yield f"{reason['count']} {reason['state']} in {reason['environment']}: {_sample(reason)}"
        yield from _wrapped(f"changes {reason['changes']}", 2, width)
        yield from _wrapped(reason["message"], 2, width)
        yield from actions(reason.get("actions") or [])


def _sample(reason: dict[str, Any]) -> str:
    names = ", ".join(name.rpartition("/")[2] for name in reason["targets"])
    hidden = reason["count"] - len(reason["targets"])
    return f"{names} and {hidden} more" if hidden > 0 else names


def _job(job: dict[str, Any] | None, width: int) -> Iterator[str]:
    if not job:
        return
    agent = f", agent {job['agent']}" if job.get("agent") else ""
    comment = f": {job['message']}" if job.get("message") else ""
    reason = f" ({job['reason']})" if job.get("reason") else ""
    yield from _wrapped(
        f"job {job['id']} with {job['version']} {job['status']}, attempt {job['attempt']}{agent}{comment}{reason}",
        2,
        width,
    )
    for name, address in (job.get("links") or {}).items():
        yield f"    {name}: {address}"
    for metric in job.get("metrics") or []:
        yield from measurements(metric)


def measurements(metric: dict[str, Any], indent: int = 4) -> Iterator[str]:
    """One line a measurement, oldest first, and how many are left out."""
    spaces = " " * indent
    yield f"{spaces}{metric['metric']}: {metric['status']}"
    for measurement in metric.get("measurements") or []:
        value = f" value {measurement['value']}," if measurement.get("value") is not None else ""
        yield f"{spaces}  {measurement['at']} {measurement['verdict']}:{value} {measurement['message']}"
    if metric.get("dropped"):
        yield f"{spaces}  {metric['dropped']} measurements in between are no longer kept"


def actions(offered: list[dict[str, Any]]) -> Iterator[str]:
    if offered:
        yield "  What you can do"
    for action in offered:
        who = " or ".join(action.get("roles") or [])
        yield f"    {action['command']}"
        yield f"        {action['effect']} ({who})"


def _versions(explanation: dict[str, Any]) -> str:
    current, desired = explanation.get("current"), explanation.get("desired")
    runs = f"runs {current}" if current else "runs nothing yet"
    return runs if desired in (None, current) else f"{runs}, {desired} is next"


def _rule(rule: dict[str, Any], width: int) -> Iterator[str]:
    looked_at = rule.get("nextEvaluationTime")
    again = f"; looked at again at {_moment(looked_at)}" if looked_at else ""
    whose = f"{rule['policy']}, {rule['rule']}" if rule.get("policy") else rule["type"]
    mark = _MARK.get(rule["verdict"], rule["verdict"])
    yield from _noted(
        f"  {mark:<4}  {rule.get('version') or '':<10}  {whose}", f"{rule['message']}{again}", width
    )


def _moment(moment: str) -> str:
    return instants.show_to_the_second(instants.parse(moment))


def _noted(text: str, note: str, width: int) -> Iterator[str]:
    """On the same line if it fits, else below it."""
    text = text.rstrip()
    if not note:
        yield text
    elif len(text) + 2 + len(note) <= width:
        yield f"{text}  {note}"
    else:
        yield text
        yield from _wrapped(note, _RULE_INDENT, width)


def _wrapped(text: str, indent: int, width: int) -> Iterator[str]:
    spaces = " " * indent
    yield from textwrap.wrap(
        text, width, initial_indent=spaces, subsequent_indent=spaces, break_on_hyphens=False
    )
