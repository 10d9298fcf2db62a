"""Everything the engine knows of one workspace: objects, records of its decisions, and what is derived from both.

Only objects and records are stored. What is derived makes a decision quick, and is built again whenever an engine is
loaded, so it may never say anything that the other two do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import msgspec

from headgate import cel
from headgate.fleet import rules
from headgate.fleet.model import kinds, records
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.fleet.model.kinds import Kind
from headgate.fleet.rules.spec import GateStage
from headgate.fleet.rules.verification import Metric
from headgate.fleet.state import wakes
from headgate.fleet.state.ranks import BracketRanks
from headgate.fleet.state.slots import RuleSlots, SlotTable
from headgate.fleet.state.units import (
    AnyRule,
    Bracket,
    DeploymentNode,
    EnvironmentNode,
    Pair,
    PolicyNode,
    ResourceNode,
    RuleSet,
    Site,
    Target,
    Unit,
    VersionNode,
)
from headgate.fleet.state.wakes import Waiting
from headgate.kernel import identifiers
from headgate.kernel.decisions import Verdict
from headgate.kernel.instants import Instant
from headgate.kernel.wakes import Wake


class ApprovalRequest(msgspec.Struct, frozen=True):
    """That people say whether a version may go to an environment."""

    version: VersionNode
    environment: str
    verdict: Verdict


class GateResult(msgspec.Struct, frozen=True):
    """One gate's verdict, and what can change it. `rule` is None for the gates that are always on."""

    rule: AnyRule | None
    kind: str
    verdict: Verdict
    wakes: tuple[Wake, ...] = ()
    request: ApprovalRequest | None = None
    stale_at: Instant | None = None
    """Of a verdict that is kept: from when on it has to be made anew."""

    @property
    def is_allowed(self) -> bool:
        return self.verdict.outcome == "allowed"

    @property
    def is_of_proof(self) -> bool:
        """Whether it follows from what becomes of the version elsewhere."""
        return rules.TRAITS[self.kind].stage is GateStage.PROOF


JudgedVersion = tuple[VersionNode | None, GateResult]
"""A version, or none, and what one gate says of it."""


class Warning(msgspec.Struct, frozen=True):
    at: Instant
    target: str
    version: str
    message: str


class Notice(msgspec.Struct, frozen=True):
    """Something that someone would want to be told; `kind` and `name` say what it is about."""

    type: str
    kind: str
    name: str
    message: str
    data: dict[str, object] = {}


class Observer(Protocol):
    """Told of every decision at the moment it takes effect; used to check promises."""

    def on_job_created(self, job: records.Job, verdicts: tuple[GateResult, ...]) -> None: ...
    def on_job_changed(self, job: records.Job, old_status: str) -> None: ...
    def on_group_changed(self, group: records.Group) -> None: ...
    def on_slot_taken(self, rule: str, resource: str, holder: str) -> None: ...
    def on_slot_freed(self, rule: str, resource: str) -> None: ...
    def on_version_rejected(self, version: model.Version) -> None: ...


class Unobserved:
    def on_job_created(self, job: records.Job, verdicts: tuple[GateResult, ...]) -> None: ...
    def on_job_changed(self, job: records.Job, old_status: str) -> None: ...
    def on_group_changed(self, group: records.Group) -> None: ...
    def on_slot_taken(self, rule: str, resource: str, holder: str) -> None: ...
    def on_slot_freed(self, rule: str, resource: str) -> None: ...
    def on_version_rejected(self, version: model.Version) -> None: ...


class MeasurementDue(msgspec.Struct, frozen=True):
    """A verification measurement to take now; the answer comes back as a `Measured` change."""

    job: records.Job
    rule: str
    metric: Metric


class Journal(msgspec.Struct):
    """What changed since the last decision was handed out: the rows that a store has to write, and what to do."""

    created: list[records.Job] = []
    cancelled: list[records.Job] = []
    measurements: list[MeasurementDue] = []
    groups: dict[str, records.Group] = {}
    warnings: list[Warning] = []
    notices: list[Notice] = []
    rows: dict[tuple[str, ...], None] = {}
    forgotten: dict[str, records.Job] = {}
    moves: int = 0
    """How often a record has moved. Decisions follow from records: as long as it stands still, so do they."""

    def changed(self, table: str, *key: str) -> None:
        self.moves += 1
        self.rows[(table, *key)] = None


class State:
    def __init__(self, ids: identifiers.IdSource, workspace: str) -> None:
        self.ids = ids
        self.workspace = workspace

        self.resources: dict[str, ResourceNode] = {}
        self.environments: dict[str, EnvironmentNode] = {}
        self.deployments: dict[str, DeploymentNode] = {}
        self.policies: dict[str, PolicyNode] = {}
        self.versions: dict[str, VersionNode] = {}
        self.going_back: set[str] = set()
        """Those of the versions that were rejected and go back where they run."""
        self.job_agents: dict[str, model.JobAgent] = {}
        self.variable_sets: dict[str, tuple[model.VariableSet, cel.Selector | None]] = {}
        self.freezes: dict[str, tuple[model.Freeze, cel.Selector | None]] = {}
        self.signals: dict[str, model.Signal] = {}
        self.approvals: dict[tuple[str, str], dict[str, model.CastVote]] = {}
        self.skips: dict[str, model.Skip] = {}

        self.targets: dict[str, Target] = {}
        self.sites: dict[tuple[str, str, str], Site] = {}
        self.executing_at: dict[tuple[str, str], Site] = {}
        """Where a group is executing or has failed: (rule id, resource) to its site."""
        self.jobs: dict[str, records.Job] = {}
        self.groups: dict[str, records.Group] = {}
        self.progress: dict[str, dict[str, dict[str, Instant]]] = {}
        """First successes: version id, environment, target to time."""
        self.verified: dict[str, dict[str, Instant | None]] = {}
        """Of successes that are verified: version id, target to when it passed; None while it has not, or failed."""
        self.breakers: dict[tuple[str, str], records.Breaker] = {}
        self.sequence = 0

        self.identifiers: dict[str, str] = {}
        """Resource identifiers to names."""
        self.index = cel.SelectorIndex("resource")
        self.slots: dict[str, RuleSlots] = {}
        """By the id of the concurrency rule."""
        self.skips_by_rule: dict[str, dict[str, model.Skip]] = {}
        self.shared: dict[tuple[str, str, str, str], GateResult] = {}
        """Verdicts that all targets of a version in an environment share: (rule id, version id, resource where the rule reads
        it or '', environment)."""
        self.totals: dict[tuple[str, str], int] = {}
        """Targets that a failure budget covers: (rule id, environment or ''); and what all gates ask of all targets."""
        self.shares_of_budgets_moved = True
        """Of how many targets failures are a share, or which share is allowed: budgets are looked at once more."""
        self.bracket_ranks: dict[str, BracketRanks] = {}
        self.sites_by_rule: dict[str, dict[Site, None]] = {}
        self.brackets: dict[str, Bracket] = {}
        """By rule id; asked for with `bracket_of`."""
        self.forms_moved = False
        """Whether deployments or rules have changed since inferred hooks were last looked at."""
        self.rule_sets: dict[tuple[str, ...], RuleSet] = {}
        self.warned: set[tuple[str, str]] = set()
        self.measurements: list[tuple[Instant, str, str, str]] = []
        """Heap of (due at, job, rule, metric)."""
        self.measuring: set[str] = set()
        """Jobs whose verification is running."""
        self.unfinished: set[str] = set()
        """Targets that have a live job, a retry, a rollback or an operator's order ahead."""

        self.departed: dict[str, records.TargetRecord] = {}
        """What was known of targets whose resource no longer matches, in case it matches again."""
        self.rebound: dict[Target, None] = {}
        """Targets whose rules have changed since the last change; what runs there is still to be judged by them."""
        self.removed: list[tuple[Target, Site | None]] = []
        """Targets that ceased to be since the last change, and where they stood; their jobs are still to be cancelled."""
        self.lingering: dict[str, Target] = {}
        """Targets that have ceased to be, and whose post-hook a prepared resource still needs."""

        self.lines: dict[tuple[Pair, RuleSet, VersionNode], Any] = {}
        """Those of gradual rollouts, as far as one decision has found them."""
        self.waiting = Waiting()
        self.journal = Journal()
        self.observer: Observer = Unobserved()

    def kept(self, kind: Kind) -> dict[str, Any]:
        """What is kept of the objects of a kind: by name, versions by id."""
        objects: dict[str, Any] = getattr(self, kind.table)
        return objects

    def get(self, kind: Kind, name: str) -> Object | None:
        """By its name, a version by `deployment/tag`."""
        if kind is not kinds.VERSION:
            node = self.kept(kind).get(name)
        else:
            owner, _, tag = name.partition("/")
            deployment = self.deployments.get(owner)
            node = None if deployment is None else deployment.tags.get(tag)
        return None if node is None else kinds.object_of(node)

    def objects(self, kind: Kind) -> Iterator[Object]:
        """In the order of their arrival, versions deployment by deployment."""
        if kind is kinds.VERSION:
            return (node.object for owner in self.deployments.values() for node in owner.versions)
        return map(kinds.object_of, self.kept(kind).values())

    def new_id(self, kind: str, name: str, now: Instant) -> str:
        """Ids of decisions follow their sequence and their moment, so that a replay gives the same ones; and a store
        that went back to a backup, whose sequence comes again, gives others: agents know jobs by their ids."""
        self.sequence += 1
        return self.ids.new(kind, f"{self.workspace}/{name}#{self.sequence}@{now}")

    def forget_job(self, job_id: str) -> None:
        """It is history now, which a store keeps."""
        job = self.jobs.pop(job_id, None)
        if job is not None:
            self.measuring.discard(job_id)
            if job.verification == "running":
                job.verification = "abandoned"
            self.journal.forgotten[job_id] = job
            self.journal.changed("job", job_id)

    def bracket_of(self, rule_id: str) -> Bracket:
        bracket = self.brackets.get(rule_id)
        if bracket is None:
            bracket = self.brackets[rule_id] = Bracket(self.deployments)
        return bracket

    def forms_changed(self) -> None:
        """Deployments or rules have changed: what brackets cover and who is a hook there is found out anew."""
        self.forms_moved = True
        for bracket in self.brackets.values():
            bracket.form = None

    def slot_tables(self) -> Iterator[SlotTable]:
        for slots in self.slots.values():
            yield from slots.tables()

    def target_named(self, name: str) -> Target | None:
        """Also one that only lingers for the end of a cycle."""
        return self.targets.get(name) or self.lingering.get(name)

    def has_variables_for(self, target: Target) -> bool:
        """Most fleets have none."""
        own = target.deployment.object.variables or target.resource.object.variables
        return bool(own or self.variable_sets)

    def unit_of(self, target: Target) -> Unit:
        return target.site if target.site is not None else target

    def known_of(self, deployment: DeploymentNode) -> Iterator[Target]:
        """Its release targets, and those that have left and whose cycle is not over."""
        yield from deployment.targets()
        yield from (target for target in self.lingering.values() if target.deployment is deployment)

    def touch(self, target: Target) -> None:
        self.waiting.touch(target.site if target.site is not None else target)

    def touch_all(self) -> None:
        for target in self.targets.values():
            self.touch(target)
        for site in self.sites.values():
            self.waiting.touch(site)

    def version(self, version_id: str | None) -> VersionNode | None:
        return None if version_id is None else self.versions.get(version_id)

    def last_attempt(self, attempts: Sequence[str]) -> records.Job | None:
        """Of those of a target or a member; None where there was none, or only history has it."""
        return self.jobs.get(attempts[-1]) if attempts else None

    def tag(self, version_id: str | None) -> str:
        version = self.version(version_id)
        return version.tag if version is not None else "none"

    def skip_for(self, rule: AnyRule, version: str | None, target: Target, now: Instant) -> model.Skip | None:
        """The oldest skip that names this rule for this version, environment and resource and is not over."""
        for skip in self.skips_by_rule.get(rule.id, {}).values():
            if skip.is_over(now):
                continue
            if skip.version_id is not None and skip.version_id != version:
                continue
            if skip.environment is not None and skip.environment != target.environment.name:
                continue
            if skip.resource is not None and skip.resource != target.resource.name:
                continue
            return skip
        return None

    def freeze_on(self, target: Target, now: Instant) -> model.Freeze | None:
        bindings = target.bindings()
        for freeze, selector in self.freezes.values():
            if not freeze.is_over(now) and (selector is None or selector.matches(bindings)):
                return freeze
        return None

    def target_changed(self, target: Target) -> None:
        """The target's record moved: gates that count targets look again, and so does what waits for it on its resource."""
        record = target.record
        is_ahead = record.job or record.retry_at is not None or record.rollback_to or record.ordered
        if is_ahead and target.name in self.targets:
            self.unfinished.add(target.name)
        else:
            self.unfinished.discard(target.name)
        target.pair.progress += 1
        target.resource.progress += 1
        self.journal.changed("target", target.name)
        self.waiting.happened(wakes.pair(target.deployment.name, target.environment.name))
        self.waiting.happened(wakes.resource(target.resource.name))

    def ranks_moved(self) -> None:
        """Membership decides rollout ranks and limits: whoever waits for a turn looks again."""
        self.totals.clear()
        self.shares_of_budgets_moved = True
        self.bracket_ranks.clear()
        self.waiting.happened(wakes.RANKS)

    def shares_moved(self, deployment: str) -> None:
        """The targets that success percentages are taken of have changed."""
        self.waiting.happened(wakes.members(deployment))
        for key in list(self.shared):
            version = self.versions.get(key[1])
            if self.shared[key].is_of_proof and (version is None or version.object.deployment == deployment):
                del self.shared[key]

    def stages_moved(self, version_id: str) -> None:
        """Verdicts about the version's progress are stale; who waits for them looks again."""
        for key in [key for key in self.shared if key[1] == version_id]:
            if self.shared[key].is_of_proof:
                del self.shared[key]
        for environment in self.environments:
            self.waiting.happened(wakes.stages(version_id, environment))

    def judge_anew(self, version_id: str) -> None:
        """What its targets share of verdicts is stale."""
        for key in [key for key in self.shared if key[1] == version_id]:
            del self.shared[key]

    def group_changed(self, group: records.Group, status: records.GroupStatus, now: Instant) -> None:
        """Who waits on the resource for what the group was still to do there looks again."""
        group.status = status
        group.history.append(records.Transition(now, status))
        self.journal.groups[group.id] = group
        self.journal.changed("group", group.id)
        self.observer.on_group_changed(group)
        self.waiting.happened(wakes.resource(group.resource))

    def notify(self, type_: str, kind: str, name: str, message: str, **data: object) -> None:
        """Told once, with the decision that it is handed out with, by whoever decides."""
        self.journal.notices.append(Notice(type_, kind, name, message, data))

    def is_first_time(self, subject: str, object_id: str) -> bool:
        """Whether it has never been told of before; remembered with the workspace, so that no restart repeats it."""
        if (subject, object_id) in self.warned:
            return False
        self.warned.add((subject, object_id))
        self.journal.changed("warned", subject, object_id)
        return True

    def tell_again_of(self, object_id: str) -> None:
        """It is another than the one that was told of."""
        for subject, about in sorted(one for one in self.warned if one[1] == object_id):
            self.warned.discard((subject, about))
            self.journal.changed("warned", subject, about)

    def ask_for_approval(self, request: ApprovalRequest) -> None:
        """Whoever approves is told once of a version that waits for it."""
        version, environment = request.version, request.environment
        if self.is_first_time(f"approval in {environment}", version.id):
            deployment = version.object.deployment
            self.notify(
                "approval.requested",
                "Version",
                f"{deployment}/{version.tag}",
                f"{deployment} {request.verdict.message}",
                deployment=deployment,
                version=version.tag,
                environment=environment,
            )

    def warn(self, now: Instant, target: Target, version: VersionNode, message: str) -> None:
        if self.is_first_time(target.name, version.id):
            self.journal.warnings.append(Warning(now, target.name, version.tag, message))
