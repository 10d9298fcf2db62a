"""Fills in what the API fills in. It comes before every judgement, so it must take any document as it comes.

Update strategies are never filled in: a default written into the object would stay there when the type is changed,
and would be refused by the very rules that say where such a field may stand.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.kernel.objects import Object

NAMESPACE = "default"
TERMINATION_DELAY = "4h"
STARTUP_TYPE = "CliqueStartupTypeAnyOrder"
GRACE_PERIOD_SECONDS = 30
REPLICAS = 1
GROUP_MIN_AVAILABLE = 1

_Previous = Mapping[tuple[str, str], Mapping[str, Any]]
"""Cliques and groups of the stored object by the list they are in and their name."""


def apply(item: Object, old: Object | None = None) -> Object:
    """A copy with the defaults in place; the argument is left as it is.

    With `old`, what was filled in once stays: a clique whose replicas change keeps the minAvailable it was born
    with, because that may not change. Only one that nobody asks for and that would stand above the new replicas
    follows them down.
    """
    previous = {} if old is None else _entries_by_name(apply(old))
    return msgspec.structs.replace(
        item, namespace=item.namespace or NAMESPACE, spec=_defaulted_spec(item.spec, previous)
    )


def _defaulted_spec(spec: Any, previous: _Previous) -> Any:
    if not isinstance(spec, Mapping) or not isinstance(spec.get("template"), Mapping):
        return spec
    template = dict(spec["template"])
    _fill(template, "terminationDelay", TERMINATION_DELAY)
    _fill(template, "cliqueStartupType", STARTUP_TYPE)
    _fill(template, "headlessServiceConfig", {})
    if isinstance(template["headlessServiceConfig"], Mapping):
        template["headlessServiceConfig"] = {
            "publishNotReadyAddresses": True,
            **template["headlessServiceConfig"],
        }
    if isinstance(template.get("cliques"), list):
        template["cliques"] = [_defaulted_clique(clique, previous) for clique in template["cliques"]]
    if isinstance(template.get("podCliqueScalingGroups"), list):
        groups = template["podCliqueScalingGroups"]
        template["podCliqueScalingGroups"] = [_defaulted_group(group, previous) for group in groups]
    return {"replicas": 0, **_without_null(spec, "replicas"), "template": template}


def _defaulted_clique(clique: Any, previous: _Previous) -> Any:
    if not isinstance(clique, Mapping) or not isinstance(clique.get("spec") or {}, Mapping):
        return clique
    result = dict(clique)
    spec = result["spec"] = dict(clique.get("spec") or {})
    _take_shorthand(result, spec)
    _fill(spec, "replicas", REPLICAS)
    replicas = spec["replicas"]
    before = _at(previous.get(("cliques", str(clique.get("name")))), "spec")
    _fill(spec, "minAvailable", _least_of(before.get("minAvailable"), replicas))
    _fill(spec, "podSpec", {})
    if isinstance(spec["podSpec"], Mapping):
        pod_spec = spec["podSpec"] = dict(spec["podSpec"])
        _fill(pod_spec, "restartPolicy", "Always")
        _fill(pod_spec, "terminationGracePeriodSeconds", GRACE_PERIOD_SECONDS)
    _fill_least_replicas(spec, "autoScalingConfig", replicas)
    return result


def _take_shorthand(clique: dict[str, Any], spec: dict[str, Any]) -> None:
    """`replicas` beside `spec` means `spec.replicas`. Two that differ are left in place for validation to name."""
    if "replicas" in clique and (spec.get("replicas") is None or spec["replicas"] == clique["replicas"]):
        replicas = clique.pop("replicas")
        if replicas is not None:
            spec["replicas"] = replicas


def _least_of(before: Any, replicas: Any) -> int:
    """Never less than one, so that broken replicas are reported once and not again as a broken minAvailable."""
    counts = [count for count in (before, replicas) if _is_whole(count)]
    return max(1, min(counts, default=1))


def _defaulted_group(group: Any, previous: _Previous) -> Any:
    if not isinstance(group, Mapping):
        return group
    result = dict(group)
    _fill(result, "replicas", REPLICAS)
    before = previous.get(("podCliqueScalingGroups", str(group.get("name"))), {}).get("minAvailable")
    _fill(
        result,
        "minAvailable",
        GROUP_MIN_AVAILABLE if before is None else _least_of(before, result["replicas"]),
    )
    _fill_least_replicas(result, "scaleConfig", result["replicas"])
    return result


def _fill_least_replicas(owner: dict[str, Any], key: str, replicas: Any) -> None:
    if isinstance(owner.get(key), Mapping):
        owner[key] = {"minReplicas": replicas, **_without_null(owner[key], "minReplicas")}


def _fill(owner: dict[str, Any], key: str, value: Any) -> None:
    if owner.get(key) is None:
        owner[key] = value


def _without_null(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: item for name, item in value.items() if name != key or item is not None}


def _entries_by_name(item: Object) -> _Previous:
    template = _at(item.spec, "template")
    named: dict[tuple[str, str], Mapping[str, Any]] = {}
    for key in ("cliques", "podCliqueScalingGroups"):
        entries = template.get(key)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
                named[key, entry["name"]] = entry
    return named


def _at(value: Any, key: str) -> Mapping[str, Any]:
    inner = value.get(key) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
