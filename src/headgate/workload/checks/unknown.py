"""Fields that this API does not have. A near miss is a mistake; a stranger may be a newer API, is kept and warned of."""

import difflib
from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.kernel import documents
from headgate.workload import model
from headgate.workload.checks.view import DocumentView

_LIKENESS = 0.75


def check(view: DocumentView) -> None:
    _check(view, model.Spec, view.spec.value, view.spec.path)


def _check(view: DocumentView, kind: type[msgspec.Struct], value: Mapping[str, Any], path: str) -> None:
    known = documents.fields_of(kind)
    for key, item in value.items():
        if not isinstance(key, str):
            continue
        place = documents.field_path(path, key)
        if key not in known:
            _judge(view, kind, key, place)
            continue
        inner = model.NESTED.get(key)
        if inner is not None:
            _check_inner(view, inner, item, place)


def _check_inner(view: DocumentView, kind: type[msgspec.Struct], value: Any, path: str) -> None:
    if isinstance(value, Mapping):
        _check(view, kind, value, path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, Mapping):
                _check(view, kind, item, documents.item_path(path, index))


def _judge(view: DocumentView, kind: type[msgspec.Struct], key: str, place: str) -> None:
    misplaced = _misplaced(kind, key)
    if misplaced is not None:
        view.refuse(place, f"does not belong here; {misplaced}")
        return
    known = documents.fields_of(kind)
    close = difflib.get_close_matches(key, known, n=1, cutoff=_LIKENESS)
    if close:
        view.refuse(place, f"is not a known key; did you mean {close[0]}?")
    else:
        view.warn(place, "is not a field that has a meaning here; it is kept and has no effect")


def _misplaced(kind: type[msgspec.Struct], key: str) -> str | None:
    """The mistakes that would silently give another rollout than the one that was meant."""
    if kind is model.Clique and key in documents.fields_of(model.CliqueSpec) and key != "replicas":
        return f"write it as spec.{key} of the clique"
    if kind is model.CliqueSpec and key in documents.fields_of(model.Clique):
        return "write it beside spec, on the clique"
    if kind is model.Template and key in ("replicas", "updateStrategy"):
        return f"write it as spec.{key} of the set"
    if kind is model.Spec and key in documents.fields_of(model.Template):
        return f"write it as spec.template.{key}"
    if key in ("maxUnavailable", "maxSurge"):
        return f"write it as updateStrategy.{key}"
    return None
