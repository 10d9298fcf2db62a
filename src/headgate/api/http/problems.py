"""Every refusal as problem details (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from headgate.api.http.calls import Refusal
from headgate.kernel.documents import MOST_PROBLEMS
from headgate.kernel.problems import Rejected
from headgate.runtime.clocks import ClockError
from headgate.runtime.commands import BusyError, KeyReusedError, UnknownWorkspaceError
from headgate.store.port import DiskFullError, RefusedError, UnavailableError

LONGEST_SENTENCE = 4_000
MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2
TOO_MANY = 429
COME_BACK = frozenset({TOO_MANY, 503})
PAUSE_SECONDS = 0.25
"""Before a caller is told to come back: whoever asks again at once does so a little later."""


class RefusalWithHeaders(Refusal):
    """A refusal whose status asks for a header: Allow, WWW-Authenticate, Retry-After."""

    def __init__(self, status: int, title: str, detail: str, headers: Mapping[str, str]) -> None:
        super().__init__(status, title, detail)
        self.headers = dict(headers)


class ErrorAt(msgspec.Struct, frozen=True):
    path: str
    message: str


class ProblemView(msgspec.Struct, frozen=True):
    """Why a request was refused (RFC 9457). `errors` names each place that is wrong, all of them at once."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: tuple[ErrorAt, ...] = ()


def unavailable(detail: str) -> RefusalWithHeaders:
    return RefusalWithHeaders(
        503, "The service is not available", detail, {"Retry-After": str(RETRY_AFTER_SECONDS)}
    )


def busy(detail: str) -> RefusalWithHeaders:
    """Others are served meanwhile: it is this caller who asks for too much at once."""
    return RefusalWithHeaders(
        TOO_MANY,
        "Too many requests at once",
        f"{detail}; try again in a moment",
        {"Retry-After": str(RETRY_AFTER_SECONDS)},
    )


def refusal_for(error: Exception) -> Refusal | None:
    """None for what nobody expected."""
    match error:
        case Refusal():
            return error
        case Rejected():
            return Refusal(
                422,
                "The document is invalid",
                _summary(error),
                tuple((problem.path, problem.message) for problem in error.problems[:MOST_PROBLEMS]),
            )
        case KeyReusedError():
            return Refusal(
                422,
                "The Idempotency-Key was used before",
                "the Idempotency-Key belongs to another request; use a new key for this one",
            )
        case UnknownWorkspaceError():
            return Refusal(404, "There is no such workspace", f"there is no workspace {str(error)!r}")
        case ClockError():
            return unavailable(str(error))
        case RefusedError():
            return unavailable("the database refused it; nothing was stored, and the service's log says why")
        case DiskFullError():
            return unavailable("the database has no room to write; nothing was stored, try again later")
        case BusyError():
            return unavailable(str(error))
        case UnavailableError():
            return unavailable("the database cannot be reached; nothing is known to be stored, try again")
        case _:
            return None


def unexpected(request_id: str) -> Refusal:
    return Refusal(
        500, "Something went wrong", f"the service's log has the details under the request id {request_id}"
    )


def document(refusal: Refusal, request_id: str) -> ProblemView:
    return ProblemView(
        type="about:blank",
        title=_encodable(refusal.title or HTTPStatus(refusal.status).phrase),
        status=refusal.status,
        detail=_encodable(refusal.detail),
        instance=f"urn:uuid:{request_id}",
        errors=tuple(ErrorAt(_encodable(path), _encodable(message)) for path, message in refusal.errors),
    )


def headers(refusal: Refusal) -> dict[str, str]:
    return refusal.headers if isinstance(refusal, RefusalWithHeaders) else {}


def _summary(rejected: Rejected) -> str:
    first = str(rejected.problems[0])
    others = len(rejected.problems) - 1
    return f"{first} (and {others} more)" if others else first


def _encodable(text: str) -> str:
    """A refusal may quote the very text that cannot be encoded, or that is too long for anybody."""
    if len(text) > LONGEST_SENTENCE:
        text = f"{text[: LONGEST_SENTENCE // 2]} ... {text[-LONGEST_SENTENCE // 2 :]}"
    return text.encode("utf-8", "backslashreplace").decode()
