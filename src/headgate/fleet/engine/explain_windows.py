"""When the collection window of a site closes, and which hooks it waits for."""

from __future__ import annotations

from headgate.fleet.cycles import choosing, collecting, locking
from headgate.fleet.cycles.choosing import Choices
from headgate.fleet.engine import waits
from headgate.fleet.gates import gates
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.model.records import Group
from headgate.fleet.state import candidates
from headgate.fleet.state.state import GateResult, State
from headgate.fleet.state.units import Site, Target
from headgate.kernel import decisions, instants
from headgate.kernel.decisions import Reason
from headgate.kernel.instants import Instant


def of_window(state: State, site: Site, now: Instant) -> GateResult:
    group, repair = site.collecting, locking.repair_ahead(state, site)
    if repair is not None:
        verdict = decisions.pending(
            Reason.AWAITING_CYCLE,
            f"waits until group {repair.id} has started, which goes back or deploys again: repairs go first",
        )
        return GateResult(site.rule, site.rule.kind, verdict)
    if group is None:
        verdict = decisions.pending(
            Reason.COLLECTING, "no collection window is open yet: no new version has passed its gates"
        )
        return GateResult(site.rule, site.rule.kind, verdict)
    fresh = collecting.fresh_versions(state, site)
    close_at = collecting.close_time(site, group, fresh)
    if now < close_at:
        opened = instants.show_to_the_second(group.collection_started_at)
        verdict = decisions.pending(
            Reason.COLLECTING,
            f"collection window open since {opened}, {_when_it_closes(site, group, fresh, close_at, now)}",
            requeue_at=close_at if now >= group.collection_ends_at else group.collection_ends_at,
        )
    else:
        verdict = _held_open(state, site, fresh, now)
    return GateResult(site.rule, site.rule.kind, verdict)


def _when_it_closes(
    site: Site, group: Group, fresh: collecting.Fresh, close_at: Instant, now: Instant
) -> str:
    """`wait_for_all` closes as soon as everyone has a new version; `require_all` not before the window's end."""
    spec = site.rule.spec
    closes = f"closes at {instants.show_to_the_second(close_at)}"
    missing = ", ".join(collecting.without_new_version(site, fresh))
    waits_for_all = spec.readiness_mode == "wait_for_all"
    if not missing or not (waits_for_all or spec.unchanged_member_strategy == "require_all"):
        return closes
    if waits_for_all or now >= group.collection_ends_at:
        return f"{closes} or as soon as every one of {missing} has a new version"
    ends = instants.show_to_the_second(group.collection_ends_at)
    return (
        f"closes at {ends} if every one of {missing} has a new version by then, "
        f"else as soon as they have, at {instants.show_to_the_second(close_at)} at the latest"
    )


def _held_open(state: State, site: Site, fresh: collecting.Fresh, now: Instant) -> decisions.Verdict:
    stays = "collection window stays open"
    coming = collecting.awaited(state, site)
    if coming:
        message = f"{stays} until the cycle here has ended that {', '.join(coming)} still belongs to"
        return decisions.pending(Reason.AWAITING_CYCLE, message)
    choices = Choices(state, site, now, Blockers())
    choices.choose_all()
    _, missing, _ = choosing.hook_locks(choices, site, Blockers())
    if missing:
        message = f"{stays}: there is no allowed version of {', '.join(missing)}"
        return missing_verdict(state, site, missing, message, now)
    waiting = ", ".join(f"{name} {versions[0].tag}" for name, versions in sorted(fresh.items()))
    message = f"{stays} until the gates of a new version allow it: {waiting}"
    return decisions.pending(Reason.COLLECTING, message)


def missing_sentence(hooks: list[str]) -> str:
    return f"waits for an allowed version of the hook {', '.join(hooks)}"


def missing_verdict(
    state: State, site: Site, hooks: list[str], message: str, now: Instant, group: Group | None = None
) -> decisions.Verdict:
    """A hook without a version is waited for. Only a person can bring one, unless a version of it waits for something
    else: a time, another environment."""
    started = group is not None and group.started_at is not None
    return decisions.pending(
        Reason.AWAITING_DEPENDENCY,
        message,
        missing_hooks=hooks,
        by_person=any(not _may_come_by_itself(state, site.members[name], now) for name in hooks),
        group=group.id if group is not None and started else None,
    )


def _may_come_by_itself(state: State, hook: Target, now: Instant) -> bool:
    """Whether one of the hook's versions waits for no person."""
    watermark = candidates.watermark_of(state, hook)
    return any(
        all(
            one.is_allowed or not waits.needs_person(one)
            for one in gates.of_version(state, hook, version, now)
        )
        for version in candidates.newest_first(hook)
        if watermark is None or version.sort_key >= watermark
    )
