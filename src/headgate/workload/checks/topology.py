"""Topology constraints: one topology for the whole set, packed by what is required or preferred."""

from headgate.workload.checks.view import DocumentView, ListEntry


def check(view: DocumentView) -> None:
    inherited = view.template.entry("topologyConstraint").text("topologyName")
    first = inherited
    for owner in (view.template, *view.groups, *view.cliques):
        if not owner.has("topologyConstraint"):
            continue
        constraint = owner.entry("topologyConstraint")
        _check_packing(view, constraint)
        name = constraint.text("topologyName")
        if not name and not inherited:
            view.refuse(constraint.at("topologyName"), "is required: there is none to inherit")
        if name and first and name != first:
            view.refuse(
                constraint.at("topologyName"), f'is "{name}" and "{first}" elsewhere; a set has one topology'
            )
        first = first or name


def _check_packing(view: DocumentView, constraint: ListEntry) -> None:
    if constraint.has("packDomain") and constraint.has("pack"):
        view.refuse(constraint.at("packDomain"), "must not be set together with pack")
    elif constraint.has("packDomain") and view.is_new:
        view.refuse(constraint.at("packDomain"), "must not be set on new objects; say pack.required")
    if constraint.has("pack") and not any(
        constraint.entry("pack").has(key) for key in ("required", "preferred")
    ):
        view.refuse(constraint.at("pack"), "must say required or preferred")
