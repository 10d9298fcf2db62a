"""A document as people write it to an object, for every kind of the cluster. Raises Rejected for broken metadata."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.kernel import documents
from headgate.kernel.objects import Object
from headgate.kernel.problems import Problem, Rejected

_OWN_PLACES = ("apiVersion", "kind", "metadata", "spec", "status")


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    namespace: str = "default"
    uid: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    finalizers: tuple[str, ...] = ()


def read(document: Mapping[str, Any]) -> Object:
    """Metadata that only a server writes, such as managedFields, is left out; `spec` is taken as it is."""
    problems: list[Problem] = []
    given = document.get("metadata")
    known = documents.fields_of(_Metadata)
    if isinstance(given, Mapping):
        given = {key: value for key, value in given.items() if key in known and value is not None}
    metadata = documents.read_into(_Metadata, {} if given is None else given, "metadata", problems)
    for key in ("apiVersion", "kind"):
        documents.read_into(str, document.get(key), key, problems)
    spec = document.get("spec")
    if spec is not None:
        documents.read_into(dict[str, object], spec, "spec", problems)
    if problems or not isinstance(metadata, _Metadata):
        raise Rejected(problems)
    return Object(
        api_version=document["apiVersion"],
        kind=document["kind"],
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        labels=metadata.labels,
        annotations=metadata.annotations,
        finalizers=metadata.finalizers,
        spec=spec or {},
        other={key: value for key, value in document.items() if key not in _OWN_PLACES},
    )
