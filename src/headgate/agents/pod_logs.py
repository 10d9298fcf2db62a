"""What the pods of a Job print, on its way into the job's log.

A cluster forgets logs with the pods; it is asked each time for what came since the moment of the line that was printed
last, which is kept with the dispatch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import msgspec

from headgate.agents import job_pods
from headgate.agents.log_lines import MOST_AT_ONCE
from headgate.agents.port import Assignment
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import Document

MOST_PODS = 20
"""Later ones of a Job are passed over."""
MOST_BYTES = 1024 * 1024
MOST_READINGS = 20
"""Of one pod at one look; the next look goes on."""


class PrintedPods(msgspec.Struct, rename="camel", omit_defaults=True):
    """How many lines, and for each pod by its uid the moment of the last one; `is_full`: the log takes no more."""

    lines: int = 0
    pods: dict[str, str] = {}
    is_full: bool = False


async def print_new(client: Client, pods: list[Document], assignment: Assignment) -> None:
    """The oldest pod first. What cannot be read is passed over: how a job goes does not depend on its log."""
    printed = msgspec.convert(assignment.state.get("printed", {}), PrintedPods)
    for pod in pods[:MOST_PODS]:
        for _ in range(MOST_READINGS):
            if printed.is_full or not await _print_piece(client, pod, assignment, printed):
                break


async def _print_piece(client: Client, pod: Document, assignment: Assignment, printed: PrintedPods) -> bool:
    """Whether there may be more."""
    uid = pod["metadata"]["uid"]
    since = printed.pods.get(uid, "")
    stamped_lines = [] if not job_pods.has_begun(pod) else await _read(client, pod, since)
    new = [(at, text) for at, text in stamped_lines if at > since][:MOST_AT_ONCE]
    if not new:
        return False
    lines = [text for _, text in new]
    if not since:
        lines.insert(0, f"--- {job_pods.speaker_of(pod)}")
    printed.is_full = not await assignment.print(lines, printed.lines)
    printed.lines += len(lines)
    printed.pods[uid] = new[-1][0]
    await assignment.keep(printed=msgspec.to_builtins(printed))
    return True


async def _read(client: Client, pod: Document, since: str) -> list[tuple[str, str]]:
    text = b""
    with contextlib.suppress(ApiError):
        pieces = client.within(job_pods.LOG_SECONDS).logs(
            pod["metadata"]["name"],
            pod["metadata"]["namespace"],
            container=job_pods.speaker(pod),
            timestamps=True,
            since_time=_to_the_second(since),
            limit_bytes=MOST_BYTES,
        )
        async with contextlib.aclosing(pieces):
            async for piece in pieces:
                text += piece
    return list(_stamped(text[: text.rfind(b"\n") + 1].decode("utf-8", "replace")))


def _stamped(text: str) -> Iterator[tuple[str, str]]:
    """Each line has the moment that it was printed at before it."""
    for line in text.split("\n"):
        at, _, line_text = line.partition(" ")
        if at:
            yield _comparable(at), line_text


def _comparable(at: str) -> str:
    """Nanoseconds without their last zeros do not sort as text."""
    whole, _, rest = at.rstrip("Z").partition(".")
    return f"{whole}.{rest:0<9}Z"


def _to_the_second(at: str) -> str:
    return f"{at.partition('.')[0]}Z" if at else ""
