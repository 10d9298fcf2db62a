"""What a cluster does with writes, whichever adapter of the port it is reached by: one suite over all of them.

A cluster of these tests has two kinds: Gates, whose host is a string, and ConfigMaps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import msgspec
import pytest

from headgate.cluster.port import Conflict, ListenPort, NameTaken, ObjectChange, ReadPort, WriteRefused
from headgate.kernel.objects import (
    Action,
    Create,
    DeleteObject,
    Key,
    Object,
    OwnerReference,
    Update,
    UpdateStatus,
)

WRITER = "tests"
"""Whose writes they are, to listeners."""
replace = msgspec.structs.replace


class AnyCluster(Protocol):
    gates: str
    """The apiVersion of Gates."""
    namespace: str
    """Nothing else is in it."""

    @property
    def heard(self) -> ReadPort:
        """What the writer knows of it."""

    @property
    def listened(self) -> ListenPort: ...

    async def write(self, action: Action) -> None: ...

    async def annotate(self, item: Object) -> None:
        """Somebody else does. Nobody waits until the writer has heard of it."""

    async def remove(self, item: Object) -> None:
        """As before."""

    async def listed(self) -> Sequence[Object]:
        """All that is there, by whoever begins anew."""

    async def until(self, condition: Callable[[], bool]) -> None:
        """That is, until the news have come."""


Case = Callable[[AnyCluster], Awaitable[None]]


def _gate(cluster: AnyCluster, name: str = "a", host: object = "one.example.com") -> Object:
    return Object(cluster.gates, "Gate", cluster.namespace, name, spec={"host": host})


def _known(cluster: AnyCluster, key: Key) -> Object:
    item = cluster.heard.get(key)
    assert item is not None
    return item


async def _made(cluster: AnyCluster, item: Object) -> Object:
    await cluster.write(Create(item))
    return _known(cluster, item.key)


async def _is_refused(cluster: AnyCluster, action: Action, how: type[Exception] = Conflict) -> None:
    """And nothing has become of what is there."""
    before = [(item.uid, item.spec, item.status) for item in await cluster.listed()]
    with pytest.raises(how):
        await cluster.write(action)
    assert [(item.uid, item.spec, item.status) for item in await cluster.listed()] == before


async def a_name_is_given_once(cluster: AnyCluster) -> None:
    await _made(cluster, _gate(cluster))
    await _is_refused(cluster, Create(_gate(cluster, host="two.example.com")))


async def a_name_that_a_pod_has_is_taken(cluster: AnyCluster) -> None:
    """The news of whose it is may never come: pods are heard of by labels. So it is no plain conflict."""
    pod = Object(
        "v1", "Pod", cluster.namespace, "web", spec={"containers": [{"name": "main", "image": "none"}]}
    )
    await cluster.write(Create(pod))
    with pytest.raises(NameTaken):
        await cluster.write(Create(pod))


async def an_update_of_an_old_version_is_a_conflict(cluster: AnyCluster) -> None:
    first = await _made(cluster, _gate(cluster))
    await cluster.write(Update(replace(first, spec={"host": "two.example.com"})))
    await _is_refused(cluster, Update(replace(first, spec={"host": "three.example.com"})))


async def an_update_of_what_somebody_else_has_changed_is_a_conflict(cluster: AnyCluster) -> None:
    seen = await _made(cluster, _gate(cluster))
    await cluster.annotate(seen)
    await _is_refused(cluster, Update(replace(seen, spec={"host": "two.example.com"})))


async def an_update_of_what_is_gone_is_a_conflict(cluster: AnyCluster) -> None:
    own, others = await _made(cluster, _gate(cluster)), await _made(cluster, _gate(cluster, "b"))
    await cluster.write(DeleteObject(own.key, own.uid))
    await cluster.remove(others)
    for item in (own, others):
        await _is_refused(cluster, Update(replace(item, spec={"host": "two.example.com"})))


async def a_status_of_what_is_gone_is_a_conflict(cluster: AnyCluster) -> None:
    item = await _made(cluster, _gate(cluster))
    await cluster.remove(item)
    await _is_refused(cluster, UpdateStatus(item.key, item.uid, {"replicas": 1}))


async def a_status_does_not_move_the_generation(cluster: AnyCluster) -> None:
    item = await _made(cluster, _gate(cluster))
    await cluster.write(UpdateStatus(item.key, item.uid, {"replicas": 1}))
    counted = _known(cluster, item.key)
    assert (counted.generation, counted.status) == (item.generation, {"replicas": 1})
    assert counted.resource_version > item.resource_version
    await cluster.write(Update(replace(counted, spec={"host": "two.example.com"}, status={})))
    moved = _known(cluster, item.key)
    assert (moved.generation, moved.status) == (item.generation + 1, {"replicas": 1})


async def a_status_is_written_whatever_became_of_the_rest(cluster: AnyCluster) -> None:
    item = await _made(cluster, _gate(cluster))
    await cluster.annotate(item)
    await cluster.write(UpdateStatus(item.key, item.uid, {"replicas": 1}))
    assert _known(cluster, item.key).status == {"replicas": 1}


async def what_is_deleted_as_of_an_older_version_stays(cluster: AnyCluster) -> None:
    item = await _made(cluster, _gate(cluster))
    await cluster.annotate(item)
    await _is_refused(cluster, DeleteObject(item.key, item.uid, resource_version=item.resource_version))
    await cluster.until(lambda: _known(cluster, item.key).annotations != {})
    version = _known(cluster, item.key).resource_version
    await cluster.write(DeleteObject(item.key, item.uid, resource_version=version))
    assert cluster.heard.get(item.key) is None


async def what_the_cluster_does_not_allow_is_refused(cluster: AnyCluster) -> None:
    """No news will end that."""
    await _is_refused(cluster, Create(_gate(cluster, host=7)), WriteRefused)
    item = await _made(cluster, _gate(cluster))
    await _is_refused(cluster, Update(replace(item, spec={"host": 7})), WriteRefused)


async def listeners_are_told_of_each_write_in_its_order(cluster: AnyCluster) -> None:
    """With what was there before and what is there now, when the write is answered."""
    changes: list[ObjectChange] = []
    cluster.listened.listen(lambda change: changes.append(change) if change.by == WRITER else None)
    item = await _made(cluster, _gate(cluster))
    await cluster.write(Update(replace(item, spec={"host": "two.example.com"})))
    await cluster.write(UpdateStatus(item.key, item.uid, {"replicas": 1}))
    await cluster.write(DeleteObject(item.key, item.uid))
    shown = [
        (change.kind, None if change.old is None else _said(change.old), _said(change.object))
        for change in changes
    ]
    one, two = ("one.example.com", None), ("two.example.com", None)
    counted = ("two.example.com", 1)
    assert shown == [
        ("added", None, one),
        ("modified", one, two),
        ("modified", two, counted),
        ("deleted", counted, counted),
    ]
    assert len({change.object.uid for change in changes}) == 1


def _said(item: Object) -> tuple[object, object]:
    return item.spec["host"], item.status.get("replicas")


async def listeners_are_told_of_what_somebody_else_does(cluster: AnyCluster) -> None:
    changes: list[ObjectChange] = []
    cluster.listened.listen(lambda change: changes.append(change) if change.by != WRITER else None)
    item = await _made(cluster, _gate(cluster))
    await cluster.annotate(item)
    await cluster.until(lambda: any(change.object.annotations for change in changes))
    await cluster.remove(item)
    await cluster.until(lambda: changes[-1].kind == "deleted")
    assert changes[-1].object.uid == item.uid
    await cluster.until(lambda: cluster.heard.get(item.key) is None)


async def owners_are_listed_before_what_they_own(cluster: AnyCluster) -> None:
    owner = await _made(cluster, _gate(cluster, "owner"))
    owned = Object(
        "v1",
        "ConfigMap",
        cluster.namespace,
        "a-part",
        owners=(OwnerReference("Gate", owner.name, owner.uid),),
        other={"data": {"key": "value"}},
    )
    made = await _made(cluster, owned)
    assert [each.uid for each in made.owners] == [owner.uid]
    uids = [item.uid for item in await cluster.listed()]
    assert uids.index(owner.uid) < uids.index(made.uid)


async def a_finalizer_holds_what_is_deleted(cluster: AnyCluster) -> None:
    item = await _made(cluster, replace(_gate(cluster), finalizers=("example.com/wait",)))
    await cluster.write(DeleteObject(item.key, item.uid))
    going = _known(cluster, item.key)
    assert going.deleted_at is not None
    with pytest.raises(Conflict):
        await cluster.write(Create(_gate(cluster)))
    await cluster.write(Update(replace(going, finalizers=())))
    assert cluster.heard.get(item.key) is None
    again = await _made(cluster, _gate(cluster))
    assert again.uid != item.uid


async def a_later_object_of_that_name_is_not_hit(cluster: AnyCluster) -> None:
    first = await _made(cluster, _gate(cluster))
    await cluster.write(DeleteObject(first.key, first.uid))
    await _made(cluster, _gate(cluster))
    await _is_refused(cluster, Update(replace(first, spec={"host": "two.example.com"})))
    await _is_refused(cluster, UpdateStatus(first.key, first.uid, {"replicas": 1}))
    await _is_refused(cluster, DeleteObject(first.key, first.uid))


CASES: tuple[Case, ...] = (
    a_name_is_given_once,
    a_name_that_a_pod_has_is_taken,
    an_update_of_an_old_version_is_a_conflict,
    an_update_of_what_somebody_else_has_changed_is_a_conflict,
    an_update_of_what_is_gone_is_a_conflict,
    a_later_object_of_that_name_is_not_hit,
    a_status_of_what_is_gone_is_a_conflict,
    a_status_does_not_move_the_generation,
    a_status_is_written_whatever_became_of_the_rest,
    what_is_deleted_as_of_an_older_version_stays,
    what_the_cluster_does_not_allow_is_refused,
    listeners_are_told_of_each_write_in_its_order,
    listeners_are_told_of_what_somebody_else_does,
    owners_are_listed_before_what_they_own,
    a_finalizer_holds_what_is_deleted,
)
NAMES = [case.__name__ for case in CASES]
