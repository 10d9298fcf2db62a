"""What an operator orders, as edits of the set. They are ordinary writes: whoever may edit the set may do the same."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from headgate.kernel.explanations import PartState
from headgate.kernel.objects import Object
from headgate.workload import model
from headgate.workload.expand import revisions
from headgate.workload.plan import set_states
from headgate.workload.plan.situation import ABORT

SetOrder = Literal["pause", "resume", "abort"]
Edit = Callable[[Object], Object]


def pause(item: Object) -> Object:
    """No new deletion and no new surge; what is torn down is rebuilt."""
    return _with_strategy(item, {**_strategy(item), "paused": True})


def resume(item: Object) -> Object:
    return _with_strategy(item, {key: value for key, value in _strategy(item).items() if key != "paused"})


def partition(item: Object, first: int) -> Object:
    """Lets only replicas from that index on be updated."""
    kept = {key: value for key, value in _strategy(item).items() if key != "partition"}
    return _with_strategy(item, {**kept, "partition": first} if first else kept)


def abort(item: Object) -> Object:
    """Gives up the update to the template as it stands: what is not yet moved keeps its revision, surge goes. Another
    template starts a new update."""
    abandoned = revisions.revision_hash(model.read(item))
    order = f"{abandoned}@{item.generation}"
    return msgspec.structs.replace(item, annotations={**item.annotations, ABORT: order})


_EDITS: Mapping[SetOrder, Edit] = {"pause": pause, "resume": resume, "abort": abort}


def refusal(order: str, subject: str, state: str) -> str | None:
    """Why the order cannot be carried out on a set in that state."""
    if order == "abort" and state in set_states.WITHOUT_UPDATE:
        return f"{subject} is {state}: there is no update to abort"
    return None


def edit_for(order: SetOrder, state: str) -> Edit:
    """No update is aborted twice."""
    return _unchanged if order == "abort" and state == PartState.ABORTED else _EDITS[order]


def _unchanged(item: Object) -> Object:
    return item


def _strategy(item: Object) -> dict[str, Any]:
    strategy = item.spec.get("updateStrategy")
    return strategy if isinstance(strategy, dict) else {}


def _with_strategy(item: Object, strategy: dict[str, Any]) -> Object:
    spec = {key: value for key, value in item.spec.items() if key != "updateStrategy"}
    return msgspec.structs.replace(item, spec={**spec, "updateStrategy": strategy} if strategy else spec)
