"""Device claims: templates with requests, and references that say what they share and with whom."""

from headgate.workload.checks.view import DocumentView, ListEntry, repeated

SCOPES = ("AllReplicas", "PerReplica")


def check(view: DocumentView) -> None:
    templates = view.template.entries("resourceClaimTemplates")
    for template in templates:
        if not template.text("name"):
            view.refuse(template.at("name"), "is required")
        devices = template.entry("templateSpec").entry("spec").entry("devices")
        if not devices.entries("requests"):
            view.refuse(devices.at("requests"), "is required: at least one device is requested")
    for path, name in repeated((template.at("name"), template.text("name")) for template in templates):
        view.refuse(path, f'"{name}" is taken; names of claim templates are unique')
    internal = {text for template in templates if (text := template.text("name"))}
    groups = frozenset(text for group in view.groups if (text := group.text("name")))
    _check_sharing(view, view.template, internal, view.clique_names, groups)
    for group in view.groups:
        _check_sharing(view, group, internal, frozenset(group.texts("cliqueNames")), frozenset())
    for clique in view.cliques:
        _check_sharing(view, clique, internal, frozenset(), frozenset())


def _check_sharing(
    view: DocumentView, owner: ListEntry, internal: set[str], cliques: frozenset[str], groups: frozenset[str]
) -> None:
    references = owner.entries("resourceSharing")
    for reference in references:
        name = reference.text("name")
        if not name:
            view.refuse(reference.at("name"), "is required")
        if name in internal and reference.text("namespace"):
            view.refuse(reference.at("namespace"), f'must be empty: "{name}" is a claim template of this set')
        scope = reference.value.get("scope")
        if scope not in SCOPES:
            view.refuse(reference.at("scope"), f"is {scope!r}; allowed are {', '.join(SCOPES)}")
        if isinstance(reference.value.get("filter"), dict):
            _check_filter(view, reference.entry("filter"), cliques, groups)
    for path, name in repeated((reference.at("name"), reference.text("name")) for reference in references):
        view.refuse(path, f'"{name}" is referred to twice')


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
