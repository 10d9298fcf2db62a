"""Small scenarios to vary: one deployment, `api`, in one environment, `prod`, on a few nodes."""

from typing import Any

from headgate.simulate import scenario
from headgate.simulate.model.result import Result
from headgate.simulate.run import simulate

START = "2026-03-01T09:00:00Z"


def manifest(kind: str, name: str, /, **spec: object) -> dict[str, Any]:
    return {"apiVersion": "headgate.dev/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def fleet(nodes: int = 1, *deployments: str) -> list[dict[str, Any]]:
    return [
        manifest("Environment", "prod", resourceSelector="true"),
        *(manifest("Deployment", name, resourceSelector="true") for name in deployments or ("api",)),
        *(manifest("Resource", f"node-{number}", kind="Node") for number in range(1, nodes + 1)),
    ]


def publish(tag: str = "v1", at: str = "+0s", deployment: str = "api", **more: object) -> dict[str, Any]:
    return {"at": at, "publish": {"deployment": deployment, "tag": tag, **more}}


def document(
    *timeline: dict[str, Any], objects: list[Any] | None = None, name: str = "small", **spec: object
) -> dict[str, Any]:
    return {
        "apiVersion": "headgate.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": name},
        "spec": {
            "start": START,
            "objects": fleet() if objects is None else objects,
            "timeline": list(timeline),
            **spec,
        },
    }


def play(*timeline: dict[str, Any], objects: list[Any] | None = None, **spec: object) -> Result:
    return simulate(scenario.read(document(*timeline, objects=objects, **spec)))


def trace(result: Result) -> list[str]:
    """Every job: when it was created, where, what, and how and when it ended."""
    return [
        f"{job['createdAt'][11:16]} {job['resource']} {job['deployment']} {job['version']}"
        f" {job['status']} {(job['completedAt'] or 'never')[11:16]}".rstrip()
        for job in result.document()["jobs"]
    ]
