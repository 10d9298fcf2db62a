"""What may not change once a set exists: its composition, who starts after whom, and what gangs are built on."""

from typing import Any

from headgate.kernel.documents import describe
from headgate.kernel.objects import Object
from headgate.workload import labels, model
from headgate.workload.checks import view
from headgate.workload.checks.view import DocumentView, ListEntry


def check(seen: DocumentView, given: Object, old: Object) -> None:
    """`given` is the object as written, before defaults: what it does not say it does not change."""
    before = view.of(old, is_new=False)
    written = view.of(given, is_new=False)
    _same(seen, seen.annotations, before.annotations, (labels.NVLINK_GROUP,))
    _check_composition(seen, before)
    _check_order(seen, before)
    _same(
        seen,
        seen.template,
        before.template,
        ("cliqueStartupType", "resourceClaimTemplates", "resourceSharing"),
    )
    _check_topology(seen, seen.template, before.template)
    for clique, previous in _pairs(seen.cliques, before.cliques):
        spec, previous_spec = clique.entry("spec"), previous.entry("spec")
        _same(seen, spec, previous_spec, ("roleName", "startsAfter"))
        _same(seen, spec.entry("podSpec"), previous_spec.entry("podSpec"), ("schedulerName",))
        _same(seen, clique, previous, ("resourceSharing",))
        _same(seen, clique.entry("annotations"), previous.entry("annotations"), (labels.NVLINK_GROUP,))
        _check_topology(seen, clique, previous)
    for clique, previous in _pairs(written.cliques, before.cliques):
        _check_min_available(seen, clique.entry("spec"), previous.entry("spec"))
    for group, previous in _pairs(written.groups, before.groups):
        _check_min_available(seen, group, previous)
    for group, previous in _pairs(seen.groups, before.groups):
        _same(seen, group, previous, ("cliqueNames", "resourceSharing"))
        _same(seen, group.entry("annotations"), previous.entry("annotations"), (labels.NVLINK_GROUP,))
        _check_topology(seen, group, previous)


def _check_composition(seen: DocumentView, before: DocumentView) -> None:
    for key, noun, now, then in (
        ("cliques", "clique", seen.cliques, before.cliques),
        ("podCliqueScalingGroups", "scaling group", seen.groups, before.groups),
    ):
        path = seen.template.at(key)
        new_names, old_names = _names(now), _names(then)
        for name in sorted(new_names - old_names):
            seen.refuse(path, f'{noun} "{name}" must not be added; the composition of a set does not change')
        for name in sorted(old_names - new_names):
            seen.refuse(
                path, f'{noun} "{name}" must not be removed; the composition of a set does not change'
            )


def _check_order(seen: DocumentView, before: DocumentView) -> None:
    kind = before.template.value.get("cliqueStartupType")
    if kind not in (model.IN_ORDER, model.EXPLICIT):
        return
    now, then = ([clique.text("name") for clique in pcs.cliques] for pcs in (seen, before))
    if sorted(map(str, now)) != sorted(map(str, then)):
        return
    for position, (name, expected) in enumerate(zip(now, then)):
        if name != expected:
            seen.refuse(
                f"{seen.template.at('cliques')}[{position}].name",
                f'is "{name}"; must stay "{expected}": with {kind} the order of cliques does not change',
            )


def _same(seen: DocumentView, now: ListEntry, then: ListEntry, keys: tuple[str, ...]) -> None:
    for key in keys:
        new, old = _plain(now.value.get(key)), _plain(then.value.get(key))
        if new != old:
            seen.refuse(now.at(key), f"must not change; it is {_rendered(old)} and would be {_rendered(new)}")


def _check_min_available(seen: DocumentView, written: ListEntry, then: ListEntry) -> None:
    """Left out, it stays as it is; only when there are fewer replicas than that does it follow them down."""
    if written.has("minAvailable"):
        _same(seen, written, then, ("minAvailable",))


def _plain(value: Any) -> Any:
    """Absent, null and empty say the same."""
    return None if value in (None, "", [], {}) else value


def _rendered(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return f"[{', '.join(value)}]"
    return describe(value).removeprefix("the number ")


def _check_topology(seen: DocumentView, now: ListEntry, then: ListEntry) -> None:
    key = "topologyConstraint"
    if now.has(key) != then.has(key):
        done = "added" if now.has(key) else "removed"
        seen.refuse(now.at(key), f"must not be {done} after creation")
        return
    _same(seen, now.entry(key), then.entry(key), ("topologyName",))


def _pairs(now: tuple[ListEntry, ...], then: tuple[ListEntry, ...]) -> list[tuple[ListEntry, ListEntry]]:
    previous = {entry.text("name"): entry for entry in then if entry.text("name")}
    return [(entry, previous[name]) for entry in now if (name := entry.text("name")) in previous]


def _names(entries: tuple[ListEntry, ...]) -> set[str]:
    return {name for entry in entries if (name := entry.text("name"))}
