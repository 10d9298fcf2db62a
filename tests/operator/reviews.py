"""Reviews as an API server sends them, and what is read from the answers."""

import base64
import json
from collections.abc import Awaitable, Callable
from typing import Any

from headgate.kernel.objects import Key, Object
from headgate.operator import admission


class Known:
    """A cluster in which there are these objects."""

    def __init__(self, *items: Object) -> None:
        self._items = items

    def get(self, key: Key) -> Object | None:
        return next((item for item in self._items if item.key == key), None)

    def of_kind(self, group: str, kind: str) -> list[Object]:
        return [item for item in self._items if (item.key.group, item.kind) == (group, kind)]


def around(known: Any) -> Callable[[object], Awaitable[admission.Surroundings]]:
    async def found(review: object) -> admission.Surroundings:
        return admission.Surroundings(known)

    return found


GROUPS = {"PodCliqueSet": "grove.io", "ResourceGraphDefinition": "kro.run"}


def review(
    document: dict[str, Any] | None, old: dict[str, Any] | None = None, operation: str | None = None
) -> dict[str, Any]:
    one: dict[str, Any] = document or old or {}
    kind = one["kind"]
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u1",
            "kind": {"group": GROUPS.get(kind, ""), "version": "v1alpha1", "kind": kind},
            "name": one["metadata"].get("name", ""),
            "namespace": one["metadata"].get("namespace", ""),
            "operation": operation or ("UPDATE" if old else "CREATE"),
            "object": document,
            "oldObject": old,
        },
    }


def answered(
    document: dict[str, Any] | None,
    old: dict[str, Any] | None = None,
    *known: Object,
    stage: admission.Stage = admission.VALIDATING,
    operation: str | None = None,
) -> dict[str, Any]:
    found = admission.answer(review(document, old, operation), stage, admission.Surroundings(Known(*known)))
    response: dict[str, Any] = found["response"]
    return response


def causes(response: dict[str, Any]) -> dict[str, str]:
    assert response["allowed"] is False
    return {cause["field"]: cause["message"] for cause in response["status"]["details"]["causes"]}


def patched(document: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """The document after the response's patch."""
    result: dict[str, Any] = json.loads(json.dumps(document))
    for operation in json.loads(base64.b64decode(response.get("patch", "W10="))):
        *way, last = [key.replace("~1", "/").replace("~0", "~") for key in operation["path"].split("/")[1:]]
        place: Any = result
        for key in way:
            place = place[int(key)] if isinstance(place, list) else place[key]
        if operation["op"] == "remove":
            del place[last]
        else:
            place[int(last) if isinstance(place, list) else last] = operation["value"]
    return result


def pod_clique_set(**spec: Any) -> dict[str, Any]:
    clique = {
        "name": "web",
        "spec": {
            "roleName": "web",
            "replicas": 2,
            "podSpec": {"containers": [{"name": "web", "image": "web:1"}]},
        },
    }
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": "llm", "namespace": "team"},
        "spec": {"replicas": 1, "template": {"cliques": [clique]}, **spec},
    }


def definition(name: str = "app", kind: str = "App", **template: Any) -> dict[str, Any]:
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "${schema.spec.name}"}, **template}
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "ResourceGraphDefinition",
        "metadata": {"name": name},
        "spec": {
            "schema": {"apiVersion": "v1alpha1", "kind": kind, "spec": {"name": "string", "size": "integer"}},
            "resources": [{"id": "one", "template": made}],
        },
    }
