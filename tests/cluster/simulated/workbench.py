"""A cluster without controllers: store, scheduler, kubelet and collector, moved by hand."""

from typing import Any

from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.behaviors import Behaviors, Statuses
from headgate.cluster.simulated.garbage import Collector
from headgate.cluster.simulated.kubelet import Kubelet
from headgate.cluster.simulated.nodes import Nodes
from headgate.cluster.simulated.pods import Pods, PodSeen
from headgate.cluster.simulated.scheduler import Scheduler
from headgate.cluster.simulated.settings import Behavior
from headgate.cluster.simulated.store import ObjectStore
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Object, OwnerReference
from headgate.workload import labels

SECOND = instants.seconds(1)


class Bench:
    """Times are in seconds from zero."""

    def __init__(self, nodes: int | None = None, behaviors: tuple[Behavior, ...] = ()) -> None:
        self.now = 0
        self.agenda = Agenda()
        self.store = ObjectStore(NamedIds(""))
        self.nodes = Nodes(nodes, 1)
        self.pods = Pods(self.store, lambda namespace, pcs, revision: int(revision))
        found = Behaviors(behaviors)
        self.scheduler = Scheduler(self.store, self.agenda, self.pods, self.nodes, found, SECOND)
        self.kubelet = Kubelet(self.store, self.agenda, self.pods, found, 30 * SECOND, 10 * SECOND)
        self.statuses = Statuses(self.store, self.agenda, found)
        Collector(self.store, self.agenda, SECOND)

    def run_until(self, seconds: float) -> None:
        """Everything that is due up to then, each thing at its own time."""
        end = round(seconds * SECOND)
        while (moment := self.agenda.next_moment()) is not None and moment <= end:
            self.now = moment
            self.agenda.run_due(moment)
        self.now = end

    def gang(self, name: str, **minimums: int) -> Object:
        """Groups are named with underscores where cliques have hyphens."""
        groups = [
            {"name": clique.replace("_", "-"), "minReplicas": minimum} for clique, minimum in minimums.items()
        ]
        return self.put("scheduler.grove.io/v1alpha1", "PodGang", name, spec={"podgroups": groups})

    def clique(self, name: str, minimum: int = 1, group: str | None = None, **spec: Any) -> Object:
        own = {labels.SCALING_GROUP: group, labels.SCALING_GROUP_REPLICA_INDEX: "0"} if group else {}
        return self.put(
            "grove.io/v1alpha1", "PodClique", name, own=own, spec={"minAvailable": minimum, **spec}
        )

    def pod(
        self,
        name: str,
        clique: str = "web",
        gang: str | None = None,
        base: str | None = None,
        index: int = 0,
        gated: bool = False,
        revision: int = 1,
        owner: Object | None = None,
    ) -> Object:
        own = {
            labels.PART_OF: "llm",
            labels.MANAGED_BY: labels.MANAGER,
            labels.PCS_REPLICA_INDEX: "0",
            labels.POD_CLIQUE: clique,
            labels.POD_INDEX: str(index),
            labels.REVISION: str(revision),
        }
        if gang:
            own[labels.POD_GANG] = gang
        if base:
            own[labels.BASE_POD_GANG] = base
        gates = [{"name": labels.SCHEDULING_GATE}] if gated else []
        owners = (OwnerReference(owner.kind, owner.name, owner.uid),) if owner else ()
        return self.put("v1", "Pod", name, own=own, owners=owners, spec={"schedulingGates": gates})

    def put(
        self,
        api_version: str,
        kind: str,
        name: str,
        *,
        spec: dict[str, Any] | None = None,
        own: dict[str, str] | None = None,
        owners: tuple[OwnerReference, ...] = (),
        finalizers: tuple[str, ...] = (),
    ) -> Object:
        item = Object(
            api_version,
            kind,
            "default",
            name,
            labels=own or {},
            owners=owners,
            finalizers=finalizers,
            spec=spec or {},
        )
        return self.store.create(item, self.now, "test")

    def delete(self, item: Object) -> None:
        self.store.delete(item.key, item.uid, self.now, "test")

    def get(self, item: Object) -> Object | None:
        return self.store.get(item.key)

    def life(self, item: Object) -> PodSeen:
        return next(pod for pod in self.pods.every if pod.uid == item.uid)

    def scheduled(self) -> dict[str, float]:
        """Each bound pod and when that was."""
        return {
            pod.name: pod.scheduled_at / SECOND for pod in self.pods.every if pod.scheduled_at is not None
        }

    def ready(self) -> dict[str, float]:
        return {pod.name: pod.ready_at / SECOND for pod in self.pods.every if pod.ready_at is not None}

    def names(self, kind: str) -> list[str]:
        return [item.name for item in self.store if item.kind == kind]
