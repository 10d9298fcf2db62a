"""Accepted changes: everything that can happen to a workspace, as data.

The engine is a function of its state, one of these, and `now`. References are by name, or by id.

Each says what it is about and what it does, in the words of events and of the audit.
"""

from typing import ClassVar, Literal

import msgspec

from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model

Object = (
    model.Resource
    | model.Environment
    | model.Deployment
    | model.Version
    | model.Policy
    | model.JobAgent
    | model.VariableSet
    | model.Freeze
    | model.Signal
)

Subject = tuple[str, str]
"""What a change is about, for people: kind and name."""
ENDINGS = frozenset({"deleted", "withdrawn"})
"""Verbs of changes after which what they are about is not there any more."""


class Put(msgspec.Struct, frozen=True):
    """Creates an object, or replaces the one of the same kind and name. A new Version is published with it.

    `create_only` refuses a tag that is there already: publishing twice is a mistake, applying twice is not.
    """

    object: Object
    create_only: bool = False

    @property
    def subject(self) -> Subject:
        return kinds.of(self.object).name, kinds.name_of(self.object)

    @property
    def verb(self) -> str:
        return "published" if isinstance(self.object, model.Version) else "applied"

    @property
    def action(self) -> str:
        return "publish" if self.create_only and isinstance(self.object, model.Version) else "put"


class Delete(msgspec.Struct, frozen=True):
    """`name` of a Version is `deployment/tag`."""

    kind: str
    name: str

    verb: ClassVar[str] = "deleted"
    action: ClassVar[str] = "delete"

    @property
    def subject(self) -> Subject:
        return self.kind, self.name


class VersionChange(msgspec.Struct, frozen=True):
    """What people say of one version."""

    deployment: str
    tag: str

    @property
    def subject(self) -> Subject:
        return "Version", f"{self.deployment}/{self.tag}"


class SetVersionStatus(VersionChange, frozen=True):
    """`rejected` is a mark as bad that takes it back where it runs; `message` says why."""

    status: str
    message: str | None = None
    user: str = ""

    action: ClassVar[str] = "setStatus"

    @property
    def verb(self) -> str:
        return self.status


class RejectVersion(VersionChange, frozen=True):
    """Marks a version as bad: it starts nowhere any more and, with `rollback`, goes back where it runs."""

    reason: str
    rollback: bool = False
    user: str = ""

    verb: ClassVar[str] = "rejected"
    action: ClassVar[str] = "reject"


VoteChange = Literal[model.VoteStatus, "withdrawn"]
"""What becomes of a person's vote: a withdrawn one is none."""
VOTES: dict[str, VoteChange] = {"approve": "approved", "reject": "rejected", "withdraw": "withdrawn"}
"""By what the person does."""


class Vote(VersionChange, frozen=True):
    environment: str
    user: str
    status: VoteChange
    reason: str | None = None
    roles: tuple[str, ...] = ()

    @property
    def subject(self) -> Subject:
        return "Approval", f"{self.deployment}/{self.tag}/{self.environment}"

    @property
    def verb(self) -> str:
        return self.status

    @property
    def action(self) -> str:
        return self.status


class PutSkip(msgspec.Struct, frozen=True):
    """`rule` is an id, a name or an index within the policy; without a policy, an id or a unique name."""

    reason: str
    rule: str
    policy: str | None = None
    id: str | None = None
    deployment: str | None = None
    tag: str | None = None
    environment: str | None = None
    resource: str | None = None
    user: str = ""
    expires_at: int | None = None

    verb: ClassVar[str] = "created"
    action: ClassVar[str] = "skip"

    @property
    def subject(self) -> Subject:
        return "Skip", self.id or self.rule


class DeleteSkip(msgspec.Struct, frozen=True):
    id: str

    verb: ClassVar[str] = "deleted"
    action: ClassVar[str] = "delete"

    @property
    def subject(self) -> Subject:
        return "Skip", self.id


class SetVariable(msgspec.Struct, frozen=True):
    """Sets one variable of a resource or of a deployment (its default); `value` None removes it."""

    key: str
    value: object
    resource: str | None = None
    deployment: str | None = None

    verb: ClassVar[str] = "variable-set"
    action: ClassVar[str] = "setVariable"

    @property
    def subject(self) -> Subject:
        return ("Deployment", self.deployment or "") if self.resource is None else ("Resource", self.resource)


class OrderedChange(msgspec.Struct, frozen=True):
    """What an operator orders; `action` is the word for it everywhere."""

    action: str

    @property
    def verb(self) -> str:
        return self.action


GroupOrder = Literal["retry", "abort", "release"]
"""Of a group as a whole."""
GroupCommand = Literal[GroupOrder, "skipMember"]


class GroupAction(OrderedChange, frozen=True):
    """An operator acts on the unfinished group of a site; `group` alone names it too."""

    action: GroupCommand
    environment: str | None = None
    resource: str | None = None
    group: str | None = None
    member: str | None = None
    post_hooks: bool = True
    user: str = ""
    reason: str | None = None

    @property
    def subject(self) -> Subject:
        return "Group", self.group or f"{self.environment}/{self.resource}"


TargetOrder = Literal["retry", "rollback", "redeploy"]
"""What brings a job; a target is adopted without one."""
OperatorCommand = Literal[TargetOrder, "adopt"]
ORDER_WORDS: dict[OperatorCommand, str] = {
    "retry": "be tried again",
    "rollback": "be rolled back",
    "redeploy": "be deployed again",
    "adopt": "be adopted",
}
"""What a target can, or cannot: the end of a sentence."""


class TargetAction(OrderedChange, frozen=True):
    """What a person orders for one target. `to` is a version of its deployment, by tag or id; `reason` is for those who
    ask later, and decides nothing."""

    action: OperatorCommand
    target: str
    user: str = ""
    to: str | None = None
    reason: str | None = None

    @property
    def subject(self) -> Subject:
        return "ReleaseTarget", self.target


class TargetsAction(OrderedChange, frozen=True):
    """The same for all targets of a deployment in an environment that `selector` matches; those that cannot are left
    as they are. `resources` names them one by one instead."""

    action: OperatorCommand
    deployment: str
    environment: str
    selector: str | None = None
    to: str | None = None
    user: str = ""
    resources: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def subject(self) -> Subject:
        return "ReleaseTarget", f"{self.deployment}/{self.environment}"


class ResumeBudget(msgspec.Struct, frozen=True):
    """A person resumes the line that a failure budget stopped, or a rollout after failures; failures so far no longer
    count. `value` is one of the rule's `groupBy`, `label` what people call the rule."""

    rule: str
    policy: str | None = None
    environment: str | None = None
    user: str = ""
    value: str | None = None
    label: str = ""

    verb: ClassVar[str] = "resumed"
    action: ClassVar[str] = "resume"

    @property
    def subject(self) -> Subject:
        label = self.label or self.rule
        return "Rule", f"{self.policy}/{label}" if self.policy is not None else label


class JobReported(msgspec.Struct, frozen=True):
    """An agent says how a job is. What arrives after a terminal status changes nothing."""

    job: str
    status: str
    message: str | None = None
    external_id: str | None = None
    links: dict[str, str] = {}
    lost: str = ""
    """Who had the job and was not heard of any more; then the report is not an agent's."""
    offered: bool = False
    """Nobody has the job: it is offered again."""

    verb: ClassVar[str] = "reported"
    action: ClassVar[str] = "report"

    @property
    def subject(self) -> Subject:
        return "Job", self.job


class Measured(msgspec.Struct, frozen=True):
    """A verification provider answered, or failed to (`error`)."""

    job: str
    rule: str
    metric: str
    result: object = None
    error: str | None = None

    verb: ClassVar[str] = "reported"
    action: ClassVar[str] = "report"

    @property
    def subject(self) -> Subject:
        return "Job", self.job


Change = (
    Put
    | Delete
    | SetVersionStatus
    | RejectVersion
    | Vote
    | PutSkip
    | DeleteSkip
    | SetVariable
    | GroupAction
    | TargetAction
    | TargetsAction
    | ResumeBudget
    | JobReported
    | Measured
)
