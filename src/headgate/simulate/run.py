"""The event loop: the production engine in virtual time, with simulated agents and a recorded result.

At one instant what agents (and the cluster) do comes first, then the timeline in file order, then one decision. What
a decision starts may end at the very same instant (a job without duration, a measurement): then the instant goes
round again.
"""

import heapq
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from headgate.fleet import changes, manifests, model, records
from headgate.fleet.engine import Decisions, Engine
from headgate.fleet.state import Unobserved
from headgate.kernel import instants
from headgate.kernel.identifiers import NamedIds
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected
from headgate.simulate import expectations, snapshots, step_sentences, steps
from headgate.simulate import parts as world
from headgate.simulate.agents import Agents
from headgate.simulate.mirror import Mirror
from headgate.simulate.playing import Desk, step_paths
from headgate.simulate.promises import Ending, Unconverged
from headgate.simulate.result import Explained, Played, Refused, Result, RuleLine, Snapshot, Waiting, Warned
from headgate.simulate.scenario import DEFAULT_SEED, LONGEST_RUN, Scenario
from headgate.simulate.watch import Watch

MOST_ROUNDS_AN_INSTANT = 10_000
REPEATED_REPORTS = 200
"""So many job endings of a run are reported twice, to see that the second report changes nothing."""
MOST_EXPLAINED_AT_THE_END = 300


def simulate(
    scenario: Scenario,
    until: Instant | None = None,
    seed: int | None = None,
    parts: Sequence[world.Part] = (),
) -> Result:
    """Equal arguments give equal results. `until` and `seed` overrule those of the scenario."""
    chosen = scenario.seed if seed is None else seed
    return _Run(scenario, until, chosen, parts or cluster_for(scenario, chosen)).play()


def cluster_for(scenario: Scenario, seed: int) -> Sequence[world.Part]:
    """A scenario that speaks of the fleet alone has no cluster and pays for none."""
    brought = [source.document for source in scenario.objects]
    brought += [step.payload for step in scenario.timeline if step.kind == "apply"]
    if not any(_is_for_cluster(document) for document in brought):
        return ()
    from headgate.simulate.cluster.part import ClusterPart

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
        self, scenario: Scenario, until: Instant | None, seed: int, parts: Sequence[world.Part]
    ) -> None:
        self._scenario = scenario
        self._seed = seed
        limit = until if until is not None else scenario.until
        self._until = limit if limit is not None else scenario.start + LONGEST_RUN
        self._parts = parts
        self._levels = [part for part in parts if isinstance(part, world.Level)]
        self._ids = id_source(self._seed)
        self._mirror = Mirror()
        for part in parts:
            if isinstance(part, world.ReadsSignals):
                part.read_signals(self._mirror.objects["Signal"])
        self._watch = Watch(self._mirror, scenario.start)
        self._agents = Agents(scenario.agents, self._mirror)
        self._desk = Desk(self._ids, scenario.start, self._watch.jobs)
        self._engine = Engine(self._ids)
        self._engine.observer = self._watch
        self._survivor: Engine | None = None
        self._due: list[tuple[Instant, int, changes.JobReported | changes.Measured]] = []
        self._sequence = 0
        self._steps = sorted(
            ((step.at.resolve(scenario.start), number) for number, step in enumerate(scenario.timeline)),
            reverse=True,
        )
        self._explanations: list[Explained] = []
        self._snapshots: list[Snapshot] = []
        self._rejected: list[Refused] = []
        self._warnings: list[Warned] = []
        self._played: list[Played] = []
        self._repeats_left = REPEATED_REPORTS
        self._is_endless = False

    def play(self) -> Result:
        now = self._scenario.start
        self._put_objects(now)
        self._instant(now)
        while True:
            upcoming = self._next_moment(now)
            if upcoming is None:
                return self._finish(now, was_cut=False)
            if upcoming > self._until:
                return self._finish(max(now, self._until), was_cut=True)
            now = upcoming
            self._instant(now)
            if self._is_endless:
                return self._finish(now, was_cut=True)

    def _next_moment(self, now: Instant) -> Instant | None:
        """Wake-ups alone keep a run going only while something has not converged, and repetitions never do."""
        self._drop_ended()
        moments = [moment for part in self._parts if (moment := part.next_event()) is not None]
        has_news = bool(moments) and not (self._levels and all(one.is_repeating() for one in self._levels))
        if self._due:
            moments.append(self._due[0][0])
        if self._steps:
            moments.append(self._steps[-1][0])
        has_news |= bool(self._due or self._steps)
        wake = self._engine.next_wake()
        if wake is not None and (has_news or not self._is_converged(now)):
            moments.append(max(wake, now))
            has_news = True
        return min(moments) if has_news else None

    def _drop_ended(self) -> None:
        """A job that was cancelled, or whose end was reported otherwise, has no end to wait for."""
        while self._due:
            change = self._due[0][2]
            job = self._watch.jobs.get(change.job)
            if isinstance(change, changes.Measured) or job is None or job.status in model.JOB_LIVE:
                return
            heapq.heappop(self._due)

    def _is_converged(self, now: Instant) -> bool:
        return self._engine.is_converged(now) and all(part.is_converged(now) for part in self._parts)

    def _instant(self, now: Instant) -> None:
        self._watch.now = now
        for _ in range(MOST_ROUNDS_AN_INSTANT):
            self._deliver(now)
            for part in self._parts:
                part.advance(now)
            self._play_steps(now)
            self._decide(now)
            for part in self._parts:
                part.decide(now)
            self._drop_ended()
            wake = self._engine.next_wake()
            is_again_due = bool(self._due) and self._due[0][0] <= now
            is_again_due |= any(_is_due(part, now) for part in self._parts)
            if not is_again_due and (wake is None or wake > now):
                return
        self._is_endless = True
        self._warn(now, "", "", f"stopped: the moment {instants.show(now)} never ends")

    def _deliver(self, now: Instant) -> None:
        while self._due and self._due[0][0] <= now:
            change = heapq.heappop(self._due)[2]
            job = self._watch.jobs.get(change.job)
            if isinstance(change, changes.JobReported) and job is not None:
                if job.status not in model.JOB_LIVE:
                    continue
                self._apply(change, now)
                self._repeat(change, job, now)
            else:
                self._attempt("agents", partial(self._apply, change, now), now)

    def _repeat(self, change: changes.JobReported, job: records.Job, now: Instant) -> None:
        if self._repeats_left == 0:
            return
        self._repeats_left -= 1
        before = self._watch.job_changes_count
        self._apply(change, now)
        self._watch.repeated(self._watch.jobs[job.id], self._watch.job_changes_count != before)

    def _play_steps(self, now: Instant) -> None:
        while self._steps and self._steps[-1][0] <= now:
            _, number = self._steps.pop()
            step = self._scenario.timeline[number]
            self._attempt(step.place, partial(self._play, step, now), now)

    def _attempt(self, place: str, act: Callable[[], None], now: Instant) -> None:
        """What is refused is part of the result; the run goes on."""
        try:
            act()
        except Rejected as rejected:
            self._rejected.append(Refused(now, place, rejected.problems))

    def _put_objects(self, now: Instant) -> None:
        for source in self._scenario.objects:
            self._attempt(source.place, partial(self._put, source.document, now), now)

    def _put(self, document: object, now: Instant) -> None:
        item = self._desk.object_from(document, now)
        if not isinstance(item, manifests.ForeignObject):
            self._apply(changes.Put(item), now)
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
            self._crash()
        elif step.kind == "explain":
            self._explanations.append(self._answer(step.payload, now))
        elif step.kind == "snapshot":
            fleet = snapshots.take(self._engine, self._mirror, now)
            cluster = (entry for level in self._levels for entry in level.snapshot(now))
            self._snapshots.append(Snapshot(now, (*fleet, *cluster)))
        elif (part := self._part_for(step)) is not None:
            part.play(step, now)
        else:
            change = self._desk.change_for(step, now)
            if change is None:
                raise Rejected(
                    [Problem("", f"the step {step.kind} needs a simulated cluster; there is none")]
                )
            with step_paths():
                self._apply(change, now)

    def _part_for(self, step: steps.Step) -> world.Part | None:
        if step.kind == "delete" and not self._is_in_fleet(step.payload):
            return world.serving_kind(self._parts, step.payload.api_version, step.payload.kind)
        return world.serving_step(self._parts, step.kind)

    def _is_in_fleet(self, payload: steps.Delete) -> bool:
        """Kinds are shared with Kubernetes; without an apiVersion the fleet is asked first."""
        held = self._mirror.objects.get(payload.kind)
        if held is None or payload.api_version not in (None, manifests.API_VERSION):
            return False
        return payload.api_version is not None or payload.name in held or not self._levels

    def _answer(self, question: steps.Explain, now: Instant) -> Explained:
        if question.target is not None:
            return self._explain(question.target, now)
        if not self._levels:
            name = question.workload or question.instance or question.definition
            raise Rejected([Problem("explain", f"{name} needs a simulated cluster; there is none")])
        return self._levels[0].explain(question, now)

    def _apply(self, change: changes.Change, now: Instant) -> None:
        self._engine.apply(change, now)
        if self._survivor is not None:
            self._survivor.apply(change, now)
        self._watch.accepted(change)

    def _decide(self, now: Instant) -> None:
        decisions = self._engine.decide(now)
        self._watch.decided()
        if self._survivor is not None:
            survivor, self._survivor = self._survivor, None
            self._watch.compared(_bytes(survivor.decide(now)), _bytes(decisions))
            self._watch.compared(survivor.dump(), self._engine.dump())
        for job in decisions.created:
            self._start(job, now)
        for warning in decisions.warnings:
            self._warn(warning.at, warning.target, warning.version, warning.message)
        for due in decisions.measurements:
            answer = self._agents.measure(due.job, due.rule, due.metric)
            if not answer.is_known:
                note = f"no ordinary measurement of {due.metric.name} meets its conditions: give it under measurements"
                self._warn(now, due.job.target, due.job.tag, note)
            self._schedule(
                now, changes.Measured(due.job.id, due.rule, due.metric.name, answer.result, answer.error)
            )

    def _start(self, job: records.Job, now: Instant) -> None:
        self._apply(changes.JobReported(job.id, "inProgress"), now)
        ending = self._agents.ending(job)
        if ending.status is not None:
            self._schedule(now + ending.after, changes.JobReported(job.id, ending.status, ending.message))

    def _schedule(self, at: Instant, change: changes.JobReported | changes.Measured) -> None:
        self._sequence += 1
        heapq.heappush(self._due, (at, self._sequence, change))

    def _warn(self, at: Instant, target: str, version: str, message: str) -> None:
        warning = Warned(at, target, version, message)
        if warning not in self._warnings[-20:]:
            self._warnings.append(warning)

    def _crash(self) -> None:
        """The engine is thrown away; a survivor goes on beside it for one decision, to compare."""
        survivor = self._engine
        written = survivor.dump()
        self._engine = Engine.load(written, self._ids)
        self._watch.reloaded(written, self._engine.dump())
        survivor.observer = Unobserved()
        if self._survivor is None:
            self._survivor = survivor
        self._engine.observer = self._watch
        self._refresh_records()
        for part in self._parts:
            part.crash(self._watch.now)

    def _refresh_records(self) -> None:
        """Records are changed in place by the engine that holds them; after a load it holds other ones."""
        for job in self._engine.jobs.values():
            self._watch.jobs[job.id] = job
        for group in self._engine.groups.values():
            self._watch.groups[group.id] = group

    def _explain(self, target: str, now: Instant) -> Explained:
        explanation = self._engine.explain(target, now)
        rules = tuple(
            RuleLine(
                line.policy,
                line.rule,
                line.type,
                line.version,
                line.verdict,
                line.message,
                line.next_evaluation_time,
            )
            for line in explanation.rules
        )
        return Explained(now, target, explanation.state, rules, explanation.message)

    def _finish(self, now: Instant, *, was_cut: bool) -> Result:
        self._watch.now = now
        self._refresh_records()
        converged = self._is_converged(now)
        unconverged, waiting = ([], []) if converged else self._unconverged(now)
        wake = self._engine.next_wake()
        is_fleet_converged = self._engine.is_converged(now)
        self._watch.ended(Ending(now, is_fleet_converged, was_cut, wake, tuple(unconverged)))
        for level in self._levels:
            level.end(now, was_cut=was_cut)
        result = Result(
            scenario=self._scenario.name,
            seed=self._seed,
            start=self._scenario.start,
            end=now,
            converged=converged,
            was_cut=was_cut,
            jobs=list(self._watch.jobs.values()),
            groups=list(self._watch.groups.values()),
            usage=self._watch.ledger.all(),
            tags=self._watch.tags,
            explanations=self._explanations,
            snapshots=self._snapshots,
            rejected=self._rejected,
            warnings=self._warnings,
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

    def _unconverged(self, now: Instant) -> tuple[list[Unconverged], list[Waiting]]:
        """For the promises what wakes each of them, for people the sentence that explain has for it."""
        found: list[Unconverged] = []
        waiting: list[Waiting] = []
        for target, wakes in self._engine.unconverged(now):
            if len(found) == MOST_EXPLAINED_AT_THE_END:
                waiting.append(Waiting("more targets", "waiting", "explain tells about each of them"))
                break
            explained = self._explain(target, now)
            verdicts = tuple((line.verdict, line.message) for line in explained.rules)
            found.append(Unconverged(target, explained.state, explained.message, wakes, verdicts))
            if explained.state != "upToDate":
                waiting.append(Waiting(target, explained.state, explained.message or wakes))
        return found, waiting


def _is_due(part: world.Part, now: Instant) -> bool:
    moment = part.next_event()
    return moment is not None and moment <= now


def _bytes(decisions: Decisions) -> bytes:
    """Without what was already handed in before the crash: that is in the state, which is compared too."""
    return msgspec.json.encode((decisions.created, decisions.measurements), enc_hook=repr)
