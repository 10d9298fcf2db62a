"""Device claims: templates with requests, and references that say what they share and with whom."""

from collections.abc import Iterator

from headgate.kernel.objects import Key, Object
from headgate.workload import model, names
from headgate.workload.checks import view as views
from headgate.workload.checks import words
from headgate.workload.checks.view import DocumentView, ListEntry, repeated

LONGEST_NAME = words.LONGEST_LABEL - max(map(len, (names.claim_in_pod(level, "") for level in names.LEVELS)))
"""Leaves room for what pods put before it."""


def check(view: DocumentView) -> None:
    """Types, required fields and scopes are a matter of reading."""
    templates = view.template.entries("resourceClaimTemplates")
    for template in templates:
        _check_name(view, template)
        devices = template.entry("templateSpec").entry("spec").entry("devices")
        if not devices.entries("requests"):
            view.refuse(devices.at("requests"), "is required: at least one device is requested")
    for path, name in repeated((template.at("name"), template.text("name")) for template in templates):
        view.refuse(path, f'"{name}" is taken; names of claim templates are unique')
    groups = frozenset(text for group in view.groups if (text := group.text("name")))
    _check_sharing(view, view.template, view.clique_names, groups)
    for group in view.groups:
        _check_sharing(view, group, frozenset(group.texts("cliqueNames")), frozenset())
    for clique in view.cliques:
        _check_sharing(view, clique, frozenset(), frozenset())
        _check_pods(view, clique)


def shares_devices(item: Object) -> bool:
    """Of a set that may be broken."""
    return any(owner.has("resourceSharing") for owner in _owners(views.of(item, is_new=False)))


def templates_of_cluster(item: Object) -> list[Key]:
    """The ResourceClaimTemplates that a set, which may be broken, refers to beside its own."""
    if not shares_devices(item):
        return []
    view = views.of(item, is_new=False)
    own = _own_templates(view)
    places = {
        (reference.text("namespace") or item.namespace, name): None
        for owner in _owners(view)
        for reference in owner.entries("resourceSharing")
        if (name := reference.text("name")) and name not in own
    }
    return [Key(model.CLAIM_GROUP, model.CLAIM_TEMPLATE_KIND, *place) for place in places]


def _owners(view: DocumentView) -> Iterator[ListEntry]:
    yield view.template
    yield from view.groups
    yield from view.cliques


def _own_templates(view: DocumentView) -> set[str]:
    templates = view.template.entries("resourceClaimTemplates")
    return {text for template in templates if (text := template.text("name"))}


def _check_sharing(
    view: DocumentView, owner: ListEntry, cliques: frozenset[str], groups: frozenset[str]
) -> None:
    own = _own_templates(view)
    references = owner.entries("resourceSharing")
    for reference in references:
        _check_name(view, reference)
        name, namespace = reference.text("name"), reference.text("namespace")
        if name in own and namespace:
            view.refuse(reference.at("namespace"), f'must be empty: "{name}" is a claim template of this set')
        problem = words.subdomain_problem(namespace) if namespace else None
        if problem:
            view.refuse(reference.at("namespace"), problem)
        if isinstance(reference.value.get("filter"), dict):
            _check_filter(view, reference.entry("filter"), cliques, groups)
    for path, name in repeated((reference.at("name"), reference.text("name")) for reference in references):
        view.refuse(path, f'"{name}" is referred to twice')


def _check_name(view: DocumentView, entry: ListEntry) -> None:
    """A stored set keeps the name that it has: it may not change."""
    name = entry.text("name")
    if name == "":
        view.refuse(entry.at("name"), "is required")
    elif name is not None and view.is_new:
        problem = words.name_problem(name)
        if problem is None and len(name) > LONGEST_NAME:
            problem = f"is {len(name)} characters long; allowed are {LONGEST_NAME}, because pods name claims after it"
        if problem:
            view.refuse(entry.at("name"), problem)


def _check_pods(view: DocumentView, clique: ListEntry) -> None:
    """Claims that the pods of a clique bring along must leave the shared ones their names."""
    group = view.grouped_cliques.get(clique.text("name") or "")
    owners: list[tuple[names.Level, ListEntry]] = [("set", view.template), ("clique", clique)]
    owners += [("group", each) for each in view.groups if group and each.text("name") == group]
    shared = {
        names.claim_in_pod(level, name)
        for level, owner in owners
        for reference in owner.entries("resourceSharing")
        if (name := reference.text("name"))
    }
    for claim in clique.entry("spec").entry("podSpec").entries("resourceClaims"):
        if claim.text("name") in shared:
            view.refuse(
                claim.at("name"),
                f'"{claim.text("name")}" is what pods call a claim that resourceSharing brings',
            )


def _check_filter(
    view: DocumentView, chosen: ListEntry, cliques: frozenset[str], groups: frozenset[str]
) -> None:
    named = False
    for key, known in (("childCliqueNames", cliques), ("childScalingGroupNames", groups)):
        for index, name in enumerate(chosen.texts(key)):
            named = True
            if name not in known:
                allowed = ", ".join(sorted(known)) or "none"
                view.refuse(f"{chosen.at(key)}[{index}]", f'"{name}" is not found here; there are {allowed}')
    if not named:
        view.refuse(chosen.path, "must name at least one clique or scaling group")
