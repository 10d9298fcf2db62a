"""How a simulated cluster behaves, as a scenario writes it."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from headgate.kernel import instants
from headgate.kernel.spans import Span


class StatusBehavior(msgspec.Struct, frozen=True):
    """What becomes of an object's status so long after each write of its spec; `${}` reads the object."""

    set: dict[str, object]
    after: Span = Span(0)


class Ends(msgspec.Struct, frozen=True, rename="camel"):
    """A pod that its node ends, as by an eviction. It stays in the API until somebody deletes it."""

    after: Span = Span(0)
    since: Literal["bound", "ready"] = "ready"
    phase: Literal["Failed", "Succeeded"] = "Failed"
    reason: str = "Evicted"
    times: Annotated[int, Meta(ge=1, le=20)] = 1


class Behavior(msgspec.Struct, frozen=True, rename="camel"):
    match: str = "true"
    never: Literal["ready", "gone"] | None = None
    crash_after: Span | None = None
    start: Span | None = None
    unschedulable: bool = False
    ends: Ends | None = None
    status: StatusBehavior | None = None
    refuses: str | None = None


class Cluster(msgspec.Struct, frozen=True, rename="camel"):
    nodes: Annotated[int, Meta(ge=0)] | None = None
    pods_per_node: Annotated[int, Meta(ge=1)] = 1
    binds: Literal["gangs", "pods"] = "gangs"
    schedule: Span = Span(instants.seconds(1))
    start: Span = Span(instants.seconds(30))
    terminate: Span = Span(instants.seconds(10))
    collect: Span = Span(instants.seconds(1))
    lag: Span = Span(0)
    crash_at_writes: tuple[Annotated[int, Meta(ge=1)], ...] = ()
    behaviors: tuple[Behavior, ...] = ()
