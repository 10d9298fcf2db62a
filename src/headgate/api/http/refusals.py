"""The sentences with which the API refuses, so that each of them is said in one way."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from headgate.api.http.calls import Refusal, Request
from headgate.kernel import spelling
from headgate.kernel.problems import Rejected

_LONGEST_QUOTED = 300


def not_found(what: str, reference: str, known: Collection[str] = ()) -> Refusal:
    quoted = reference if len(reference) <= _LONGEST_QUOTED else f"{reference[:_LONGEST_QUOTED]}..."
    return Refusal(404, f"There is no such {what}", f"there is no {what} {quoted!r}{_hint(reference, known)}")


def _hint(reference: str, known: Collection[str]) -> str:
    close = spelling.closest(reference, known)
    return f"; did you mean {close}?" if close is not None else ""


def exists(what: str, name: str) -> Refusal:
    return Refusal(
        409, f"The {what} exists already", f"there is a {what} {name!r} already; use PUT to change it"
    )


def conflict(title: str, detail: str) -> Refusal:
    return Refusal(409, title, detail)


def forbidden(permission: str, why: str, workspace: str) -> Refusal:
    return Refusal(
        403, "Not allowed", f"{why} needs the permission {permission} in the workspace {workspace}"
    )


def require(call: Request, permission: str, why: str) -> None:
    if not call.principal.allows(permission, call.workspace):
        raise forbidden(permission, why, call.workspace)


@contextmanager
def as_conflict(title: str) -> Iterator[None]:
    """What the engine refuses here is a matter of state, not of the document."""
    try:
        yield
    except Rejected as rejected:
        errors = tuple((one.path, one.message) for one in rejected.problems)
        raise Refusal(409, title, errors[0][1], errors) from None
