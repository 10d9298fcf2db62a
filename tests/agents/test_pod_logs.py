"""What pods print is in the job's log, once, however often and from wherever they are looked at."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, cast

from headgate.agents import pod_logs
from headgate.kubernetes.client import Client

from .support import Shelf, play


class Pods:
    """Answers as an API server does: lines with their moments, from a second on."""

    def __init__(self) -> None:
        self.said: dict[str, list[tuple[str, str]]] = {}

    def within(self, seconds: float) -> Pods:
        return self

    async def logs(self, name: str, namespace: str, **asked: Any) -> AsyncGenerator[bytes, None]:
        assert asked["timestamps"]
        since = asked["since_time"].rstrip("Z")
        for at, text in self.said[name]:
            if at >= since:
                yield f"{at}Z {text}\n".encode()

    @property
    def client(self) -> Client:
        return cast(Client, self)


def pod(name: str, phase: str = "Running") -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "home", "uid": f"uid-{name}"},
        "spec": {"containers": [{"name": "main"}]},
        "status": {"phase": phase},
    }


def test_each_look_prints_what_is_new_also_after_a_restart() -> None:
    shelf, pods = Shelf(), Pods()

    async def story() -> None:
        pods.said["a"] = [("2026-03-01T09:00:00.1", "one"), ("2026-03-01T09:00:00.12", "two")]
        await pod_logs.print_new(pods.client, [pod("a")], shelf.assignment({}))
        pods.said["a"].append(("2026-03-01T09:00:00.123", "three"))
        pods.said["b"] = [("2026-03-01T09:00:07.5", "again")]
        await pod_logs.print_new(pods.client, [pod("a", "Failed"), pod("b")], shelf.assignment({}))
        await pod_logs.print_new(pods.client, [pod("a", "Failed"), pod("b")], shelf.assignment({}))

    play(story())
    assert shelf.lines == ["--- the pod a, main", "one", "two", "three", "--- the pod b, main", "again"]


def test_a_pod_that_has_not_begun_is_not_asked() -> None:
    shelf = Shelf()
    play(pod_logs.print_new(Pods().client, [pod("a", "Pending")], shelf.assignment({})))
    assert shelf.lines == []


def test_a_secret_of_the_config_is_taken_out() -> None:
    shelf, pods = Shelf(), Pods()
    pods.said["a"] = [("2026-03-01T09:00:00", "the token is hunter22")]
    play(pod_logs.print_new(pods.client, [pod("a")], shelf.assignment({"token": "hunter22"})))
    assert "hunter22" not in shelf.lines[1]
