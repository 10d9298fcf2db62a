"""Answers of a server that are not good news, as sentences: problem details (RFC 9457) and whatever else may come."""

import json
from email.message import Message
from typing import Any

from headgate.cli import exit_codes, failures
from headgate.cli.offered_commands import offered
from headgate.kernel.command_lines import command_line
from headgate.kernel.problems import Problem

_UNAVAILABLE = frozenset({502, 503, 504})


class RefusedRequest(failures.CommandFailure):
    """`problems` are those that name a field."""

    def __init__(self, status: int, message: str, problems: tuple[Problem, ...], code: int) -> None:
        self.status = status
        self.problems = problems
        super().__init__([str(problem) for problem in problems] or message, code)


def may_pass(failure: failures.CommandFailure) -> bool:
    """Whether the same question may be answered a little later: the server is away, busy or broken."""
    if isinstance(failure, RefusedRequest):
        return failure.status == 429 or failure.status >= 500
    return failure.code == exit_codes.UNREACHABLE


def from_answer(url: str, status: int, headers: Message, body: bytes) -> failures.CommandFailure:
    document = _problem_details(headers, body)
    if 300 <= status < 400:
        goes_to = headers.get("Location", "another address")
        return failures.CommandFailure(
            f"{url} redirects to {goes_to}; give the address that it has now", exit_codes.UNREACHABLE
        )
    if document is None and status not in _UNAVAILABLE:
        return not_headgate(url, f"status {status}")
    message = str((document or {}).get("detail") or (document or {}).get("title") or f"status {status}")
    problems = _problems((document or {}).get("errors"))
    if status == 401:
        login = command_line("login", options=("--server", url))
        advice = f"give a token with --token or HEADGATE_TOKEN, or run `{login}`"
        return RefusedRequest(
            status, f"{url} does not know who you are: {message}; {advice}", (), exit_codes.NOT_ALLOWED
        )
    if status == 403:
        advice = f"`{offered('whoami')}` shows what you may do"
        return RefusedRequest(status, f"not allowed: {message}; {advice}", (), exit_codes.NOT_ALLOWED)
    if status in _UNAVAILABLE:
        return RefusedRequest(
            status, f"{url} is not available at the moment: {message}; try again", (), exit_codes.UNREACHABLE
        )
    if status >= 500:
        request = headers.get("Headgate-Request-Id")
        where = f"; its log tells more under request {request}" if request else ""
        return RefusedRequest(status, f"{url} failed: {message}{where}", (), exit_codes.FAILED)
    return RefusedRequest(status, message, problems, exit_codes.FAILED)


def not_headgate(url: str, what: str) -> failures.CommandFailure:
    return failures.CommandFailure(
        f"{url} does not answer like a Headgate server ({what}); check the address", exit_codes.UNREACHABLE
    )


def _problem_details(headers: Message, body: bytes) -> dict[str, Any] | None:
    media_type = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media_type not in ("application/problem+json", "application/json"):
        return None
    try:
        document = json.loads(body)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _problems(errors: object) -> tuple[Problem, ...]:
    if not isinstance(errors, list):
        return ()
    return tuple(
        Problem(str(error.get("path") or ""), str(error.get("message") or ""))
        for error in errors
        if isinstance(error, dict)
    )
