"""Revisions: what of a template counts, by which name it goes, and how it is kept among the objects of the set."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from headgate.kernel.objects import Object, OwnerReference
from headgate.kernel.problems import Problem, Rejected
from headgate.workload import labels, model, names
from headgate.workload.model import Clique, PodCliqueSet, Template

API_VERSION = "apps/v1"
KIND = "ControllerRevision"
_HASH_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_HASH_LENGTH = 10


class Revision(msgspec.Struct, frozen=True):
    """Numbers count distinct contents in the order they first appeared, so going back to one is its old number."""

    number: int
    hash: str
    template: dict[str, Any]
    """The whole template as it was when this content first appeared."""
    clique_hashes: dict[str, str]


def revision_hash(pcs: PodCliqueSet) -> str:
    if "revision_hash" not in pcs.memo:
        pcs.memo["revision_hash"] = _digest(_content(pcs.template))
    known_hash: str = pcs.memo["revision_hash"]
    return known_hash


def clique_hash(pcs: PodCliqueSet, clique_name: str) -> str:
    return _digest(_clique_content(pcs.template, pcs.template.clique(clique_name)))


def clique_hashes(template: Template) -> dict[str, str]:
    return {clique.name: _digest(_clique_content(template, clique)) for clique in template.cliques}


def of(pcs: PodCliqueSet, known: Iterable[Revision]) -> Revision:
    """The revision of what the set wants now: a known one if its content has been seen, else the next."""
    wanted = revision_hash(pcs)
    latest = 0
    for revision in known:
        if revision.hash == wanted:
            return revision
        latest = max(latest, revision.number)
    return Revision(latest + 1, wanted, pcs.template_document, clique_hashes(pcs.template))


def template_at(pcs: PodCliqueSet, revision: Revision) -> Template:
    """The set's template as it stands, with the content of the revision in place of its own.

    Replicas, strategies and delays belong to no revision: they hold for every replica as soon as they are said.
    """
    if revision.hash == revision_hash(pcs):
        return pcs.template
    key = ("template_at", revision.hash)
    if key not in pcs.memo:
        pcs.memo[key] = _template_at(pcs, read_template(revision))
    template: Template = pcs.memo[key]
    return template


def _template_at(pcs: PodCliqueSet, then: Template) -> Template:
    cliques = tuple(
        _with_content_of(clique, then.cliques_by_name[clique.name])
        if clique.name in then.cliques_by_name
        else clique
        for clique in pcs.template.cliques
    )
    return msgspec.structs.replace(
        pcs.template, cliques=cliques, priority_class_name=then.priority_class_name
    )


def read_template(revision: Revision) -> Template:
    return model.read_template(revision.template)


def to_object(revision: Revision, pcs: PodCliqueSet) -> Object:
    name = names.revision(pcs.name, revision.hash)
    return Object(
        api_version=API_VERSION,
        kind=KIND,
        namespace=pcs.namespace,
        name=name,
        labels={**labels.of_set(pcs.name), labels.NAME: name, labels.REVISION: revision.hash},
        owners=(OwnerReference(model.KIND, pcs.name, pcs.uid),),
        other={
            "revision": revision.number,
            "data": {"template": revision.template, "cliqueHashes": revision.clique_hashes},
        },
    )


def from_object(item: Object) -> Revision:
    """Raises Rejected for an object that is not a revision of a set."""
    data = item.other.get("data")
    number = item.other.get("revision")
    stored_hash = item.labels.get(labels.REVISION)
    if (
        item.kind != KIND
        or not isinstance(data, Mapping)
        or not isinstance(number, int)
        or not stored_hash
        or not isinstance(data.get("template"), Mapping)
        or not isinstance(data.get("cliqueHashes"), Mapping)
    ):
        raise Rejected(
            [Problem("data", f"{item.kind} {item.name} is not a stored revision of a PodCliqueSet")]
        )
    return Revision(number, stored_hash, dict(data["template"]), dict(data["cliqueHashes"]))


def _with_content_of(clique: Clique, then: Clique) -> Clique:
    return msgspec.structs.replace(
        clique,
        labels=then.labels,
        annotations=then.annotations,
        spec=msgspec.structs.replace(clique.spec, pod_spec=then.pod_spec),
    )


def _content(template: Template) -> dict[str, Any]:
    """Cliques are listed by name; their order counts only where it is the order in which they start."""
    in_order = sorted(template.cliques, key=lambda clique: clique.name)
    content: dict[str, Any] = {
        "cliques": {clique.name: _clique_content(template, clique) for clique in in_order}
    }
    if template.startup_type == model.IN_ORDER:
        content["order"] = [clique.name for clique in template.cliques]
    return content


def _clique_content(template: Template, clique: Clique) -> dict[str, Any]:
    pod_spec = clique.pod_spec
    if template.priority_class_name:
        pod_spec = {**pod_spec, "priorityClassName": template.priority_class_name}
    return {
        "labels": clique.labels,
        "annotations": clique.annotations,
        "podSpec": _canonical(pod_spec),
    }


def _canonical(value: Any) -> Any:
    """One notation for equal content: a null field is an absent one, 1.0 is 1."""
    if isinstance(value, Mapping):
        return {key: _canonical(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _digest(content: dict[str, Any]) -> str:
    encoded = msgspec.json.encode(content, order="sorted")
    number = int.from_bytes(hashlib.sha256(encoded).digest(), "big")
    letters: list[str] = []
    for _ in range(_HASH_LENGTH):
        number, letter = divmod(number, len(_HASH_LETTERS))
        letters.append(_HASH_LETTERS[letter])
    return "".join(letters)
