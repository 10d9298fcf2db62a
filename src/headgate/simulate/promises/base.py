"""What every promise is: a name, a sentence, and the things it may observe."""

import json
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import msgspec

from headgate.fleet import changes, records
from headgate.kernel.instants import Instant
from headgate.simulate.mirror import Mirror

Broken = Callable[[str, Instant, str], None]
"""Takes the promise's name, the moment, and the sentence."""

STILL_TO_RUN = frozenset({"waiting", "running", "retrying"})
"""Members of a group that have a job ahead of them, or under way."""


class Unconverged(msgspec.Struct, frozen=True):
    """One target that is not where it should be: why, what wakes it, and every rule line of its explanation."""

    target: str
    state: str
    reason: str
    wakes: str
    verdicts: tuple[tuple[str, str], ...] = ()
    """(verdict, message) of each rule."""
    is_woken: bool = True
    """Whether it stands on the list of everything that is said to wake it."""


class Ending(msgspec.Struct, frozen=True):
    """`was_cut` says that time ran out, so that what is left may still be on its way."""

    at: Instant
    converged: bool
    was_cut: bool
    next_wake: Instant | None
    unconverged: tuple[Unconverged, ...] = ()


class Promise:
    """Subclasses override what they need to see; the rest costs nothing."""

    name: ClassVar[str]
    sentence: ClassVar[str]

    def __init__(self, mirror: Mirror, broken: Broken) -> None:
        self.mirror = mirror
        self._broken = broken

    def broken(self, now: Instant, fact: str) -> None:
        self._broken(self.name, now, f"{self.sentence}: {fact}")

    def changed(self, change: changes.Change, now: Instant) -> None:
        """An accepted change; the mirror has it already."""

    def job_created(self, job: records.Job, verdicts: Sequence[Any], now: Instant) -> None: ...

    def job_changed(self, job: records.Job, old_status: str, now: Instant) -> None: ...

    def group_changed(self, group: records.Group, now: Instant) -> None: ...

    def repeated(self, job: records.Job, was_changed: bool, now: Instant) -> None:
        """A report was delivered a second time."""

    def decided(self, now: Instant) -> None: ...

    def reloaded(self, before: bytes, after: bytes, now: Instant) -> None:
        """The state as written out, and as written out again by the engine that loaded it."""

    def compared(self, survivor: bytes, reloaded: bytes, now: Instant) -> None:
        """Decisions after a crash: those of an engine that went on, and of the one that came back."""

    def looked_afresh(self, found: Sequence[str], now: Instant) -> None:
        """What an engine that looks at everything would do at once, after this one has decided."""

    def ended(self, ending: Ending) -> None: ...


def canonical(state: bytes) -> bytes:
    """The order of keys is no part of a state: what follows from it would show in the decisions."""
    return json.dumps(json.loads(state), sort_keys=True, ensure_ascii=False).encode()


def first_difference(expected: bytes, found: bytes) -> str:
    """What stands around the first byte in which two documents differ."""
    place = next(
        (index for index, (one, other) in enumerate(zip(expected, found)) if one != other),
        min(len(expected), len(found)),
    )
    start = max(0, place - 60)
    was, became = (text[start : place + 60].decode("utf-8", "replace") for text in (expected, found))
    return f"...{was}... became ...{became}..."
