"""What an API server saw of a rollout over nodes, by its audit log, in the order of its own versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kube

Event = dict[str, Any]


class Seen:
    def __init__(self, plane: kube.ControlPlane) -> None:
        self._events = [event for event in plane.audit() if _succeeded(event)]

    def cordons(self) -> list[tuple[int, str, bool]]:
        """Version, node, and whether it was cordoned or uncordoned then."""
        states: dict[str, bool] = {}
        found = []
        for version, node in sorted(self._nodes(), key=lambda one: one[0]):
            name, now = str(node["metadata"]["name"]), bool(node["spec"].get("unschedulable"))
            if states.get(name, False) != now:
                states[name] = now
                found.append((version, name, now))
        return found

    def most_cordoned_at_once(self) -> int:
        out: set[str] = set()
        most = 0
        for _, name, is_cordoned in self.cordons():
            out = out | {name} if is_cordoned else out - {name}
            most = max(most, len(out))
        return most

    def evicted(self) -> list[str]:
        """Pods, by name, in the order of their evictions."""
        return [event["objectRef"]["name"] for event in self._events if _is_eviction(event)]

    def deleted_pods(self) -> list[str]:
        """By whoever is not the control plane itself, and not by eviction."""
        return [
            event["objectRef"]["name"]
            for event in self._events
            if event["objectRef"]["resource"] == "pods"
            and event["verb"] in ("delete", "deletecollection")
            and event["user"]["username"] == "admin"
        ]

    def jobs(self) -> list[tuple[int, str, str]]:
        """Version, node and target of each Job that was made."""
        return [
            (
                int(event["responseObject"]["metadata"]["resourceVersion"]),
                event["responseObject"]["spec"]["template"]["spec"]["nodeName"],
                event["responseObject"]["metadata"]["annotations"]["headgate.dev/target"],
            )
            for event in self._events
            if event["objectRef"]["resource"] == "jobs" and event["verb"] == "create"
        ]

    def _nodes(self) -> Iterator[tuple[int, Event]]:
        for event in self._events:
            node = event.get("responseObject") or {}
            if event["objectRef"]["resource"] == "nodes" and node.get("kind") == "Node" and "spec" in node:
                yield int(node["metadata"]["resourceVersion"]), node


def _succeeded(event: Event) -> bool:
    return (
        bool(event.get("objectRef"))
        and event["stage"] == "ResponseComplete"
        and event["responseStatus"]["code"] < 300
    )


def _is_eviction(event: Event) -> bool:
    return event["objectRef"].get("subresource") == "eviction"


def refused_evictions(plane: kube.ControlPlane) -> int:
    """By a disruption budget."""
    return sum(
        1
        for event in plane.audit()
        if event.get("objectRef") and _is_eviction(event) and event["responseStatus"]["code"] == 429
    )
