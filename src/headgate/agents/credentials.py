"""Secrets that a config holds or names, found for those who send them, and for those who must not repeat them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headgate.fleet.model import scrubbing
from headgate.kernel.problems import Problem, Rejected

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
        credential = os.environ.get(variable, "")
        if not credential:
            message = f'is "{variable}", an environment variable that is not set where the agent runs'
            raise Rejected((Problem(f"{path}.{field}Env", message),))
        return credential

    def _may_name(self, variable: str) -> bool:
        return any(
            variable.startswith(name[:-1]) if name.endswith("*") else variable == name for name in self._names
        )


def scrubber_of(order: Mapping[str, Any]) -> scrubbing.Scrubber:
    """For texts of whoever was given the document of a job's order: the secrets of its config, those of its deployment,
    of which other fields may have been made, and those in the variables that the config names."""
    config, deployment = order.get("config") or {}, order.get("deployment") or {}
    given = scrubbing.secrets_of_config(config, deployment.get("jobAgentConfig") or {})
    return scrubbing.Scrubber((*given, *_named(config)))


def _named(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if str(key).endswith("Env") and isinstance(item, str):
                yield os.environ.get(item, "")
            yield from _named(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named(item)
