"""What people ask of a set: commands, an explanation, and at the end why it is not done."""

from headgate.cluster.simulated.kubelet import Kubelet
from headgate.cluster.simulated.pods import Pods, PodSeen
from headgate.cluster.simulated.scheduler import Scheduler
from headgate.kernel.explanations import ExplanationTree
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key, Object
from headgate.kernel.problems import Problem, Rejected
from headgate.promises.base import Unfinished
from headgate.simulate.model.result import Explained, ExplainedLine
from headgate.simulate.workloads.sets import Workloads
from headgate.workload import defaults
from headgate.workload.plan import operate
from headgate.workload.plan.operate import SetOrder


def edited(order: SetOrder, item: Object, state: str) -> Object:
    refusal = operate.refusal(order, f"{item.kind} {item.name}", state)
    if refusal is not None:
        raise Rejected([Problem("action", refusal)])
    return operate.edit_for(order, state)(item)


def explained(item: Object, tree: ExplanationTree, now: Instant) -> Explained:
    lines = tuple(
        ExplainedLine(None, None, line.kind, None, line.verdict, line.message, line.requeue_at)
        for line in tree.lines
    )
    return Explained(now, render(item.namespace, item.name), tree.state.value, lines, tree=tree)


def render(namespace: str, name: str) -> str:
    return name if namespace == defaults.NAMESPACE else f"{namespace}/{name}"


class OperationEnding:
    """Judges what is not done when the run ends."""

    def __init__(self, workloads: Workloads, pods: Pods, scheduler: Scheduler, kubelet: Kubelet) -> None:
        self._workloads = workloads
        self._pods = pods
        self._scheduler = scheduler
        self._kubelet = kubelet

    def unfinished(self, now: Instant) -> list[Unfinished]:
        convergence = self._workloads.convergence()
        return [self._judged(request, now) for request, is_done in convergence.items() if not is_done]

    def _judged(self, request: Key, now: Instant) -> Unfinished:
        name = render(request.namespace, request.name)
        item = self._workloads.object_of(request)
        if item is None:
            leaving = "it is deleted, and what it had is on its way out"
            return Unfinished(name, "updating", (leaving,), is_held=False, is_hindered=False)
        is_held = any(self._workloads.holds(item))
        reasons = self._workloads.reasons(request, now)
        state = "held" if is_held else "updating"
        return Unfinished(name, state, tuple(reasons), is_held, self._has_faults(request))

    def _has_faults(self, request: Key) -> bool:
        """What the scenario does to it that is not over: no room, never ready, crashing, a node that is gone."""
        place = (request.namespace, request.name)
        own = (pod for pod in self._pods if (pod.key.namespace, pod.pcs) == place)
        return place in self._scheduler.lacking_room() or any(map(self._has_fault, own))

    def _has_fault(self, pod: PodSeen) -> bool:
        behavior = self._kubelet.behavior_of(pod)
        if pod.deleted_at is not None:
            return behavior.never == "gone"
        if pod.scheduled_at is None:
            return self._scheduler.is_unschedulable(pod)
        return behavior.never == "ready" or behavior.crash_after is not None
