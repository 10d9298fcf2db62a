"""Bound pods start, crash, wait for each other and end."""

from headgate.cluster.simulated.settings import Behavior
from headgate.kernel import instants
from headgate.kernel.spans import Span

from .workbench import SECOND, Bench


def seconds(count: int) -> Span:
    return Span(instants.seconds(count))


def test_a_pod_is_ready_thirty_seconds_after_it_is_bound() -> None:
    bench = Bench()
    bench.pod("web-0")
    bench.run_until(60)
    assert bench.ready() == {"web-0": 31}


def test_a_behavior_may_give_another_start() -> None:
    bench = Bench(behaviors=(Behavior(match="revision == 2", start=seconds(5)),))
    bench.pod("web-0", revision=2)
    bench.pod("web-1", index=1, revision=1)
    bench.run_until(60)
    assert bench.ready() == {"web-0": 6, "web-1": 31}


def test_the_first_behavior_that_matches_wins() -> None:
    slow, fast = Behavior(match="pod.index == 0", start=seconds(50)), Behavior(start=seconds(5))
    bench = Bench(behaviors=(slow, fast))
    bench.pod("web-0")
    bench.pod("web-1", index=1)
    bench.run_until(60)
    assert bench.ready() == {"web-0": 51, "web-1": 6}


def test_a_match_that_fails_to_evaluate_does_not_match() -> None:
    bench = Bench(behaviors=(Behavior(match="object.kind == 'Pod' || pod.colour == 'red'", never="ready"),))
    bench.pod("web-0")
    bench.run_until(60)
    assert bench.ready() == {"web-0": 31}


def test_never_ready_stays_so() -> None:
    bench = Bench(behaviors=(Behavior(never="ready"),))
    bench.pod("web-0")
    bench.run_until(10_000)
    assert bench.scheduled() == {"web-0": 1}
    assert bench.ready() == {}
    assert bench.agenda.next_moment() is None


def test_a_pod_that_crashes_restarts_and_is_ready_again() -> None:
    bench = Bench(behaviors=(Behavior(crash_after=seconds(20)),))
    item = bench.pod("web-0")
    bench.run_until(110)
    spans = [[moment // SECOND for moment in span] for span in bench.life(item).ready_spans]
    assert spans == [[31, 51], [81, 101]]


def test_endless_crashes_are_nothing_new_after_a_while() -> None:
    bench = Bench(behaviors=(Behavior(crash_after=seconds(20)),))
    bench.pod("web-0")
    bench.run_until(60)
    assert bench.agenda.has_new_things
    bench.run_until(500)
    assert not bench.agenda.has_new_things
    assert bench.agenda.next_moment() is not None


def test_a_deleted_pod_is_gone_after_its_grace_and_never_ready_again() -> None:
    bench = Bench()
    item = bench.pod("web-0")
    bench.run_until(20)
    bench.delete(item)
    bench.run_until(100)
    life = bench.life(item)
    assert (life.deleted_at, life.gone_at, life.ready_at) == (20 * SECOND, 30 * SECOND, None)


def test_a_pod_starts_when_the_cliques_before_it_have_their_minimum() -> None:
    bench = Bench()
    bench.clique("db", minimum=2)
    bench.clique("web", startsAfter=["db"])
    bench.pod("web-0", "web")
    bench.pod("db-0", "db")
    bench.run_until(40)
    assert bench.ready() == {"db-0": 31}
    bench.pod("db-1", "db", index=1)
    bench.run_until(200)
    assert bench.ready() == {"db-0": 31, "db-1": 71, "web-0": 101}


def test_a_pod_that_has_started_does_not_look_back() -> None:
    bench = Bench()
    bench.clique("db")
    bench.clique("web", startsAfter=["db"])
    database = bench.pod("db-0", "db")
    bench.pod("web-0", "web")
    bench.run_until(40)
    bench.delete(database)
    bench.run_until(200)
    assert bench.ready()["web-0"] == 61
