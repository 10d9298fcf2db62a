"""Documents without the credentials in them, for those who may not write them."""

from __future__ import annotations

from typing import Any

from headgate.fleet.agent_fields import HIDDEN


def without_headers(value: Any) -> Any:
    """Headers of verification providers mostly are credentials; which they are stays to be seen, their values do not."""
    if isinstance(value, list):
        return [without_headers(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _provider(item) if key == "provider" and isinstance(item, dict) else without_headers(item)
        for key, item in value.items()
    }


def _provider(provider: dict[str, Any]) -> dict[str, Any]:
    headers = provider.get("headers")
    if not isinstance(headers, dict):
        return provider
    return {**provider, "headers": dict.fromkeys(headers, HIDDEN)}
