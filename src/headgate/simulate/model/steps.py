"""What can happen on a timeline: the keys of each step, as the scenario format fixes them.

Reading a scenario judges keys and shapes. Values that an API would judge (a selector, a status, a name that nobody
has) are left as they are and refused when the step is played, because the run then records the refusal and goes on.

A step with the very fields of a change is made of that change. The others say less than their change (who reports, what
the API has found out), and name what they take, so that a scenario cannot set the rest.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headgate.fleet.model import changes
from headgate.kernel.problems import Problem
from headgate.simulate.model.times import When
from headgate.workload.plan.operate import SetOrder

Text = Annotated[str, Meta(min_length=1)]


class PublishStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A new version of a deployment; all but `deployment` and `tag` is judged as a Version manifest is."""

    deployment: Text
    tag: object
    status: object = None
    id: object = None
    name: object = None
    metadata: object = None
    config: object = None
    job_agent_config: object = None
    message: object = None
    target_selector: object = None
    dependencies: object = None


class VoteStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A vote without its status, which the step's own word says."""

    deployment: Text
    tag: Text
    environment: Text
    user: Text
    reason: str | None = None
    roles: tuple[str, ...] = ()


class DeleteStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`name` of a Version is `deployment/tag`."""

    kind: Text
    name: Text
    api_version: str | None = None
    namespace: str | None = None


class PatchStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    kind: Text
    name: Text
    patch: dict[str, object]
    api_version: str | None = None
    namespace: str | None = None


class SetVersionStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """As agents and pipelines set it: who did is nobody's to say."""

    deployment: Text
    tag: Text
    status: Text
    message: str | None = None


class RejectVersionStep(changes.RejectVersion, frozen=True, rename="camel", omit_defaults=True):
    """A person marks a version as bad; `rollback` takes it back where it runs."""

    deployment: Text
    tag: Text
    reason: str = ""


class SkipStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """`rule` is a name, an id or an index; `id` (or `name`) is what `unskip` ends it by. `expiresAt` counts from the start."""

    rule: object
    policy: str | None = None
    deployment: str | None = None
    tag: str | None = None
    environment: str | None = None
    resource: str | None = None
    reason: str = ""
    user: str = ""
    id: str | None = None
    name: str | None = None
    expires_at: When | None = None


class FreezeStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    name: Text
    selector: object = None
    reason: str = ""
    user: str = ""
    expires_at: When | None = None


class SignalStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    name: Text
    value: object
    expires_at: When | None = None


class GroupStep(changes.GroupAction, frozen=True, rename="camel", omit_defaults=True):
    post_hooks: bool = True


class TargetStep(changes.TargetAction, frozen=True, rename="camel", omit_defaults=True):
    """An operator acts on one release target, named `deployment/environment/resource`."""

    target: Text


class TargetsStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The same for the targets of a deployment in an environment that `selector` matches, without naming them one by one."""

    action: changes.OperatorCommand
    deployment: Text
    environment: Text
    selector: str | None = None
    to: str | None = None
    user: str = ""


class ResumeStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A person resumes the line that a failure budget stopped; `value` is one of its `groupBy`. What people call the rule is
    the engine's to say, and it may be named by an index."""

    rule: object
    policy: str | None = None
    environment: str | None = None
    value: str | None = None
    user: str = ""


class SetVariableStep(changes.SetVariable, frozen=True, rename="camel", omit_defaults=True):
    key: Text


class ReportStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """An agent's report beside the simulated ones: late, repeated or out of order."""

    target: Text
    status: Text
    attempt: int | None = None
    message: str | None = None


class ExplainStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A release target of the fleet, a set on the cluster, an instance of a graph, or a definition: one of them."""

    target: Text | None = None
    workload: Text | None = None
    instance: Text | None = None
    definition: Text | None = None
    namespace: str | None = None

    @classmethod
    def check_document(cls, given: dict[str, object], path: str, problems: list[Problem]) -> None:
        asked = ("target", "workload", "instance", "definition")
        if sum(given.get(name) is not None for name in asked) != 1:
            problems.append(Problem(path, "needs exactly one of target, workload, instance and definition"))


class WorkloadStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """An operator's command to a set; `abort` leaves what has not moved where it is."""

    action: SetOrder
    name: Text
    namespace: str | None = None


class Nothing(msgspec.Struct, frozen=True):
    pass


class KillPodStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    match: Text
    count: Annotated[int, Meta(ge=1)] = 1
    force: bool = False


class EndPodStep(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Its node ends a pod; it is not deleted by that."""

    match: Text
    count: Annotated[int, Meta(ge=1)] = 1
    phase: Literal["Failed", "Succeeded"] = "Failed"
    reason: str = "Evicted"


class NodesStep(msgspec.Struct, frozen=True, rename="camel"):
    nodes: Annotated[int, Meta(ge=0)]


KINDS: dict[str, Any] = {
    "publish": PublishStep,
    **dict.fromkeys(changes.VOTES, VoteStep),
    "apply": object,
    "delete": DeleteStep,
    "patch": PatchStep,
    "setVersion": SetVersionStep,
    "rejectVersion": RejectVersionStep,
    "skip": SkipStep,
    "unskip": Text,
    "freeze": FreezeStep,
    "unfreeze": Text,
    "signal": SignalStep,
    "group": GroupStep,
    "target": TargetStep,
    "targets": TargetsStep,
    "resume": ResumeStep,
    "setVariable": SetVariableStep,
    "report": ReportStep,
    "killPod": KillPodStep,
    "endPod": EndPodStep,
    "cordon": NodesStep,
    "uncordon": NodesStep,
    "workload": WorkloadStep,
    "crash": Literal["engine"],
    "explain": ExplainStep,
    "snapshot": Nothing,
}
"""Every step kind with what is written under it."""


class Step(msgspec.Struct, frozen=True):
    """`place` is where the step stands in its file, for the people who have to find it."""

    at: When
    kind: str
    payload: Any
    place: str
