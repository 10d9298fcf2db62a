"""`kubectl get` and `kubectl describe` are enough for a first diagnosis: they say what explain says."""

from __future__ import annotations

from kube import ControlPlane

from . import operating
from .operating import SETS, clique, pod_set
from .operating import operating as operator_of
from .support import play, until
from .test_cluster_commands import Commands


def test_a_set_whose_pods_find_no_node(control_plane: ControlPlane, kube_namespace: str) -> None:
    namespace = kube_namespace
    commands = Commands(control_plane, namespace)

    async def story() -> None:
        async with control_plane.client() as client:
            await operating.install(client)
            async with operator_of(control_plane, namespace):
                front = clique("front", 1, "v1")
                strategy = {"type": "RollingUpdate", "progressDeadlineSeconds": 1}
                await operating.apply(client, pod_set("web", namespace, 1, [front], strategy=strategy))
                await until(lambda: operating.is_updated(client, "web", namespace), 60)
                front["spec"]["podSpec"]["nodeSelector"] = {"nowhere": "true"}
                await operating.apply(client, pod_set("web", namespace, 1, [front], strategy=strategy))

                async def messages() -> dict[str, str]:
                    found = (await client.get(SETS, "web", namespace)).get("status", {}).get(
                        "conditions"
                    ) or ()
                    return {each["reason"]: each["message"] for each in found}

                async def is_overdue() -> bool:
                    return "ProgressDeadlineExceeded" in await messages()

                await until(is_overdue, 60)
                said = await messages()
                assert ": not scheduled since " in said["ProgressDeadlineExceeded"]
                heading, row = control_plane.kubectl("get", "pcs", "-n", namespace).stdout.splitlines()
                assert heading.split() == ["NAME", "DESIRED", "UPDATED", "AVAILABLE", "REASON", "AGE"]
                assert row.split()[:5] == ["web", "1", "0", "0", "ProgressDeadlineExceeded"]
                described = control_plane.kubectl("describe", "pcs", "web", "-n", namespace).stdout
                assert all(message in described for message in said.values())
                explained = (await commands.run("workload", "status", "web")).stdout
                stuck = said["ProgressDeadlineExceeded"].partition("pod ")[2].partition(";")[0]
                assert f"pod {stuck}" in explained

    play(story(), 150)
