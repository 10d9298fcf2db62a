"""Sets and graphs of a real control plane by the API of a real server: lists, trees down to the pod, and orders."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import kube
from headgate.cli import exit_codes
from kube import ControlPlane

from . import operating
from . import test_operator_graphs as shops
from .operating import SETS, clique, pod_set
from .operating import operating as operator_of
from .support import play, until
from .test_fleet_into_cluster import Fleet, parts


@pytest.fixture(scope="module")
def plane(kube_session: kube.Session) -> Iterator[ControlPlane]:
    """Definitions are for a whole cluster, so one of their own for these tests."""
    with kube_session.private(4) as found:
        yield found


@pytest.fixture
def place(plane: ControlPlane) -> Iterator[str]:
    with kube.fresh_namespace(plane) as name:
        yield name


@pytest.fixture
def fleet(tmp_path: Path, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    for name in ("HEADGATE_URL", "HEADGATE_TOKEN", "HEADGATE_WORKSPACE", "HEADGATE_CONTEXT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HEADGATE_CONFIG", str(tmp_path / "config.yaml"))
    made = Fleet(tmp_path, plane)
    made.server.start()
    yield made
    made.server.stop()


class Api:
    def __init__(self, fleet: Fleet) -> None:
        self._client = fleet.server.admin()

    async def get(self, *path: str) -> Any:
        where = "/".join(quote(part, safe="") for part in path)
        return await asyncio.to_thread(self._client.get, f"/v1/{where}")

    async def post(self, *path: str, **body: Any) -> Any:
        where = "/".join(quote(part, safe="") for part in path)
        answer = await asyncio.to_thread(self._client.call, "POST", f"/v1/{where}", body)
        assert answer.status == 200, answer
        return answer.json

    async def is_state(self, state: str, *path: str) -> bool:
        return bool((await self.get(*path))["state"] == state)


def test_a_set_is_listed_shown_down_to_its_pods_and_ordered(
    plane: ControlPlane, place: str, fleet: Fleet
) -> None:
    made = pod_set("web", place, 2, [clique("front", 1, "${version.tag}")])
    template = {"metadata": made["metadata"], "spec": made["spec"]}
    id_ = f"current/{place}/web"

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                api = Api(fleet)
                await fleet.apply({"type": "workload", "config": {"setTemplate": template}})
                await fleet.do("publish", "api", "v1")
                await until(lambda: fleet.is_state("upToDate", "v1"), 120)
                await until(lambda: api.is_state("done", "workloads", id_))

                [listed] = (await api.get("workloads"))["items"]
                assert (listed["id"], listed["state"], listed["replicas"], listed["updatedReplicas"]) == (
                    id_, "done", 2, 2,
                )  # fmt: skip
                assert (listed["target"], listed["version"]) == ("api/prod/east", "v1")
                shown = await api.get("workloads", id_)
                assert shown["pods"] == {"updated": 2, "total": 2}
                pods = [each for each in parts(shown["tree"]) if each["part"]["kind"] == "pod"]
                assert [(pod["state"], pod["part"]["revision"], pod["part"]["role"]) for pod in pods] == [
                    ("ready", 1, "regular"), ("ready", 1, "regular"),
                ]  # fmt: skip
                [cluster] = (await api.get("clusters"))["items"]
                assert cluster == {
                    "name": "current", "jobAgents": ["cluster"], "isAnswering": True, "message": "",
                }  # fmt: skip
                printed = await fleet.do("get", "workloads")
                assert printed.splitlines()[1].split()[:5] == [id_, "done", "2", "2", "2"]
                assert (
                    json.loads(await fleet.do("get", "workload", id_, "-o", "json"))["tree"] == shown["tree"]
                )

                assert (await api.post("workloads", id_, "pause", reason="a look"))["isChanged"] is True
                assert (await client.get(SETS, "web", place))["spec"]["updateStrategy"]["paused"] is True
                await fleet.do("publish", "api", "v2")
                await until(lambda: api.is_state("paused", "workloads", id_))
                tree = (await api.get("workloads", id_))["tree"]
                assert any("paused" in line["message"] for line in tree["lines"])
                assert (await api.post("workloads", id_, "resume"))["isChanged"] is True
                await until(lambda: fleet.is_state("upToDate", "v2"), 120)
                code, said = await fleet.run("get", "workload", f"current/{place}/nobody")
                assert code == exit_codes.FAILED, said

    play(story(), 300)


def test_a_definition_is_shown_with_its_waves_and_an_instance_down_to_its_objects(
    plane: ControlPlane, place: str, fleet: Fleet
) -> None:
    definition = "current/resourcegraphdefinitions.kro.run/-/shop"
    template = shops.shop("web", place, image="${version.tag}")
    id_ = f"current/shops.kro.run/{place}/web"

    async def story() -> None:
        async with plane.client() as client:
            await operating.install(client)
            async with operator_of(plane, place):
                api = Api(fleet)
                await shops.define(client, shops.shop_definition())
                await fleet.apply({"type": "graph", "config": {"instanceTemplate": template}})
                await fleet.do("publish", "api", "v1")
                await until(lambda: fleet.is_state("upToDate", "v1"), 120)

                foreign = shops.shop("foreign", place)
                foreign["metadata"]["annotations"] = {"headgate.dev/workspace": "other"}
                await shops.apply(client, foreign)
                await shops.settled(client, "foreign", place)

                found = {each["id"]: each for each in (await api.get("graphs"))["items"]}
                assert set(found) == {definition, id_}, "another workspace's is nobody's here"
                assert (found[definition]["kind"], found[definition]["instanceKind"]) == (
                    "definition",
                    "Shop",
                )
                assert (found[id_]["definition"], found[id_]["target"]) == ("shop", "api/prod/east")

                whole = await api.get("graphs", definition)
                assert [node["id"] for node in whole["nodes"]] == ["config", "deployment", "service"]
                assert whole["nodes"][1]["dependsOn"] == ["config"]
                assert [each["id"] for each in whole["instances"]] == [id_]
                [member] = whole["tree"]["children"]
                assert "foreign" not in json.dumps(whole)
                await client.delete(shops.SHOPS, "foreign", place)
                await until(lambda: shops.is_gone(client, shops.SHOPS, "foreign", place), 45)
                assert (member["part"]["kind"], member["part"]["revision"]) == ("instance", 1)

                shown = await api.get("graphs", id_)
                nodes = {each["subject"]: each for each in shown["tree"]["children"]}
                assert {each["part"]["kind"] for each in nodes.values()} == {"node"}
                assert nodes["deployment"]["part"] == {
                    "kind": "node", "revision": 1, "role": "regular", "dependsOn": ["config"],
                }  # fmt: skip
                [made] = nodes["deployment"]["children"]
                assert (made["subject"], made["part"]["revision"]) == ("Deployment web", 1)

                viewer = await fleet.do("token", "create", "reader", "--role", "viewer", "-o", "json")
                words = ("get", "graphs", "-o", "name")
                seen = await fleet.do(*words, token=json.loads(viewer)["secret"])
                assert seen.split() == [id_], "definitions are for those who act"

                assert (await api.post("graphs", definition, "pause"))["isChanged"] is True
                await fleet.do("publish", "api", "v2")
                await until(lambda: api.is_state("PropagationBlocked", "graphs", id_))
                tree = (await api.get("graphs", id_))["tree"]
                waiting = [each for each in parts(tree) if each["state"] == "waiting"]
                assert any("propagation is paused" in each["message"] for each in waiting)
                assert (await api.post("graphs", definition, "resume"))["isChanged"] is True
                await until(lambda: fleet.is_state("upToDate", "v2"), 120)

    play(story(), 300)
