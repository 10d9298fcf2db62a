"""What a rule says: go, wait, or no; always with a sentence for the person who waits."""

from typing import Literal

import msgspec

from headgate.kernel.instants import Instant

Outcome = Literal["allowed", "pending", "denied"]


class Verdict(msgspec.Struct, frozen=True, rename="camel"):
    """`pending` waits for a time, an event or a person; `denied` will not become allowed by waiting.

    `next_evaluation_time` is set only when time alone can change the outcome.
    """

    outcome: Outcome
    message: str
    details: dict[str, object] = {}
    satisfied_at: Instant | None = None
    next_evaluation_time: Instant | None = None

    @property
    def is_allowed(self) -> bool:
        return self.outcome == "allowed"


def allowed(
    message: str,
    *,
    satisfied_at: Instant | None = None,
    next_evaluation_time: Instant | None = None,
    **details: object,
) -> Verdict:
    return Verdict("allowed", message, details, satisfied_at, next_evaluation_time)


def pending(
    message: str,
    *,
    satisfied_at: Instant | None = None,
    next_evaluation_time: Instant | None = None,
    **details: object,
) -> Verdict:
    return Verdict("pending", message, details, satisfied_at, next_evaluation_time)


def denied(
    message: str,
    *,
    satisfied_at: Instant | None = None,
    next_evaluation_time: Instant | None = None,
    **details: object,
) -> Verdict:
    return Verdict("denied", message, details, satisfied_at, next_evaluation_time)
