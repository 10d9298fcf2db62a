"""How many pods of a set are new and available, of how many it is to have; surge is in neither."""

from collections.abc import Iterator, Sequence

from headgate.kernel.identifiers import NamedIds
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.workload.plan import observed as seen
from headgate.workload.plan import planner
from headgate.workload.plan.situation import Situation


def of_set(pcs: Object, observed: Sequence[Object], now: Instant) -> tuple[int, int]:
    situation = planner.observe(pcs, observed, now, NamedIds())
    counts = [pair for index in range(situation.pcs.replicas) for pair in _of_replica(situation, index)]
    return sum(new for new, _ in counts), sum(wanted for _, wanted in counts)


def _of_replica(situation: Situation, index: int) -> Iterator[tuple[int, int]]:
    """What is not there, or on its way out, is to have as many as the template says."""
    template = situation.pcs.template
    replica = situation.tree.replicas.get(index)
    for clique in template.standalone_cliques:
        clique_seen = replica.cliques.get(clique.name) if replica is not None else None
        yield _of_clique(situation, clique.name, clique.spec.replicas, clique_seen)
    for group in template.scaling_groups:
        state = replica.groups.get(group.name) if replica is not None else None
        item = state.live_object if state is not None else None
        wanted = int(item.spec.get("replicas", 0)) if item is not None else group.replicas
        for number in range(wanted):
            member = state.replicas.get(number) if state is not None else None
            for part in template.members(group):
                clique_seen = member.cliques.get(part.name) if member is not None else None
                yield _of_clique(situation, part.name, part.spec.replicas, clique_seen)


def _of_clique(
    situation: Situation, name: str, replicas: int, clique_seen: seen.ObservedClique | None
) -> tuple[int, int]:
    item = clique_seen.live_object if clique_seen is not None else None
    wanted = int(item.spec.get("replicas", 0)) if item is not None else replicas
    content = situation.target.clique_hashes.get(name)
    pods = clique_seen.pods if clique_seen is not None else ()
    new = sum(
        pod.is_available and not pod.is_going and pod.index < wanted and pod.template_hash == content
        for pod in pods
    )
    return new, wanted
