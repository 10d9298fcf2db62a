"""Which version each member of a bracket would get if its window closed now."""

from __future__ import annotations

from collections.abc import Callable

from headgate.fleet.cycles import collecting, prerequisites, shape
from headgate.fleet.gates import gates, version_dependencies
from headgate.fleet.gates.blockers import Blockers
from headgate.fleet.gates.version_dependencies import NO_PROSPECTS, Prospects
from headgate.fleet.state import candidates, wakes
from headgate.fleet.state.state import State
from headgate.fleet.state.units import Site, Target, VersionNode
from headgate.kernel.instants import Instant

Locks = dict[str, VersionNode]


class Choices:
    """For each member the newest version that its gates allow now. One that depends on another member's version is chosen
    after that one: what the same cycle brings first counts as there."""

    def __init__(self, state: State, site: Site, now: Instant, blockers: Blockers) -> None:
        self.locks: Locks = {}
        self.since: dict[str, Instant] = {}
        """When the last gate of what was chosen was satisfied."""
        self._state = state
        self._site = site
        self._now = now
        self._blockers = blockers
        self._asked: set[str] = set()

    def choose_all(self) -> None:
        members = shape.of_site(self._site)
        for name in (*members.others, *members.hooks):
            self._choose(name)
        self._give_up_rings()

    def prospects_of(self, name: str, version: VersionNode) -> Prospects:
        """What the version may count on: what it depends on is chosen before it."""
        if not version.dependencies:
            return NO_PROSPECTS
        for other in version.dependencies:
            self._choose(other)
        site, state = self._site, self._state
        locks = prerequisites.locks_of(state, site.waiting) | self.locks
        return prerequisites.prospects_of(
            site, name, version, locks, prerequisites.locks_of(state, site.executing)
        )

    def _choose(self, name: str) -> None:
        """Once for each. Who is asked for while it is being chosen depends on itself: then what runs counts."""
        site = self._site
        target = site.members.get(name)
        if target is None or name in self._asked or not site.is_home_of(target):
            return
        self._asked.add(name)
        if shape.of_site(site).roles[name] == "member":
            self._choose_member(name, target)
        else:
            self._choose_hook(name, target)

    def _choose_member(self, name: str, target: Target) -> None:
        if collecting.is_about_to_go_back(self._site, name):
            return
        for version in collecting.lockable_versions(self._state, target, self._blockers.add_problem):
            if self._is_on_its_way(name, version):
                return
            since = self._eligible_since(target, version)
            if since is not None:
                self.locks[name], self.since[name] = version, since
                return

    def _choose_hook(self, name: str, target: Target) -> None:
        version = newest_hook(self._state, target, self._now, self._blockers, self.prospects_of)
        if version is not None:
            self.locks[name], self.since[name] = version, version.published_at

    def _eligible_since(self, target: Target, version: VersionNode) -> Instant | None:
        prospects = self.prospects_of(target.deployment.name, version)
        return collecting.eligible_since(self._state, target, version, self._now, self._blockers, prospects)

    def _is_on_its_way(self, deployment: str, version: VersionNode) -> bool:
        """The executing group runs it, or is about to."""
        executing = self._site.executing
        member = executing.member(deployment) if executing is not None else None
        return (
            member is not None
            and member.state in ("waiting", "retrying", "running")
            and version.id in (member.version, member.next_version)
        )

    def _give_up_rings(self) -> None:
        """Of versions that depend on each other none can run first, unless what runs will do for it."""
        while lost := next((name for name in self.locks if self._is_unmet(name)), None):
            del self.locks[lost]

    def _is_unmet(self, name: str) -> bool:
        version, target = self.locks[name], self._site.members[name]
        if not version.dependencies or version.id == target.record.deployed:
            return False
        return not version_dependencies.judge(
            self._state, version, target, self.prospects_of(name, version)
        ).is_allowed


def allowed_locks(choices: Choices, site: Site, fresh: collecting.Fresh) -> tuple[Locks, Instant]:
    """What members that are no hooks would get, and when the last of their gates was satisfied.

    Without a new version among them there are none: what was given up before opens no cycle by itself.
    """
    others = shape.of_site(site).others
    locks = {name: version for name, version in choices.locks.items() if name in others}
    if not any(locks.get(name) in versions for name, versions in fresh.items()):
        return {}, 0
    return locks, max(choices.since[name] for name in locks)


def hook_locks(choices: Choices, site: Site, blockers: Blockers) -> tuple[Locks, list[str], Instant]:
    """What the hooks would get, the hooks that have nothing, and since when the last was allowed."""
    locks = {name: version for name in _hooks(site) if (version := choices.locks.get(name)) is not None}
    return locks, _missing(site, locks, blockers), max((choices.since[name] for name in locks), default=0)


def hooks_alone(state: State, site: Site, now: Instant, blockers: Blockers) -> tuple[Locks, list[str]]:
    """Of a cycle that locks nothing new: the newest allowed version of each hook, and the hooks that have none."""
    newest = {name: newest_hook(state, site.members[name], now, blockers) for name in _hooks(site)}
    locks = {name: version for name, version in newest.items() if version is not None}
    return locks, _missing(site, locks, blockers)


def _hooks(site: Site) -> list[str]:
    return [name for name in shape.of_site(site).hooks if site.is_home_of(site.members[name])]


def _missing(site: Site, locks: Locks, blockers: Blockers) -> list[str]:
    missing = [name for name in _hooks(site) if name not in locks]
    for name in missing:
        blockers.watch(wakes.versions(name))
    return missing


def newest_hook(
    state: State,
    target: Target,
    now: Instant,
    blockers: Blockers,
    prospects_of: Callable[[str, VersionNode], Prospects] = lambda name, version: NO_PROSPECTS,
) -> VersionNode | None:
    """What runs needs no gate to run once more, unless somebody has vetoed it; nothing older does, unless what runs was
    rejected: without a hook no resource is prepared, or comes back."""
    deployed = candidates.deployed_version(state, target)
    watermark = None if deployed is None or deployed.is_rejected else deployed.sort_key
    for version in candidates.newest_first(target, blockers.add_problem):
        if watermark is not None and version.sort_key < watermark:
            break
        if version is deployed and not gates.is_vetoed(state, target, version, now):
            return version
        prospects = prospects_of(target.deployment.name, version)
        if collecting.eligible_since(state, target, version, now, blockers, prospects) is not None:
            return version
    return None
