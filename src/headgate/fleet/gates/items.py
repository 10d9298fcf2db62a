"""What a gate's expression sees: the target, its siblings, the moment, and signals; each fetched when it is reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.fleet.state import candidates, repairs
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Target, VersionNode
from headgate.kernel.instants import Instant


class TargetItem:
    """A target as seen from a candidate version: on it or not, landed or in flight."""

    __slots__ = ("state", "target", "version")

    def __init__(self, state: State, target: Target, version: VersionNode) -> None:
        self.state = state
        self.target = target
        self.version = version

    def is_updated(self) -> bool:
        """On the candidate version; a live job with it counts."""
        record = self.target.record
        if record.job is not None:
            return self.state.jobs[record.job].version == self.version.id
        return record.deployed == self.version.id

    def is_past(self) -> bool:
        """On something newer than the candidate, which it will never get: no place in the waves."""
        record = self.target.record
        job = self.state.jobs.get(record.job or "")
        current = self.state.version(job.version if job is not None else record.deployed)
        return current is not None and current.sort_key > self.version.sort_key

    def is_ready(self) -> bool:
        """Its newest release has succeeded and verification has passed."""
        record = self.target.record
        return (
            record.job is None
            and record.deployed is not None
            and record.failed_at is None
            and self.target.retry_at() is None
            and record.verification in ("none", "passed")
            and repairs.ahead(self.state, self.target) is None
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TargetItem) and other.target is self.target

    def __hash__(self) -> int:
        return hash(self.target.name)

    def __cel_field__(self, name: str) -> Any:
        match name:
            case "name":
                return self.target.name
            case "version":
                return self._current_version()
        return self.target.bindings()[name]

    def _current_version(self) -> Any:
        deployed = candidates.deployed_version(self.state, self.target)
        if deployed is None:
            raise KeyError("version")
        return deployed.view


class TargetItems(list[TargetItem]):
    """Targets of the deployment in the environment and in scope, by name, with the counts of those to change."""

    def __init__(self, state: State, target: Target, version: VersionNode) -> None:
        scoped = candidates.scoped_targets(target.pair, version)
        super().__init__(TargetItem(state, scoped[name], version) for name in sorted(scoped))
        self.landed = 0
        self.in_flight = 0
        self.ranks: dict[str, int] = {}
        for item in self:
            if item.is_past():
                continue
            if not item.is_updated():
                self.ranks[item.target.name] = len(self.ranks)
            elif item.is_ready():
                self.landed += 1
            else:
                self.in_flight += 1

    def landed_count(self) -> int:
        return self.landed

    def in_flight_count(self) -> int:
        return self.in_flight

    def rank_among_not_updated(self, item: TargetItem) -> int:
        return self.ranks.get(item.target.name, len(self.ranks))


class GateBindings(Mapping[str, Any]):
    """Lazy: an expression that reads no `targets` does not build them. `now` is added by the rule."""

    def __init__(self, state: State, target: Target, version: VersionNode, now: Instant) -> None:
        self.state = state
        self.target = target
        self.version = version
        self.now = now

    def __getitem__(self, name: str) -> Any:
        match name:
            case "target":
                return TargetItem(self.state, self.target, self.version)
            case "targets":
                return self._targets()
            case "signals":
                return signal_values(self.state, self.now)
            case "version":
                return self.version.view
        return self.target.bindings()[name]

    def _targets(self) -> TargetItems:
        """Shared by all targets of the pair until one of them moves."""
        pair = self.target.pair
        key = ("items", self.version.id)
        cached = pair.caches.get(key)
        if cached is None or cached[0] != pair.progress:
            cached = pair.caches[key] = (pair.progress, TargetItems(self.state, self.target, self.version))
        return cached[1]

    def __iter__(self) -> Iterator[str]:
        return iter(("target", "targets", "signals", "version", "resource", "environment", "deployment"))

    def __len__(self) -> int:
        return 7


def signal_values(state: State, now: Instant) -> dict[str, object]:
    return {name: signal.value for name, signal in state.signals.items() if not signal.is_over(now)}


def next_signal_expiry(state: State, now: Instant) -> Instant | None:
    ends = [s.expires_at for s in state.signals.values() if s.expires_at is not None and s.expires_at > now]
    return min(ends, default=None)
