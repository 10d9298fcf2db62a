"""Secrets that a config holds or names, and texts of others that must not repeat them."""

from __future__ import annotations

import os

from headgate.kernel.problems import Problem, Rejected

SHORTEST_SECRET = 4
"""Shorter ones are in every text by chance."""


def find(value: str | None, variable: str | None, *, field: str, path: str = "config") -> str:
    """The secret itself, or the one in the environment variable of the process; raises Rejected with neither."""
    if value:
        return value
    if not variable:
        raise Rejected((Problem(f"{path}.{field}", f"is required; allowed is it or {field}Env"),))
    found = os.environ.get(variable, "")
    if not found:
        message = f'is "{variable}", an environment variable that is not set where the agent runs'
        raise Rejected((Problem(f"{path}.{field}Env", message),))
    return found


def hidden(text: str, *secrets: str) -> str:
    """What somebody else said, without our secrets should they be in it."""
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text
