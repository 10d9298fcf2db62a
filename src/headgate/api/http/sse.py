"""Server-sent events on the wire, and what all streams of the API have in common."""

from __future__ import annotations

from headgate.api.http.calls import Refusal, Request

HEARTBEAT_SECONDS = 15.0
LONGEST_STREAM_SECONDS = 3_600.0
"""Then the client comes back with its token, which may have been taken away."""
RETRY = b"retry: 2000\n\n"
"""Milliseconds until a client that lost its stream comes back."""
STILL_HERE = b": still here\n\n"


def written(number: int, kind: str, data: bytes) -> bytes:
    """The kind becomes a line of its own, so it must not break one."""
    name = "".join(character for character in kind if character.isprintable())
    return f"id: {number}\nevent: {name}\ndata: ".encode() + data + b"\n\n"


def last_event_id(call: Request) -> int | None:
    """What a reconnecting client has seen last."""
    headers = {name.lower(): value for name, value in call.headers.items()}
    text = headers.get("last-event-id", "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise Refusal(
            400, "Last-Event-ID is wrong", f"Last-Event-ID is {text[:60]!r}; allowed is the id of an event"
        )
    return int(text)
