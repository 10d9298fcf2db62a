"""The pods of a Job: what they wait for, how they ended, and the last that they said."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from headgate.agents.log_lines import printable
from headgate.kernel import conditions
from headgate.kubernetes.client import Client
from headgate.kubernetes.errors import ApiError
from headgate.kubernetes.resources import PODS, Document

LOG_BYTES = 8_192
LOG_SECONDS = 5.0


async def of_job(client: Client, namespace: str, uid: str) -> list[Document]:
    """Oldest first."""
    pods = await client.list(PODS, namespace, labels=f"batch.kubernetes.io/controller-uid={uid}")
    return sorted(pods.items, key=lambda pod: (pod["metadata"]["creationTimestamp"], _name(pod)))


def newest(pods: list[Document]) -> Document | None:
    return pods[-1] if pods else None


def failed(pods: list[Document]) -> Document | None:
    """The newest that failed; else the newest, which the Job's end may have cut short."""
    return next((pod for pod in reversed(pods) if _status(pod).get("phase") == "Failed"), newest(pods))


def waiting(pods: list[Document]) -> str | None:
    """What the first pod that does not run waits for, if it says."""
    for pod in pods:
        scheduled = conditions.find(_status(pod), "PodScheduled")
        if scheduled is not None and scheduled.get("status") == "False":
            return f"the pod {_name(pod)} is not scheduled: {scheduled.get('message') or 'no reason yet'}"
        for container, state in _states(pod):
            waiting_state = state.get("waiting") or {}
            reason = waiting_state.get("reason")
            if reason and reason not in ("ContainerCreating", "PodInitializing"):
                detail = f": {waiting_state['message']}" if waiting_state.get("message") else ""
                return f"the pod {_name(pod)} waits, {container}: {reason}{detail}"
    return None


def end_of(pod: Document) -> str:
    for container, state in _states(pod):
        ended = state.get("terminated") or {}
        if ended.get("exitCode"):
            words = [str(ended.get(key) or "") for key in ("reason", "message")]
            detail = ": ".join(part for part in words if part)
            return f"the pod {_name(pod)}, {container}: exit code {ended['exitCode']}" + (
                f" ({detail})" if detail else ""
            )
    words = [str(_status(pod).get(key) or "") for key in ("phase", "reason", "message")]
    return f"the pod {_name(pod)}: " + ", ".join(part for part in words if part)


async def last_lines(client: Client, pod: Document | None, count: int) -> list[str]:
    """None where they cannot be read: how a job ended does not depend on its log."""
    if pod is None or count == 0:
        return []
    text = b""
    with contextlib.suppress(ApiError):
        pieces = client.within(LOG_SECONDS).logs(
            _name(pod), pod["metadata"]["namespace"], container=speaker(pod), tail_lines=count
        )
        async with contextlib.aclosing(pieces):
            async for piece in pieces:
                text = (text + piece)[-LOG_BYTES:]
    return [line for line in printable(text.decode("utf-8", "replace")).splitlines() if line.strip()][-count:]


def has_begun(pod: Document) -> bool:
    return _status(pod).get("phase") not in (None, "Pending", "Unknown")


def speaker_of(pod: Document) -> str:
    return f"the pod {_name(pod)}, {speaker(pod)}"


def speaker(pod: Document) -> str:
    """The container that failed, else the first."""
    for container, state in _states(pod):
        if (state.get("terminated") or {}).get("exitCode"):
            return container
    return str(pod["spec"]["containers"][0]["name"])


def _states(pod: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    status = _status(pod)
    for kind in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(kind) or ():
            yield str(container.get("name", "")), container.get("state") or {}


def _status(pod: Document) -> dict[str, Any]:
    return pod.get("status") or {}


def _name(pod: Document) -> str:
    return str(pod["metadata"]["name"])
