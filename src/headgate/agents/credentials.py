"""Secrets that a config holds or names, and texts of others that must not repeat them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from headgate.kernel.problems import Problem, Rejected

SHORTEST_SECRET = 4
"""Shorter ones are in every text by chance."""
OPTION = "--allow-env"
OWN_NAMES = "HEADGATE_AGENT_*"
_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")


class Credentials:
    """Finds secrets. `names` are the environment variables that configs may name; a * at the end stands for the rest.

    Whoever may write an agent must not be able to have any variable of the server sent to an address.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = (OWN_NAMES, *names)
        problems = [
            Problem(
                OPTION, f'is "{name[:80]}"; allowed is the name of a variable, with or without * at its end'
            )
            for name in self._names
            if not _PATTERN.fullmatch(name)
        ]
        if problems:
            raise Rejected(problems)

    def find(self, value: str | None, variable: str | None, *, field: str, path: str = "config") -> str:
        """The secret itself, or the one in the environment variable of the process; raises Rejected with neither."""
        if value:
            return value
        if not variable:
            raise Rejected((Problem(f"{path}.{field}", f"is required; allowed is it or {field}Env"),))
        if not self._may_name(variable):
            message = (
                f'is "{variable}"; allowed are {", ".join(self._names)}, and what whoever runs the server adds '
                f"with {OPTION}"
            )
            raise Rejected((Problem(f"{path}.{field}Env", message),))
        found = os.environ.get(variable, "")
        if not found:
            message = f'is "{variable}", an environment variable that is not set where the agent runs'
            raise Rejected((Problem(f"{path}.{field}Env", message),))
        return found

    def _may_name(self, variable: str) -> bool:
        return any(
            variable.startswith(name[:-1]) if name.endswith("*") else variable == name for name in self._names
        )


def hidden(text: str, *secrets: str) -> str:
    """What somebody else said, without our secrets should they be in it."""
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text
