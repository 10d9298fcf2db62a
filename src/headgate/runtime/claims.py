"""Claims of pull agents: from the claim that is heard of again to the one that is lost."""

from __future__ import annotations

from typing import Any

import msgspec

from headgate.fleet.model.changes import JobReported
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.store.dispatches import Dispatch, Dispatches
from headgate.store.rows import Json

PULL = "pull"
DEFAULT_ATTEMPTS = 3
DEFAULT_LEASE_SECONDS = 60
_MOST_AT_ONCE = 100


class KeptClaim(msgspec.Struct, rename="camel", omit_defaults=True):
    """What is remembered of claims beside the dispatch's own columns.

    `received` counts claims whose holder was heard of, by a heartbeat or a report: only these are attempts. An answer
    that nobody got is none.
    """

    lease_seconds: int = DEFAULT_LEASE_SECONDS
    user: str = ""
    """Whose token the newest claim was made with; `claimed_by` is what its holder calls itself."""
    received: int = 0
    heard_of: int = 0
    """The token of the newest claim whose holder was heard of."""


class _ClaimDocument(msgspec.Struct):
    config: dict[str, Any] = {}


def kept_of(dispatch: Dispatch) -> KeptClaim:
    return msgspec.json.decode(dispatch.state or b"{}", type=KeptClaim)


def begin(dispatch: Dispatch, user: str, lease_seconds: int) -> Json:
    """What is remembered from now on, of the claim that is just made."""
    kept = kept_of(dispatch)
    kept.user, kept.lease_seconds = user, lease_seconds
    return msgspec.json.encode(kept)


def held_by(store: Dispatches, workspace: str, user: str, now: Instant) -> int:
    """How many claims of the workspace were made with the user's token and are kept up."""
    states = store.claim_states(workspace, PULL, now)
    return sum(msgspec.json.decode(state or b"{}", type=KeptClaim).user == user for state in states)


def is_heard_of(dispatch: Dispatch) -> bool:
    return kept_of(dispatch).heard_of == dispatch.token


def take_note(dispatch: Dispatch) -> None:
    """Its holder was heard of: from now on the claim counts. The dispatch has to be saved then."""
    kept = kept_of(dispatch)
    kept.received += 1
    kept.heard_of = dispatch.token
    dispatch.state = msgspec.json.encode(kept)


def end_lost(store: Dispatches, now: Instant) -> list[tuple[str, JobReported]]:
    """Gives back the claims that were not kept up, each to one caller; by workspace, what is to be said of the jobs.

    This is the one place where an agent is found to be lost.
    """
    return [
        (dispatch.workspace, _lost(dispatch)) for dispatch in store.end_lost_claims(PULL, now, _MOST_AT_ONCE)
    ]


def _lost(dispatch: Dispatch) -> JobReported:
    kept, most = kept_of(dispatch), _most_attempts(dispatch)
    since = instants.show((dispatch.claimed_until or 0) - instants.seconds(kept.lease_seconds))
    if kept.heard_of != dispatch.token:
        message = f"handed to {dispatch.claimed_by} at {since}, who was not heard of; offered again"
        return JobReported(dispatch.job, "queued", message, offered=True)
    message = f"{dispatch.claimed_by} was last heard of at {since}"
    if kept.received >= most:
        ended = f"claimed {kept.received} times and lost each time; {message}"
        return JobReported(dispatch.job, "failure", ended, lost=dispatch.claimed_by or "")
    again = f"{message}; offered again, {kept.received} of {most} attempts are used up"
    return JobReported(dispatch.job, "queued", again, lost=dispatch.claimed_by or "", offered=True)


def _most_attempts(dispatch: Dispatch) -> int:
    config = msgspec.json.decode(dispatch.document, type=_ClaimDocument).config
    given = config.get("maxAttempts", DEFAULT_ATTEMPTS)
    return given if isinstance(given, int) and not isinstance(given, bool) else DEFAULT_ATTEMPTS
