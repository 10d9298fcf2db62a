"""Who changed what, from what, to what."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from headgate.fleet.model import changes
from headgate.fleet.model.changes import (
    DeleteSkip,
    GroupAction,
    PutSkip,
    RejectVersion,
    ResumeBudget,
    SetVariable,
    SetVersionStatus,
    TargetAction,
    TargetsAction,
)
from headgate.kernel.problems import Rejected
from headgate.store import AuditEntry

from . import wakeups
from .fleet import APPROVAL, ONE_NODE, approve, delete, policy, put, resource, version
from .stage import HOME, Stage
from .wakeups import Happening, play, report
from .wakeups_by_jobs import BROKEN, BUDGET
from .wakeups_by_objects import V1, A

WAITS = (*ONE_NODE, policy("rules", APPROVAL, BUDGET), V1)
SKIP = PutSkip(reason="urgent", rule="signed", id="skip-1", user="ana")


def newest(stage: Stage) -> AuditEntry:
    return stage.store.audit_before(HOME, None, 1)[0]


def read(document: bytes | None) -> Any:
    return None if document is None else msgspec.json.decode(document)


def at(document: Any, path: str) -> Any:
    """None for a field that has its default: manifests leave those out."""
    for key in path.split("."):
        document = document.get(key) if document is not None else None
    return document


EXPECTED: dict[str, tuple[tuple[Happening, ...], Happening, tuple[str, str, str], Any, Any]] = {
    "a resource is created": (
        ONE_NODE,
        resource("b", config={"size": 1}),
        ("put", "Resource", "b"),
        None,
        ("spec.config", {"size": 1}),
    ),
    "a resource is changed": (
        (*ONE_NODE, resource("b", config={"size": 1})),
        resource("b", config={"size": 2}),
        ("put", "Resource", "b"),
        ("spec.config", {"size": 1}),
        ("spec.config", {"size": 2}),
    ),
    "a resource is deleted": (
        ONE_NODE,
        delete("Resource", "a"),
        ("delete", "Resource", "a"),
        ("metadata.name", "a"),
        None,
    ),
    "a version is published": (
        ONE_NODE,
        V1,
        ("publish", "Version", "api/v1"),
        None,
        ("spec.tag", "v1"),
    ),
    "a version is applied": (
        (*ONE_NODE, version("api", "v1", message="old")),
        put("Version", "api/v1", deployment="api", tag="v1", message="new"),
        ("put", "Version", "api/v1"),
        ("spec.message", "old"),
        ("spec.message", "new"),
    ),
    "a version is rejected": (
        WAITS,
        SetVersionStatus("api", "v1", "rejected"),
        ("setStatus", "Version", "api/v1"),
        ("spec.status", None),
        ("spec.status", "rejected"),
    ),
    "a version is marked as bad": (
        WAITS,
        RejectVersion("api", "v1", "leaks memory", user="ana"),
        ("reject", "Version", "api/v1"),
        ("spec.status", None),
        ("spec.status", "rejected"),
    ),
    "a vote is given": (
        WAITS,
        approve("v1"),
        ("approved", "Approval", "api/v1/prod"),
        None,
        ("status", "approved"),
    ),
    "a vote is changed": (
        (*WAITS, approve("v1")),
        approve("v1", status="rejected"),
        ("rejected", "Approval", "api/v1/prod"),
        ("status", "approved"),
        ("status", "rejected"),
    ),
    "a vote is withdrawn": (
        (*WAITS, approve("v1")),
        approve("v1", status="withdrawn"),
        ("withdrawn", "Approval", "api/v1/prod"),
        ("status", "approved"),
        None,
    ),
    "a rule is skipped": (WAITS, SKIP, ("skip", "Skip", "skip-1"), None, ("reason", "urgent")),
    "a skip without an id is made": (
        WAITS,
        PutSkip(reason="urgent", rule="signed"),
        ("skip", "Skip", "signed"),
        None,
        ("reason", "urgent"),
    ),
    "a skip is deleted": (
        (*WAITS, SKIP),
        DeleteSkip("skip-1"),
        ("delete", "Skip", "skip-1"),
        ("reason", "urgent"),
        None,
    ),
    "a variable of a resource is set": (
        ONE_NODE,
        SetVariable("size", 3, resource="a"),
        ("setVariable", "Resource", "a"),
        ("spec.variables", None),
        ("spec.variables", {"size": 3}),
    ),
    "a variable of a deployment is set": (
        ONE_NODE,
        SetVariable("size", 3, deployment="api"),
        ("setVariable", "Deployment", "api"),
        ("spec.variables", None),
        ("spec.variables.size.default", 3),
    ),
    "a group is aborted": (
        BROKEN,
        GroupAction("abort", "prod", "a", user="ana"),
        ("abort", "Group", "prod/a"),
        None,
        ("action", "abort"),
    ),
    "a target is tried again": (
        (*ONE_NODE, V1, report(A, "failure")),
        TargetAction("retry", A),
        ("retry", "ReleaseTarget", A),
        None,
        ("action", "retry"),
    ),
    "many targets are deployed again": (
        (*ONE_NODE, V1, report(A)),
        TargetsAction("redeploy", "api", "prod", "resource.name == 'a'", user="ana"),
        ("redeploy", "ReleaseTarget", "api/prod"),
        None,
        ("selector", "resource.name == 'a'"),
    ),
    "a line is resumed": (
        WAITS,
        ResumeBudget("few"),
        ("resume", "Rule", "few"),
        None,
        ("rule", "few"),
    ),
}
OTHER_KINDS = {
    "Environment": {"resourceSelector": "false"},
    "Deployment": {"resourceSelector": "false"},
    "Policy": {"rules": []},
    "JobAgent": {"type": "exec"},
    "VariableSet": {"variables": {"size": 2}},
    "Freeze": {"reason": "an incident"},
    "Signal": {"value": 1},
}


@pytest.mark.parametrize("name", EXPECTED, ids=lambda name: name.replace(" ", "-"))
def test_the_entry_says_who_what_from_what_and_to_what(name: str, stage: Stage) -> None:
    given, happening, what, before, after = EXPECTED[name]
    for step in given:
        play(stage, step)
    play(stage, happening)
    entry = newest(stage)
    assert (entry.action, entry.kind, entry.name) == what
    assert (entry.user, entry.request_id, entry.at) == ("ana", "request-1", stage.clock.now)
    for document, wanted in ((read(entry.before), before), (read(entry.after), after)):
        assert document is None if wanted is None else at(document, wanted[0]) == wanted[1]


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_objects_of_every_kind_are_put_and_deleted_on_the_record(kind: str, stage: Stage) -> None:
    spec = OTHER_KINDS[kind]
    stage.submit(put(kind, "thing", **spec))
    created = newest(stage)
    assert (created.action, created.kind, created.name, created.before) == ("put", kind, "thing", None)
    assert read(created.after)["spec"].items() >= spec.items()
    stage.submit(delete(kind, "thing"))
    deleted = newest(stage)
    assert (deleted.action, deleted.kind, deleted.name) == ("delete", kind, "thing")
    assert (deleted.before, deleted.after) == (created.after, None)


def test_every_audited_kind_of_change_is_looked_at() -> None:
    seen = {type(happening).__name__ for _, happening, _, _, _ in EXPECTED.values()}
    kinds = {kind.split()[0] for kind in wakeups.all_kinds()}
    assert kinds - seen == {"JobReported", "Measured"}


def test_what_agents_report_is_not_audited(stage: Stage) -> None:
    stage.each(*ONE_NODE, V1)
    before = newest(stage).seq
    stage.report(A)
    assert newest(stage).seq == before


def test_what_is_refused_leaves_no_entry(stage: Stage) -> None:
    stage.each(*ONE_NODE)
    before = newest(stage).seq
    with pytest.raises(Rejected):
        stage.submit(resource("b"), changes.Delete("Resource", "ghost"))
    assert newest(stage).seq == before
