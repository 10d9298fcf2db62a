"""The states of a set, each with the reason for which a set in it is not done: said here for explain, which knows all parts
of a set, and for whoever has its status alone."""

from collections.abc import Mapping

from headgate.kernel.decisions import Reason
from headgate.kernel.explanations import PartState

REASONS: Mapping[PartState, Reason] = {
    PartState.DONE: Reason.ALLOWED,
    PartState.STARTING: Reason.REPLICAS_UNAVAILABLE,
    PartState.UPDATING: Reason.UPDATING,
    PartState.PAUSED: Reason.PAUSED,
    PartState.ABORTED: Reason.ABORTED,
    PartState.OVERDUE: Reason.PROGRESS_DEADLINE_EXCEEDED,
    PartState.ON_DELETE: Reason.ON_DELETE,
    PartState.DELETING: Reason.UNDER_DELETION,
}
_AT_REST = frozenset({Reason.STARTED, Reason.UPDATE_COMPLETE, Reason.ROLLED_BACK})
"""Of Progressing: nothing is under way, and whether the set is done is a matter of what is available."""
_BY_REASON: Mapping[str, PartState] = {reason: state for state, reason in REASONS.items()}
WITHOUT_UPDATE = frozenset({PartState.DONE, PartState.DELETING})
"""There is none that could be aborted."""
OF_THE_WHOLE = frozenset(REASONS.values())
"""Reasons of a set as a whole; any other is that of a part that is stuck."""


def by_conditions(progressing: str, available: str | None) -> str:
    """By the reasons of its conditions; what keeps a set from being built at all is its own word."""
    if progressing not in _AT_REST:
        known = _BY_REASON.get(progressing)
        return progressing if known is None else known.value
    if available is None:
        is_done = progressing != Reason.STARTED
    else:
        is_done = available == Reason.ALL_REPLICAS_AVAILABLE
    return (PartState.DONE if is_done else PartState.STARTING).value
