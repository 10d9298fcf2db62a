"""What an API server may answer instead of what was asked for, as exceptions that say who can do what about it.

Writes that came too late, or for an object that is not there, are also the port's `Conflict`: the runner of controllers
knows what to do with these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from headgate.cluster.port import Conflict, NameTaken
from headgate.kernel.problems import Problem


class ApiError(Exception):
    """`status` is the code of HTTP, 0 without an answer; `reason` is the server's word for it."""

    def __init__(self, message: str, *, status: int = 0, reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.reason = reason


class UnreachableError(ApiError):
    """There was no answer, or one that says that the server cannot answer now (5xx). What was asked may have happened
    all the same, if it `was_sent`."""

    def __init__(
        self,
        message: str,
        *,
        was_sent: bool = True,
        status: int = 0,
        reason: str = "",
        after_seconds: float | None = None,
    ) -> None:
        super().__init__(message, status=status, reason=reason)
        self.was_sent = was_sent
        self.after_seconds = after_seconds


class NonsenseError(ApiError):
    """The answer is not what the API says it is: a proxy's page, cut off in the middle, another shape."""


class UnauthorizedError(ApiError):
    """The server does not know who asks."""


class ForbiddenError(ApiError):
    """The server knows who asks, and does not let them: RBAC, a quota, an admission webhook."""


class NotFoundError(ApiError, Conflict):
    """No such object, or no such kind."""


class AlreadyExistsError(ApiError, NameTaken):
    """An object of that name is there, maybe on its way out."""


class ConflictError(ApiError, Conflict):
    """The object has moved past the version or the uid that the writer had seen."""


class FieldConflict(msgspec.Struct, frozen=True):
    """A field that somebody else holds."""

    field: str
    manager: str

    def __str__(self) -> str:
        return f"{self.field} is managed by {self.manager}"


class ApplyConflictError(ConflictError):
    """Fields that were applied belong to others, who are named."""

    def __init__(self, message: str, conflicts: tuple[FieldConflict, ...]) -> None:
        super().__init__(message, status=409, reason="Conflict")
        self.conflicts = conflicts


class GoneError(ApiError):
    """The version that was asked for is too old: the server has forgotten it. List again."""


class InvalidError(ApiError):
    """The document is not what the kind allows; `problems` says which fields, if the server did."""

    def __init__(self, message: str, problems: tuple[Problem, ...], *, status: int, reason: str) -> None:
        super().__init__(message, status=status, reason=reason)
        self.problems = problems


class TooManyRequestsError(ApiError):
    """Not now; nothing was done."""

    def __init__(self, message: str, *, after_seconds: float | None) -> None:
        super().__init__(message, status=429, reason="TooManyRequests")
        self.after_seconds = after_seconds


class EvictionRefusedError(TooManyRequestsError):
    """A disruption budget does not allow it now; `budget` is its name, if the server said it."""

    def __init__(self, message: str, *, budget: str, after_seconds: float | None) -> None:
        super().__init__(message, after_seconds=after_seconds)
        self.budget = budget


_BUDGET = re.compile(r"disruption budget (\S+)")
_MANAGER = re.compile(r'conflict with "((?:[^"\\]|\\.)*)"')
_LARGEST_MESSAGE = 2_000


def of_answer(status: int, document: Any, after_seconds: float | None = None) -> ApiError:
    """The error that a Status says, or that the bare code of HTTP says."""
    given: Mapping[str, Any] = document if isinstance(document, Mapping) else {}
    message = str(given.get("message") or f"the API server answers with status {status}")[:_LARGEST_MESSAGE]
    reason = str(given.get("reason") or "")
    if status == 429:
        return _too_many(message, given, after_seconds)
    if status == 409:
        return _conflict(message, reason, given)
    if status in (400, 405, 406, 413, 415, 422):
        return InvalidError(message, tuple(_problems(given)), status=status, reason=reason)
    plain: dict[int, type[ApiError]] = {
        401: UnauthorizedError,
        403: ForbiddenError,
        404: NotFoundError,
        410: GoneError,
    }
    if status in plain:
        return plain[status](message, status=status, reason=reason)
    if status >= 500:
        return UnreachableError(message, status=status, reason=reason, after_seconds=after_seconds)
    return ApiError(message, status=status, reason=reason)


def of_status(document: Any) -> ApiError:
    """The error in a watch's stream, which has its code in the document."""
    code = document.get("code") if isinstance(document, Mapping) else None
    if not isinstance(code, int):
        return NonsenseError("the watch has an error in it that is no Status")
    return of_answer(code, document)


def _causes(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    details = document.get("details")
    causes = details.get("causes") if isinstance(details, Mapping) else None
    for cause in causes if isinstance(causes, list) else ():
        if isinstance(cause, Mapping):
            yield cause


def _too_many(message: str, document: Mapping[str, Any], after_seconds: float | None) -> ApiError:
    for cause in _causes(document):
        if cause.get("reason") == "DisruptionBudget":
            cause_message = str(cause.get("message", ""))
            named = _BUDGET.search(cause_message)
            return EvictionRefusedError(
                cause_message or message, budget=named.group(1) if named else "", after_seconds=after_seconds
            )
    return TooManyRequestsError(message, after_seconds=after_seconds)


def _conflict(message: str, reason: str, document: Mapping[str, Any]) -> ApiError:
    if reason == "AlreadyExists":
        return AlreadyExistsError(message, status=409, reason=reason)
    conflicts = tuple(
        FieldConflict(str(cause.get("field", "")).removeprefix("."), _manager(str(cause.get("message", ""))))
        for cause in _causes(document)
        if cause.get("reason") == "FieldManagerConflict"
    )
    if conflicts:
        return ApplyConflictError("; ".join(str(conflict) for conflict in conflicts), conflicts)
    return ConflictError(message, status=409, reason=reason)


def _manager(message: str) -> str:
    named = _MANAGER.search(message)
    return named.group(1) if named else message


def _problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    for cause in _causes(document):
        field, message = str(cause.get("field", "")), str(cause.get("message", ""))
        if cause.get("reason") != "FieldManagerConflict" and (field or message):
            yield Problem("" if field == "<nil>" else field, message)
