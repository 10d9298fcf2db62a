"""Expressions of a provider computed; none of them can say where its headers go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.fleet.model import careful_addresses, careful_texts, job_configs
from headgate.fleet.rules import verification
from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected

Provider = verification.Http | verification.Prometheus | verification.Sleep


def resolve(provider: Provider, bindings: Mapping[str, object], path: str) -> dict[str, Any]:
    """Raises Rejected with the path of everything that cannot be computed."""
    document: dict[str, Any] = documents.write(provider)
    problems: list[Problem] = []
    texts: dict[str, str] = {}
    bindings = job_configs.Metered(bindings)
    match provider:
        case verification.Http():
            texts["url"] = careful_addresses.resolve(
                provider.url, bindings, f"{path}.url", problems, host_is_free=not provider.headers
            )
        case verification.Prometheus():
            place = f"{path}.address"
            texts["address"] = careful_addresses.resolve(
                provider.address, bindings, place, problems, host_is_free=True
            )
            texts["query"] = careful_texts.query(provider.query, bindings, f"{path}.query", problems)
        case verification.Sleep():
            pass
    rest = {key: value for key, value in document.items() if key not in texts}
    resolved = job_configs.resolve_into(rest, bindings, path, problems)
    if problems:
        raise Rejected(problems)
    return {**resolved, **texts}
