"""A small fleet, made through the API."""

from __future__ import annotations

from typing import Any

from api.routes.server import Client, segment, until


def make(client: Client, *, nodes: int = 2, agent: str = "pull", **deployment: Any) -> None:
    """One deployment `api` in one environment `prod`, run by the agent `runner`."""
    put(client, "job-agents", "runner", type=agent)
    put(client, "environments", "prod", resourceSelector="resource.kind == 'Node'")
    fields = {"resourceSelector": "true", "jobAgent": "runner", **deployment}
    put(client, "deployments", "api", **fields)
    for number in range(1, nodes + 1):
        put(client, "resources", f"node-{number}", kind="Node")


def plain(answered: Any) -> Any:
    """The object that was answered, without whom the change concerns."""
    return {key: value for key, value in answered.items() if key != "concerns"}


def put(client: Client, collection: str, name: str, **fields: Any) -> Any:
    response = client.put(f"/v1/{collection}/{segment(name)}", fields)
    assert response.status in (200, 201), response.body
    return response.json


def publish(client: Client, tag: str, deployment: str = "api", **fields: Any) -> Any:
    response = client.post(f"/v1/deployments/{deployment}/versions", {"tag": tag, **fields})
    assert response.status == 201, response.body
    return response.json


def jobs(client: Client, count: int = 1, **query: Any) -> list[Any]:
    """Newest first, once there are at least so many."""
    found: list[Any] = until(
        lambda: enough if len(enough := client.items("/v1/jobs", **query)) >= count else None
    )
    return found


def finish(client: Client, job: Any, status: str = "successful", **fields: Any) -> Any:
    response = client.patch(f"/v1/jobs/{job['id']}", {"status": status, **fields})
    assert response.status == 200, response.body
    return response.json
