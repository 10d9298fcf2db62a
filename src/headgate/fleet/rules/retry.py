"""Another attempt at the same release. Without this rule there is one."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from headgate.fleet.rules.spec import RuleSpec, Traits
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem

UnsuccessfulStatus = Literal[
    "failure",
    "timedOut",
    "invalidIntegration",
    "invalidJobAgent",
    "externalRunNotFound",
    "cancelled",
    "skipped",
]
DEFAULT_STATUSES: tuple[UnsuccessfulStatus, ...] = (
    "failure",
    "invalidIntegration",
    "invalidJobAgent",
    "timedOut",
)
_LONGEST_BACKOFF_SECONDS = 30 * 86_400


class Retry(RuleSpec, frozen=True, rename="camel"):
    """`linear` waits the same time before each retry, `exponential` twice as long each time."""

    traits = Traits(is_ended_by_people=True, acts_inside_cycle=True)

    max_retries: Annotated[int, msgspec.Meta(ge=0, le=1000)]
    retry_on_statuses: tuple[UnsuccessfulStatus, ...] = DEFAULT_STATUSES
    backoff_seconds: Annotated[int, msgspec.Meta(ge=0, le=_LONGEST_BACKOFF_SECONDS)] = 0
    backoff_strategy: Literal["linear", "exponential"] = "linear"
    max_backoff_seconds: Annotated[int, msgspec.Meta(ge=0, le=_LONGEST_BACKOFF_SECONDS)] | None = None

    @staticmethod
    def check_document(given: dict[str, object], path: str, problems: list[Problem]) -> None:
        backoff, longest = given.get("backoff_seconds"), given.get("max_backoff_seconds")
        if isinstance(backoff, int) and isinstance(longest, int) and longest < backoff:
            problems.append(
                Problem(
                    f"{path}.maxBackoffSeconds", f"must be at least backoffSeconds ({backoff}), not {longest}"
                )
            )

    def in_words(self) -> str:
        if self.max_retries == 0:
            return "A job is tried once."
        times = "once more" if self.max_retries == 1 else f"up to {self.max_retries} times more"
        ends = " or ".join(self.retry_on_statuses)
        return f"A job that ends as {ends} is tried {times}{self._pause_in_words()}."

    def _pause_in_words(self) -> str:
        if self.backoff_seconds == 0:
            return ""
        later = f", {instants.show_duration(instants.seconds(self.backoff_seconds))} later"
        if self.backoff_strategy == "exponential":
            later += " and twice as long each time"
        if self.max_backoff_seconds is None:
            return later
        return f"{later}, {instants.show_duration(instants.seconds(self.max_backoff_seconds))} at most"


class Attempt(msgspec.Struct, frozen=True):
    status: str
    completed_at: Instant


class RetryPlan(msgspec.Struct, frozen=True):
    """`at` is when the next attempt may start."""

    retry: bool
    at: Instant | None
    message: str


def judge(rules: Sequence[Retry], attempts: Sequence[Attempt]) -> RetryPlan:
    """`attempts` of one release in order, all ended, the last without success. Every rule must allow another."""
    last = attempts[-1]
    ended = f"attempt {len(attempts)} ended {last.status} at {instants.show_to_the_second(last.completed_at)}"
    if not rules:
        return RetryPlan(False, None, f"{ended}; no retry rule applies")
    for rule in rules:
        if last.status not in rule.retry_on_statuses:
            statuses = ", ".join(rule.retry_on_statuses)
            return RetryPlan(False, None, f"{ended}; retries are only for {statuses}")
        if len(attempts) > rule.max_retries:
            return RetryPlan(False, None, f"{ended}; no retry is left of {rule.max_retries}")
    at = last.completed_at + max(backoff(rule, len(attempts)) for rule in rules)
    of = min(rule.max_retries for rule in rules)
    return RetryPlan(True, at, f"{ended}; retry {len(attempts)} of {of} at {instants.show_to_the_second(at)}")


def backoff(rule: Retry, retry_number: int) -> int:
    """How long to wait before the given retry, counted from 1."""
    longest = rule.max_backoff_seconds if rule.max_backoff_seconds is not None else _LONGEST_BACKOFF_SECONDS
    if rule.backoff_strategy == "linear":
        return instants.seconds(min(rule.backoff_seconds, longest))
    return instants.seconds(min(rule.backoff_seconds << min(retry_number - 1, 32), longest))
