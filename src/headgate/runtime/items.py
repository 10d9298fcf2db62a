"""What waits for its turn at the worker."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from typing import Any

from headgate.runtime.commands import Caller, Command, Idempotency, Question


class Item:
    """A command or a question with the future that its answer goes to. The answer is kept until it is committed."""

    __slots__ = (
        "alone",
        "caller",
        "command",
        "error",
        "future",
        "idempotency",
        "question",
        "result",
        "workspace",
    )

    def __init__(
        self,
        workspace: str,
        *,
        command: Command[Any] | None = None,
        question: Question[Any] | None = None,
        caller: Caller | None = None,
        idempotency: Idempotency | None = None,
        alone: bool = False,
    ) -> None:
        self.workspace = workspace
        self.command = command
        self.question = question
        self.caller = caller if caller is not None else Caller("")
        self.idempotency = idempotency
        self.alone = alone
        self.future: Future[Any] = Future()
        self.result: Any = None
        self.error: BaseException | None = None

    def settle(self) -> None:
        """The other side may have stopped waiting."""
        try:
            if self.error is not None:
                self.future.set_exception(self.error)
            else:
                self.future.set_result(self.result)
        except InvalidStateError:
            pass

    def fail(self, error: BaseException) -> None:
        self.error = error
        self.settle()


def by_workspace(items: Sequence[Item]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(item.workspace, []).append(item)
    return found


def in_turn(items: Sequence[Item]) -> list[list[Item]]:
    """Neighbours of the same sort share a batch; a command that must be alone has one of its own."""
    groups: list[list[Item]] = []
    for item in items:
        last = groups[-1] if groups else None
        if (
            last is not None
            and not item.alone
            and not last[-1].alone
            and (last[-1].question is None) == (item.question is None)
        ):
            last.append(item)
        else:
            groups.append([item])
    return groups
