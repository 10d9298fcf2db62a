"""The objects of a fleet, as immutable values. Each field is declared here once, for manifests, API and docs alike."""

from typing import Annotated, Any, Literal

import msgspec

from headgate.fleet.model import agent_configs, agent_fields, expressions, hiding
from headgate.kernel import documents, instants
from headgate.kernel.documents import Checked, Moment
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem

VersionStatus = Literal["building", "ready", "failed", "rejected", "paused"]
JobStatus = Literal[
    "pending",
    "queued",
    "inProgress",
    "actionRequired",
    "successful",
    "failure",
    "cancelled",
    "skipped",
    "invalidJobAgent",
    "invalidIntegration",
    "externalRunNotFound",
    "timedOut",
]
TargetState = Literal[
    "upToDate",
    "waiting",
    "verifying",
    "running",
    "rollingBack",
    "rolledBack",
    "failed",
    "frozen",
    "noVersion",
]
VoteStatus = Literal["approved", "rejected"]

JOB_LIVE: frozenset[str] = frozenset({"pending", "queued", "inProgress", "actionRequired"})
JOB_TERMINAL: frozenset[str] = frozenset(
    {
        "successful",
        "failure",
        "cancelled",
        "skipped",
        "invalidJobAgent",
        "invalidIntegration",
        "externalRunNotFound",
        "timedOut",
    }
)
DEFAULT_WORKSPACE = "default"
DEFAULT_SYSTEM = "default"
LONGEST_NAME = 253

CelView = dict[str, Any]


def name_problem(name: str) -> str | None:
    if not name.strip():
        return "must not be empty"
    if len(name) > LONGEST_NAME:
        return f"is {len(name)} characters long; allowed are {LONGEST_NAME}"
    if name != name.strip():
        return f"is {name!r}; allowed are names without space at the beginning or the end"
    if not name.isprintable():
        return f"is {name!r}; allowed are printable characters only"
    return None


def target_part_problem(name: str) -> str | None:
    """Names of deployments, environments and resources are joined with `/` into the name of a target."""
    if "/" in name:
        return f"is {name!r}; allowed is any name without '/', because it becomes part of target names"
    return name_problem(name)


def is_web_address(text: str) -> bool:
    """A link that can be followed, and that runs nothing where it is clicked on."""
    return text.lower().startswith(("http://", "https://")) and text.isprintable()


def _check_links(links: dict[str, str], path: str, problems: list[Problem]) -> None:
    for name, address in links.items():
        if not is_web_address(address):
            allowed = "allowed are addresses that begin with http:// or https://"
            problems.append(Problem(documents.field_path(path, name), f'is "{address[:80]}"; {allowed}'))


def _check_name(name: str, path: str, problems: list[Problem]) -> None:
    problem = name_problem(name)
    if problem:
        problems.append(Problem(path, problem))


def _check_target_part(name: str, path: str, problems: list[Problem]) -> None:
    problem = target_part_problem(name)
    if problem:
        problems.append(Problem(path, problem))


Name = Annotated[str, Checked(_check_name)]
TargetPart = Annotated[str, Checked(_check_target_part)]
StringMap = dict[str, str]
Links = Annotated[StringMap, Checked(_check_links)]
JsonMap = dict[str, object]


class Resource(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    name: TargetPart
    identifier: Name = ""
    kind: str = ""
    version: str = ""
    metadata: StringMap = {}
    config: object = {}
    variables: JsonMap = {}
    created_at: Moment = 0
    updated_at: Moment | None = None
    workspace: Name = DEFAULT_WORKSPACE

    def cel_view(self) -> CelView:
        return {
            "id": self.id,
            "name": self.name,
            "identifier": self.identifier or self.name,
            "kind": self.kind,
            "version": self.version,
            "metadata": self.metadata,
            "config": self.config,
            "variables": self.variables,
            "createdAt": instants.to_datetime(self.created_at),
        }


class Environment(msgspec.Struct, frozen=True, rename="camel"):
    """Without a `resource_selector` it has no resource."""

    id: str
    name: TargetPart
    resource_selector: expressions.SelectorText | None = None
    systems: tuple[Name, ...] = (DEFAULT_SYSTEM,)
    metadata: StringMap = {}
    created_at: Moment = 0
    updated_at: Moment | None = None
    workspace: Name = DEFAULT_WORKSPACE

    def cel_view(self) -> CelView:
        return {
            "id": self.id,
            "name": self.name,
            "systems": list(self.systems),
            "metadata": self.metadata,
            "createdAt": instants.to_datetime(self.created_at),
        }


class VariableValue(msgspec.Struct, frozen=True, rename="camel"):
    """Of the values whose selector matches, the one with the highest priority counts; without one it matches all."""

    value: object
    resource_selector: expressions.SelectorText | None = None
    priority: int = 0


class DeploymentVariable(msgspec.Struct, frozen=True, rename="camel"):
    default: object = None
    values: tuple[VariableValue, ...] = ()

    @staticmethod
    def expand_shorthand(value: object) -> object:
        """A map with no other keys than these two is the long form; anything else is the default itself."""
        if isinstance(value, dict) and value and value.keys() <= {"default", "values"}:
            return value
        return {"default": value}

    def to_document(self) -> dict[str, object]:
        """Always the long form: a default that is a map could be taken for it otherwise."""
        document: dict[str, object] = {"default": self.default}
        if self.values:
            document["values"] = [documents.write(value) for value in self.values]
        return document


class Deployment(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    name: TargetPart
    resource_selector: expressions.SelectorText | None = None
    job_agent: Name | None = None
    job_agent_selector: expressions.JobAgentSelectorText | None = None
    job_agent_config: Annotated[JsonMap, Checked(hiding.check)] = {}
    variables: dict[str, DeploymentVariable] = {}
    systems: tuple[Name, ...] = (DEFAULT_SYSTEM,)
    metadata: StringMap = {}
    created_at: Moment = 0
    updated_at: Moment | None = None
    workspace: Name = DEFAULT_WORKSPACE

    def cel_view(self) -> CelView:
        """Without secrets: whoever may look may plan, and the sentence of an expression that fails names its values."""
        return {
            "id": self.id,
            "name": self.name,
            "systems": list(self.systems),
            "metadata": self.metadata,
            "jobAgent": self.job_agent,
            "jobAgentConfig": hiding.of_config(self.job_agent_config),
            "createdAt": instants.to_datetime(self.created_at),
        }

    @staticmethod
    def check_document(given: dict[str, object], path: str, problems: list[Problem]) -> None:
        if given.get("job_agent") is not None and given.get("job_agent_selector") is not None:
            problems.append(Problem(path, "has jobAgent and jobAgentSelector; allowed is one of them"))


class VersionDependency(msgspec.Struct, frozen=True, rename="camel"):
    """What the named deployment must run on the same resource."""

    version_selector: expressions.VersionSelectorText

    @staticmethod
    def expand_shorthand(value: object) -> object:
        return {"versionSelector": value} if isinstance(value, str) else value


class Rejection(msgspec.Struct, frozen=True, rename="camel"):
    """Who marked a version as bad and why. With `rollback` it goes back where it runs; it starts nowhere in any case."""

    reason: str
    by: str
    at: Moment
    rollback: bool = False


class Version(msgspec.Struct, frozen=True, rename="camel"):
    """`deployment` is a name. `published_at` is when it became ready: windows open then."""

    id: str
    name: Name
    deployment: TargetPart
    tag: Name
    status: VersionStatus = "ready"
    config: object = {}
    job_agent_config: Annotated[JsonMap, Checked(hiding.check)] = {}
    message: str | None = None
    target_selector: expressions.SelectorText | None = None
    dependencies: dict[str, VersionDependency] = {}
    metadata: StringMap = {}
    created_at: Moment = 0
    updated_at: Moment | None = None
    published_at: Moment | None = None
    rejection: Rejection | None = None
    workspace: Name = DEFAULT_WORKSPACE

    @staticmethod
    def check_document(given: dict[str, object], path: str, problems: list[Problem]) -> None:
        if given.get("rejection") is not None and given.get("status") != "rejected":
            message = "is the record of a version that was rejected; allowed with status rejected only"
            problems.append(Problem(documents.field_path(path, "rejection"), message))

    @property
    def goes_back(self) -> bool:
        """Whether what runs it is to go back: by status alone, or as the one who rejected it has asked."""
        return self.status == "rejected" and (self.rejection is None or self.rejection.rollback)

    def cel_view(self) -> CelView:
        return {
            "id": self.id,
            "name": self.name,
            "deployment": self.deployment,
            "tag": self.tag,
            "status": self.status,
            "message": self.message or "",
            "metadata": self.metadata,
            "config": self.config,
            "createdAt": instants.to_datetime(self.created_at),
        }


class Rule(msgspec.Struct, frozen=True, rename="camel"):
    """`kind` is the key the rule is written under, `spec` the Struct that `rules.KINDS` has for it."""

    id: str
    name: str | None
    kind: str
    spec: Any
    index: int = 0

    @property
    def label(self) -> str:
        return self.name or f"{self.kind}[{self.index}]"


class Policy(msgspec.Struct, frozen=True, rename="camel"):
    """Without a selector it applies to everything; `priority` only orders policies for display."""

    id: str
    name: Name
    selector: expressions.SelectorText | None = None
    rules: tuple[Rule, ...] = ()
    priority: int = 0
    enabled: bool = True
    description: str | None = None
    metadata: StringMap = {}
    created_at: Moment = 0
    updated_at: Moment | None = None
    workspace: Name = DEFAULT_WORKSPACE

    def rule(self, reference: str | int) -> Rule | None:
        """By id, by name, or by index; a name that looks like an index wins over the index."""
        for candidate in self.rules:
            if reference in (candidate.id, candidate.name):
                return candidate
        index = int(reference) if str(reference).isascii() and str(reference).isdigit() else -1
        return self.rules[index] if 0 <= index < len(self.rules) else None


class JobAgent(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    name: Name
    type: Name = "pull"
    config: JsonMap = {}
    overridable: Annotated[tuple[Name, ...], Checked(agent_fields.check_overridable)] | None = None
    metadata: StringMap = {}
    created_at: Moment = 0
    updated_at: Moment | None = None
    workspace: Name = DEFAULT_WORKSPACE

    @staticmethod
    def check_document(given: dict[str, object], path: str, problems: list[Problem]) -> None:
        agent_type, config = given.get("type"), given.get("config")
        if isinstance(agent_type, str) and isinstance(config, dict):
            agent_configs.check(agent_type, config, documents.field_path(path, "config"), problems)

    @property
    def open_fields(self) -> tuple[str, ...]:
        """What `jobAgentConfig` of deployments and versions may fill."""
        return agent_fields.open_fields(self.type, self.overridable)

    def cel_view(self) -> CelView:
        return {
            "id": self.id,
            "name": self.name,
            "type": self.type,
            "config": hiding.of_config(self.config),
            "metadata": self.metadata,
        }


class VariableSet(msgspec.Struct, frozen=True, rename="camel"):
    id: str
    name: Name
    selector: expressions.SelectorText | None = None
    variables: JsonMap = {}
    priority: int = 0
    metadata: StringMap = {}
    created_at: Moment = 0
    updated_at: Moment | None = None
    workspace: Name = DEFAULT_WORKSPACE


class CastVote(msgspec.Struct, frozen=True, rename="camel"):
    version_id: str
    environment: str
    user: str
    status: VoteStatus
    reason: str | None = None
    at: Moment = 0
    roles: tuple[str, ...] = ()


class Skip(msgspec.Struct, frozen=True, rename="camel"):
    """`rule` is a rule's id; what is None is not restricted."""

    id: str
    policy: str
    rule: str
    version_id: str | None = None
    environment: str | None = None
    resource: str | None = None
    reason: str = ""
    user: str = ""
    created_at: Moment = 0
    expires_at: Moment | None = None

    def is_over(self, now: Instant) -> bool:
        return self.expires_at is not None and self.expires_at <= now


def _check_reason(reason: str, path: str, problems: list[Problem]) -> None:
    if not reason.strip():
        problems.append(Problem(path, "must say why; it is shown to everyone who waits"))


class Freeze(msgspec.Struct, frozen=True, rename="camel"):
    """Stops the line for what `selector` matches; without one, for everything."""

    id: str
    name: Name
    reason: Annotated[str, Checked(_check_reason)]
    selector: expressions.SelectorText | None = None
    user: str = ""
    metadata: StringMap = {}
    created_at: Moment = 0
    updated_at: Moment | None = None
    expires_at: Moment | None = None
    workspace: Name = DEFAULT_WORKSPACE

    def is_over(self, now: Instant) -> bool:
        return self.expires_at is not None and self.expires_at <= now


class Signal(msgspec.Struct, frozen=True, rename="camel"):
    """A value set from outside; gates read it as `signals['name']` until it expires."""

    id: str
    name: Name
    value: object
    metadata: StringMap = {}
    set_at: Moment = 0
    expires_at: Moment | None = None
    created_at: Moment = 0
    updated_at: Moment | None = None
    workspace: Name = DEFAULT_WORKSPACE

    def is_over(self, now: Instant) -> bool:
        return self.expires_at is not None and self.expires_at <= now
