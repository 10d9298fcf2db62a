"""Judges a PodCliqueSet: every violation at once, each with its field and its rule.

The command line, the API and the admission webhook all ask here, so that none of them accepts what another refuses.
"""

from collections.abc import Iterable, Mapping

import msgspec

from headgate.kernel import documents
from headgate.kernel.objects import Object
from headgate.kernel.problems import Problem, Rejected
from headgate.workload import defaults, model
from headgate.workload.checks import (
    changes,
    claims,
    cliques,
    collisions,
    groups,
    naming,
    pod_specs,
    starting,
    strategies,
    topology,
    unknown,
    view,
)


class CheckedSet(msgspec.Struct, frozen=True):
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]
    object: Object
    """With defaults filled in. This is what is to be stored: a default that has been given stays."""

    def accepted(self) -> Object:
        """Raises Rejected if there was a problem."""
        if self.problems:
            raise Rejected(self.problems)
        return self.object


def check(item: Object, old: Object | None = None, others: Iterable[Object] = ()) -> CheckedSet:
    """`old` is the stored object that this one would replace; without it the object is new. `others` are the sets that
    there are: a new one must leave them their names."""
    defaulted = defaults.apply(item, old)
    seen = view.of(defaulted, is_new=old is None)
    _check_kind(seen, item)
    if not isinstance(item.spec, Mapping) or item.spec.get("template") is None:
        seen.refuse("spec.template", "is required")
    else:
        spec = documents.read_into(model.Spec, model.without_unknown(defaulted.spec), "spec", seen.problems)
        if isinstance(spec, model.Spec):
            _check_size(seen, spec)
        _check_rules(seen, defaulted)
    if old is not None:
        changes.check(seen, item, defaults.apply(old))
    elif not seen.problems:
        _check_names(seen, defaulted, others)
    return CheckedSet(tuple(dict.fromkeys(seen.problems)), tuple(dict.fromkeys(seen.warnings)), defaulted)


def _check_size(seen: view.DocumentView, spec: model.Spec) -> None:
    try:
        model.check_size(spec)
    except Rejected as rejected:
        seen.problems.extend(rejected.problems)


def _check_names(seen: view.DocumentView, item: Object, others: Iterable[Object]) -> None:
    pcs = model.read(item)
    taken = collisions.first_taken(pcs, others)
    if taken is not None:
        seen.refuse("metadata.name", f'is "{item.name}"; {collisions.sentence(*taken)}')
    repeated = collisions.repeated_claim(pcs)
    if repeated is not None:
        seen.refuse(
            f"{repeated[0]}.name", f"gives a claim the name of one that {repeated[1]} gives; choose another"
        )


def _check_kind(seen: view.DocumentView, item: Object) -> None:
    for path, given, allowed in (
        ("apiVersion", item.api_version, model.API_VERSION),
        ("kind", item.kind, model.KIND),
    ):
        if given != allowed:
            seen.refuse(path, f'is "{given}"; allowed is {allowed}')


def _check_rules(seen: view.DocumentView, item: Object) -> None:
    replicas = seen.spec.number("replicas")
    if replicas is not None and replicas < 0:
        seen.refuse("spec.replicas", f"is {replicas}; must not be negative")
    delay = seen.template.text("terminationDelay")
    if delay is not None and _is_not_positive(delay):
        seen.refuse(seen.template.at("terminationDelay"), f"is {delay}; must be greater than 0")
    naming.check(seen, item)
    cliques.check(seen)
    groups.check(seen)
    starting.check(seen)
    strategies.check(seen)
    pod_specs.check(seen)
    claims.check(seen)
    topology.check(seen)
    unknown.check(seen)


def _is_not_positive(delay: str) -> bool:
    try:
        return model.Delay.from_document(delay).microseconds <= 0
    except ValueError:
        return False
