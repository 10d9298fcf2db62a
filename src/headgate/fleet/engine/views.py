"""What people see of jobs and groups: declared once, for answers, events, orders to agents and results of scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from headgate.fleet.engine import explain
from headgate.fleet.model import objects as model
from headgate.fleet.model import records
from headgate.kernel import rendering
from headgate.kernel.documents import Moment
from headgate.kernel.rendering import Document

Tags = Mapping[str, str]
"""Of versions, by id."""


class JobView(msgspec.Struct, rename="camel"):
    """`version` is the tag. `verifiedAt` is when verification ended. `reason` is why it was made: of a rollback, what
    caused it."""

    id: str
    target: str
    deployment: str
    environment: str
    resource: str
    version: str
    version_id: str
    attempt: int
    status: model.JobStatus
    created_at: Moment
    started_at: Moment | None
    completed_at: Moment | None
    group: str | None
    kind: records.JobKind
    agent: str | None
    message: str | None
    reason: str
    external_id: str | None
    links: model.StringMap
    verification: records.VerificationStatus
    verified_at: Moment | None
    metrics: list[explain.MetricLine]


class MemberView(msgspec.Struct, rename="camel"):
    """`version` is the locked version's tag."""

    deployment: str
    role: records.MemberRole
    version: str | None
    version_id: str | None
    locked_at: Moment | None
    state: records.MemberState
    job: str | None
    note: str


class TransitionView(msgspec.Struct, rename="camel"):
    at: Moment
    status: records.GroupStatus


class GroupView(msgspec.Struct, rename="camel"):
    id: str
    policy: str
    rule: str
    environment: str
    resource: str
    status: records.GroupStatus
    merged_into: str | None
    collection_started_at: Moment
    collection_ends_at: Moment
    created_at: Moment
    locked_at: Moment | None
    ready_at: Moment | None
    started_at: Moment | None
    completed_at: Moment | None
    failed_at: Moment | None
    stuck: bool
    reason: str
    slot_released: bool
    members: list[MemberView]
    history: list[TransitionView]


def of_job(job: records.Job, *keys: str, **own: object) -> Document:
    """All that the view has, or these keys of it."""
    return rendering.built(JobView, job, *keys, version=job.tag, version_id=job.version, **own)


def of_group(group: records.Group, members: Iterable[Document], *keys: str) -> Document:
    history = [rendering.built(TransitionView, step) for step in group.history]
    return rendering.built(GroupView, group, *keys, members=list(members), history=history)


def of_member(member: records.Member, tags: Tags, *keys: str) -> Document:
    """Of a version that is gone the id is all that is left."""
    version = member.version
    tag = None if version is None else tags.get(version, version)
    return rendering.built(MemberView, member, *keys, version=tag, version_id=version)
