"""ResourceClaims in use: one that a pod on a node has, or has not given back yet, stays until it does.

Which devices there are, and which of them a claim gets, is not simulated.
"""

import functools
from collections.abc import Iterator
from typing import Any

import msgspec

from headgate.cluster.port import ObjectChange
from headgate.cluster.simulated.agenda import Agenda
from headgate.cluster.simulated.store import ObjectStore
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Key
from headgate.workload import model
from headgate.workload.plan.observed import ENDED

FINALIZER = "resource.kubernetes.io/delete-protection"


def named_by(pod_spec: dict[str, Any]) -> Iterator[str]:
    """The claims that a pod names; those that a cluster would make for it are not among them."""
    for claim in pod_spec.get("resourceClaims") or ():
        name = claim.get("resourceClaimName") if isinstance(claim, dict) else None
        if name:
            yield str(name)


class ClaimProtection:
    def __init__(self, store: ObjectStore, agenda: Agenda) -> None:
        self._store = store
        self._agenda = agenda
        self._users: dict[Key, set[str]] = {}
        """The uids of pods by the claim that they have."""
        store.listen(self._changed)

    def _changed(self, change: ObjectChange) -> None:
        """What follows is written after everybody was told of the pod."""
        item = change.object
        if item.kind != "Pod" or "resourceClaims" not in item.spec or not item.spec.get("nodeName"):
            return
        is_over = change.kind == "deleted" or item.status.get("phase") in ENDED
        for name in named_by(item.spec):
            key = Key(model.CLAIM_GROUP, model.CLAIM_KIND, item.namespace, name)
            users = self._users.setdefault(key, set())
            if is_over == (item.uid in users):
                (users.discard if is_over else users.add)(item.uid)
                self._agenda.add(change.at, functools.partial(self._protect, key))

    def _protect(self, key: Key, now: Instant) -> None:
        claim = self._store.get(key)
        is_used = bool(self._users.get(key))
        if claim is None or is_used == (FINALIZER in claim.finalizers):
            return
        others = tuple(each for each in claim.finalizers if each != FINALIZER)
        finalizers = (*others, FINALIZER) if is_used else others
        self._store.update(msgspec.structs.replace(claim, finalizers=finalizers), now, "scheduler")
