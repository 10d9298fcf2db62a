"""Sets over time: which places there were, in the order of the tree, and which pods followed each other in them."""

from collections.abc import Iterable

from headgate.cluster.simulated.pods import PodSeen
from headgate.simulate.model.result import PodLife, PodRow, Workload

_PlaceInSet = tuple[int, int, str, int, str, int]


def of(pods: Iterable[PodSeen]) -> list[Workload]:
    by_set: dict[tuple[str, str], list[PodSeen]] = {}
    for pod in pods:
        if pod.pcs is not None and pod.index is not None and pod.pcs_replica is not None:
            by_set.setdefault((pod.key.namespace, pod.pcs), []).append(pod)
    return [
        _workload(namespace, name, rows_of_set) for (namespace, name), rows_of_set in sorted(by_set.items())
    ]


def _workload(namespace: str, name: str, pods: list[PodSeen]) -> Workload:
    first_of: dict[_PlaceInSet, PodSeen] = {}
    only_surge: dict[_PlaceInSet, bool] = {}
    for pod in pods:
        place = _place(pod)
        first_of.setdefault(place, pod)
        only_surge[place] = only_surge.get(place, True) and pod.is_surge
    ordered = sorted(first_of)
    number_of = {place: number for number, place in enumerate(ordered)}
    rows = tuple(_row(first_of[place], only_surge[place]) for place in ordered)
    lives = tuple(
        PodLife(
            number_of[_place(pod)],
            pod.name,
            pod.revision,
            pod.created_at,
            pod.scheduled_at,
            tuple((span[0], span[1] if len(span) > 1 else None) for span in pod.ready_spans),
            pod.deleted_at,
            pod.gone_at,
        )
        for pod in sorted(pods, key=lambda pod: (pod.created_at, pod.name))
    )
    set_name = name if namespace == "default" else f"{namespace}/{name}"
    return Workload(set_name, rows, lives, max((pod.revision or 0 for pod in pods), default=0))


def _place(pod: PodSeen) -> _PlaceInSet:
    """Standalone cliques first, then groups; inside by name and index."""
    return (
        pod.pcs_replica or 0,
        pod.pcsg is not None,
        pod.pcsg or "",
        pod.pcsg_replica or 0,
        pod.clique or "",
        pod.index or 0,
    )


def _row(pod: PodSeen, is_surge: bool) -> PodRow:
    group = "" if pod.pcsg is None else f"{pod.pcsg} {pod.pcsg_replica}"
    return PodRow(pod.pcs_replica or 0, group, pod.clique or "", pod.index or 0, is_surge)
