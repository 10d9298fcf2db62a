"""A controller is told late and out of order, knows its own writes at once, and may die after any of them."""

from collections.abc import Callable, Sequence

import msgspec

from cluster.unobserved import UnobservedCluster
from headgate.cluster.cache import ObjectCache
from headgate.cluster.simulated.driver import ControllerDriver
from headgate.cluster.simulated.store import replace
from headgate.kernel import conditions, instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.objects import Action, Create, DeleteObject, Key, Object
from headgate.workload import labels
from headgate.workload.plan.controller import WorkloadController
from headgate.workload.plan.family import request_for

from .workbench import SECOND, Bench

Decide = Callable[[ObjectCache, int], Sequence[Action]]
LLM = request_for("default", "llm")


class Plan(msgspec.Struct):
    actions: Sequence[Action]
    requeue_at: int | None = None


class Recorder(WorkloadController[Plan]):
    """Writes down what it sees each time and does what the test says."""

    def __init__(self, decide: Decide = lambda cache, now: ()) -> None:
        self.seen: list[list[str]] = []
        self.lives = 0
        self.decide = decide
        super().__init__(lambda *given: Plan(()), NamedIds())

    def restarted(self, cache: ObjectCache, enqueue: Callable[[Key], None]) -> None:  # type: ignore[override]
        super().restarted(cache, enqueue)
        self.cache = cache
        self.lives += 1

    def reconcile(self, request: Key, now: int) -> Plan:
        self.seen.append(sorted(item.name for item in self.cache.parts_of(request)))
        return Plan(self.decide(self.cache, now))


def driven(bench: Bench, recorder: Recorder, **settings: object) -> ControllerDriver[Plan]:
    return ControllerDriver(bench.store, bench.agenda, recorder, UnobservedCluster(), **settings)  # type: ignore[arg-type]


def service(name: str) -> Object:
    return Object(
        "v1", "Service", "default", name, labels={labels.PART_OF: "llm", labels.MANAGED_BY: labels.MANAGER}
    )


def test_without_lag_everything_is_seen_at_once() -> None:
    bench, recorder = Bench(), Recorder()
    driver = driven(bench, recorder)
    bench.store.create(service("a"), 0, "user")
    driver.decide(0)
    assert recorder.seen == [["a"]]
    driver.decide(0)
    assert recorder.seen == [["a"]], "nothing was heard of since"


def test_with_lag_a_change_is_seen_within_it() -> None:
    bench, recorder = Bench(), Recorder()
    driver = driven(bench, recorder, lag=instants.seconds(5), seed=3)
    for number in range(20):
        bench.store.create(service(f"s{number}"), 0, "user")
    bench.run_until(5)
    driver.decide(bench.now)
    assert recorder.seen == [sorted(f"s{number}" for number in range(20))]


def test_notifications_of_different_objects_overtake_each_other() -> None:
    orders = set()
    for seed in range(20):
        bench, recorder = Bench(), Recorder()
        driver = driven(bench, recorder, lag=instants.seconds(5), seed=seed)
        bench.store.create(service("first"), 0, "user")
        bench.store.create(service("second"), 0, "user")
        arrived = []
        for _ in range(2):
            bench.run_until(bench.agenda.next_moment() / SECOND)  # type: ignore[operator]
            driver.decide(bench.now)
            arrived.append(tuple(recorder.seen[-1]))
        orders.add(arrived[0])
    assert orders == {("first",), ("second",)}


def test_an_object_never_goes_back_to_an_older_version() -> None:
    for seed in range(20):
        bench = Bench()
        driver = driven(bench, Recorder(), lag=instants.seconds(5), seed=seed)
        item = bench.store.create(service("a"), 0, "user")
        for number in range(5):
            item = bench.store.update(replace(item, spec={"n": number}), 0, "user")
        bench.store.delete(item.key, item.uid, 0, "user")
        again = bench.store.create(service("a"), 0, "user")
        versions = []
        while (moment := bench.agenda.next_moment()) is not None:
            bench.run_until(moment / SECOND)
            seen = driver.runner.cache.get(item.key)
            if seen is not None:
                versions.append(seen.resource_version)
        assert versions == sorted(versions)
        assert driver.runner.cache.get(item.key) is again


def test_its_own_writes_are_seen_at_once_in_spite_of_lag() -> None:
    bench = Bench()
    recorder = Recorder(lambda cache, now: [Create(service("own"))] if len(list(cache)) == 1 else [])
    driver = driven(bench, recorder, lag=instants.seconds(60), seed=1)
    bench.store.create(service("a"), 0, "user")
    bench.run_until(60)
    driver.decide(bench.now)
    driver.decide(bench.now)
    assert recorder.seen == [["a"], ["a", "own"]]


def test_what_it_deleted_is_going_in_its_eyes_at_once() -> None:
    bench, recorder = Bench(), Recorder()
    driver = driven(bench, recorder, lag=instants.seconds(60), seed=1)
    pod = bench.pod("web-0")
    bench.run_until(60)
    recorder.decide = lambda cache, now: [DeleteObject(pod.key, pod.uid)]
    driver.runner.queue.add(LLM)
    driver.decide(bench.now)
    seen = driver.runner.cache.get(pod.key)
    assert seen is not None
    assert seen.deleted_at == bench.now


def test_a_refused_write_ends_the_pass_and_the_pass_comes_back() -> None:
    """The plan was made on a state that has moved, so the rest of it may be wrong too."""
    bench = Bench()
    recorder = Recorder(
        lambda cache, now: [
            Create(service(name)) for name in "ab" if all(item.name != name for item in cache)
        ]
    )
    driver = driven(bench, recorder, lag=instants.seconds(60), seed=1)
    driver.runner.queue.add(LLM)
    bench.store.create(service("a"), 0, "user")
    driver.decide(0)
    assert bench.names("Service") == ["a"]
    assert [message for _, message in driver.conflicts] == ["Service a is still there"]
    assert driver.requeues() == {LLM: instants.seconds(60)}, "also if the news never came"
    bench.run_until(60)
    driver.wake(bench.now)
    driver.decide(bench.now)
    assert bench.names("Service") == ["a", "b"]


def test_it_dies_after_the_write_that_the_scenario_says_and_starts_from_the_objects() -> None:
    bench = Bench()
    recorder = Recorder(lambda cache, now: [Create(service(name)) for name in "bcd" if now == 0])
    driver = driven(bench, recorder, lag=instants.seconds(60), seed=1, crash_at_writes=(2,))
    bench.store.create(service("a"), 0, "user")
    driver.crash()
    driver.decide(0)
    assert bench.names("Service") == ["a", "b", "c"]
    assert recorder.lives == 3
    driver.decide(1)
    assert recorder.seen[-1] == ["a", "b", "c"], "a fresh list lags behind nothing"


def test_an_edit_that_is_first_heard_of_through_an_own_write_is_decided_on() -> None:
    bench = Bench()
    recorder = Recorder()
    driver = driven(bench, recorder, lag=instants.seconds(60), seed=1)
    item = bench.store.create(service("a"), 0, "user")
    bench.run_until(60)
    driver.decide(bench.now)
    edited = bench.store.update(replace(item, spec={"n": 2}), bench.now, "user")
    bench.store.update_status(edited.key, edited.uid, {"seen": 1}, bench.now, Recorder.name)
    assert driver.has_work


def test_a_refusal_that_nobody_can_be_told_of_any_more_is_no_failure() -> None:
    """The set is gone, and the news of that are on their way."""
    bench = Bench()
    recorder = Recorder(lambda cache, now: [Create(service("a"))])
    driver = driven(
        bench, recorder, lag=instants.seconds(60), seed=1, refusal=lambda item: "there is no room"
    )
    pcs = bench.put("grove.io/v1alpha1", "PodCliqueSet", "llm")
    bench.run_until(60)
    bench.delete(pcs)
    driver.decide(bench.now)
    assert driver.runner.cache.get(LLM) is not None
    assert driver.requeues() == {LLM: bench.now + instants.seconds(60)}
    assert not driver.conflicts, "what tells of a refusal is no write of the plan"


def test_a_refusal_that_cannot_be_taken_back_is_tried_again() -> None:
    bench = Bench()
    recorder = Recorder(lambda cache, now: [])
    driver = driven(bench, recorder, lag=instants.seconds(60), seed=1)
    pcs = bench.put("grove.io/v1alpha1", "PodCliqueSet", "llm")
    status = conditions.with_refusal({}, "Service a: there is no room", 1, bench.now)
    bench.store.update_status(pcs.key, pcs.uid, status, bench.now, "test")
    bench.run_until(60)
    bench.delete(pcs)
    driver.decide(bench.now)
    assert driver.requeues() == {LLM: bench.now + instants.seconds(60)}
