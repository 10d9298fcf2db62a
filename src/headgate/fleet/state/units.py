"""The nodes of the fleet in memory: objects with their compiled expressions, and the units that change.

A unit is what the engine looks at as a whole: a release target outside brackets, or a site (one bracket rule
on one resource of one environment). Everything here is derived from objects and records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeGuard, TypeVar

from headgate import cel
from headgate.fleet import rules
from headgate.fleet.model import expressions, records
from headgate.fleet.model import objects as model
from headgate.fleet.rules.deployment_bracket import DeploymentBracket
from headgate.fleet.rules.deployment_dependency import DeploymentDependency
from headgate.fleet.rules.spec import RuleSpec
from headgate.kernel import identifiers
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant
from headgate.kernel.slots import Slots
from headgate.kernel.wakes import Wake

Bindings = dict[str, Any]


class Unit:
    """Something that may have to change. `sort_key` makes every walk over units the same walk."""

    __slots__ = ("held_by", "lines", "requeue_at", "sort_key", "start_key", "waits")

    def __init__(self, sort_key: str) -> None:
        self.sort_key = sort_key
        self.waits: tuple[Wake, ...] = ()
        self.requeue_at: Instant | None = None
        self.held_by: Reason | None = None
        """Why it does not change, while something is in the way; counted in `Waiting`."""
        self.start_key: StartKey | None = None
        """Set while the unit stands in line for a slot."""
        self.lines: tuple[Slots[Any], ...] = ()

    def __lt__(self, other: Unit) -> bool:
        return self.sort_key < other.sort_key

    def stand_in(self, lines: Iterable[Slots[Any]], key: StartKey) -> None:
        self.leave_lines()
        self.start_key = key
        self.lines = tuple(lines)
        for line in self.lines:
            line.queue(key, self)

    def leave_lines(self) -> None:
        if self.start_key is None:
            return
        for line in self.lines:
            line.leave(self.start_key, self)
        self.lines = ()
        self.start_key = None


StartKey = tuple[int, int, Instant, str, str]
"""Who goes first: repairs before what is new, then rollout position, time of readiness, resource, unit."""

REPAIR, NEW = 0, 1
"""A rollback, a further attempt and what an operator orders never stand behind the version they repair."""


NO_VALUE = ""
"""What `groupBy` of a rule gives for resources without a value. They are one group together: a label that is missing must
not lift a limit."""


class ResourceNode:
    """`progress` moves with any of its targets' states."""

    __slots__ = ("name", "object", "order", "progress", "targets", "values", "view")

    def __init__(self, resource: model.Resource) -> None:
        self.name = resource.name
        self.object = resource
        self.progress = 0
        self.view = resource.cel_view()
        self.values: dict[str, str] = {}
        """What `groupBy` expressions gave for it, as far as they were asked."""
        self.targets: dict[str, Target] = {}
        self.order: KnownOrder | None = None
        """Who comes before whom here, as far as it was asked; forgotten when a target or its rules change."""

    def value_of(self, group_by: str | None) -> str:
        """By which a rule keeps limits, positions and budgets apart: as text, so that 1 and '1' are one group."""
        if group_by is None:
            return NO_VALUE
        value = self.values.get(group_by)
        if value is None:
            value = self.values[group_by] = expressions.group_value(group_by, self.view)
        return value


class KnownOrder:
    """What dependency rules have said about the targets of one resource."""

    __slots__ = ("has_ring", "matched", "upstreams")

    def __init__(self) -> None:
        self.matched: dict[tuple[BoundRule[DeploymentDependency], Site | None], list[Target]] = {}
        """Whom a rule names here, by name, for those who stand at a site or at none."""
        self.upstreams: dict[tuple[BoundRule[DeploymentDependency], Target], list[Target]] = {}
        self.has_ring: bool | None = None
        """Whether any of them wait for each other; None while nobody has asked."""


Selecting = TypeVar("Selecting", model.Environment, model.Deployment)


class SelectingNode(Generic[Selecting]):
    """What covers the resources that its selector matches, which are `matched`."""

    __slots__ = ("matched", "name", "object", "selector", "view")

    def __init__(self, node_object: Selecting) -> None:
        self.name = node_object.name
        self.put(node_object)
        self.matched: set[str] = set()

    def put(self, item: Selecting) -> None:
        self.object: Selecting = item
        self.view = item.cel_view()
        self.selector = optional_selector(item.resource_selector)


class EnvironmentNode(SelectingNode[model.Environment]):
    __slots__ = ()


class VersionNode:
    """`sort_key` is newest last: creation time; ids decide only where older data has several of one moment."""

    __slots__ = (
        "dependencies", "goes_back", "id", "is_ready", "object", "published_at", "scope", "sort_key", "tag", "view"
    )  # fmt: skip

    def __init__(self, version: model.Version) -> None:
        self.object = version
        self.id = version.id
        self.tag = version.tag
        self.published_at: Instant = (
            version.published_at if version.published_at is not None else version.created_at
        )
        self.is_ready = version.status == "ready"
        self.goes_back = version.goes_back
        self.view = version.cel_view()
        self.sort_key = (version.created_at, version.id)
        self.scope = optional_selector(version.target_selector)
        self.dependencies = {
            name: expressions.VERSION_SELECTOR.selector(dependency.version_selector)
            for name, dependency in sorted(version.dependencies.items())
        }

    @property
    def is_rejected(self) -> bool:
        return self.object.status == "rejected"


class DeploymentNode(SelectingNode[model.Deployment]):
    """`versions` are ordered oldest first, `tags` has the same by tag."""

    __slots__ = ("pairs", "tags", "versions")

    def __init__(self, deployment: model.Deployment) -> None:
        super().__init__(deployment)
        self.versions: list[VersionNode] = []
        self.tags: dict[str, VersionNode] = {}
        self.pairs: dict[str, Pair] = {}

    def targets(self) -> Iterator[Target]:
        for pair in self.pairs.values():
            yield from pair.targets.values()

    def version(self, reference: str) -> VersionNode | None:
        """By tag or id, for whoever refers to one. What is written is found by its tag alone, in `tags`."""
        version_node = self.tags.get(reference)
        if version_node is None:
            id_ = reference.lower()
            version_node = next((version for version in self.versions if version.id == id_), None)
        return version_node


class Pair:
    """A deployment in an environment. `generation` moves with its membership, `progress` with any of its states."""

    __slots__ = ("caches", "deployment", "environment", "generation", "progress", "targets")

    def __init__(self, deployment: DeploymentNode, environment: EnvironmentNode) -> None:
        self.deployment = deployment
        self.environment = environment
        self.targets: dict[str, Target] = {}
        self.generation = 0
        self.progress = 0
        self.caches: dict[tuple[str, ...], tuple[int, Any]] = {}

    def membership_changed(self) -> None:
        self.generation += 1
        self.progress += 1
        self.caches.clear()


class Target(Unit):
    """A release target: deployment x environment x resource."""

    __slots__ = (
        "deployment",
        "environment",
        "hash_prefix",
        "name",
        "pair",
        "record",
        "resource",
        "rules",
        "site",
    )

    def __init__(
        self, pair: Pair, resource: ResourceNode, rules: RuleSet, record: records.TargetRecord | None
    ) -> None:
        self.name = f"{pair.deployment.name}/{pair.environment.name}/{resource.name}"
        super().__init__(self.name)
        self.pair = pair
        self.deployment = pair.deployment
        self.environment = pair.environment
        self.resource = resource
        self.rules = rules
        self.record = record or records.TargetRecord()
        self.site: Site | None = None
        self.hash_prefix: int | None = None

    def bindings(self) -> Bindings:
        return {
            "resource": self.resource.view,
            "environment": self.environment.view,
            "deployment": self.deployment.view,
        }

    def retry_at(self) -> Instant | None:
        """When its last attempt is repeated, by itself or by the group that executes; None if none is ahead."""
        if self.record.retry_at is not None or self.site is None or self.site.executing is None:
            return self.record.retry_at
        member = self.site.executing.member(self.deployment.name)
        return member.retry_at if member is not None and member.state == "retrying" else None

    def rollout_prefix(self) -> int:
        """FNV-1a of the target's key, from which that of the key and a version goes on."""
        if self.hash_prefix is None:
            self.hash_prefix = identifiers.fnv1a_64(self.key())
        return self.hash_prefix

    def key(self) -> str:
        return f"{self.resource.object.id}-{self.environment.object.id}-{self.deployment.object.id}"


SpecT = TypeVar("SpecT", bound=RuleSpec)
SpecT_co = TypeVar("SpecT_co", bound=RuleSpec, covariant=True)


class BoundRule(Generic[SpecT_co]):
    """A rule of a policy, with what is compiled from it once."""

    __slots__ = ("_upstream", "compiled", "id", "kind", "policy", "rule", "spec")

    def __init__(self, policy: model.Policy, rule: model.Rule) -> None:
        self.policy = policy
        self.rule = rule
        self.id = rule.id
        self.kind = rule.kind
        self.spec: SpecT_co = rule.spec
        self.compiled: dict[str, cel.Selector] = {}
        self._upstream: dict[int, tuple[Bindings, bool]] = {}

    @property
    def label(self) -> str:
        return self.rule.label

    def is_upstream(self: BoundRule[DeploymentDependency], target: Target) -> bool:
        """Whether `dependsOn` names the target; remembered by deployment where it reads nothing else."""
        selector = self.selector(self.spec.depends_on)
        if not selector.roots <= {"deployment"}:
            return selector.matches(target.bindings())
        view = target.deployment.view
        known = self._upstream.get(id(view))
        if known is None or known[0] is not view:
            known = self._upstream[id(view)] = (view, selector.matches({"deployment": view}))
        return known[1]

    def selector(self, text: str) -> cel.Selector:
        selector_program = self.compiled.get(text)
        if selector_program is None:
            selector_program = self.compiled[text] = expressions.SELECTOR.selector(text)
        return selector_program


AnyRule = BoundRule[RuleSpec]


def is_a(rule: AnyRule, spec: type[SpecT]) -> TypeGuard[BoundRule[SpecT]]:
    return isinstance(rule.spec, spec)


class PolicyNode:
    __slots__ = ("object", "rules", "rules_read_the_resource", "selector")

    def __init__(self, policy: model.Policy) -> None:
        self.object = policy
        self.selector = optional_selector(policy.selector)
        self.rules: tuple[AnyRule, ...] = tuple(BoundRule(policy, rule) for rule in policy.rules)
        self.rules_read_the_resource = not all(
            rule.selector(text).roots <= {"deployment"}
            for rule in self.rules
            if (text := rule.spec.binding_selector()) is not None
        )
        """Whether the target, and not its deployment alone, decides which of the rules apply."""

    def of(self, spec: type[SpecT]) -> tuple[BoundRule[SpecT], ...]:
        return tuple(rule for rule in self.rules if is_a(rule, spec))

    def matches(self, bindings: Bindings) -> bool:
        return self.object.enabled and (self.selector is None or self.selector.matches(bindings))

    def reads_only_the_deployment(self) -> bool:
        return self.selector is None or self.selector.roots <= {"deployment"}


_INSIDE_A_CYCLE = rules.specs_with(lambda traits: traits.acts_inside_cycle)


class RuleSet:
    """The rules of all policies that match a target, by what they are; shared by the targets that have the same ones."""

    __slots__ = ("bracket", "by_spec", "counts_the_pair", "policies")

    def __init__(self, policies: tuple[PolicyNode, ...], bindings: Bindings) -> None:
        self.policies = policies
        self.by_spec: dict[type[RuleSpec], tuple[BoundRule[Any], ...]] = {}
        """By the type of the rules' own fields, which is the type of the rules of an entry."""
        for policy in policies:
            for rule in policy.rules:
                text = rule.spec.binding_selector()
                if text is not None and not rule.selector(text).matches(bindings):
                    continue
                spec = type(rule.spec)
                self.by_spec[spec] = (*self.by_spec.get(spec, ()), rule)
        self.counts_the_pair = any(
            rule.spec.reads_siblings() for bound in self.by_spec.values() for rule in bound
        )
        """Whether a target is judged by how far the others of its deployment and environment are."""
        brackets = self.of(DeploymentBracket)
        self.bracket = brackets[0] if len(brackets) == 1 else None
        """The one bracket rule; None also when there are two, which denies the target."""

    def going_on_as(self, own: RuleSet, policy: str) -> RuleSet:
        """With what acts inside a cycle as the policy has it that made the cycle, and without a bracket of its own."""
        self.by_spec.pop(DeploymentBracket, None)
        self.bracket = None
        for spec in _INSIDE_A_CYCLE:
            others = tuple(rule for rule in self.of(spec) if rule.policy.name != policy)
            self.by_spec[spec] = (*others, *own.of(spec))
        return self

    def of(self, spec: type[SpecT]) -> tuple[BoundRule[SpecT], ...]:
        return self.by_spec.get(spec, ())


class Bracket:
    """What the sites of one bracket rule share, whatever becomes of the rule's text."""

    __slots__ = ("counts", "deployments", "form", "held", "lost", "seen")

    def __init__(self, deployments: dict[str, DeploymentNode]) -> None:
        self.deployments = deployments
        """Every deployment of the workspace."""
        self.counts: dict[str, int] = {}
        """Members over all sites, by deployment."""
        self.form: Any = None
        """Forgotten when deployments or rules change, and made again when it is asked for."""
        self.seen: Any = None
        """The form by which its sites were last looked at."""
        self.held: dict[records.MemberRole, str] | None = None
        """The hooks that are inferred now."""
        self.lost: records.LostHooks | None = None

    def entered(self, deployment: str) -> bool:
        """Whether it is the first member of its deployment."""
        self.counts[deployment] = self.counts.get(deployment, 0) + 1
        return self.counts[deployment] == 1

    def left(self, deployment: str) -> bool:
        """Whether it was the last member of its deployment."""
        self.counts[deployment] -= 1
        if self.counts[deployment]:
            return False
        del self.counts[deployment]
        return True


class Site(Unit):
    """One bracket rule on one resource of one environment: where its groups run."""

    __slots__ = (
        "bracket",
        "collecting",
        "environment",
        "executing",
        "members",
        "plan",
        "record",
        "resource",
        "rule",
        "waiting",
    )

    def __init__(
        self,
        bracket: Bracket,
        rule: BoundRule[DeploymentBracket],
        environment: EnvironmentNode,
        resource: ResourceNode,
    ) -> None:
        super().__init__(f"{resource.name}/{environment.name}/{rule.id}")
        self.bracket = bracket
        self.rule = rule
        self.environment = environment
        self.resource = resource
        self.members: dict[str, Target] = {}
        self.record = records.SiteRecord(lost_hooks=bracket.lost)
        self.collecting: records.Group | None = None
        self.waiting: records.Group | None = None
        """Locked, not started: ready or queued."""
        self.executing: records.Group | None = None
        """Started, not ended: executing or failed."""
        self.plan: Any = None
        """The bracket's form and the site's own shape, once asked for."""

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.rule.id, self.environment.name, self.resource.name)

    @property
    def location(self) -> tuple[str, str]:
        """At most one group of a rule executes on a resource, whatever the environment."""
        return (self.rule.id, self.resource.name)

    def is_home_of(self, target: Target) -> bool:
        """Whether its rules still put the target here; others stay only until a cycle has ended."""
        bracket = target.rules.bracket
        return bracket is not None and bracket.id == self.rule.id

    @property
    def is_empty(self) -> bool:
        """Nobody needs it any more; it is forgotten when it is looked at."""
        return not self.members and not any(True for _ in self.groups())

    def groups(self) -> Iterator[records.Group]:
        for group in (self.executing, self.waiting, self.collecting):
            if group is not None:
                yield group


def render_value(value: str) -> str:
    return value or "(no value)"


def optional_selector(text: str | None) -> cel.Selector | None:
    return None if text is None else expressions.SELECTOR.selector(text)
