"""Objects of the simulated cluster obey the rules of an API server: those that the suite of the port does not have, because
moments are in them."""

import pytest

from headgate.cluster.port import Conflict
from headgate.kernel.objects import OwnerReference

from .workbench import SECOND, Bench


def test_a_status_that_says_nothing_new_is_no_write() -> None:
    bench = Bench()
    item = bench.put("apps/v1", "Deployment", "web")
    first = bench.store.update_status(item.key, item.uid, {"replicas": 1}, 0, "test")
    assert bench.store.update_status(item.key, item.uid, {"replicas": 1}, 5, "test") is first


def test_a_name_is_taken_until_its_holder_is_gone() -> None:
    bench = Bench()
    first = bench.pod("web-0")
    bench.run_until(10)
    bench.delete(first)
    with pytest.raises(Conflict, match="still there"):
        bench.pod("web-0")
    bench.run_until(100)
    assert bench.pod("web-0").uid != first.uid


def test_what_an_owner_leaves_is_collected_after_a_while_level_by_level() -> None:
    bench = Bench()
    top = bench.put("grove.io/v1alpha1", "PodCliqueSet", "llm")
    clique = bench.put(
        "grove.io/v1alpha1",
        "PodClique",
        "llm-0-web",
        owners=(OwnerReference("PodCliqueSet", "llm", top.uid),),
    )
    pod = bench.pod("llm-0-web-a", owner=clique)
    bench.delete(top)
    bench.run_until(0.5)
    assert bench.names("PodClique") == ["llm-0-web"]
    bench.run_until(30)
    life = bench.life(pod)
    assert bench.names("PodClique") == []
    assert (life.deleted_at, life.gone_at) == (2 * SECOND, 12 * SECOND)


def test_what_still_has_an_owner_stays() -> None:
    bench = Bench()
    one, other = bench.put("v1", "Service", "one"), bench.put("v1", "Service", "other")
    owners = tuple(OwnerReference("Service", item.name, item.uid) for item in (one, other))
    shared = bench.put("v1", "ConfigMap", "shared", owners=owners)
    bench.delete(one)
    bench.run_until(10)
    assert bench.get(shared) is not None
    bench.delete(other)
    bench.run_until(20)
    assert bench.get(shared) is None


def test_what_is_born_an_orphan_is_collected_too() -> None:
    bench = Bench()
    orphan = bench.put(
        "v1", "ConfigMap", "orphan", owners=(OwnerReference("Service", "gone", "no-such-uid"),)
    )
    bench.run_until(2)
    assert bench.get(orphan) is None
