"""Scaling groups: made of cliques that exist, each clique in one group at most."""

from headgate.workload.checks import cliques
from headgate.workload.checks.view import DocumentView


def check(view: DocumentView) -> None:
    known = view.clique_names
    first_group: dict[str, str] = {}
    for group in view.groups:
        name = group.text("name") or ""
        if not group.value.get("cliqueNames"):
            view.refuse(group.at("cliqueNames"), "is required: a scaling group has at least one clique")
        for index, clique in enumerate(group.texts("cliqueNames")):
            path = f"{group.at('cliqueNames')}[{index}]"
            if clique not in known:
                allowed = ", ".join(sorted(known)) or "none"
                view.refuse(path, f'"{clique}" is not a clique of this set; there are {allowed}')
            if clique in first_group:
                view.refuse(
                    path,
                    f'"{clique}" is in scaling group "{first_group[clique]}" already; '
                    "a clique is in one group at most, once",
                )
            first_group.setdefault(clique, name)
        cliques.check_counts(view, group)
        cliques.check_scaling(view, group, group.entry("scaleConfig"))
