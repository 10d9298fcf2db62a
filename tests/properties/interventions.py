"""What somebody does who watches the fleet: steps that fit what has just happened.

Steps that are drawn blindly mostly concern nobody: a retry where nothing has failed, a rollback where nothing ran. Here a
scenario is played, a moment of it is chosen, and something is done about the job or the group of that moment.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from . import running
from .choosing import STEP_SECONDS, Chooser
from .objects import Document, Fleet, manifest

Act = Callable[[Chooser, Fleet, Document], Document]
Moment = tuple[int, Act, Document]
"""The second of the run, what may be done then, and about which job or group."""

BEGINNING, UNDER_WAY = ("collecting", "ready", "queued"), ("executing",)
LIVE_STATUSES = ("queued", "inProgress", "actionRequired")
ENDED_STATUSES = ("successful", "failure", "timedOut", "cancelled", "externalRunNotFound")


def added(choose: Chooser, fleet: Fleet, document: Document) -> Document:
    """The scenario with a few of them, each chosen with those before it played."""
    for _ in range(choose.number(1, 5)):
        try:
            moments = list(_moments(document))
        except Exception:
            return document  # whoever plays it next tells of it
        if not moments:
            return document
        second, act, about = choose.one(moments)
        document = _with_step(
            document, {"at": f"+{second + _delay(choose, act)}s", **act(choose, fleet, about)}
        )
    return document


def _delay(choose: Chooser, act: Act) -> int:
    """What has ended is known at that very moment; what was decided then is known after it."""
    at_once = 50 if act in (after_success, after_failure) else 10
    return choose.weighted({0: at_once, 1: 30, STEP_SECONDS: 25, 2 * STEP_SECONDS: 15, 4 * STEP_SECONDS: 5})


def _with_step(document: Document, step: Document) -> Document:
    steps = sorted([*document["spec"]["timeline"], step], key=lambda one: int(one["at"][1:-1]))
    return {**document, "spec": {**document["spec"], "timeline": steps}}


def _moments(document: Document) -> Iterator[Moment]:
    """Failures count several times, and so do targets that can go back: they are fewer, and more can be wrong there."""
    result = running.play(document)
    jobs, groups = (result.document()[key] for key in ("jobs", "groups"))
    second_of = _Clock(result.start)
    ran: dict[str, set[str]] = defaultdict(set)
    for job in jobs:
        yield second_of(job["createdAt"]), while_it_runs, job
        if job["completedAt"] is not None and job["status"] == "successful":
            ran[_of(job)].add(job["version"])
            count = 1 if len(ran[_of(job)]) == 1 else 4
            yield from count * [(second_of(job["completedAt"]), after_success, job)]
        elif job["completedAt"] is not None:
            yield from 3 * [(second_of(job["completedAt"]), after_failure, job)]
    for group in groups:
        for step in group["history"]:
            at = second_of(step["at"])
            if step["status"] == "failed":
                yield from 5 * [(at, after_a_failed_cycle, group)]
            elif step["status"] in UNDER_WAY:
                yield from 2 * [(at, in_a_cycle, group)]
            elif step["status"] in BEGINNING:
                yield at, before_a_cycle, group


class _Clock:
    def __init__(self, start: int) -> None:
        self._start = start

    def __call__(self, text: str) -> int:
        return (running.instant(text) - self._start) // 1_000_000


def _of(job: Document) -> str:
    return f"{job['deployment']}/{job['environment']}/{job['resource']}"


def _named(job: Document) -> Document:
    return {"deployment": job["deployment"], "tag": job["version"]}


def _rejected(choose: Chooser, job: Document) -> Document:
    return {"rejectVersion": {**_named(job), "reason": "it is bad", "rollback": choose.chance(50)}}


def _ordered(choose: Chooser, fleet: Fleet, job: Document, actions: dict[str, int]) -> Document:
    """For the one target, or for all of its deployment and environment."""
    action = choose.weighted(actions)
    spec: Document = {"action": action}
    if action == "adopt" or (action == "rollback" and choose.chance(30)):
        spec["to"] = choose.one(fleet.tags.get(job["deployment"]) or ["v1"])
    if choose.chance(70):
        return {"target": {**spec, "target": _of(job)}}
    return {"targets": {**spec, "deployment": job["deployment"], "environment": job["environment"]}}


def _published(choose: Chooser, fleet: Fleet, deployment: str) -> Document:
    tags = fleet.tags.setdefault(deployment, [])
    tag = f"w{len(tags)}"
    tags.append(tag)
    return {"publish": {"deployment": deployment, "tag": tag}}


def while_it_runs(choose: Chooser, fleet: Fleet, job: Document) -> Document:
    status = choose.one((*LIVE_STATUSES, *ENDED_STATUSES))
    found: dict[Any, int] = {
        lambda: {"report": {"target": _of(job), "status": status}}: 30,
        lambda: _rejected(choose, job): 25,
        lambda: {"setVersion": {**_named(job), "status": choose.one(("paused", "failed", "ready"))}}: 10,
        lambda: _published(choose, fleet, job["deployment"]): 15,
        lambda: _gone(choose, job): 20,
    }
    made: Document = choose.weighted(found)()
    return made


def after_success(choose: Chooser, fleet: Fleet, job: Document) -> Document:
    if choose.chance(30):
        return _rejected(choose, job)
    return _ordered(choose, fleet, job, {"rollback": 50, "redeploy": 30, "adopt": 10, "retry": 10})


def after_failure(choose: Chooser, fleet: Fleet, job: Document) -> Document:
    if choose.chance(20):
        return _rejected(choose, job)
    if choose.chance(15):
        return _published(choose, fleet, job["deployment"])
    return _ordered(choose, fleet, job, {"retry": 45, "rollback": 35, "redeploy": 10, "adopt": 10})


def _place(group: Document) -> Document:
    return {"environment": group["environment"], "resource": group["resource"]}


def _member(choose: Chooser, group: Document, *states: str) -> str | None:
    names = [m["deployment"] for m in group["members"] if not states or m["state"] in states]
    return choose.one(names) if names else None


def _on_a_cycle(choose: Chooser, group: Document, actions: dict[str, int]) -> Document:
    action = choose.weighted(actions)
    spec: Document = {"action": action, **_place(group)}
    member = _member(choose, group, "failed") or _member(choose, group)
    if member is not None and (action == "skipMember" or (action == "retry" and choose.chance(30))):
        spec["member"] = member
    if action == "abort" and choose.chance(40):
        spec["postHooks"] = False
    return {"group": spec}


def after_a_failed_cycle(choose: Chooser, fleet: Fleet, group: Document) -> Document:
    member = _member(choose, group, "failed", "succeeded", "rolledBack") or _member(choose, group)
    if member is not None and choose.chance(30):
        about = {"deployment": member, **_place(group)}
        if choose.chance(40):
            return _published(choose, fleet, member)
        return _ordered(choose, fleet, about, {"rollback": 60, "retry": 30, "redeploy": 10})
    return _on_a_cycle(choose, group, {"retry": 40, "skipMember": 25, "abort": 20, "release": 15})


def in_a_cycle(choose: Chooser, fleet: Fleet, group: Document) -> Document:
    member = _member(choose, group)
    if member is not None and choose.chance(50):
        about = {"deployment": member, **_place(group)}
        return _gone(choose, about) if choose.chance(50) else _published(choose, fleet, member)
    return _on_a_cycle(choose, group, {"abort": 40, "skipMember": 35, "release": 25})


def before_a_cycle(choose: Chooser, fleet: Fleet, group: Document) -> Document:
    locked = [
        {"deployment": member["deployment"], "version": member["version"]}
        for member in group["members"]
        if member["version"] is not None
    ]
    if locked and choose.chance(50):
        return _rejected(choose, choose.one(locked))
    return _on_a_cycle(choose, group, {"abort": 50, "skipMember": 40, "release": 10})


def _gone(choose: Chooser, about: Document) -> Document:
    """The resource, or the deployment there, goes; or the rules that hold it."""
    node, owner = about["resource"], about["deployment"]
    return choose.one(
        (
            {"delete": {"kind": "Resource", "name": node}},
            {"apply": manifest("Resource", node, {"kind": "Gone", "metadata": {"zone": "c"}})},
            {"apply": manifest("Resource", node, {"kind": "Node", "metadata": {"zone": "a"}})},
            {"apply": manifest("Deployment", owner, {"resourceSelector": f"resource.name != '{node}'"})},
            {"apply": manifest("Deployment", owner, {"resourceSelector": "true"})},
            {"delete": {"kind": "Policy", "name": "policy-1"}},
            {"freeze": {"name": "stop-1", "selector": "true", "reason": "an incident", "expiresAt": "+30m"}},
        )
    )
