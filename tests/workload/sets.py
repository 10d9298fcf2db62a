"""Small sets to test with, in the notation people write."""

import copy
from typing import Any

from headgate.kernel.objects import Object
from headgate.workload import model
from headgate.workload.checks import validate
from headgate.workload.expand import manifests
from headgate.workload.model import PodCliqueSet

UID = "11111111-2222-3333-4444-555555555555"


def clique(name: str, **spec: Any) -> dict[str, Any]:
    """Keys with a home beside `spec` go there; the rest is the clique's spec."""
    beside: dict[str, Any] = {
        key: spec.pop(key) for key in ("labels", "annotations", "updateStrategy") if key in spec
    }
    image = spec.pop("image", "app:v1")
    containers = [{"name": "main", "image": image}]
    return {
        "name": name,
        **beside,
        "spec": {"roleName": f"role-{name}", "podSpec": {"containers": containers}, **spec},
    }


def group(name: str, *cliques: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "cliqueNames": list(cliques), **fields}


def document(
    *cliques: dict[str, Any],
    name: str = "llm",
    replicas: int = 1,
    groups: tuple[dict[str, Any], ...] = (),
    strategy: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
    **template: Any,
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "replicas": replicas,
        "template": {"cliques": list(cliques) or [clique("worker", replicas=3)], **template},
    }
    if groups:
        spec["template"]["podCliqueScalingGroups"] = list(groups)
    if strategy is not None:
        spec["updateStrategy"] = strategy
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": name, "uid": UID, **(metadata or {})},
        "spec": spec,
    }


def item(*cliques: dict[str, Any], **fields: Any) -> Object:
    return manifests.read(copy.deepcopy(document(*cliques, **fields)))


def read(*cliques: dict[str, Any], **fields: Any) -> PodCliqueSet:
    return model.read(item(*cliques, **fields))


def problems(subject: Object, old: Object | None = None) -> list[str]:
    return [str(problem) for problem in validate.check(subject, old).problems]


def paths(subject: Object, old: Object | None = None) -> list[str]:
    return [problem.path for problem in validate.check(subject, old).problems]


def warnings(subject: Object, old: Object | None = None) -> list[str]:
    return list(validate.check(subject, old).warnings)
