"""What is read of a pod, and nothing else of it: planners go by a tenth of what a server says of each, and there may be tens of
thousands of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.kernel.objects import Object

API_VERSION, KIND = "v1", "Pod"
_OF_SPEC = ("nodeName", "hostname", "schedulingGates", "terminationGracePeriodSeconds")
_OF_STATUS = ("phase", "reason")
_CONDITION = "Ready"


def read_alone(item: Object) -> Object:
    """The object itself if it is no pod."""
    if item.kind != KIND or item.api_version != API_VERSION:
        return item
    status = _chosen(item.status, _OF_STATUS)
    conditions = item.status.get("conditions")
    if isinstance(conditions, list):
        status["conditions"] = [
            {"type": _CONDITION, "status": each.get("status")}
            for each in conditions
            if isinstance(each, Mapping) and each.get("type") == _CONDITION
        ]
    return msgspec.structs.replace(item, spec=_chosen(item.spec, _OF_SPEC), status=status, other={})


def _chosen(source: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: source[name] for name in names if name in source}
