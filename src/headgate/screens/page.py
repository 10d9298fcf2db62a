"""A run as one self-contained page: everything it shows is in the file, and it asks the network for nothing.

Its script and style are built from the source of the console, whose components it is made of.
"""

import base64
import hashlib
import json
from importlib import resources
from typing import Any

from headgate.fleet.model import records
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.screens import graph_text
from headgate.screens.timeline_lines import natural, place_of
from headgate.simulate.model.result import Graph, Result, Workload

_PARTS = {"STYLE": "page.css", "SCRIPT": "page.js"}


def render(result: Result) -> str:
    page = _part("page.html")
    for mark, file in _PARTS.items():
        page = page.replace(f"/*{mark}*/", _part(file))
    return page.replace("__DATA__", embedded(data(result)))


def script_hash() -> str:
    """Of the script in the page, for a policy that allows this one and no other."""
    return _hash(_PARTS["SCRIPT"])


def style_hash() -> str:
    return _hash(_PARTS["STYLE"])


def _hash(file: str) -> str:
    digest = hashlib.sha256(f"\n{_part(file)}\n".encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _part(name: str) -> str:
    return resources.files("headgate.screens").joinpath("page_files", name).read_text("utf-8")


def embedded(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def data(result: Result) -> dict[str, Any]:
    """Names are sent once and meant by their number: a thousand nodes are a few thousand rows."""
    places = place_of(result)
    names = sorted(set(places.values()), key=natural)
    row_of = {name: number for number, name in enumerate(names)}
    deployments = sorted({job.deployment for job in result.jobs})
    groups = sorted(
        result.ordered_groups(),
        key=lambda group: (group.collection_started_at, row_of[places[group.environment, group.resource]]),
    )
    group_numbers = {group.id: number for number, group in enumerate(groups)}
    return {
        "scenario": result.scenario,
        "seed": result.seed,
        "start": _ms(result.start),
        "end": _ms(result.end),
        "converged": result.converged,
        "wasCut": result.was_cut,
        "resources": names,
        "deployments": deployments,
        "jobs": [
            [
                row_of[places[job.environment, job.resource]],
                deployments.index(job.deployment),
                job.tag,
                job.status,
                _ms(job.created_at),
                _ms(job.completed_at),
                job.kind,
                job.attempt,
                group_numbers.get(job.group or "", -1),
                job.message or "",
                job.environment,
            ]
            for job in result.ordered_jobs()
        ],
        "groups": [
            _group(result, group, row_of[places[group.environment, group.resource]]) for group in groups
        ],
        "budgets": [
            {
                "label": f"{usage.policy}, {usage.rule}",
                "scope": usage.scope,
                "limit": usage.limit,
                "peak": usage.peak,
                "peakAt": _ms(usage.peak_at),
                "series": [[_ms(point.at), point.used, point.limit] for point in usage.series],
            }
            for usage in result.ordered_usage()
        ],
        "workloads": [_workload(workload) for workload in result.workloads],
        "graphs": [_graph(graph) for graph in result.graphs],
        "workloadBudgets": [
            [item.kind, item.scope, item.peak, item.limit] for item in result.workload_budgets if item.peak
        ],
        "steps": [[_ms(step.at), step.what, step.event] for step in result.played],
        "waiting": [[item.target, item.state, item.reason] for item in result.waiting],
        "rejected": [
            [_ms(item.at), item.step, "; ".join(str(problem) for problem in item.errors)]
            for item in result.rejected
        ],
        "warnings": [
            [_ms(item.at), f"{item.target} {item.version}", item.message] for item in result.warnings
        ],
        "violations": [[_ms(item.at), item.promise, item.message] for item in result.violations],
        "expectations": [[item.passed, item.name, item.message] for item in result.expectations],
    }


def _workload(workload: Workload) -> dict[str, Any]:
    return {
        "name": workload.name,
        "revisions": workload.revisions,
        "rows": [[row.replica, row.group, row.clique, row.index, row.is_surge] for row in workload.rows],
        "pods": [
            [
                pod.row,
                pod.name,
                pod.revision,
                _ms(pod.created_at),
                _ms(pod.scheduled_at),
                [[_ms(since), _ms(until)] for since, until in pod.ready],
                _ms(pod.deleted_at),
                _ms(pod.gone_at),
            ]
            for pod in workload.pods
        ],
    }


def _graph(graph: Graph) -> dict[str, Any]:
    return {
        "name": graph.instance,
        "revisions": graph.revisions,
        "edges": {node: list(after) for node, after in graph.edges.items()},
        "rows": [
            [
                row.node,
                row.name,
                [[_ms(at), revision] for at, revision in row.writes],
                [[_ms(since), _ms(until)] for since, until in graph_text.unready(row)],
                _ms(row.deleted_at),
            ]
            for row in graph.rows
        ],
    }


def _group(result: Result, group: records.Group, row: int) -> dict[str, Any]:
    return {
        "row": row,
        "policy": group.policy,
        "status": group.status,
        "history": [[_ms(step.at), step.status] for step in group.history],
        "members": [
            [
                member.deployment,
                member.role,
                result.tags.get(member.version, member.version) if member.version else None,
                member.state,
            ]
            for member in group.members
        ],
        "locked": _ms(group.locked_at),
        "started": _ms(group.started_at),
        "completed": _ms(group.completed_at),
    }


def _ms(instant: Instant | None) -> int | None:
    return None if instant is None else instant // (instants.MICROSECONDS_PER_SECOND // 1000)
