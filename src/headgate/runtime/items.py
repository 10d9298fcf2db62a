"""What waits for its turn at the worker."""

from __future__ import annotations

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
