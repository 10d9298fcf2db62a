"""The outbox: jobs on their way to agents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable

import msgspec

from headgate.kernel.instants import Instant
from headgate.store.rows import Json


class Dispatch(msgspec.Struct, rename="camel"):
    """A job to be run by an agent: the outbox. `document` is all that the agent needs to know.

    `claims` counts how often it was handed out; a claim ends with the lease `claimed_until`, and `token` tells claims
    of the same dispatch apart, and nobody knows it but who was given the claim.
    """

    workspace: str
    job: str
    agent: str
    type: str
    document: Json
    created_at: Instant
    not_before: Instant
    deadline_at: Instant | None = None
    claims: int = 0
    claimed_by: str | None = None
    claimed_until: Instant | None = None
    token: int = 0
    cancelled: bool = False
    state: Json = b"{}"
    """What the agent needs to go on after a restart, such as the id of the run it started."""


class Dispatches(ABC):
    """Each is handed to one caller at a time."""

    @abstractmethod
    def claim_dispatches(
        self,
        *,
        types: Iterable[str] | None = None,
        workspace: str | None = None,
        agent: str | None = None,
        holder: str,
        now: Instant,
        seconds: float,
        limit: int,
        without: Collection[tuple[str, str]] = (),
        note: Callable[[Dispatch], Json] | None = None,
    ) -> list[Dispatch]:
        """Hands out dispatches that are due and that nobody holds, oldest first, each to one caller only; none of the agents
        in `without`, which are named by workspace and name. `note` says what is kept as the state of a dispatch that was
        just claimed."""

    @abstractmethod
    def claim_states(self, workspace: str, type_: str, now: Instant) -> list[Json]:
        """States of the dispatches whose claims have not ended."""

    @abstractmethod
    def renew_dispatch(self, dispatch: Dispatch, until: Instant) -> bool:
        """False if the claim was lost, or the dispatch is gone or cancelled."""

    @abstractmethod
    def save_dispatch(self, dispatch: Dispatch) -> bool:
        """Writes `state`, `not_before` and the claim back, also of a cancelled dispatch, which has to be stopped yet;
        False if the claim was lost or the dispatch is gone."""

    @abstractmethod
    def claim_holders(self) -> list[str]:
        """Whoever has claimed dispatches."""

    @abstractmethod
    def release_claims(self, holder: str) -> None:
        """Offers what the holder has claimed again; for one that has ended."""

    @abstractmethod
    def give_back_dispatch(self, dispatch: Dispatch) -> None:
        """The claim was not received: it does not count, and its token is good for nothing."""

    @abstractmethod
    def end_lost_claims(self, type_: str, now: Instant, limit: int) -> list[Dispatch]:
        """Dispatches of the type whose lease is over, as they were; each is given to one caller, and is nobody's then."""

    @abstractmethod
    def finish_dispatch(self, workspace: str, job: str) -> None: ...

    @abstractmethod
    def dispatch(self, workspace: str, job: str) -> Dispatch | None: ...

    @abstractmethod
    def cancelled_dispatches(self, types: Iterable[str]) -> list[Dispatch]: ...

    @abstractmethod
    def oldest_waiting_dispatch(self) -> Instant | None:
        """When the oldest dispatch was made that nobody has claimed yet."""

    @abstractmethod
    def overdue_dispatches(self, now: Instant, limit: int) -> list[Dispatch]:
        """Past their deadline, whoever holds them."""
