"""What a rolling update took in one replica is back before it takes something in another."""

from collections.abc import Sequence

from headgate.cluster.port import ClusterPort
from headgate.kernel.instants import Instant
from headgate.promises.base import Broken, WorkloadPromise
from headgate.promises.books.tally import NamespacedName, PodTally
from headgate.promises.books.unavailability import BudgetStep, Scope
from headgate.workload.expand import revisions
from headgate.workload.model import PodCliqueSet
from headgate.workload.plan.situation import ABORT


class OneReplicaAtATime(WorkloadPromise):
    name = "OneReplicaAtATime"
    sentence = "a rolling update changes one replica of the set at a time"

    def __init__(self, cluster: ClusterPort, broken: Broken) -> None:
        super().__init__(cluster, broken)
        self._open: dict[tuple[str, str], set[int]] = {}
        """By set the replicas in which a rolling update took something that is not back yet."""

    def acted(
        self, pcs: PodCliqueSet, steps: Sequence[BudgetStep], tally: PodTally, was_paused: bool, now: Instant
    ) -> None:
        set_name = (pcs.namespace, pcs.name)
        if pcs.update_strategy.type != "RollingUpdate":
            self._open.pop(set_name, None)
            return
        opened = self._open.setdefault(set_name, set())
        opened -= {index for index in opened if index >= pcs.replicas or _is_settled(pcs, index, tally)}
        for index in sorted(_taken(pcs, steps, tally)):
            others = sorted(opened - {index})
            if others:
                self.broken(
                    now, f"{pcs.name} loses a unit in replica {index} while replica {others[0]} is not done"
                )
            opened.add(index)


def _taken(pcs: PodCliqueSet, steps: Sequence[BudgetStep], tally: PodTally) -> set[int]:
    return {
        step.scope.replica
        for step in steps
        if step.took and step.after.available < step.limits.replicas and step.scope.replica is not None
        if not _is_scaled_in(pcs, step, tally)
    }


def _is_scaled_in(pcs: PodCliqueSet, step: BudgetStep, tally: PodTally) -> bool:
    """There were more units than are wanted, and only those went: a smaller number is wanted in every replica at once.
    An update takes a unit out of its place, or leaves two contents side by side."""
    scope, wanted = step.scope, step.limits.replicas
    if step.before.units <= wanted:
        return False
    if scope.level == "clique":
        pods = tally.own_pods(scope.namespaced_name)
        return {pod.number for pod in pods} == set(range(wanted)) and len(
            {pod.template_hash for pod in pods}
        ) <= 1
    if tally.group_replicas(scope.namespaced_name) != set(range(wanted)):
        return False
    named = scope.name.removeprefix(f"{pcs.name}-{scope.replica}-")
    group = next((group for group in pcs.template.scaling_groups if group.name == named), None)
    return group is not None and all(
        len(_contents(scope, name, wanted, tally)) <= 1 for name in group.clique_names
    )


def _contents(scope: Scope, clique: str, replicas: int, tally: PodTally) -> set[str]:
    return {
        pod.template_hash
        for index in range(replicas)
        for pod in tally.own_pods((scope.namespace, f"{scope.name}-{index}-{clique}"))
    }


def _is_settled(pcs: PodCliqueSet, index: int, tally: PodTally) -> bool:
    """Every pod of the replica is there and available, and those of one clique are of one content, unless somebody has
    ordered that the replica stays as it is."""
    prefix = f"{pcs.name}-{index}-"
    may_mix = _is_left(pcs, index)
    for clique in pcs.template.standalone_cliques:
        if not _is_clique_settled((pcs.namespace, prefix + clique.name), tally, may_mix):
            return False
    for group in pcs.template.scaling_groups:
        item = tally.groups.get((pcs.namespace, prefix + group.name))
        if item is None:
            return False
        for name in group.clique_names:
            hashes = set()
            for replica in range(int(item.spec.get("replicas", 0))):
                named = (pcs.namespace, f"{prefix}{group.name}-{replica}-{name}")
                if not _is_clique_settled(named, tally, may_mix):
                    return False
                hashes |= {pod.template_hash for pod in tally.own_pods(named)}
            if len(hashes) > 1 and not may_mix:
                return False
    return True


def _is_left(pcs: PodCliqueSet, index: int) -> bool:
    """By the partition, or by an abort of the update to the template as it stands."""
    aborted = pcs.annotations.get(ABORT, "").partition("@")[0]
    return index < pcs.update_strategy.partition or (
        bool(aborted) and aborted == revisions.revision_hash(pcs)
    )


def _is_clique_settled(clique: NamespacedName, tally: PodTally, may_mix: bool) -> bool:
    item = tally.cliques.get(clique)
    if item is None:
        return False
    wanted = int(item.spec.get("replicas", 0))
    available = [pod for pod in tally.own_pods(clique) if pod.is_available and pod.number < wanted]
    is_of_one_content = len({pod.template_hash for pod in available}) <= 1
    return len(available) == wanted and (may_mix or is_of_one_content)
