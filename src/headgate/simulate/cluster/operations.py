"""What people ask of a set: commands, an explanation, and at the end why it is not done."""

from collections.abc import Sequence

from headgate.kernel.instants import Instant
from headgate.kernel.objects import Object
from headgate.simulate.cluster.kubelet import Kubelet
from headgate.simulate.cluster.pods import Pods
from headgate.simulate.cluster.promises import Unfinished
from headgate.simulate.cluster.scheduler import Scheduler
from headgate.simulate.cluster.view import Request
from headgate.simulate.cluster.workloads import Workloads
from headgate.simulate.result import Explained


def edited(action: str, item: Object) -> Object:
    from headgate.workload import operate

    changed: Object = {"pause": operate.pause, "resume": operate.resume, "abort": operate.abort}[action](item)
    return changed


def explained(item: Object, parts: Sequence[Object], now: Instant) -> Explained:
    raise NotImplementedError


class Ending:
    """Judges what is not done when the run ends."""

    def __init__(self, workloads: Workloads, pods: Pods, scheduler: Scheduler, kubelet: Kubelet) -> None:
        self._workloads = workloads
        self._pods = pods
        self._scheduler = scheduler
        self._kubelet = kubelet

    def unfinished(self) -> list[Unfinished]:
        convergence = self._workloads.convergence()
        return [self._judged(request) for request, is_done in convergence.items() if not is_done]

    def _judged(self, request: Request) -> Unfinished:
        namespace, name = request
        item = self._workloads.object_of(request)
        shown = name if namespace == "default" else f"{namespace}/{name}"
        if item is None:
            return Unfinished(shown, ("it is deleted, and what it had is on its way out",), False, ())
        plan = self._workloads.plan_of(request)
        reasons = [str(stuck) for stuck in plan.stuck] if plan is not None else []
        held = list(self._workloads.holds(item))
        return Unfinished(shown, (*held, *reasons), bool(held), tuple(self._faults(request)))

    def _faults(self, request: Request) -> list[str]:
        found: dict[str, None] = {}
        for pod in self._pods:
            if (pod.key.namespace, pod.pcs) != request or pod.deleted_at is not None:
                continue
            behavior = self._kubelet.behavior_of(pod)
            if pod.scheduled_at is None:
                if self._scheduler.is_unschedulable(pod):
                    found[f"{pod.name} is unschedulable"] = None
            elif behavior.never is not None:
                found[f"{pod.name} never becomes ready"] = None
            elif behavior.crash_after is not None:
                found[f"{pod.name} crashes"] = None
        if request in self._scheduler.lacking_room():
            found["there is no room"] = None
        return list(found)
