"""Plays a scenario: its objects and its timeline against the production engine in virtual time, with a recorded result."""

from collections.abc import Callable, Sequence
from functools import partial

from headgate.fleet.engine import manifests
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.promises.base import RunEnding
from headgate.promises.books.mirror import Mirror
from headgate.simulate import expectations, snapshots, step_sentences
from headgate.simulate import parts as world
from headgate.simulate.agents import Agents
from headgate.simulate.loop import Ended, RunLoop
from headgate.simulate.model import steps
from headgate.simulate.model.result import Explained, Played, Result, SnapshotTaken
from headgate.simulate.playing import StepTranslator, step_paths
from headgate.simulate.recording import Recording
from headgate.simulate.rollout import SimulatedFleet
from headgate.simulate.scenario import DEFAULT_SEED, LONGEST_RUN, Scenario

Conduct = Callable[[Engine, Recording, Agents, int], SimulatedFleet]
REPEATED_REPORTS = 200
"""So many job endings of a run are reported twice, to see that the second report changes nothing."""


def simulate(
    scenario: Scenario,
    until: Instant | None = None,
    seed: int | None = None,
    parts: Sequence[world.SimulatedLevel] = (),
    conduct: Conduct = SimulatedFleet,
    is_enough: Callable[[], bool] = lambda: False,
) -> Result:
    """Equal arguments give equal results. `until` and `seed` overrule those of the scenario.

    `is_enough` says that somebody has waited for long enough; `conduct` makes the rollout, for those who want to look at one from inside.
    """
    chosen = scenario.seed if seed is None else seed
    return _Run(scenario, until, chosen, parts or cluster_for(scenario, chosen), conduct, is_enough).result()


def cluster_for(scenario: Scenario, seed: int) -> Sequence[world.SimulatedLevel]:
    """A scenario that speaks of the fleet alone has no cluster and pays for none."""
    brought = [source.document for source in scenario.objects]
    brought += [step.payload for step in scenario.timeline if step.kind == "apply"]
    if not any(_is_for_cluster(document) for document in brought):
        return ()
    from headgate.simulate.workloads.part import ClusterPart

    cluster = ClusterPart(scenario.cluster, id_source(seed), seed)
    if not any(isinstance(item, dict) and item.get("kind") == "ResourceGraphDefinition" for item in brought):
        return (cluster,)
    from headgate.simulate.graphs.part import GraphPart

    return (GraphPart(cluster, scenario.cluster, seed), cluster)


def _is_for_cluster(document: object) -> bool:
    try:
        return isinstance(manifests.parse(document, id_source(DEFAULT_SEED), 0), manifests.ForeignObject)
    except Rejected:
        return False


def id_source(seed: int) -> NamedIds:
    """Ids follow from names, and rollout orders from ids: another seed is another order."""
    return NamedIds("" if seed == DEFAULT_SEED else f"seed {seed}")


class _Run:
    def __init__(
        self,
        scenario: Scenario,
        until: Instant | None,
        seed: int,
        parts: Sequence[world.SimulatedLevel],
        conduct: Conduct,
        is_enough: Callable[[], bool],
    ) -> None:
        self._scenario = scenario
        self._seed = seed
        self._parts = parts
        self._levels = [part for part in parts if isinstance(part, world.Level)]
        ids = id_source(seed)
        self._mirror = Mirror()
        for part in parts:
            if isinstance(part, world.ReadsSignals):
                part.read_signals(self._mirror.objects["Signal"])
        self._watch = Recording(self._mirror, scenario.start)
        self._translator = StepTranslator(ids, scenario.start, self._watch.jobs)
        agents = Agents(scenario.agents, self._mirror)
        self._rollout = conduct(Engine(ids), self._watch, agents, REPEATED_REPORTS)
        limit = until if until is not None else scenario.until
        limit = limit if limit is not None else scenario.start + LONGEST_RUN
        self._loop = RunLoop(self._rollout, self, limit, parts=parts, is_enough=is_enough)
        self._steps = sorted(
            ((step.at.resolve(scenario.start), number) for number, step in enumerate(scenario.timeline)),
            reverse=True,
        )
        self._explanations: list[Explained] = []
        self._snapshots: list[SnapshotTaken] = []
        self._played: list[Played] = []

    def result(self) -> Result:
        start = self._scenario.start
        for source in self._scenario.objects:
            self._rollout.attempt(source.place, partial(self._put, source.document, start), start)
        return self._finish(self._loop.run(start))

    def next_moment(self) -> Instant | None:
        return self._steps[-1][0] if self._steps else None

    def play(self, now: Instant) -> None:
        while self._steps and self._steps[-1][0] <= now:
            _, number = self._steps.pop()
            step = self._scenario.timeline[number]
            self._rollout.attempt(step.place, partial(self._play, step, now), now)

    def _put(self, document: object, now: Instant) -> None:
        item = self._translator.object_from(document, now)
        if not isinstance(item, manifests.ForeignObject):
            self._rollout.apply(changes.Put(item), now)
            return
        part = world.serving_kind(self._parts, item.api_version, item.kind)
        if part is None:
            raise Rejected([Problem("kind", f"{item.api_version} {item.kind} is not simulated")])
        part.apply(item, now)

    def _play(self, step: steps.Step, now: Instant) -> None:
        self._act(step, now)
        words = step_sentences.describe(step)
        if words is not None:
            self._played.append(Played(now, *words))

    def _act(self, step: steps.Step, now: Instant) -> None:
        if step.kind == "apply":
            self._put(step.payload, now)
        elif step.kind == "crash":
            self._rollout.crash()
            for simulated_level in self._parts:
                simulated_level.crash(now)
        elif step.kind == "explain":
            self._explanations.append(self._answer(step.payload, now))
        elif step.kind == "snapshot":
            fleet = snapshots.take(self._rollout.engine, self._mirror, now)
            cluster = (entry for level in self._levels for entry in level.snapshot(now))
            self._snapshots.append(SnapshotTaken(now, (*fleet, *cluster)))
        elif (part := self._part_for(step)) is not None:
            part.play(step, now)
        else:
            change = self._translator.change_for(step, now)
            if change is None:
                raise Rejected(
                    [Problem("", f"the step {step.kind} needs a simulated cluster; there is none")]
                )
            with step_paths():
                self._rollout.apply(change, now)

    def _part_for(self, step: steps.Step) -> world.SimulatedLevel | None:
        if step.kind == "delete" and not self._is_in_fleet(step.payload):
            return world.serving_kind(self._parts, step.payload.api_version, step.payload.kind)
        return world.serving_step(self._parts, step.kind)

    def _is_in_fleet(self, payload: steps.DeleteStep) -> bool:
        """Kinds are shared with Kubernetes; without an apiVersion the fleet is asked first."""
        held = self._mirror.objects.get(payload.kind)
        if held is None or payload.api_version not in (None, manifests.API_VERSION):
            return False
        return payload.api_version is not None or payload.name in held or not self._levels

    def _answer(self, question: steps.ExplainStep, now: Instant) -> Explained:
        if question.target is not None:
            return self._rollout.explain(question.target, now)
        if not self._levels:
            names = {name: getattr(question, name) for name in ("workload", "instance", "definition")}
            raise Rejected(
                Problem(field, f"{field} {name} needs a simulated cluster; there is none")
                for field, name in names.items()
                if name is not None
            )
        return self._levels[0].explain(question, now)

    def _finish(self, ended: Ended) -> Result:
        now, rollout = ended.at, self._rollout
        self._watch.now = now
        rollout.refresh_records()
        converged = self._loop.is_converged(now)
        unconverged, waiting = ([], []) if converged else rollout.unconverged(now)
        wake = rollout.engine.next_wake()
        is_fleet_converged = rollout.engine.is_converged(now)
        if not is_fleet_converged:
            rollout.try_a_copy(now)
        self._watch.ended(RunEnding(now, is_fleet_converged, ended.was_cut, wake, tuple(unconverged)))
        for level in self._levels:
            level.end(now, was_cut=ended.was_cut)
        result = Result(
            scenario=self._scenario.name,
            seed=self._seed,
            start=self._scenario.start,
            end=now,
            converged=converged,
            was_cut=ended.was_cut,
            jobs=list(self._watch.jobs.values()),
            groups=list(self._watch.groups.values()),
            group_steps=self._watch.group_steps,
            usage=self._watch.ledger.all(),
            tags=self._watch.tags,
            explanations=self._explanations,
            snapshots=self._snapshots,
            rejected=rollout.rejected,
            warnings=rollout.warnings,
            notices=rollout.notices,
            violations=self._watch.violations,
            waiting=waiting,
            played=self._played,
        )
        self._fill_from_parts(result)
        if self._scenario.expect:
            result.expectations = expectations.judge(self._scenario.expect, result.document())
        return result

    def _fill_from_parts(self, result: Result) -> None:
        for part in self._parts:
            lists = {"pods": result.pods, "objects": result.objects, "conditions": result.conditions}
            part.fill(lists)
        for level in self._levels:
            level.report(result)
