"""From a result to the lines of its timeline: what happened when, to whom; equal lines of one moment become one."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from headgate.fleet.model import objects as model
from headgate.fleet.model import records
from headgate.fleet.state.state import Notice
from headgate.kernel import instants
from headgate.kernel.instants import Instant
from headgate.simulate.model.group_steps import GroupProgress
from headgate.simulate.model.result import Result

COLLAPSE_FROM = 4
"""So many equal lines of one moment are said once."""
NAMES_SHOWN = 3
_ENDED, _CLOSED, _STEP, _GROUP, _CONDITION, _BEGUN, _STARTED, _NOTICE = range(8)

_ALSO_STEPS = ("version.rejected", "freeze.ended")
"""What a step of the file may have done, which is said then."""
JOB_RANKS = frozenset({_ENDED, _STARTED})

_GROUP_EVENTS = {
    "collecting": "window opens",
    "ready": "ready",
    "queued": "queued behind the group before it",
    "executing": "cycle starts",
    "completed": "cycle complete",
    "failed": "cycle failed, slot held",
    "rolledBack": "cycle rolled back",
    "aborted": "cycle aborted",
    "superseded": "superseded by a newer group",
    "merged": "merged into the running cycle",
}


class TimelineLine(msgspec.Struct, frozen=True, order=True):
    """`rank` orders the lines of a moment as the moment itself goes: ends, steps, groups, starts, notices."""

    at: Instant
    rank: int
    what: str
    event: str
    note: str = ""
    who: str = ""
    noun: str = "resources"
    """What several of `who` are."""


def lines(result: Result) -> list[TimelineLine]:
    """From the start on: of a fleet that was moving already, what came before is not told."""
    all_lines = (
        *_steps(result),
        *_groups(result),
        *_jobs(result),
        *_pods(result),
        *_graphs(result),
        *_own_lines(result),
        *_notices(result),
    )
    return _collapsed(line for line in all_lines if line.at >= result.start)


def place_of(result: Result) -> dict[tuple[str, str], str]:
    """Resources go by their name alone as long as that is unambiguous."""
    environments: dict[str, set[str]] = defaultdict(set)
    for job in result.jobs:
        environments[job.resource].add(job.environment)
    for group in result.groups:
        environments[group.resource].add(group.environment)
    return {
        (environment, resource): resource if len(several) == 1 else f"{environment}/{resource}"
        for resource, several in environments.items()
        for environment in several
    }


def _steps(result: Result) -> Iterator[TimelineLine]:
    for played in result.played:
        yield TimelineLine(played.at, _STEP, played.what, played.event)


def _groups(result: Result) -> Iterator[TimelineLine]:
    places = place_of(result)
    before: dict[str, GroupProgress] = {}
    ranks: dict[tuple[str, Instant], int] = {}
    for step in result.group_steps:
        who = places[step.environment, step.resource]
        event, note = _told_of_group(result, step, before.get(step.group))
        before[step.group] = step
        moment = (step.group, step.at)
        rank = ranks[moment] = max(_rank_of(step.status), ranks.get(moment, 0))
        yield TimelineLine(step.at, rank, step.policy, event, note, who)


def _told_of_group(result: Result, step: GroupProgress, before: GroupProgress | None) -> tuple[str, str]:
    """The event and its note."""
    event = _GROUP_EVENTS[step.status]
    if step.status == "collecting":
        return _told_of_opening(result, step)
    if step.status == "ready" and before is not None and before.status == "collecting":
        return "window closes" if _has_window(before) else event, f"locks {_locked(result, step)}"
    if step.status == "executing":
        return event, _slots(result, step.at, step.resource)
    return event, step.reason


def _told_of_opening(result: Result, step: GroupProgress) -> tuple[str, str]:
    ends = clock(result, step.window_ends_at)
    if _has_window(step):
        return _GROUP_EVENTS[step.status], f"until {ends}"
    is_late = step.window_ends_at < step.at
    return "group opens", f"its window ended {ends}" if is_late else "without a window"


def _has_window(opened: GroupProgress) -> bool:
    return opened.window_ends_at > opened.at


def _rank_of(status: str) -> int:
    """Within a moment a group is told of in its own order, so none of its lines has a lower one than the line before."""
    if status == "executing":
        return _BEGUN
    return _CLOSED if status in records.GROUP_ENDED or status == "failed" else _GROUP


def _slots(result: Result, moment: Instant, resource: str) -> str:
    """How full the budgets are in which the resource took a slot in this moment."""
    points = [usage.taken_at(moment, resource) for usage in result.usage]
    return ", ".join(dict.fromkeys(f"slots {point.used} of {point.limit}" for point in points if point))


def _locked(result: Result, step: GroupProgress) -> str:
    versions = [f"{deployment} {result.tags.get(version, version)}" for deployment, version in step.locked]
    return ", ".join(versions) or "nothing new"


def _jobs(result: Result) -> Iterator[TimelineLine]:
    places = place_of(result)
    for job in result.jobs:
        who = places[job.environment, job.resource]
        what = f"{job.deployment} {job.tag}"
        yield TimelineLine(job.created_at, _STARTED, what, "started", _start_note(result, job), who)
        if job.completed_at is not None:
            note = f"after {_took(job.completed_at - (job.started_at or job.created_at))}"
            note += f": {job.message}" if job.message else ""
            yield TimelineLine(job.completed_at, _ENDED, what, _outcome(job), note, who)


def _took(span: int) -> str:
    """Real jobs take odd times; nobody counts the milliseconds of minutes."""
    if span >= instants.minutes(1):
        span -= span % instants.MICROSECONDS_PER_SECOND
    return instants.show_duration(span)


def _start_note(result: Result, job: records.Job) -> str:
    notes: list[str] = [] if job.kind == "deploy" else [job.kind]
    if job.attempt > 1:
        notes.append(f"attempt {job.attempt}")
    if job.group is None and (slots := _slots(result, job.created_at, job.resource)):
        notes.append(slots)
    return ", ".join(notes)


def _outcome(job: records.Job) -> str:
    return job.status if job.status in ("successful", *model.JOB_LIVE) else job.status.upper()


def _pods(result: Result) -> Iterator[TimelineLine]:
    for workload in result.workloads:
        for pod in workload.pods:
            row = workload.rows[pod.row]
            group = f"{row.group.replace(' ', '-')}-" if row.group else ""
            who = f"{workload.name}-{row.replica}-{group}{row.clique}-{row.index}"
            what = f"{row.clique} r{pod.revision}"
            yield TimelineLine(
                pod.created_at, _STARTED, what, "created", "surge" if row.is_surge else "", who, "pods"
            )
            if pod.ready:
                yield TimelineLine(pod.ready[0][0], _ENDED, what, "ready", "", who, "pods")
            if pod.deleted_at is not None:
                yield TimelineLine(pod.deleted_at, _BEGUN, what, "deleted", "", who, "pods")
    for item in result.conditions:
        if item["kind"] == "PodCliqueSet":
            event = f"{item['type']} is {item['status']}"
            note = ": ".join(part for part in (item["reason"], item["message"]) if part)
            yield TimelineLine(
                instants.parse(item["at"]), _CONDITION, f"{item['kind']} {item['name']}", event, note
            )


def _graphs(result: Result) -> Iterator[TimelineLine]:
    for graph in result.graphs:
        for row in graph.rows:
            what = f"{graph.instance} {row.node}"
            for number, (at, revision) in enumerate(row.writes):
                event = f"{'updated' if number else 'created'}, revision {revision}"
                yield TimelineLine(at, _STARTED, what, event, "", row.name, "objects")
            written_at = {at for at, _ in row.writes}
            for at, is_ready in row.ready:
                if is_ready or at not in written_at:
                    event = "ready" if is_ready else "not ready"
                    yield TimelineLine(at, _ENDED, what, event, "", row.name, "objects")
            if row.deleted_at is not None:
                yield TimelineLine(row.deleted_at, _BEGUN, what, "deleted", "", row.name, "objects")
    for item in result.conditions if result.graphs else ():
        if item["type"] == "ResourcesPropagated":
            event = f"{item['type']} is {item['status']}"
            note = ": ".join(part for part in (item["reason"], item["message"]) if part)
            yield TimelineLine(
                instants.parse(item["at"]), _CONDITION, f"{item['kind']} {item['name']}", event, note
            )


def _own_lines(result: Result) -> Iterator[TimelineLine]:
    """What no job, group or step of the file says already, though it is why the rest happens."""
    places = place_of(result)
    steps = {(played.at, played.what) for played in result.played}
    for at, notice in result.notices:
        line = _of_notice(at, notice, places)
        is_by_person = notice.type in _ALSO_STEPS and line is not None and (at, line.what) in steps
        if line is not None and not is_by_person:
            yield line


def _of_notice(at: Instant, notice: Notice, places: Mapping[tuple[str, str], str]) -> TimelineLine | None:
    data = {key: str(value) for key, value in notice.data.items()}
    version = f"{data.get('deployment')} {data.get('version')}"
    rule = f"{data.get('policy')}, {data.get('rule')}"
    who = places.get((data.get("environment", ""), data.get("resource", "")), "")
    message = notice.message
    match notice.type:
        case "version.rejected":
            return TimelineLine(at, _STEP, version, "marked as bad", message.partition(" rejected ")[2])
        case "verification.failed":
            return TimelineLine(
                at, _CLOSED, version, "verification FAILED", message.partition(" failed: ")[2], who
            )
        case "budget.stopped":
            return TimelineLine(
                at, _STEP, rule, "LINE STOPPED", message.partition(": the line is stopped ")[2]
            )
        case "group.stuck":
            return TimelineLine(at, _GROUP, data["policy"], "stuck", message.partition(" is stuck, ")[2], who)
        case "agent.lost":
            return TimelineLine(at, _NOTICE, f"agent {notice.name}", "lost", message)
        case "freeze.ended":
            return TimelineLine(at, _STEP, f"freeze {notice.name}", "ends", message.partition(" ended: ")[2])
        case "PutBack":
            return TimelineLine(at, _NOTICE, f"{notice.kind} {notice.name}", "put back", message)
    return None


def _notices(result: Result) -> Iterator[TimelineLine]:
    for refused in result.rejected:
        for problem in refused.errors:
            yield TimelineLine(refused.at, _NOTICE, refused.step, "refused", " ".join(str(problem).split()))
    for warning in result.warnings:
        yield TimelineLine(
            warning.at, _NOTICE, f"{warning.target} {warning.version}".strip(), "warning", warning.message
        )
    for violation in result.violations:
        yield TimelineLine(violation.at, _NOTICE, violation.promise, "PROMISE BROKEN", violation.message)


def _collapsed(timeline: Iterable[TimelineLine]) -> list[TimelineLine]:
    alike: dict[tuple[Instant, int, str, str, str, str], list[str]] = defaultdict(list)
    for line in timeline:
        alike[line.at, line.rank, line.what, line.event, line.note, line.noun].append(line.who)
    merged: list[TimelineLine] = []
    for (at, rank, what, event, note, noun), names in alike.items():
        if len(names) < COLLAPSE_FROM or not names[0]:
            merged.extend(TimelineLine(at, rank, what, event, note, who, noun) for who in names)
        else:
            several = sorted(names, key=natural)
            names_shown = f"{', '.join(several[:NAMES_SHOWN])} and {len(names) - NAMES_SHOWN} more"
            note = f"{note}; {names_shown}" if note else names_shown
            merged.append(TimelineLine(at, rank, what, event, note, f"{len(names)} {noun}", noun))
    return sorted(merged, key=_reading_order)


def _reading_order(line: TimelineLine) -> tuple[object, ...]:
    """Steps of one moment stay as the file has them, conditions as they changed, and so do the groups of a resource."""
    if line.rank in (_STEP, _CONDITION):
        return line.at, line.rank
    if line.rank in (_CLOSED, _GROUP, _BEGUN):
        return line.at, line.rank, natural(line.who), line.what
    return line.at, line.rank, natural(line.who), line.what, line.event, line.note


def natural(name: str) -> list[str | int]:
    """node-2 before node-10: text and numbers take turns, so that each is compared with its like."""
    return [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", name)]


def clock(result: Result, moment: Instant) -> str:
    """`Day 2 09:05`: days count from the one the scenario starts on, in UTC; of the real world the moment itself."""
    if result.has_dates:
        return instants.show_to_the_second(moment)
    first = instants.to_datetime(result.start).date()
    now = instants.to_datetime(moment)
    text = now.strftime("%H:%M:%S" if now.second else "%H:%M")
    return f"Day {(now.date() - first).days + 1} {text}"


def offset(result: Result, moment: Instant) -> str:
    """Whole hours and minutes, as a person counts a rollout: `+24h05m`."""
    total = (moment - result.start) // instants.MICROSECONDS_PER_SECOND
    hours, rest = divmod(total, 3600)
    minutes, seconds = divmod(rest, 60)
    text = f"+{hours}h{minutes:02d}m" if hours else f"+{minutes}m"
    return text + (f"{seconds:02d}s" if seconds else "")
