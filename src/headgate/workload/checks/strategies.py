"""Update strategies: how much may be down, how much may be added, and on which level each may be said."""

from headgate.kernel.quantities import Quantity
from headgate.workload import model
from headgate.workload.checks.view import DocumentView, ListEntry

_FIELDS = ("maxUnavailable", "maxSurge")


def check(view: DocumentView) -> None:
    strategy = view.spec.entry("updateStrategy")
    kind = strategy.value.get("type") or "RollingUpdate"
    kind = model.STRATEGY_SPELLINGS.get(kind, kind) if isinstance(kind, str) else kind
    whole = strategy.entry("rollingUpdate")
    if kind == "ReplicaRecreate":
        check_budget(view, whole, view.spec.number("replicas") or 0)
    elif kind in ("RollingUpdate", "OnDelete"):
        _check_without_effect(view, whole, kind)
    if strategy.has("onDeadline") and not strategy.has("progressDeadlineSeconds"):
        view.warn(strategy.at("onDeadline"), "has no effect without progressDeadlineSeconds")
    for clique in view.cliques:
        _check_clique(view, clique, kind)
    for group in view.groups:
        _check_component(view, group, kind, group.number("replicas") or 0)


def _check_clique(view: DocumentView, clique: ListEntry, kind: str) -> None:
    group = view.grouped_cliques.get(clique.text("name") or "")
    strategy = clique.entry("updateStrategy")
    if group is not None and _is_said(strategy):
        view.refuse(
            strategy.path,
            f'is not allowed: the clique is in scaling group "{group}", whose replicas are replaced whole; '
            "say it there",
        )
    _check_component(view, clique, kind, clique.entry("spec").number("replicas") or 0)


def _check_component(view: DocumentView, owner: ListEntry, kind: str, replicas: int) -> None:
    strategy = owner.entry("updateStrategy")
    if not _is_said(strategy):
        return
    if kind == "ReplicaRecreate":
        view.refuse(
            strategy.path,
            "is not allowed with type ReplicaRecreate, which replaces whole replicas of the set; "
            "say maxUnavailable and maxSurge in spec.updateStrategy.rollingUpdate",
        )
    elif kind == "OnDelete":
        view.warn(strategy.path, "has no effect with type OnDelete")
    check_budget(view, strategy, replicas)


def _is_said(strategy: ListEntry) -> bool:
    return any(value is not None for value in strategy.value.values())


def check_budget(view: DocumentView, strategy: ListEntry, replicas: int) -> None:
    unavailable = _quantity(strategy, "maxUnavailable", Quantity, model.DEFAULT_MAX_UNAVAILABLE)
    surge = _quantity(strategy, "maxSurge", model.Surge, model.DEFAULT_MAX_SURGE)
    if unavailable is not None and surge is not None and unavailable.value == 0 and surge.value == 0:
        by_default = "" if strategy.has("maxSurge") else ", as it is by default"
        view.refuse(
            strategy.at("maxUnavailable"),
            f"must not be {unavailable} when maxSurge is {surge}{by_default}: one of them has to be more than 0",
        )
        return
    if not strategy.has("maxUnavailable") or unavailable is None or replicas < 1:
        return
    if not unavailable.is_percentage and unavailable.value > replicas:
        view.refuse(
            strategy.at("maxUnavailable"), f"is {unavailable}; must not be greater than replicas, {replicas}"
        )
    if unavailable.value > 0 and _both_round_to_zero(unavailable, surge, replicas):
        view.warn(
            strategy.at("maxUnavailable"),
            f"{unavailable} of {replicas} replicas is less than one, and there is no surge: 1 is used",
        )


def _both_round_to_zero(unavailable: Quantity, surge: Quantity | None, replicas: int) -> bool:
    return (
        surge is not None
        and unavailable.resolve(replicas, "down") == 0
        and surge.resolve(replicas, "up") == 0
    )


def _quantity(strategy: ListEntry, key: str, kind: type[Quantity], default: Quantity) -> Quantity | None:
    """None for what is no quantity; reading says so."""
    if not strategy.has(key):
        return default
    try:
        return kind.from_document(strategy.value[key])
    except ValueError:
        return None


def _check_without_effect(view: DocumentView, whole: ListEntry, kind: str) -> None:
    """The exact defaults pass: documents that spell them out say nothing wrong."""
    defaults = {"maxUnavailable": model.DEFAULT_MAX_UNAVAILABLE, "maxSurge": model.DEFAULT_MAX_SURGE}
    given = [key for key in _FIELDS if whole.has(key)]
    refused = [key for key in given if not _is_exactly(whole.value[key], defaults[key].value)]
    for key in refused:
        why = (
            ": replicas of the set are updated one at a time; say it on cliques and scaling groups"
            if kind == "RollingUpdate"
            else ""
        )
        view.refuse(whole.at(key), f"is not allowed with type {kind}, only with ReplicaRecreate{why}")
    if given and not refused:
        view.warn(whole.path, f"has no effect with type {kind}; leave it out")


def _is_exactly(value: object, number: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value == number
