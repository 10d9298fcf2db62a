"""What every rule's file says beside its judgement: when it is asked, what ends its wait, whom it binds."""

from __future__ import annotations

import enum
from typing import ClassVar

import msgspec

from headgate.fleet.model import objects as model


class GateStage(enum.IntEnum):
    """When a start is asked about, in the order in which people read the answers. Rules of one stage are asked in the order
    in which they are registered."""

    SCOPE = enum.auto()
    """Whether a version with a targetSelector may come; of other versions it is not asked."""
    SELECTION = enum.auto()
    """Whether the version may come here at all."""
    CONSENT = enum.auto()
    """Whether people let the version come."""
    PROOF = enum.auto()
    """Whether the version is proven elsewhere."""
    DEPENDENCIES = enum.auto()
    """What the version itself says it depends on."""
    PACE = enum.auto()
    """Whether it is too soon for another version."""
    CYCLE = enum.auto()
    """How what changes together goes on; asked by `cycles`, as the next two are."""
    UPSTREAM = enum.auto()
    TURN = enum.auto()
    FREEZE = enum.auto()
    HOURS = enum.auto()
    """Whether anything may start now. From here on what is judged is the moment, not the version."""
    FAILURES = enum.auto()
    """Whether too much has failed."""
    CONDITIONS = enum.auto()
    """Whether what users ask for themselves is true."""
    SLOTS = enum.auto()
    """Whether there is room; taken by `admission`, in order."""


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What is true of all rules of a kind, for gates, cycles and explanations to go by. What is left out is the usual."""

    stage: GateStage | None = None
    """None for what no start is asked about: it has no verdict that could be skipped."""
    event: str = ""
    """What ends the wait, after "when", if neither a time nor a person does."""
    is_answered_by_votes: bool = False
    """People are asked for them as soon as the version is there, and may withdraw them; nothing else ends the wait."""
    is_ended_by_people: bool = False
    """Where the verdict has no time, nothing but an act of a person ends the wait."""
    rather_than_skipped: str = ""
    """Why nobody is offered a skip: what a skip does not help, or what had better be done."""
    keeps_version_away: bool = False
    """Nobody waits for a version that it denies: what runs there is up to date."""
    keeps_time: bool = False
    """A rollout begins when it has allowed the version."""
    is_same_for_all: bool = False
    """It tells all targets of a deployment and environment the same of a version, so that a line asks once for all."""
    is_of_each_target: bool = False
    """It judges a target, not a change: each member of a group is told its own verdict, and a hook is not asked."""
    lets_repairs_pass: bool = False
    """It does not hold a cycle that only goes back."""
    may_hold_a_lock: bool = False
    """What was locked may have to wait for it, or may come to be denied, before its group starts."""
    acts_inside_cycle: bool = False
    """It goes on as it was when the cycle began; all others decide what is locked, or when it starts."""
    is_of_any_version: bool = False
    """What it says counts whichever version it is about."""


class AskedVotes(msgspec.Struct, frozen=True):
    count: int
    roles: tuple[model.Name, ...] | None = None
    """Whose votes count; None if everyone's do."""


class RuleSpec(msgspec.Struct, frozen=True, rename="camel"):
    """The fields of a rule as its policy has them."""

    traits: ClassVar[Traits] = Traits()

    def in_words(self) -> str:
        """What the rule asks for, in a sentence."""
        raise NotImplementedError

    def binding_selector(self) -> str | None:
        """Whom it binds of those that its policy does; None if all of them."""
        return None

    def reads_siblings(self) -> bool:
        """Whether a target is judged by how far the others of its deployment and environment are."""
        return False

    def asked_votes(self) -> AskedVotes | None:
        """None if it asks nobody."""
        return None
