"""Cliques: how many pods, how few are enough, what an autoscaler may do with them."""

from headgate.workload.checks.view import DocumentView, ListEntry


def check(view: DocumentView) -> None:
    if not view.cliques and isinstance(view.template.value.get("cliques") or [], list):
        view.refuse(view.template.at("cliques"), "is required: a set has at least one clique")
    grouped = view.grouped_cliques
    for clique in view.cliques:
        spec = clique.entry("spec")
        if clique.has("replicas") and spec.has("replicas"):
            view.refuse(
                clique.at("replicas"),
                f"is {clique.value['replicas']} and spec.replicas is {spec.value['replicas']}; "
                "it is short for spec.replicas, say it once",
            )
        check_counts(view, spec)
        group = grouped.get(clique.text("name") or "")
        if group is not None and spec.has("autoScalingConfig"):
            view.refuse(
                spec.at("autoScalingConfig"),
                f'is not allowed: the clique is in scaling group "{group}", which scales as one',
            )
        check_scaling(view, spec, spec.entry("autoScalingConfig"))


def check_counts(view: DocumentView, owner: ListEntry) -> None:
    """The same for a clique and a scaling group: at least one, and no more needed than there are."""
    replicas, min_available = owner.number("replicas"), owner.number("minAvailable")
    for key, count in (("replicas", replicas), ("minAvailable", min_available)):
        if count is not None and count < 1:
            view.refuse(owner.at(key), f"is {count}; must be greater than 0")
    if replicas is not None and min_available is not None and min_available > max(replicas, 1):
        view.refuse(
            owner.at("minAvailable"), f"is {min_available}; must not be greater than replicas, {replicas}"
        )


def check_scaling(view: DocumentView, owner: ListEntry, scaling: ListEntry) -> None:
    least, most = scaling.number("minReplicas"), scaling.number("maxReplicas")
    min_available, replicas = owner.number("minAvailable"), owner.number("replicas")
    if least is not None and min_available is not None and least < min_available:
        view.refuse(
            scaling.at("minReplicas"),
            f"is {least}; must be greater than or equal to minAvailable, {min_available}",
        )
    if most is not None and least is not None and most < least:
        view.refuse(
            scaling.at("maxReplicas"), f"is {most}; must be greater than or equal to minReplicas, {least}"
        )
    if most is not None and replicas is not None and most < replicas:
        view.refuse(
            scaling.at("maxReplicas"), f"is {most}; must be greater than or equal to replicas, {replicas}"
        )
