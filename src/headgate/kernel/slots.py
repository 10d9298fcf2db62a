"""A budget of places and who holds them. It never takes a place away: a limit that shrinks only stops new takers."""

from typing import Generic, TypeVar

Order = TypeVar("Order", bound="tuple[object, ...]")


class Slots(Generic[Order]):
    """`holders` maps who holds a place to why, `waiters` maps who waits to where they stand in line."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.holders: dict[str, str] = {}
        self.waiters: dict[str, Order] = {}

    @property
    def free_count(self) -> int:
        return max(0, self.limit - len(self.holders))

    def can_take(self, holder: str) -> bool:
        """Who holds a place already needs no second one."""
        return holder in self.holders or len(self.holders) < self.limit

    def take(self, holder: str, reason: str) -> bool:
        if not self.can_take(holder):
            return False
        self.waiters.pop(holder, None)
        self.holders[holder] = reason
        return True

    def free(self, holder: str) -> bool:
        return self.holders.pop(holder, None) is not None

    def wait(self, waiter: str, order: Order) -> None:
        if waiter not in self.holders:
            self.waiters[waiter] = order

    def leave(self, waiter: str) -> None:
        self.waiters.pop(waiter, None)

    def in_line(self) -> list[str]:
        return sorted(self.waiters, key=lambda waiter: (self.waiters[waiter], waiter))
