"""What can be seen of targets, groups and budgets, as documents: the same for what was, what is and what will be."""

from __future__ import annotations

from typing import Any

from headgate.fleet.engine.change_tracker import BUDGETS, GROUPS, TARGETS
from headgate.kernel import instants, rendering
from headgate.kernel.instants import Instant

Document = dict[str, Any]


def document(table: str, name: str, content: Any) -> Document:
    return _WRITERS[table](name, content)


def change(at: Instant, table: str, name: str, content: Any) -> Document:
    """What it is from that moment on; null under `row` when it is gone."""
    row = None if content is None else document(table, name, content)
    return {"at": instants.show(at), "table": table, "name": name, "row": row}


def is_of(table: str, name: str, content: Any, deployment: str | None, environment: str | None) -> bool:
    """Names of targets begin with their deployment and environment. Budgets are everybody's."""
    if table == TARGETS:
        own, place, _ = name.split("/", 2)
        return deployment in (None, own) and environment in (None, place)
    if table == GROUPS and content is not None:
        members = deployment is None or deployment in content["members"]
        return members and environment in (None, content["environment"])
    return True


def _target(name: str, content: Any) -> Document:
    state, current, reason, job = content
    job_facts = None if job is None else {"id": job[0], "status": job[1], "version": job[2]}
    return {"name": name, "state": state, "current": current, "reason": reason, "job": job_facts}


def _group(name: str, content: Any) -> Document:
    return {"id": name, **content}


def _budget(name: str, content: Any) -> Document:
    """What was written down before holders were is shown without them."""
    return {
        "name": name,
        "holders": [],
        **content,
        "stoppedAt": rendering.render_or_none(content["stoppedAt"]),
    }


_WRITERS = {TARGETS: _target, GROUPS: _group, BUDGETS: _budget}
