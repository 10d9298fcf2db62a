"""Whether one item may change now, as its gates answer: allowed, pending or error. Unknown is never a pass.

One GateEvaluator serves all items of a collection in one pass: they are asked in their order, and whoever is admitted counts
as in flight for the next.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence

import msgspec

from headgate import cel
from headgate.graph.compile import names
from headgate.graph.compile.expressions import GateExpression
from headgate.graph.reconcile import counting, labels
from headgate.graph.reconcile.items import GraphItem, GraphItems
from headgate.kernel import decisions, instants, waves
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.instants import Instant

MOST_LOOKS_AHEAD = 20_000
"""Moments tried in one pass to find out when a time gate changes its answer: two weeks of minutes."""

EXPONENTIAL = "exponentiallyUpdated(item, collection)"
"""How the default gate is written where people read it."""


PASS = decisions.allowed("")
_WAVE_IS_FULL = decisions.pending(Reason.WAVE_FULL, "its wave has not come yet", gate=EXPONENTIAL)


def gate_of(answer: Verdict) -> str:
    """The gate that was asked, as it is written; empty where no expression stands in the way."""
    return str(answer.details.get("gate", ""))


def paused(subject: str) -> Verdict:
    """`subject` is what carries the annotation: taking it away there ends the wait."""
    return decisions.pending(
        Reason.PAUSED, f"propagation is paused by the annotation {labels.PROPAGATION} of {subject}"
    )


def given_up(subject: str, revision: str) -> Verdict:
    """`subject` is what carries the annotation."""
    return decisions.pending(
        Reason.ABORTED,
        f"{revision} was given up by the annotation {labels.ABORT} of {subject}; the next edit goes on from here",
    )


class GateCache:
    """Rewritten gates, kept between passes; forgetting them changes nothing."""

    def __init__(self) -> None:
        self._counted: dict[tuple[GateExpression, str, frozenset[str]], counting.Counted] = {}

    def counted(self, gate: GateExpression, collection: str, item_names: frozenset[str]) -> counting.Counted:
        key = (gate, collection, item_names)
        rewritten = self._counted.get(key)
        if rewritten is None:
            if len(self._counted) > 10_000:
                self._counted.clear()
            rewritten = self._counted[key] = counting.rewritten(gate.program, collection, item_names)
        return rewritten


class _Asked:
    """One gate over one list in one pass."""

    def __init__(
        self,
        gate: GateExpression,
        counted: counting.Counted,
        items: GraphItems,
        bindings: Mapping[str, object],
        now: Instant,
    ) -> None:
        self.gate = gate
        self._counted = counted
        self._items = items
        moment: dict[str, object] = {names.NOW: instants.to_datetime(gate.seen_moment(now))}
        self._bindings: Mapping[str, object] = ChainMap(moment, bindings)  # type: ignore[arg-type]
        self._is_false = decisions.pending(Reason.GATE_FALSE, "is false", gate=gate.text)
        self._tallies: tuple[counting.FoldTally, ...] | None = None
        self._shared: tuple[int, Verdict] | None = None
        """The list's version and the answer, for a gate that says the same of every item."""

    @property
    def reads_item(self) -> bool:
        return self._counted.reads_item

    def answer(self, item_bindings: Mapping[str, object]) -> Verdict:
        if self._counted.reads_item:
            return self._verdict(item_bindings, self._bindings)
        if self._shared is None or self._shared[0] != self._items.version:
            self._shared = (self._items.version, self._verdict({}, self._bindings))
        return self._shared[1]

    def passes_at(self, moment: Instant, item_bindings: Mapping[str, object]) -> bool:
        own: dict[str, object] = {names.NOW: instants.to_datetime(moment)}
        return self._verdict(item_bindings, ChainMap(own, self._bindings)).is_allowed  # type: ignore[arg-type]

    def admitted(self, item: GraphItem) -> None:
        for tally in self._tallies or ():
            tally.observe(item)

    def _verdict(self, item_bindings: Mapping[str, object], bindings: Mapping[str, object]) -> Verdict:
        folded = self._folded()
        gate = self.gate if folded is None else None
        own = {**item_bindings, **(folded or {})}
        seen: Mapping[str, object] = ChainMap(own, bindings)  # type: ignore[arg-type]
        try:
            value = gate.evaluate(seen) if gate is not None else self._counted.program.evaluate(seen)
        except cel.EvaluationError as error:
            return decisions.error(error.message, gate=self.gate.text)
        if value is True:
            return PASS
        if value is False:
            return self._is_false
        return decisions.error("the value is neither true nor false", gate=self.gate.text)

    def _folded(self) -> dict[str, object] | None:
        """None where the expression has to be evaluated as it stands."""
        folds = self._counted.folds
        if not folds:
            return None
        if self._tallies is None:
            self._tallies = tuple(counting.FoldTally(fold, self._items, self._bindings) for fold in folds)
        if any(tally.has_failed for tally in self._tallies):
            return None
        return {fold.name: tally.value() for fold, tally in zip(folds, self._tallies)}


class GateEvaluator:
    """`gates` None means the default: waves that double for a collection, nothing for a single resource."""

    def __init__(
        self,
        gates: Sequence[GateExpression] | None,
        items: GraphItems,
        collection: str,
        item_names: frozenset[str],
        bindings: Mapping[str, object],
        now: Instant,
        planner_cache: GateCache,
        *,
        has_default_waves: bool,
    ) -> None:
        self._items = items
        self._item_names = item_names
        self._has_waves = gates is None and has_default_waves
        self._now = now
        self._looks_left = MOST_LOOKS_AHEAD
        self._opening: tuple[Instant | None] | None = None
        """When the gates on time next let pass, once it is known and the same for all items."""
        self._asked = [
            _Asked(gate, planner_cache.counted(gate, collection, item_names), items, bindings, now)
            for gate in gates or ()
        ]

    def ask(self, item: GraphItem) -> Verdict:
        """All gates have to pass. An error is told before a gate that is merely shut."""
        if self._has_waves and not self._is_in_wave(item):
            return _WAVE_IS_FULL
        if not self._asked:
            return PASS
        own = dict.fromkeys(self._item_names, item)
        refusal: Verdict | None = None
        is_shut_by_time = False
        for asked in self._asked:
            answer = asked.answer(own)
            if answer.is_allowed:
                continue
            is_shut_by_time |= asked.gate.reads_now
            if refusal is None or (answer.outcome == "error" and refusal.outcome == "pending"):
                refusal = answer
        if refusal is None:
            return PASS
        if is_shut_by_time:
            refusal = msgspec.structs.replace(refusal, requeue_at=self._next_opening(own))
        return refusal

    def _next_opening(self, own: Mapping[str, object]) -> Instant | None:
        """The first moment at which all gates on time pass, everything else as it is now.

        Where it is too far away, the last moment that was tried: it is looked for again from there.
        """
        timed = [asked for asked in self._asked if asked.gate.reads_now]
        is_shared = not any(asked.reads_item for asked in timed)
        if is_shared and self._opening is not None:
            return self._opening[0]
        moment: Instant | None = self._now
        while moment is not None:
            moments = [at for asked in timed if (at := asked.gate.next_change(moment)) is not None]
            later = min(moments, default=None)
            is_over = later is None or self._looks_left <= 0
            moment = later
            if is_over or moment is None:
                break
            self._looks_left -= 1
            if all(asked.passes_at(moment, own) for asked in timed):
                break
        if is_shared:
            self._opening = (moment,)
        return moment

    def _is_in_wave(self, item: GraphItem) -> bool:
        landed = self._items.landed_count()
        return waves.may_go(
            self._items.rank_among_not_updated(item),
            landed,
            self._items.in_flight_count(),
            waves.exponential_limit(landed),
        )

    def admit(self, item: GraphItem) -> None:
        self._items.admit(item)
        for asked in self._asked:
            asked.admitted(item)
