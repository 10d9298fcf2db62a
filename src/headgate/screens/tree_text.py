"""An explanation's tree as people read it: all of it with what each part is at, or only why it is not done."""

from collections.abc import Callable, Iterator
from typing import Any

from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.screens import explanation_text


def whole(tree: dict[str, Any], *, is_drawn: bool, paint: Callable[[str], str] = str) -> Iterator[str]:
    """One line for each part; `is_drawn` is for eyes on a terminal, else depth is spaces alone."""
    yield _part(tree, paint)
    yield from _below(tree, "", is_drawn, paint)


def fitting(tree: dict[str, Any], height: int | None, paint: Callable[[str], str] = str) -> list[str]:
    """As much of it as a screen has lines for: what is settled is left out first, then what comes last."""
    lines = list(whole(tree, is_drawn=True, paint=paint))
    if height is None or len(lines) <= height:
        return lines
    lines = list(whole(_unsettled_parts(tree), is_drawn=True, paint=paint))
    if len(lines) <= height:
        return lines
    return [*lines[: height - 1], f"and {len(lines) - height + 1} more lines"]


def _unsettled_parts(tree: dict[str, Any]) -> dict[str, Any]:
    children = [
        _unsettled_parts(child) for child in tree["children"] if not explanation_text.is_settled(child)
    ]
    left_out = len(tree["children"]) - len(children)
    left_out_words = f"{left_out} more are {'/'.join(sorted(_states(tree)))}" if left_out else ""
    message = "; ".join(part for part in (tree["message"], left_out_words) if part)
    return {**tree, "message": message, "children": children}


def _states(tree: dict[str, Any]) -> set[str]:
    return {child["state"] for child in tree["children"] if explanation_text.is_settled(child)}


def _below(tree: dict[str, Any], before: str, is_drawn: bool, paint: Callable[[str], str]) -> Iterator[str]:
    children = tree["children"]
    margin = "│ " if is_drawn and children else "  "
    for line in tree["lines"]:
        if line["message"] != tree["message"]:
            yield f"{before}{margin}{line['message']}"
    for number, child in enumerate(children):
        is_last = number == len(children) - 1
        branch, further = (("└─ ", "   ") if is_last else ("├─ ", "│  ")) if is_drawn else ("  ", "  ")
        yield f"{before}{branch}{_part(child, paint)}"
        yield from _below(child, before + further, is_drawn, paint)


def _part(tree: dict[str, Any], paint: Callable[[str], str]) -> str:
    comment = f", {tree['message']}" if tree["message"] else ""
    return f"{tree['subject']}: {paint(tree['state'])}{comment}"


def unsettled(tree: dict[str, Any], now: Instant, width: int = explanation_text.WIDTH) -> Iterator[str]:
    """Sentences, and of the parts only those that something is waited for."""
    moment = instants.show_to_the_second(now)
    yield f"Explain {tree['subject']} at {moment}: {tree['state']}"
    yield from explanation_text.reasons(tree, width)
