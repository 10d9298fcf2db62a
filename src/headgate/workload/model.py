"""A PodCliqueSet as an immutable value, read once after defaulting. Pod specs and what no decision looks at stay as written."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headgate.kernel import documents, instants, quantities
from headgate.kernel.documents import Aliases
from headgate.kernel.objects import Object
from headgate.kernel.problems import Problem, Rejected
from headgate.kernel.quantities import Quantity
from headgate.workload import defaults

API_VERSION = "grove.io/v1alpha1"
KIND = "PodCliqueSet"
GROUP = "grove.io"
CLIQUE_KIND = "PodClique"
SCALING_GROUP_KIND = "PodCliqueScalingGroup"
GANG_API_VERSION = "scheduler.grove.io/v1alpha1"
GANG_KIND = "PodGang"
CLAIM_API_VERSION = "resource.k8s.io/v1"
CLAIM_GROUP = "resource.k8s.io"
CLAIM_KIND = "ResourceClaim"
CLAIM_TEMPLATE_KIND = "ResourceClaimTemplate"

ANY_ORDER = "CliqueStartupTypeAnyOrder"
IN_ORDER = "CliqueStartupTypeInOrder"
EXPLICIT = "CliqueStartupTypeExplicit"
StartupType = Literal["CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"]
StrategyType = Literal["RollingUpdate", "ReplicaRecreate", "OnDelete"]
SharingScope = Literal["AllReplicas", "PerReplica"]
STRATEGY_SPELLINGS = {"RollingRecreate": "RollingUpdate"}

JsonMap = dict[str, Any]
MOST_REPLICAS = 10_000
MOST_PODS = 50_000
"""Of one set. An operator has all its sets in one process: one that nobody could ever run must not be the end of it."""
Number = Annotated[int, Meta(ge=-(2**31), le=MOST_REPLICAS)]
"""A count. Its upper bound is part of the schema, since API servers judge scaling by nothing else; other bounds with a
meaning are rules of validation, which names them."""

DEFAULT_MAX_UNAVAILABLE = Quantity(1)
DEFAULT_MAX_SURGE = Quantity(0)


class Surge(Quantity, frozen=True):
    """Unlike what may be down, what is added may be more than there is: more than 100% is allowed."""

    @classmethod
    def from_document(cls, value: object) -> "Surge":
        text = value[:-1] if isinstance(value, str) and value.endswith("%") else ""
        if text.isascii() and text.isdigit() and len(text) <= 6:
            return cls(int(text), is_percentage=True)
        try:
            return cls(quantities.parse(value).value)
        except ValueError:
            allowed = 'a whole number such as 3 that is not negative, or a percentage such as "25%"'
            raise ValueError(f"{value!r} is not a quantity; allowed is {allowed}") from None


class Delay(msgspec.Struct, frozen=True):
    """A span that documents write as 4h or 1m30s."""

    microseconds: int

    @classmethod
    def from_document(cls, value: object) -> "Delay":
        if not isinstance(value, str):
            raise ValueError(f"must be a duration such as 4h or 1m30s, not {documents.describe(value)}")
        sign = -1 if value.strip().startswith("-") else 1
        return cls(sign * instants.parse_duration(value.strip().lstrip("-")))

    def to_document(self) -> str:
        return instants.show_duration(self.microseconds)


class ComponentStrategy(msgspec.Struct, frozen=True, rename="camel"):
    """None means not said; `unavailable` and `surge` are what then holds."""

    max_unavailable: Quantity | None = None
    max_surge: Surge | None = None

    @property
    def unavailable(self) -> Quantity:
        return DEFAULT_MAX_UNAVAILABLE if self.max_unavailable is None else self.max_unavailable

    @property
    def surge(self) -> Quantity:
        return DEFAULT_MAX_SURGE if self.max_surge is None else self.max_surge


class UpdateStrategy(msgspec.Struct, frozen=True, rename="camel"):
    type: Annotated[StrategyType, Aliases(STRATEGY_SPELLINGS)] = "RollingUpdate"
    rolling_update: ComponentStrategy | None = None
    paused: bool = False
    partition: Annotated[int, Meta(ge=0)] = 0
    progress_deadline_seconds: Annotated[int, Meta(ge=1)] | None = None
    on_deadline: Literal["hold", "rollback"] = "hold"

    @property
    def budget(self) -> ComponentStrategy:
        return self.rolling_update or ComponentStrategy()


class AutoScaling(msgspec.Struct, frozen=True, rename="camel"):
    max_replicas: Number
    min_replicas: Number | None = None
    metrics: object = ()


class ClaimTemplate(msgspec.Struct, frozen=True, rename="camel"):
    """Devices that references can name, written as in a ResourceClaimTemplate of Kubernetes."""

    name: str
    template_spec: JsonMap = {}


class SharingFilter(msgspec.Struct, frozen=True, rename="camel"):
    """Only pods of these cliques, or of these scaling groups."""

    child_clique_names: tuple[str, ...] = ()
    child_scaling_group_names: tuple[str, ...] = ()


class SharingReference(msgspec.Struct, frozen=True, rename="camel"):
    """Names a claim template, of the set itself or else of the cluster, and says who shares a claim made from it."""

    name: str
    scope: SharingScope
    namespace: str = ""
    filter: SharingFilter | None = None

    @property
    def is_for_each(self) -> bool:
        return self.scope == "PerReplica"

    def concerns(self, clique: str, group: str | None) -> bool:
        """Whether the pods of a clique, which may be in a scaling group, are among those who share."""
        chosen = self.filter
        return chosen is None or (
            clique in chosen.child_clique_names or group in chosen.child_scaling_group_names
        )


class CliqueSpec(msgspec.Struct, frozen=True, rename="camel"):
    role_name: str = ""
    pod_spec: JsonMap = {}
    replicas: Number = 1
    min_available: Number = 1
    starts_after: tuple[str, ...] = ()
    auto_scaling_config: AutoScaling | None = None
    pod_resource_sharing: object = None


class Clique(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    spec: CliqueSpec = CliqueSpec()
    update_strategy: ComponentStrategy | None = None
    topology_constraint: object = None
    resource_sharing: tuple[SharingReference, ...] = ()

    @property
    def role_name(self) -> str:
        return self.spec.role_name

    @property
    def pod_spec(self) -> JsonMap:
        return self.spec.pod_spec

    @property
    def replicas(self) -> int:
        return self.spec.replicas

    @property
    def min_available(self) -> int:
        return self.spec.min_available

    @property
    def starts_after(self) -> tuple[str, ...]:
        return self.spec.starts_after

    @property
    def auto_scaling(self) -> AutoScaling | None:
        return self.spec.auto_scaling_config


class ScalingGroup(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    clique_names: tuple[str, ...] = ()
    annotations: dict[str, str] = {}
    replicas: Number = 1
    min_available: Number = 1
    scale_config: AutoScaling | None = None
    update_strategy: ComponentStrategy | None = None
    topology_constraint: object = None
    resource_sharing: tuple[SharingReference, ...] = ()


class HeadlessService(msgspec.Struct, frozen=True, rename="camel"):
    publish_not_ready_addresses: bool = True


class Template(msgspec.Struct, frozen=True, rename="camel", dict=True):
    cliques: tuple[Clique, ...] = ()
    scaling_groups: tuple[ScalingGroup, ...] = msgspec.field(name="podCliqueScalingGroups", default=())
    startup_type: StartupType = msgspec.field(name="cliqueStartupType", default="CliqueStartupTypeAnyOrder")
    termination_delay: Delay = Delay(instants.hours(4))
    priority_class_name: str = ""
    headless_service_config: HeadlessService = HeadlessService()
    topology_constraint: object = None
    resource_claim_templates: tuple[ClaimTemplate, ...] = ()
    resource_sharing: tuple[SharingReference, ...] = ()

    @cached_property
    def cliques_by_name(self) -> Mapping[str, Clique]:
        return {clique.name: clique for clique in self.cliques}

    @cached_property
    def group_of(self) -> Mapping[str, ScalingGroup]:
        """By the name of a clique; standalone cliques are not in it."""
        return {name: group for group in self.scaling_groups for name in group.clique_names}

    @cached_property
    def claim_templates(self) -> Mapping[str, ClaimTemplate]:
        return {template.name: template for template in self.resource_claim_templates}

    @cached_property
    def sharing(self) -> tuple[SharingReference, ...]:
        """Of all levels."""
        in_groups = (reference for group in self.scaling_groups for reference in group.resource_sharing)
        in_cliques = (reference for clique in self.cliques for reference in clique.resource_sharing)
        return (*self.resource_sharing, *in_groups, *in_cliques)

    @cached_property
    def needs_cluster_templates(self) -> bool:
        return any(reference.name not in self.claim_templates for reference in self.sharing)

    @cached_property
    def standalone_cliques(self) -> tuple[Clique, ...]:
        return tuple(clique for clique in self.cliques if clique.name not in self.group_of)

    def clique(self, name: str) -> Clique:
        return self.cliques_by_name[name]

    def group(self, name: str) -> ScalingGroup:
        return next(group for group in self.scaling_groups if group.name == name)

    def members(self, group: ScalingGroup) -> tuple[Clique, ...]:
        """In the order of the template, whatever order the group names them in."""
        return tuple(clique for clique in self.cliques if clique.name in group.clique_names)


class Spec(msgspec.Struct, frozen=True, rename="camel"):
    template: Template
    replicas: Number = 0
    update_strategy: UpdateStrategy = UpdateStrategy()


class PodCliqueSet(msgspec.Struct, frozen=True, dict=True):
    namespace: str
    name: str
    uid: str
    generation: int
    labels: dict[str, str]
    annotations: dict[str, str]
    replicas: int
    update_strategy: UpdateStrategy
    template: Template
    template_document: JsonMap
    """The template as it stands in the object, defaults included: what a revision keeps."""

    @cached_property
    def memo(self) -> dict[object, Any]:
        """What was derived from this value once and would come out the same again."""
        return {}


def read(item: Object) -> PodCliqueSet:
    """Shape only; whether the values make sense is for validation. Raises Rejected."""
    defaulted = defaults.apply(item)
    problems: list[Problem] = []
    spec = documents.read_into(Spec, without_unknown(defaulted.spec), "spec", problems)
    if not isinstance(spec, Spec):
        raise Rejected(problems)
    check_size(spec)
    return PodCliqueSet(
        namespace=defaulted.namespace,
        name=defaulted.name,
        uid=defaulted.uid,
        generation=defaulted.generation,
        labels=defaulted.labels,
        annotations=defaulted.annotations,
        replicas=spec.replicas,
        update_strategy=spec.update_strategy,
        template=spec.template,
        template_document=defaulted.spec["template"],
    )


def check_size(spec: Spec) -> None:
    """Raises Rejected for a set of more pods than one operator can look after."""
    template = spec.template
    in_groups = sum(
        group.replicas * sum(clique.replicas for clique in template.members(group))
        for group in template.scaling_groups
    )
    each = in_groups + sum(clique.replicas for clique in template.standalone_cliques)
    if spec.replicas * each > MOST_PODS:
        message = f"is {spec.replicas}, of {each} pods each; allowed are {MOST_PODS} pods in a set"
        raise Rejected((Problem("spec.replicas", message),))


def read_template(document: object) -> Template:
    return documents.read(Template, without_unknown({"template": document})["template"], "spec.template")


NESTED: dict[str, type[msgspec.Struct]] = {
    "template": Template,
    "cliques": Clique,
    "podCliqueScalingGroups": ScalingGroup,
    "spec": CliqueSpec,
    "autoScalingConfig": AutoScaling,
    "scaleConfig": AutoScaling,
    "headlessServiceConfig": HeadlessService,
    "resourceClaimTemplates": ClaimTemplate,
    "resourceSharing": SharingReference,
    "filter": SharingFilter,
}
"""Where fields of a newer API may stand. Strategies are not among them: there a wrong word is a wrong rollout."""


def without_unknown(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the spec that has a meaning here: a field of a newer API is kept in the object and not read.

    Nulls are dropped too: in this API a null field is an absent one.
    """
    return _known_part(Spec, spec)


def _known_part(kind: type[msgspec.Struct], value: Mapping[str, Any]) -> dict[str, Any]:
    known = documents.fields_of(kind)
    return {key: _cleaned(key, item) for key, item in value.items() if key in known and item is not None}


def _cleaned(key: str, value: Any) -> Any:
    kind = NESTED.get(key)
    if kind is None:
        return _without_nulls(value) if key in ("updateStrategy",) else value
    if isinstance(value, Mapping):
        return _known_part(kind, value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_known_part(kind, item) if isinstance(item, Mapping) else item for item in value]
    return value


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {key: _without_nulls(item) for key, item in value.items() if item is not None}
