"""Requests that fail come back, later each time, and what is gone is not remembered for ever."""

from headgate.cluster import cache
from headgate.cluster.cache import ObjectCache
from headgate.cluster.queue import WorkQueue
from headgate.kernel import instants
from headgate.kernel.objects import Key, Object

SECOND = instants.seconds(1)
REQUEST = Key("", "Pod", "n", "a")


def test_a_request_that_fails_comes_back_later_each_time_until_it_succeeds() -> None:
    queue = WorkQueue(lambda request: 0)
    waits = []
    now = 0
    for _ in range(6):
        queue.retry(REQUEST, now, SECOND, 10 * SECOND)
        waits.append((queue.requeues[REQUEST] - now) // SECOND)
        now = queue.requeues[REQUEST]
        queue.wake(now)
        assert list(queue.take()) == [REQUEST]
    assert waits == [1, 2, 4, 8, 10, 10]
    queue.succeeded(REQUEST)
    queue.retry(REQUEST, now, SECOND, 10 * SECOND)
    assert queue.requeues[REQUEST] == now + SECOND


def test_an_older_copy_of_a_cluster_replaces_what_was_known_of_a_kind() -> None:
    def item(kind: str, name: str, version: int) -> Object:
        return Object("v1", kind, "n", name, uid=name, resource_version=version)

    known = ObjectCache(lambda item: None, [item("Pod", "a", 9), item("Pod", "b", 8), item("Node", "n", 7)])
    known.forget(item("Pod", "c", 9))
    changed = known.replace("", "Pod", [item("Pod", "a", 3), item("Pod", "c", 2)])
    versions = [tuple(one and (one.name, one.resource_version) for one in pair) for pair in changed]
    assert versions == [(("b", 8), None), (("a", 9), ("a", 3)), (None, ("c", 2))]
    assert {each.name for each in known} == {"a", "c", "n"}
    assert known.observe(item("Pod", "a", 4))


def test_only_those_that_went_last_are_remembered_as_gone() -> None:
    known = ObjectCache(lambda item: None)

    def version(number: int) -> Object:
        return Object("v1", "Pod", "n", f"p{number}", uid=str(number), resource_version=1)

    for number in range(cache.MOST_GONE + 1):
        known.forget(version(number))
    assert not known.observe(version(cache.MOST_GONE))
    assert known.observe(version(0))
