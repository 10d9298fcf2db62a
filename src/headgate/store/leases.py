"""Who decides for a workspace: one holder at a time, and a token that grows with each."""

from __future__ import annotations

from abc import ABC, abstractmethod

import msgspec

from headgate.kernel.instants import Instant


class LeaseLostError(Exception):
    """Somebody else holds the lease by now; nothing was written."""


class Lease(msgspec.Struct, frozen=True):
    """`token` grows with every new holder; writes that carry an older one are refused."""

    name: str
    holder: str
    token: int


class Leases(ABC):
    """Taken for a while, renewed, and lost to whoever takes it after that."""

    @abstractmethod
    def take_lease(self, name: str, holder: str, seconds: float) -> Lease | None:
        """None while somebody else holds it."""

    @abstractmethod
    def renew_lease(self, lease: Lease, seconds: float) -> bool:
        """False if somebody else has taken it since."""

    @abstractmethod
    def release_lease(self, lease: Lease) -> None: ...

    @abstractmethod
    def leases(self) -> list[tuple[Lease, Instant]]:
        """With the moment each of them ends."""
