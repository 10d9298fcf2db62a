"""How an edit of a definition reaches its instances: as graph revisions that are granted to one after another.

An instance that was not granted the newest one goes on with the one it has, edits of its own spec included. Who is let on
takes the newest one with its own next revision, which is written before anything acts on it. Until then it is asked
again in every look, and keeps its place in the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from headgate.graph.compile import names
from headgate.graph.compile.compiled import CompiledGraph
from headgate.graph.reconcile import (
    applysets,
    cluster_view,
    conditions,
    contents,
    definition_removal,
    granted_graph,
    judging,
    labels,
    revisions,
    served_kinds,
)
from headgate.graph.reconcile.items import GraphItem, GraphItems
from headgate.graph.reconcile.planner_cache import PlannerCache
from headgate.graph.reconcile.resolving import AcceptedGraph
from headgate.graph.reconcile.revisions import GraphRevision
from headgate.kernel import decisions
from headgate.kernel.conditions import Condition, RefusedWrite, documents, refusal, root
from headgate.kernel.decisions import Reason, Verdict
from headgate.kernel.instants import Instant
from headgate.kernel.objects import Action, Create, DeleteObject, Object, Update, UpdateStatus
from headgate.kernel.problems import Problem, Rejected

_SUSPENDED = decisions.pending(Reason.PAUSED, "the instance is suspended")


class RolloutMember(msgspec.Struct):
    """One instance in the eyes of its definition."""

    instance: Object
    number: int
    """The graph revision it was granted; 0 for none yet."""
    is_updated: bool
    is_ready: bool
    landed_number: int
    """The last graph revision that all of it was at and ready."""
    answer: Verdict | None = None
    is_granted_now: bool = False
    number_before: int = 0
    """What it had before this look granted it another."""

    @property
    def has_landed(self) -> bool:
        return self.number > 0 and self.landed_number == self.number

    @property
    def is_on_its_way(self) -> bool:
        """At the newest and not landed there, or let on to it and about to go."""
        if self.is_updated:
            return not self.has_landed
        return self.answer is not None and self.answer.is_allowed

    @property
    def refusal(self) -> RefusedWrite | None:
        """What the server does not take of it."""
        return refusal(self.instance.status)


class DefinitionRollout(msgspec.Struct):
    """`served` is None when there is nothing to serve: the definition was never accepted, or is going."""

    actions: list[Action]
    number: int
    members: list[RolloutMember]
    accepted: AcceptedGraph | None
    problems: tuple[str, ...] = ()
    requeue_at: Instant | None = None
    is_paused: bool = False
    leaving: Condition | None = None
    """While the definition is being deleted: what it waits for."""


def is_instance_ready(instance: Object, number: int) -> bool:
    """By what was last written about it, if that is about what it is now, at the graph revision of that number."""
    own = instance.status.get(conditions.OWN) or {}
    return bool(
        own.get("isReady")
        and own.get("isPropagated")
        and own.get("observedGeneration") == instance.generation
        and own.get("graphRevision") == number
    )


def has_moved(before: Object, instance: Object) -> bool:
    """Whether anything is another that a definition without gates of its own goes by in one of its instances."""
    # What the planner wrote about it is what changes most, and is told without looking at the rest.
    return before.status.get(conditions.OWN) != instance.status.get(conditions.OWN) or _status_of(
        before
    ) != _status_of(instance)


def _status_of(instance: Object) -> tuple[object, ...]:
    annotations = instance.annotations
    return (
        instance.uid,
        instance.deleted_at,
        instance.generation,
        annotations.get(labels.STARTED_ON),
        annotations.get(applysets.KINDS),
        labels.is_paused(annotations),
        labels.is_suspended(annotations),
        instance.labels.get(labels.OWNED),
        instance.labels.get(labels.DEFINITION_NAME),
        labels.FINALIZER in instance.finalizers,
        refusal(instance.status),
    )


def in_order(instances: Iterable[Object]) -> list[Object]:
    return sorted(instances, key=lambda item: (item.created_at, item.namespace, item.name))


def reconcile(
    item: Object,
    view: cluster_view.ClusterView,
    signals: Mapping[str, object],
    now: Instant,
    planner_cache: PlannerCache,
) -> DefinitionRollout:
    return _Pass(item, view, signals, now, planner_cache).run()


class _Pass:
    def __init__(
        self,
        item: Object,
        view: cluster_view.ClusterView,
        signals: Mapping[str, object],
        now: Instant,
        planner_cache: PlannerCache,
    ) -> None:
        self._item = item
        self._view = view
        self._signals = signals
        self._now = now
        self._planner_cache = planner_cache
        self._is_paused = labels.is_paused(item.annotations)
        self._actions: list[Action] = []
        self._let_on: dict[str, int] = {}
        self._looks: list[Instant] = []
        parsed = (
            revisions.graph_from_object(each)
            for each in view.of_kind("internal.kro.run", revisions.GRAPH_KIND)
            if each.labels.get(labels.DEFINITION_NAME) == item.name and each.deleted_at is None
        )
        self._known = {revision.number: revision for revision in parsed}

    def run(self) -> DefinitionRollout:
        is_going = self._item.deleted_at is not None
        self._instances = definition_removal.instances_of(self._item, self._view) if is_going else []
        if is_going and not self._instances:
            return DefinitionRollout(definition_removal.release(self._item, self._view), 0, [], None)
        newest, problems = self._newest_graph()
        if newest is None:
            status = self._status(None, [], problems)
            self._write_status(status)
            return DefinitionRollout(self._actions, 0, [], None, problems)
        number, graph = newest
        self._actions += definition_removal.held(self._item)
        self._serve_kind(graph)
        self._graph = graph
        members = self._members(graph)
        self._landed_number = self._newest_landed(members)
        self._admit(graph, number, members)
        graphs = {
            known.number: self._planner_cache.graph_of(known, self._item) for known in self._known.values()
        }
        accepted = AcceptedGraph(self._item.name, graph, graphs, self._is_paused, self._let_on)
        self._let_go(number, members)
        if is_going:
            self._actions += definition_removal.deletions(self._item, self._instances, self._view)
        self._write_status(self._status(newest, members, problems))
        return DefinitionRollout(
            self._actions,
            number,
            members,
            accepted,
            problems,
            min(self._looks, default=None),
            self._is_paused,
            self._leaving(),
        )

    def _leaving(self) -> Condition | None:
        if self._item.deleted_at is None:
            return None
        return definition_removal.condition(self._item, self._instances, self._view)

    def _newest_graph(self) -> tuple[tuple[int, CompiledGraph] | None, tuple[str, ...]]:
        """The graph that is to be served. An edit that is not accepted leaves the last accepted one in place."""
        last = self._known.get(max(self._known, default=0))
        try:
            graph = self._planner_cache.graph(self._item)
            taken = self._taken(graph)
            if taken is not None:
                raise Rejected([taken])
        except Rejected as rejected:
            problems = tuple(str(problem) for problem in rejected.problems)
            if last is None:
                return None, problems
            return (last.number, self._planner_cache.graph_of(last, self._item)), problems
        if last is not None and last.hash == graph.content_hash:
            return (last.number, graph), ()
        number = 1 + max(int(self._item.status.get("lastIssuedRevision") or 0), max(self._known, default=0))
        self._actions.append(Create(revisions.graph_to_object(number, graph.content_hash, self._item)))
        self._known[number] = GraphRevision(number, graph.content_hash, self._item.spec)
        return (number, graph), ()

    def _taken(self, graph: CompiledGraph) -> Problem | None:
        """Of two definitions of one kind the older serves it; a kind that is served already is its definition's,
        whatever became of its labels."""
        own = (self._item.created_at, self._item.name)
        for rival in served_kinds.rivals(graph, self._view):
            if (rival.created_at, rival.name) < own:
                return served_kinds.rivalled(graph, rival)
        return None if self._known else served_kinds.foreign(graph, self._view)

    def _serve_kind(self, graph: CompiledGraph) -> None:
        """The CustomResourceDefinition of the instances, put back when others change or delete it. A server may keep it
        in words of its own, so what was written into it is remembered by its hash."""
        wanted = graph.crd
        crd = self._view.get(served_kinds.key_of(graph))
        marks = {labels.OWNED: "true", labels.DEFINITION_NAME: self._item.name}
        content = contents.content_hash(wanted["spec"])
        annotations = {labels.CONTENT: content}
        if crd is None:
            self._actions.append(Create(contents.created(wanted, marks, annotations)))
        elif crd.deleted_at is None and not self._is_served_as(crd, wanted["spec"], content):
            changed = msgspec.structs.replace(
                crd,
                spec=wanted["spec"],
                labels={**crd.labels, **marks},
                annotations={**crd.annotations, **annotations},
            )
            self._actions.append(Update(changed))

    def _is_served_as(self, crd: Object, wanted: dict[str, Any], content: str) -> bool:
        return crd.spec == wanted or self._planner_cache.is_in_force(crd, content)

    def _members(self, graph: CompiledGraph) -> list[RolloutMember]:
        group = graph.api_version.partition("/")[0]
        members: list[RolloutMember] = []
        for instance in in_order(self._view.of_kind(group, graph.kind)):
            if instance.deleted_at is not None:
                continue
            number = granted_graph.number_of(instance, self._view)
            granted = self._known.get(number)
            is_updated = granted is not None and granted.hash == graph.content_hash
            number = number if granted is not None else 0
            own = instance.status.get(conditions.OWN) or {}
            landed_number = int(own.get("landedGraphRevision") or 0)
            is_ready = number > 0 and is_instance_ready(instance, number)
            members.append(
                RolloutMember(instance, number, is_updated, is_ready, landed_number, number_before=number)
            )
        return members

    def _admit(self, graph: CompiledGraph, newest: int, members: list[RolloutMember]) -> None:
        start = self._landed_number or newest
        # A graph revision that is not written yet, or whose kind is not served as it says, is nobody's to have.
        is_served = not self._actions
        is_at_rest = all(not member.number or member.is_updated for member in members)
        # Nobody asks for the line of a propagation in which nobody stands.
        items = (
            [] if is_at_rest else [self._item_of(each, newest, index) for index, each in enumerate(members)]
        )
        collection = GraphItems(items)
        evaluator = judging.GateEvaluator(
            graph.propagate_when,
            collection,
            graph.plural,
            graph.item_names,
            {graph.plural: collection, names.SIGNALS: self._signals},
            self._now,
            self._planner_cache.gates,
            has_default_waves=True,
        )
        for index, member in enumerate(members):
            if not member.number:
                self._start(member, start)
            elif member.is_updated:
                self._keep_managed(member)
            else:
                item = items[index]
                member.answer = self._answer(member, newest, item, evaluator)
                if member.answer.is_allowed:
                    evaluator.admit(item)
                    self._admitted(member, newest, is_served=is_served)
                else:
                    self._keep_managed(member)
                    if member.answer.requeue_at is not None:
                        self._looks.append(member.answer.requeue_at)

    def _newest_landed(self, members: list[RolloutMember]) -> int:
        """The newest graph revision that some instance has landed on, however it is now; 0 if none has. Who has not left
        where it landed has landed on later revisions with that content too, which change nothing for it."""
        newest_with = {self._known[number].hash: number for number in sorted(self._known)}
        numbers = [int(self._item.status.get("lastLandedRevision") or 0)]
        numbers += (
            newest_with[self._known[member.number].hash] if member.has_landed else member.landed_number
            for member in members
        )
        return max((number for number in numbers if number in self._known), default=0)

    def _item_of(self, member: RolloutMember, newest: int, index: int) -> GraphItem:
        """One that was created on the newest revision was not brought there by this propagation."""
        instance = member.instance
        is_moved = member.number == newest and instance.annotations.get(labels.STARTED_ON) != str(newest)
        # What has not started yet begins where it may: it is no part of this propagation's line.
        is_updated = member.is_updated or not member.number
        return GraphItem(
            instance,
            is_updated,
            member.is_ready,
            is_changed=is_moved and member.is_updated,
            is_member=True,
            value=instance.spec,
            index=index,
        )

    def _answer(
        self, member: RolloutMember, newest: int, item: GraphItem, evaluator: judging.GateEvaluator
    ) -> Verdict:
        annotations = member.instance.annotations
        if self._is_paused:
            return judging.paused(f"{self._item.kind} {self._item.name}")
        if labels.is_paused(annotations):
            return judging.paused(f"{member.instance.kind} {member.instance.name}")
        if labels.is_suspended(annotations):
            return _SUSPENDED
        if labels.is_given_up(self._item.annotations, newest):
            return judging.given_up(f"{self._item.kind} {self._item.name}", f"graph revision {newest}")
        return evaluator.ask(item)

    def _start(self, member: RolloutMember, number: int) -> None:
        annotations = {**member.instance.annotations, labels.STARTED_ON: str(number)}
        self._actions.append(Update(self._managed(member.instance, annotations)))
        self._grant(member, number)

    def _admitted(self, member: RolloutMember, number: int, *, is_served: bool) -> None:
        """What has to be written before it moves is written now, and it moves after the next look."""
        if not self._is_managed(member.instance, self._graph):
            self._actions.append(Update(self._managed(member.instance, member.instance.annotations)))
        elif is_served:
            self._let_on[member.instance.uid] = number
            self._grant(member, number)

    def _grant(self, member: RolloutMember, number: int) -> None:
        member.is_granted_now = True
        member.number = number
        member.is_updated = self._known[number].hash == self._known[max(self._known)].hash
        member.is_ready = False

    def _keep_managed(self, member: RolloutMember) -> None:
        """A graph that holds the instance writes the name of its own definition where this one's stands."""
        instance = member.instance
        if not self._is_managed(instance):
            self._actions.append(Update(self._managed(instance, instance.annotations)))

    def _is_managed(self, instance: Object, graph: CompiledGraph | None = None) -> bool:
        """With a graph, also as one that has the kinds of it."""
        marks = (instance.labels.get(labels.OWNED), instance.labels.get(labels.DEFINITION_NAME))
        if labels.FINALIZER not in instance.finalizers or marks != ("true", self._item.name):
            return False
        annotations = instance.annotations
        return graph is None or applysets.parent_annotations(graph, annotations)[
            applysets.KINDS
        ] == annotations.get(applysets.KINDS)

    def _managed(self, instance: Object, annotations: dict[str, str]) -> Object:
        finalizers = instance.finalizers
        if labels.FINALIZER not in finalizers:
            finalizers = (*finalizers, labels.FINALIZER)
        marks = {
            labels.OWNED: "true",
            labels.DEFINITION_NAME: self._item.name,
            labels.DEFINITION_ID: self._item.uid,
            applysets.ID: applysets.id_of(instance),
        }
        return msgspec.structs.replace(
            instance,
            annotations={**annotations, **applysets.parent_annotations(self._graph, annotations)},
            finalizers=finalizers,
            labels={**instance.labels, **marks},
        )

    def _let_go(self, newest: int, members: list[RolloutMember]) -> None:
        """A graph revision goes when no instance was granted it and no revision of an instance is made from it."""
        if len(self._known) < 2:
            return
        used = {newest, self._landed_number, *(member.number for member in members)}
        used |= {member.number_before for member in members}
        for item in self._view.of_kind("kro.run", revisions.KIND):
            if item.labels.get(labels.DEFINITION_NAME) == self._item.name:
                used.add(int((item.status.get("inputs") or {}).get("graphRevision") or 0))
        for number, revision in self._known.items():
            if number not in used and revision.uid:
                key = revisions.graph_key(self._item.name, number)
                self._actions.append(DeleteObject(key, revision.uid, "no instance is on this graph revision"))

    def _status(
        self,
        newest: tuple[int, CompiledGraph] | None,
        members: list[RolloutMember],
        problems: tuple[str, ...],
    ) -> dict[str, Any]:
        accepted = (
            Condition("GraphAccepted", "False", Reason.INVALID_RESOURCE_GRAPH, "; ".join(problems))
            if problems
            else Condition("GraphAccepted", "True", Reason.VALID)
        )
        is_served = newest is not None
        parts = (
            Condition("GraphRevisionsResolved", "True", Reason.RESOLVED)
            if is_served
            else Condition("GraphRevisionsResolved", "False", Reason.FAILED, "no revision was accepted"),
            accepted,
            Condition("KindReady", "True", Reason.READY)
            if is_served
            else Condition("KindReady", "False", Reason.FAILED, "the graph was not accepted"),
            Condition("ControllerReady", "True", Reason.RUNNING)
            if is_served
            else Condition("ControllerReady", "False", Reason.FAILED_TO_START, "the graph was not accepted"),
        )
        own_conditions = [root(conditions.READY, parts), *parts]
        status: dict[str, Any] = {"state": "Active" if is_served and not problems else "Inactive"}
        if newest is not None:
            number, graph = newest
            own_conditions.append(propagated(number, members))
            if self._item.deleted_at is not None:
                own_conditions.append(definition_removal.condition(self._item, self._instances, self._view))
            status["topologicalOrder"] = list(graph.topological_order)
            status["lastIssuedRevision"] = max(number, int(self._item.status.get("lastIssuedRevision") or 0))
            if self._landed_number:
                status["lastLandedRevision"] = self._landed_number
            status["resources"] = [
                {"id": node.id, "dependencies": [{"id": name} for name in sorted(node.edges)]}
                for node in graph.nodes
                if node.edges
            ]
        status["conditions"] = documents(own_conditions, self._item.status, self._item.generation, self._now)
        return status

    def _write_status(self, status: dict[str, Any]) -> None:
        """Last; while a write is refused, after which nothing is written, first."""
        if status != self._item.status:
            status_write = UpdateStatus(self._item.key, self._item.uid, status)
            is_first = refusal(self._item.status) is not None
            self._actions.insert(0 if is_first else len(self._actions), status_write)


def propagated(number: int, members: list[RolloutMember]) -> Condition:
    """Over instances: at the newest graph revision, with all their resources there and ready."""
    kind = conditions.RESOURCES_PROPAGATED
    landed = sum(member.is_updated and member.has_landed for member in members)
    if landed == len(members):
        return Condition(kind, "True", Reason.PROPAGATED, f"all instances at graph revision {number}")
    so_far = f"{landed} of {len(members)} instances at graph revision {number}"
    for member in members:
        if member.is_updated and member.has_landed:
            continue
        refused = member.refusal
        if refused is not None:
            message = f"{so_far}; {member.instance.name}: {refused.message}"
            return Condition(kind, "False", Reason.WRITE_REFUSED, message)
    if any(member.is_on_its_way for member in members):
        return Condition(kind, "Unknown", Reason.PROPAGATING, so_far)
    for outcome, reason in (("error", Reason.EVALUATION_FAILED), ("pending", Reason.PROPAGATION_BLOCKED)):
        for member in members:
            answer = member.answer
            if answer is not None and answer.outcome == outcome:
                sign = ": " if outcome == "error" else " "
                gate = f"{judging.gate_of(answer)}{sign}" if judging.gate_of(answer) else ""
                message = f"{so_far}; {member.instance.name}: {gate}{answer.message}"
                return Condition(kind, "False", reason, message)
    return Condition(kind, "Unknown", Reason.PROPAGATING, so_far)
