"""The operator's webhooks on a real API server, and what is needed to have them asked."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import kube
from headgate.kernel import instants, yaml_text
from headgate.operator import certificates, crds
from headgate.operator.installation import webhooks
from headgate.operator.running.webhooks import AdmissionFacts
from headgate.operator.webhook_server import WebhookServer


class Answering:
    """The webhooks' server, on a thread of its own."""

    def __init__(self, plane: kube.ControlPlane) -> None:
        now = instants.seconds(int(time.time()))
        self.certificates = certificates.renewed(None, ("127.0.0.1",), now)
        self.port = 0
        self._plane = plane
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> Answering:
        self._thread.start()
        self._do(self._start())
        return self

    async def _start(self) -> None:
        self._client = self._plane.client()
        self._server = WebhookServer(AdmissionFacts(self._client).around, self.certificates)
        self.port = await self._server.start("127.0.0.1", 0)

    def __exit__(self, *_: object) -> None:
        self._do(self._server.stop())
        self._do(self._client.close())
        # The other side of a connection answers its end; until then it is open.
        self._do(asyncio.sleep(0.3))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    def configurations(self) -> list[dict[str, Any]]:
        def client(path: str) -> dict[str, Any]:
            url = f"https://127.0.0.1:{self.port}{path}"
            return {"url": url, "caBundle": self.certificates.ca_bundle}

        return webhooks.configurations(client("/default"), client("/validate"))


def apply(plane: kube.ControlPlane, *documents: dict[str, Any], way: str = "--server-side") -> str:
    """What it printed; applying has to succeed."""
    done = plane.kubectl("apply", way, "-f", "-", input=yaml_text.write(documents))
    assert done.returncode == 0, done.stderr
    return done.stdout


def installed(plane: kube.ControlPlane, answering: Answering) -> None:
    """Our kinds and webhooks, when they are asked."""
    apply(plane, *crds.documents())
    names = [f"crd/{kind.name}" for kind in crds.ALL]
    plane.kubectl("wait", "--for=condition=Established", *names)
    apply(plane, *answering.configurations())
    _wait_until_asked(plane)


def _wait_until_asked(plane: kube.ControlPlane) -> None:
    """API servers hear of a configuration a moment later."""
    bad = {**pod_clique_set(), "spec": {"template": {}}}
    for _ in range(100):
        done = plane.kubectl("apply", "--dry-run=server", "-f", "-", input=yaml_text.write([bad]))
        if "is invalid" in done.stderr and "spec.template.cliques" in done.stderr:
            return
        time.sleep(0.05)
    raise AssertionError(done.stderr)


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
        "metadata": {"name": "llm", "namespace": "default"},
        "spec": {"replicas": 1, "template": {"cliques": [clique]}, **spec},
    }
