"""The promises of the product that a workload can break, judged from the cluster and from what the planner could see.

None of them asks the planner what it counted. One of them is not in the product's table by name but follows from it:
OneReplicaAtATime, of which the rolling update speaks; UniqueHostname and NothingLeaked guard the indices.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from headgate.cluster.port import Change
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Delete, Key, Object
from headgate.simulate.cluster import budgets
from headgate.simulate.cluster.store import Store
from headgate.simulate.cluster.tally import Tally
from headgate.workload import labels, revisions
from headgate.workload.model import PodCliqueSet

_Content = tuple[str, str]
"""The clique of a pod and the hash of its template."""
Broken = Callable[[str, Instant, str], None]
Request = tuple[str, str]
"""Namespace and name of a set."""

SENTENCES = {
    "BudgetNeverExceeded": "units unavailable or added by our doing never exceed any budget that covers them",
    "NoVersionMix": "under ReplicaRecreate a replica never holds two revisions, terminating pods included",
    "UniqueHostname": "an index is used again only when its previous holder is gone",
    "OneReplicaAtATime": "a rolling update changes one replica of the set at a time",
    "StopIsAbsolute": "after a pause no new unit starts to change",
    "NothingLeaked": "when all is done nothing is left that no set wants",
    "MonotoneProgress": "with faults over and gates open, the remaining work falls to zero",
    "NoStuckWithoutReason": (
        "every unit that has not converged has a reason, and a time or an event that wakes it"
    ),
}


class Watch:
    """Looks at every decision and every new pod."""

    def __init__(self, store: Store, broken: Broken) -> None:
        self._broken = broken
        self._sets: dict[Request, PodCliqueSet] = {}
        """As the planner last saw them."""
        self._hostnames: dict[tuple[str, str], dict[str, str]] = {}
        self._contents: dict[tuple[str, str, str], dict[_Content, int]] = {}
        """How many pods of each content there are, by replica of a set."""
        self._known_revisions: dict[tuple[str, str], dict[str, str]] = {}
        """The contents of the cliques, by namespace and name of the stored revision."""
        self._open: dict[Request, set[int]] = {}
        """Replicas in which a rolling update took something that is not back yet."""
        store.listen(self._changed)

    def broken(self, promise: str, now: Instant, fact: str) -> None:
        self._broken(promise, now, f"{SENTENCES[promise]}: {fact}")

    def decides_on(self, request: Request, pcs: PodCliqueSet) -> None:
        self._sets[request] = pcs

    def _changed(self, change: Change) -> None:
        item = change.object
        if item.kind == revisions.KIND and change.kind == "added":
            hashes = item.other.get("data", {}).get("cliqueHashes", {})
            self._known_revisions[item.namespace, item.name] = hashes
        if item.kind != "Pod":
            return
        if change.kind == "added":
            self._check_hostname(item, change.at)
            self._check_mix(item, change.at)
        elif change.kind == "deleted":
            self._hostnames.get(_hostname(item), {}).pop(item.uid, None)
            held = self._contents.get(_replica(item), {})
            content = _content(item)
            held[content] = held.get(content, 0) - 1
            if held[content] <= 0:
                del held[content]

    def _check_hostname(self, item: Object, now: Instant) -> None:
        holders = self._hostnames.setdefault(_hostname(item), {})
        if holders and item.spec.get("hostname"):
            others = ", ".join(holders.values())
            self.broken(
                "UniqueHostname", now, f"{item.name} is created as {item.spec['hostname']} beside {others}"
            )
        holders[item.uid] = item.name

    def _check_mix(self, item: Object, now: Instant) -> None:
        """A replica that was mixed before, when another strategy held, is not this strategy's doing."""
        held = self._contents.setdefault(_replica(item), {})
        content = _content(item)
        was_mixed = self._is_mixed(held)
        held[content] = held.get(content, 0) + 1
        pcs = self._sets.get((item.namespace, item.labels.get(labels.PART_OF, "")))
        if pcs is None or pcs.update_strategy.type != "ReplicaRecreate" or was_mixed:
            return
        if self._is_mixed(held):
            index = item.labels.get(labels.PCS_REPLICA_INDEX)
            fact = f"{item.name} is created in replica {index} of {pcs.name} beside pods of another revision"
            self.broken("NoVersionMix", now, fact)

    def _is_mixed(self, held: dict[_Content, int]) -> bool:
        """Contents count, not names: a clique that did not change belongs to several revisions."""
        if len(held) < 2:
            return False
        return not any(
            all(hashes.get(clique) == found for clique, found in held)
            for hashes in self._known_revisions.values()
        )

    def acted(
        self,
        pcs: PodCliqueSet,
        steps: Iterable[budgets.Step],
        tally: Tally,
        was_paused: bool,
        now: Instant,
    ) -> None:
        request = (pcs.namespace, pcs.name)
        taken: set[int] = set()
        for step in steps:
            self._check_budget(step, now)
            if step.took and step.after.available < step.limits.replicas:
                if was_paused:
                    self.broken(
                        "StopIsAbsolute", now, f"{pcs.name} is paused and {step.scope.name} loses a unit"
                    )
                if step.scope.replica is not None:
                    taken.add(step.scope.replica)
        if pcs.update_strategy.type == "RollingUpdate":
            self._check_one_at_a_time(request, pcs, taken, tally, now)
        else:
            self._open.pop(request, None)

    def _check_budget(self, step: budgets.Step, now: Instant) -> None:
        limits, scope = step.limits, step.scope
        if step.took and step.unavailable > limits.max_unavailable:
            fact = (
                f"{step.unavailable} of {limits.replicas} units of {scope.name} are unavailable after a deletion,"
                f" allowed are {limits.max_unavailable}"
            )
            self.broken("BudgetNeverExceeded", now, fact)
        if step.added and step.surge > limits.max_surge:
            fact = (
                f"{scope.name} has {step.after.units} units for {limits.replicas} replicas,"
                f" allowed above them are {limits.max_surge}"
            )
            self.broken("BudgetNeverExceeded", now, fact)

    def _check_one_at_a_time(
        self, request: Request, pcs: PodCliqueSet, taken: set[int], tally: Tally, now: Instant
    ) -> None:
        opened = self._open.setdefault(request, set())
        for index in [index for index in opened if index >= pcs.replicas or is_settled(pcs, index, tally)]:
            opened.discard(index)
        for index in sorted(taken):
            others = sorted(opened - {index})
            if others:
                fact = f"{pcs.name} loses a unit in replica {index} while replica {others[0]} is not done"
                self.broken("OneReplicaAtATime", now, fact)
            opened.add(index)


def is_settled(pcs: PodCliqueSet, index: int, tally: Tally) -> bool:
    """Every pod of the replica is there and available, and those of one clique are of one content."""
    prefix = f"{pcs.name}-{index}-"
    for clique in pcs.template.standalone_cliques:
        if not is_clique_settled((pcs.namespace, prefix + clique.name), tally):
            return False
    for group in pcs.template.scaling_groups:
        item = tally.groups.get((pcs.namespace, prefix + group.name))
        if item is None:
            return False
        for name in group.clique_names:
            hashes = set()
            for replica in range(int(item.spec.get("replicas", 0))):
                place = (pcs.namespace, f"{prefix}{group.name}-{replica}-{name}")
                if not is_clique_settled(place, tally):
                    return False
                hashes |= {pod.template_hash for pod in tally.own_pods(place)}
            if len(hashes) > 1:
                return False
    return True


def is_clique_settled(place: tuple[str, str], tally: Tally) -> bool:
    item = tally.cliques.get(place)
    if item is None:
        return False
    wanted = int(item.spec.get("replicas", 0))
    available = [pod for pod in tally.own_pods(place) if pod.is_available and pod.number < wanted]
    return len(available) == wanted and len({pod.template_hash for pod in available}) <= 1


class Unfinished(msgspec.Struct, frozen=True):
    """A set that is not where it should be when the run ends."""

    name: str
    reasons: tuple[str, ...]
    """What the planner says is in the way."""
    is_held: bool
    """Someone asked for it to stay so: paused, aborted, replaced only on deletion."""
    faults: tuple[str, ...]
    """What the scenario does to it that is not over: no room, never ready, crashing."""


def judge_end(watch: Watch, unfinished: Sequence[Unfinished], now: Instant, *, is_over: bool) -> None:
    """`is_over`: nothing more can happen by itself."""
    for item in unfinished:
        if not item.reasons and not item.is_held:
            watch.broken("NoStuckWithoutReason", now, f"{item.name} is not done and nothing says why")
        if is_over and not item.is_held and not item.faults:
            said = "; ".join(item.reasons) or "no reason"
            watch.broken(
                "MonotoneProgress", now, f"{item.name} is not done and nothing is in its way ({said})"
            )


def judge_leftovers(watch: Watch, store: Store, sets: Sequence[PodCliqueSet], now: Instant) -> None:
    """Of what carries the label of a set: nothing beyond its replicas, nothing without it, nothing on its way out."""
    wanted = {(pcs.namespace, pcs.name): pcs.replicas for pcs in sets}
    for item in store:
        pcs = item.labels.get(labels.PART_OF)
        if pcs is None:
            continue
        what = f"{item.kind} {item.name}"
        index = item.labels.get(labels.PCS_REPLICA_INDEX)
        replicas = wanted.get((item.namespace, pcs))
        if replicas is None:
            watch.broken("NothingLeaked", now, f"{what} is left of {pcs}, which is gone")
        elif item.deleted_at is not None:
            watch.broken("NothingLeaked", now, f"{what} is on its way out and never goes")
        elif index is not None and int(index) >= replicas:
            watch.broken("NothingLeaked", now, f"{what} is of replica {index}, and {pcs} has {replicas}")
        elif item.kind == "PodGang":
            _judge_gang(watch, store, item, now)


def _judge_gang(watch: Watch, store: Store, gang: Object, now: Instant) -> None:
    for group in gang.spec.get("podgroups") or ():
        key = Key("grove.io", "PodClique", gang.namespace, str(group.get("name", "")))
        if store.get(key) is None:
            watch.broken(
                "NothingLeaked", now, f"PodGang {gang.name} has a group for {key.name}, which is gone"
            )


def deleted_objects(actions: Sequence[Action], get: Callable[[Key], Object | None]) -> dict[Key, Object]:
    found: dict[Key, Object] = {}
    for action in actions:
        if isinstance(action, Delete):
            item = get(action.key)
            if item is not None and item.uid == action.uid:
                found[action.key] = item
    return found


def _content(item: Object) -> _Content:
    own = item.labels
    group = own.get(labels.SCALING_GROUP)
    before = (
        f"{group}-{own.get(labels.SCALING_GROUP_REPLICA_INDEX)}-"
        if group
        else f"{own.get(labels.PART_OF)}-{own.get(labels.PCS_REPLICA_INDEX)}-"
    )
    return own.get(labels.POD_CLIQUE, "").removeprefix(before), own.get(labels.POD_TEMPLATE_HASH, "")


def _hostname(item: Object) -> tuple[str, str]:
    return item.namespace, str(item.spec.get("hostname", ""))


def _replica(item: Object) -> tuple[str, str, str]:
    return (
        item.namespace,
        item.labels.get(labels.PART_OF, ""),
        item.labels.get(labels.PCS_REPLICA_INDEX, ""),
    )
