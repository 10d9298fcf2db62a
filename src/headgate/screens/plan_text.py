"""A plan as a person reads it in a terminal: what would be different, how the rollout would go, and when it is over.

Everything is read from the document that `POST /v1/plan` answers, so that it prints the same wherever it comes from.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.screens import timeline_text
from headgate.screens.timeline_lines import clock, natural
from headgate.screens.timeline_text import counted
from headgate.simulate import result_reading
from headgate.simulate.model.result import Result
from headgate.simulate.rollout import MOST_EXPLAINED_AT_THE_END

Document = Mapping[str, Any]

LONGEST_VALUE = 60
COLLAPSE_FROM = 4
"""So many new objects of one kind are said in one line."""
NAMES_SHOWN = 3
MOST_CHANGED = 40


def render(document: Document) -> str:
    """`document` has `differences` (see `fleet.differences`) and what `planning.Plan.document` gives."""
    result = result_reading.read(document)
    result.has_dates = True
    differences = list(render_differences(document["differences"]))
    if _is_refused(result):
        return timeline_text.join(
            [differences, list(_refusals(result)), ["Plan: refused; nothing would change."]]
        )
    return timeline_text.join([differences, *timeline_text.story(result), [_summary(document, result)]])


def render_differences(differences: Sequence[Document]) -> Iterator[str]:
    """Lines with + for what would be created, ~ for what would change, - for what would be deleted and for fields that
    would go, and = for what is kept although it should go."""
    yield from _alike("+", (item for item in differences if item["action"] == "created"))
    changed = [item for item in differences if item["action"] == "configured"]
    for item in changed[:MOST_CHANGED]:
        yield f"~ {item['kind']} {item['name']}"
        for field in item["fields"]:
            yield f"    {_field(field)}"
    if len(changed) > MOST_CHANGED:
        yield f"~ {len(changed) - MOST_CHANGED} more objects"
    yield from _alike("-", (item for item in differences if item["action"] == "deleted"))
    yield from (
        f"= {item['kind']} {item['name']} is kept: {item['note']}"
        for item in differences
        if item["action"] == "kept"
    )


def _alike(sign: str, items: Iterator[Document]) -> Iterator[str]:
    by_kind: dict[str, list[str]] = defaultdict(list)
    for item in items:
        by_kind[item["kind"]].append(item["name"])
    for kind, names in by_kind.items():
        if len(names) < COLLAPSE_FROM:
            yield from (f"{sign} {kind} {name}" for name in names)
        else:
            names_shown = ", ".join(sorted(names, key=natural)[:NAMES_SHOWN])
            yield f"{sign} {len(names)} of kind {kind}: {names_shown} and {len(names) - NAMES_SHOWN} more"


def _field(field: Document) -> str:
    path, before, after = field["path"], field["before"], field["after"]
    if before is None:
        return f"+ {path}: {_value(after)}"
    if after is None:
        return f"- {path}: {_value(before)}"
    return f"~ {path}: {_value(before)} -> {_value(after)}"


def _value(value: object) -> str:
    """Without the ids that rules have: nobody reads those."""
    if isinstance(value, Mapping):
        value = {key: item for key, item in value.items() if key != "id"}
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


def _is_refused(result: Result) -> bool:
    return any(refused.step.startswith("changes[") for refused in result.rejected)


def _refusals(result: Result) -> Iterator[str]:
    for refused in result.rejected:
        yield from (f"! {problem}" for problem in refused.errors)


def _summary(document: Document, result: Result) -> str:
    assumed = " ".join(f" Assumed: {what}." for what in document.get("assumed", ()))
    return f"Plan: {_changes(document['differences'])}. {_rollout(document, result)}{assumed}"


def _changes(differences: Sequence[Document]) -> str:
    actions = [item["action"] for item in differences]
    parts = [
        f"{count} {what}"
        for action, what in (("created", "to create"), ("configured", "to change"), ("deleted", "to delete"))
        if (count := actions.count(action))
    ]
    unchanged = actions.count("unchanged")
    if not parts:
        return f"nothing to change, {unchanged} unchanged" if unchanged else "nothing to change"
    return ", ".join([*parts, f"{unchanged} unchanged"] if unchanged else parts)


def _rollout(document: Document, result: Result) -> str:
    if not result.jobs:
        return f"No job would start{_left_over(result)}."
    resources = len({job.resource for job in result.jobs})
    running = sum(job.created_at < result.start for job in result.jobs)
    jobs = f"{counted(len(result.jobs), 'job')} on {counted(resources, 'resource')}"
    jobs += f" ({running} running already)" if running else ""
    at = document["finish"]["at"]
    if at is None:
        return f"{jobs}{_left_over(result)}."
    how = "finished in" if result.converged else "the last ends after"
    return f"{jobs}, {how} {_when(result, instants.parse(at))}{_left_over(result)}."


def _when(result: Result, at: Instant) -> str:
    span = at - result.start
    return f"{instants.show_duration(span - span % instants.MICROSECONDS_PER_SECOND)} ({clock(result, at)})"


def _left_over(result: Result) -> str:
    if result.converged:
        return ""
    most = MOST_EXPLAINED_AT_THE_END
    many = (
        f"more than {most} targets" if len(result.waiting) > most else counted(len(result.waiting), "target")
    )
    waiting = f"; {many} would still wait" if result.waiting else ""
    cut = f"; looked ahead until {clock(result, result.end)}" if result.was_cut else ""
    return waiting + cut
