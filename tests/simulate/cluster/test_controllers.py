"""A controller is told late and out of order, knows its own writes at once, and may die after any of them."""

from collections.abc import Callable, Sequence

from headgate.kernel import instants
from headgate.kernel.objects import Action, Create, Delete, Object
from headgate.simulate.cluster import controllers
from headgate.simulate.cluster.controllers import Outcome, Runner
from headgate.simulate.cluster.store import replace
from headgate.simulate.cluster.view import Request, View
from headgate.workload import labels

from .workbench import SECOND, Bench

Decide = Callable[[View, int], Sequence[Action]]


class Recorder:
    """Writes down what it sees each time and does what the test says."""

    def __init__(self, decide: Decide = lambda view, now: ()) -> None:
        self.view = View()
        self.seen: list[list[str]] = []
        self.lives = 0
        self._decide = decide

    def restarted(self, view: View) -> None:
        self.view = view
        self.lives += 1

    def reconcile(self, request: Request, now: int) -> Outcome:
        self.seen.append(sorted(item.name for item in self.view.parts_of(request)))
        return Outcome(self._decide(self.view, now))

    def applied(self, request: Request, actions: Sequence[Action], now: int) -> None: ...


def service(name: str) -> Object:
    return Object("v1", "Service", "default", name, labels={labels.PART_OF: "llm"})


def test_without_lag_everything_is_seen_at_once() -> None:
    bench, recorder = Bench(), Recorder()
    runner = Runner(bench.store, bench.agenda, recorder)
    bench.store.create(service("a"), 0, "user")
    runner.decide(0)
    assert recorder.seen == [["a"]]
    runner.decide(0)
    assert recorder.seen == [["a"]], "nothing was heard of since"


def test_with_lag_a_change_is_seen_within_it() -> None:
    bench, recorder = Bench(), Recorder()
    runner = Runner(bench.store, bench.agenda, recorder, lag=instants.seconds(5), seed=3)
    for number in range(20):
        bench.store.create(service(f"s{number}"), 0, "user")
    bench.run_until(5)
    runner.decide(bench.now)
    assert recorder.seen == [sorted(f"s{number}" for number in range(20))]


def test_notifications_of_different_objects_overtake_each_other() -> None:
    orders = set()
    for seed in range(20):
        bench, recorder = Bench(), Recorder()
        runner = Runner(bench.store, bench.agenda, recorder, lag=instants.seconds(5), seed=seed)
        bench.store.create(service("first"), 0, "user")
        bench.store.create(service("second"), 0, "user")
        arrived = []
        for _ in range(2):
            bench.run_until(bench.agenda.next_moment() / SECOND)  # type: ignore[operator]
            runner.decide(bench.now)
            arrived.append(tuple(recorder.seen[-1]))
        orders.add(arrived[0])
    assert orders == {("first",), ("second",)}


def test_an_object_never_goes_back_to_an_older_version() -> None:
    for seed in range(20):
        bench = Bench()
        runner = Runner(bench.store, bench.agenda, Recorder(), lag=instants.seconds(5), seed=seed)
        item = bench.store.create(service("a"), 0, "user")
        for number in range(5):
            item = bench.store.update(replace(item, spec={"n": number}), 0, "user")
        bench.store.delete(item.key, item.uid, 0, "user")
        again = bench.store.create(service("a"), 0, "user")
        versions = []
        while (moment := bench.agenda.next_moment()) is not None:
            bench.run_until(moment / SECOND)
            seen = runner.view.get(item.key)
            if seen is not None:
                versions.append(seen.resource_version)
        assert versions == sorted(versions)
        assert runner.view.get(item.key) is again


def test_its_own_writes_are_seen_at_once_in_spite_of_lag() -> None:
    bench = Bench()
    recorder = Recorder(lambda view, now: [Create(service("own"))] if len(list(view)) == 1 else [])
    runner = Runner(bench.store, bench.agenda, recorder, lag=instants.seconds(60), seed=1)
    bench.store.create(service("a"), 0, "user")
    bench.run_until(60)
    runner.decide(bench.now)
    runner.decide(bench.now)
    assert recorder.seen == [["a"], ["a", "own"]]


def test_what_it_deleted_is_going_in_its_eyes_at_once() -> None:
    bench = Bench()
    runner = Runner(bench.store, bench.agenda, Recorder(), lag=instants.seconds(60), seed=1)
    pod = bench.pod("web-0")
    bench.run_until(60)
    controller = Recorder(lambda view, now: [Delete(pod.key, pod.uid)])
    runner._controller = controller
    runner.request(("default", "llm"))
    runner.decide(bench.now)
    seen = runner.view.get(pod.key)
    assert seen is not None
    assert seen.deleted_at == bench.now


def test_a_refused_write_does_not_keep_the_others_from_being_written() -> None:
    bench = Bench()
    recorder = Recorder(lambda view, now: [Create(service("a")), Create(service("b"))])
    runner = Runner(bench.store, bench.agenda, recorder)
    bench.store.create(service("a"), 0, "user")
    runner.decide(0)
    assert bench.names("Service") == ["a", "b"]
    assert [message for _, message in runner.refusals] == ["Service a is still there"]


def test_it_dies_after_the_write_that_the_scenario_says_and_starts_from_the_objects() -> None:
    bench = Bench()
    recorder = Recorder(lambda view, now: [Create(service(name)) for name in "bcd" if now == 0])
    runner = Runner(
        bench.store, bench.agenda, recorder, lag=instants.seconds(60), seed=1, crash_at_writes=(2,)
    )
    bench.store.create(service("a"), 0, "user")
    runner.crash()
    runner.decide(0)
    assert bench.names("Service") == ["a", "b", "c"]
    assert recorder.lives == 3
    runner.decide(1)
    assert recorder.seen[-1] == ["a", "b", "c"], "a fresh list lags behind nothing"


def test_an_edit_that_is_first_heard_of_through_an_own_write_is_decided_on() -> None:
    bench = Bench()
    recorder = Recorder()
    runner = Runner(bench.store, bench.agenda, recorder, lag=instants.seconds(60), seed=1)
    item = bench.store.create(service("a"), 0, "user")
    bench.run_until(60)
    runner.decide(bench.now)
    edited = bench.store.update(replace(item, spec={"n": 2}), bench.now, "user")
    bench.store.update_status(edited.key, edited.uid, {"seen": 1}, bench.now, controllers.NAME)
    assert runner.has_work
