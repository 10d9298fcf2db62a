"""Names: well formed, short enough for the pods that carry them, and never two objects of one name."""

from collections.abc import Iterator, Mapping

from headgate.kernel.documents import field_path
from headgate.kernel.objects import Object
from headgate.workload import labels
from headgate.workload.checks import words
from headgate.workload.checks.view import DocumentView, ListEntry, repeated

LONGEST_COMBINED_NAME = 45
"""Leaves room for indices, dashes and the pod's suffix within the 63 characters of a hostname."""


def check(view: DocumentView, item: Object) -> None:
    _check_metadata(view, item)
    for clique in view.cliques:
        _check_name(view, clique)
        check_labels(view, clique.entry("labels"))
        check_annotations(view, clique.entry("annotations"))
    for group in view.groups:
        _check_name(view, group)
        check_annotations(view, group.entry("annotations"))
    _check_repeated(view)
    _check_lengths(view)
    _check_collisions(view)


def _check_metadata(view: DocumentView, item: Object) -> None:
    problem = words.subdomain_problem(item.name) if item.name else "is required"
    if problem:
        view.refuse("metadata.name", problem)
    if item.namespace and words.subdomain_problem(item.namespace):
        view.refuse("metadata.namespace", words.subdomain_problem(item.namespace) or "")
    check_labels(view, ListEntry("metadata.labels", item.labels))
    check_annotations(view, ListEntry("metadata.annotations", item.annotations))


def _check_name(view: DocumentView, entry: ListEntry) -> None:
    name = entry.text("name")
    if name is None:
        return
    problem = words.subdomain_problem(name) if name else "must not be empty"
    if problem:
        view.refuse(entry.at("name"), problem)


def check_labels(view: DocumentView, given: ListEntry) -> None:
    check_annotations(view, given)
    for key, value in _texts(given.value):
        problem = words.label_value_problem(value)
        if problem:
            view.refuse(field_path(given.path, key), problem)


def check_annotations(view: DocumentView, annotations: ListEntry) -> None:
    for key, _ in _texts(annotations.value):
        problem = words.key_problem(key)
        if problem:
            view.refuse(annotations.path, problem)
    nvlink_group = annotations.text(labels.NVLINK_GROUP)
    if nvlink_group is not None and words.name_problem(nvlink_group):
        view.refuse(annotations.at(labels.NVLINK_GROUP), words.name_problem(nvlink_group) or "")


def _texts(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for key, value in given.items():
        if isinstance(key, str) and isinstance(value, str):
            yield key, value


def _check_repeated(view: DocumentView) -> None:
    for path, name in repeated((clique.at("name"), clique.text("name")) for clique in view.cliques):
        view.refuse(path, f'"{name}" is taken; names of cliques are unique')
    roles = (
        (clique.entry("spec").at("roleName"), clique.entry("spec").text("roleName"))
        for clique in view.cliques
    )
    for path, role in repeated(roles):
        view.refuse(path, f'"{role}" is taken; role names are unique in a set')
    for path, name in repeated((group.at("name"), group.text("name")) for group in view.groups):
        view.refuse(path, f'"{name}" is taken; names of scaling groups are unique')


def _check_lengths(view: DocumentView) -> None:
    grouped = view.grouped_cliques
    for clique in view.cliques:
        name = clique.text("name") or ""
        if name in grouped:
            _check_length(view, clique.at("name"), set=view.name, group=grouped[name], clique=name)
        else:
            _check_length(view, clique.at("name"), set=view.name, clique=name)


def _check_length(view: DocumentView, path: str, **parts: str) -> None:
    length = sum(len(name) for name in parts.values())
    if length > LONGEST_COMBINED_NAME:
        listed = ", ".join(f'{part} "{name}"' for part, name in parts.items())
        view.refuse(
            path,
            f"the names of {listed} are {length} characters together; allowed are {LONGEST_COMBINED_NAME}, "
            "because pods are named after them",
        )


def _check_collisions(view: DocumentView) -> None:
    """A standalone clique called `x-0-y` has the PodClique name of clique `y` in replica 0 of group `x`."""
    grouped = view.grouped_cliques
    groups = {group.text("name") for group in view.groups}
    for clique in view.cliques:
        name = clique.text("name") or ""
        if not name or name in grouped:
            continue
        for member, group in grouped.items():
            if _is_numbered_between(name, group, member):
                view.refuse(
                    clique.at("name"),
                    f'"{name}" is also the name of clique "{member}" in a replica of scaling group "{group}"; '
                    "choose another",
                )
        if name in groups:
            view.warn(clique.at("name"), f'"{name}" is also a scaling group; their objects have equal names')


def _is_numbered_between(name: str, group: str, member: str) -> bool:
    prefix, suffix = f"{group}-", f"-{member}"
    if not (name.startswith(prefix) and name.endswith(suffix)):
        return False
    number = name[len(prefix) : len(name) - len(suffix)]
    return number.isascii() and number.isdigit() and str(int(number)) == number
