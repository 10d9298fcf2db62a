"""Random sets, what their owners and the cluster do to them, and a planner that is told late and dies at will."""

from typing import Any

from .choosing import Chooser

Document = dict[str, Any]

START = "2026-03-02T09:00:00Z"
NAME = "s"
CLIQUES = ("a", "b", "c", "d")
GROUPS = ("x", "y")


def scenario(choose: Chooser) -> Document:
    """Ends with the faults over: what then is not done must say why, or has broken a promise."""
    workload = pod_clique_set(choose)
    cluster = _cluster(choose)
    timeline = _Story(choose, workload, cluster.get("nodes")).timeline()
    return {
        "apiVersion": "headgate.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": "random-set"},
        "spec": {
            "start": START,
            "until": "+3h",
            "seed": choose.number(1, 1000),
            "objects": [workload],
            "agents": [],
            "cluster": cluster,
            "timeline": timeline,
        },
    }


def pod_clique_set(choose: Chooser) -> Document:
    cliques = [_clique(choose, name) for name in CLIQUES[: choose.number(1, 4)]]
    groups: list[Document] = []
    free = [clique["name"] for clique in cliques]
    for name in GROUPS:
        if len(free) > 1 and choose.chance(50):
            members = [free.pop() for _ in range(choose.number(1, min(2, len(free) - 1)))]
            groups.append(_group(choose, name, members))
    template: Document = {"cliques": cliques, "terminationDelay": choose.one(("4h", "3m", "20m"))}
    if groups:
        template["podCliqueScalingGroups"] = groups
    if choose.chance(20):
        template["cliqueStartupType"] = "CliqueStartupTypeInOrder"
    spec: Document = {"replicas": choose.number(1, 4), "template": template}
    change_strategy(choose, spec)
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": {"name": NAME},
        "spec": spec,
    }


def _clique(choose: Chooser, name: str) -> Document:
    replicas = choose.number(1, 4)
    spec: Document = {"replicas": replicas, "podSpec": _pod_spec("image-1")}
    if choose.chance(60):
        spec["minAvailable"] = choose.number(1, replicas)
    else:
        spec["minAvailable"] = replicas
    return {"name": name, "spec": spec}


def _group(choose: Chooser, name: str, members: list[str]) -> Document:
    replicas = choose.number(1, 3)
    group: Document = {"name": name, "cliqueNames": members, "replicas": replicas}
    group["minAvailable"] = choose.number(1, replicas)
    if choose.chance(20):
        group["scaleConfig"] = {"minReplicas": group["minAvailable"], "maxReplicas": 6}
    return group


def _pod_spec(image: str) -> Document:
    return {"containers": [{"name": "main", "image": image}]}


def _budget(choose: Chooser, replicas: int) -> Document:
    pairs: tuple[tuple[Any, Any], ...] = (
        (1, 0),
        (0, 1),
        (1, 1),
        (0, 2),
        ("50%", 0),
        ("30%", "30%"),
        (min(2, replicas), 1),
    )
    unavailable, surge = choose.one(pairs)
    return {"maxUnavailable": unavailable, "maxSurge": surge}


def change_strategy(choose: Chooser, spec: Document) -> None:
    """Sets one that is valid for the whole set, so that few edits are refused."""
    kind = choose.weighted({"RollingUpdate": 5, "ReplicaRecreate": 4, "OnDelete": 1})
    strategy: Document = {"type": kind}
    if kind == "ReplicaRecreate" and choose.chance(80):
        strategy["rollingUpdate"] = _budget(choose, spec["replicas"])
    if choose.chance(15):
        strategy["partition"] = choose.number(0, 3)
    if choose.chance(25):
        strategy["progressDeadlineSeconds"] = choose.one((120, 600))
        strategy["onDeadline"] = choose.one(("hold", "rollback"))
    spec["updateStrategy"] = strategy
    template = spec["template"]
    grouped = {name for group in template.get("podCliqueScalingGroups", ()) for name in group["cliqueNames"]}
    parts = [clique for clique in template["cliques"] if clique["name"] not in grouped]
    for part in (*parts, *template.get("podCliqueScalingGroups", ())):
        part.pop("updateStrategy", None)
        replicas = part["replicas"] if "replicas" in part else part["spec"]["replicas"]
        if kind != "ReplicaRecreate" and choose.chance(70):
            part["updateStrategy"] = _budget(choose, replicas)


def _cluster(choose: Chooser) -> Document:
    cluster: Document = {}
    if choose.chance(40):
        cluster["nodes"] = choose.number(4, 60)
    if choose.chance(40):
        cluster["lag"] = choose.one(("1s", "5s", "40s"))
    if choose.chance(40):
        cluster["crashAtWrites"] = sorted({choose.number(1, 400) for _ in range(choose.number(1, 12))})
    if choose.chance(30):
        cluster["terminate"] = choose.one(("0s", "45s"))
    behaviors: list[Document] = []
    if choose.chance(35):
        number = choose.number(2, 3)
        fault = choose.one(
            (
                {"never": "ready"},
                {"crashAfter": "20s"},
                {"unschedulable": True},
                {"ends": {"after": "20s", "times": 3}},
                {"ends": {"since": "bound", "reason": "OutOfcpu"}},
            )
        )
        behaviors.append({"match": f"revision == {number} && pod.clique == '{choose.one(CLIQUES)}'", **fault})
    if choose.chance(30):
        behaviors.append({"match": f"pod.clique == '{choose.one(CLIQUES)}'", "start": "2m"})
    if behaviors:
        cluster["behaviors"] = behaviors
    return cluster


class _Story:
    """What happens to one set. Edits are whole manifests, as its owners' file would be."""

    def __init__(self, choose: Chooser, workload: Document, nodes: int | None) -> None:
        self._choose = choose
        self._current: Document = _copied(workload)
        self._nodes = nodes
        self._cordoned = 0

    def timeline(self) -> list[Document]:
        choose = self._choose
        found: list[Document] = []
        at = choose.number(0, 30) * 10
        for _ in range(choose.number(1, 9)):
            found.append({"at": f"+{at}s", **self._step()})
            at += choose.weighted({0: 1, 11: 3, 41: 4, 120: 4, 700: 2})
        if self._cordoned:
            found.append({"at": f"+{at + 600}s", "uncordon": {"nodes": self._cordoned}})
        return found

    def _step(self) -> Document:
        makers = {
            self._template: 8,
            self._scale: 6,
            self._kill: 4,
            self._strategy: 3,
            self._operate: 3,
            self._cordon: 2,
            self._crash: 2,
            self._autoscale: 2,
            self._delete: 2,
            self._end: 4,
            self._edit_child: 4,
        }
        return self._choose.weighted(makers)()

    def _applied(self) -> Document:
        return {"apply": _copied(self._current)}

    def _template(self) -> Document:
        template = self._current["spec"]["template"]
        if self._choose.chance(20):
            template["priorityClassName"] = f"class-{self._choose.number(1, 2)}"
        else:
            clique = self._choose.one(template["cliques"])
            clique["spec"]["podSpec"] = _pod_spec(f"image-{self._choose.number(1, 4)}")
        return self._applied()

    def _scale(self) -> Document:
        choose, spec = self._choose, self._current["spec"]
        what = choose.one(("set", "clique", "group"))
        groups = spec["template"].get("podCliqueScalingGroups")
        if what == "group" and groups:
            group = choose.one(groups)
            group["replicas"] = choose.number(group["minAvailable"], 4)
        elif what == "clique":
            clique = choose.one(spec["template"]["cliques"])
            clique["spec"]["replicas"] = choose.number(clique["spec"]["minAvailable"], 5)
        else:
            spec["replicas"] = choose.number(0, 5)
        return self._applied()

    def _strategy(self) -> Document:
        change_strategy(self._choose, self._current["spec"])
        return self._applied()

    def _operate(self) -> Document:
        action = self._choose.one(("pause", "resume", "resume", "abort"))
        return {"workload": {"action": action, "name": NAME}}

    def _crash(self) -> Document:
        return {"crash": "engine"}

    def _cordon(self) -> Document:
        if self._nodes is None:
            return self._kill()
        if self._cordoned and self._choose.chance(50):
            count = self._choose.number(1, self._cordoned)
            self._cordoned -= count
            return {"uncordon": {"nodes": count}}
        count = self._choose.number(1, self._nodes)
        self._cordoned = min(self._nodes, self._cordoned + count)
        return {"cordon": {"nodes": count}}

    def _autoscale(self) -> Document:
        groups = self._current["spec"]["template"].get("podCliqueScalingGroups")
        if not groups:
            return self._scale()
        group = self._choose.one(groups)
        name = f"{NAME}-{self._choose.number(0, 2)}-{group['name']}"
        replicas = self._choose.number(group["minAvailable"], 4)
        patch = {"spec": {"replicas": replicas}}
        return {"patch": {"kind": "PodCliqueScalingGroup", "name": name, "patch": patch}}

    def _delete(self) -> Document:
        kind = self._choose.weighted({"PodClique": 4, "PodCliqueScalingGroup": 2, "PodGang": 2, "Service": 1})
        name = f"{NAME}-{self._choose.number(0, 2)}"
        if kind in ("PodClique", "PodCliqueScalingGroup"):
            part = self._choose.one(CLIQUES if kind == "PodClique" else GROUPS)
            name = f"{name}-{part}"
        return {"delete": {"kind": kind, "name": name}}

    def _end(self) -> Document:
        match = f"pod.clique == '{self._choose.one(CLIQUES)}'"
        if self._choose.chance(30):
            match = f"revision == {self._choose.number(1, 3)}"
        phase, reason = self._choose.one(
            (("Failed", "Evicted"), ("Failed", "OutOfcpu"), ("Succeeded", "Done"))
        )
        count = self._choose.number(1, 3)
        return {"endPod": {"match": match, "count": count, "phase": phase, "reason": reason}}

    def _edit_child(self) -> Document:
        """What somebody does to an object that is not theirs."""
        index = self._choose.number(0, 2)
        label = self._choose.one(
            (
                "grove.io/pod-template-hash",
                "headgate.dev/revision",
                "grove.io/podcliqueset-replica-index",
                "grove.io/podcliquescalinggroup-replica-index",
                "app.kubernetes.io/part-of",
            )
        )
        value = self._choose.one(("9", None))
        edits: tuple[tuple[str, str, Document], ...] = (
            ("PodClique", f"{NAME}-{index}-{self._choose.one(CLIQUES)}", {"podSpec": _pod_spec("foreign")}),
            ("PodClique", f"{NAME}-{index}-{self._choose.one(CLIQUES)}", {"replicas": 7}),
            ("PodClique", f"{NAME}-{index}-{self._choose.one(CLIQUES)}", {}),
            ("PodClique", f"{NAME}-{index}-{self._choose.one(GROUPS)}-0-{self._choose.one(CLIQUES)}", {}),
            ("PodCliqueScalingGroup", f"{NAME}-{index}-{self._choose.one(GROUPS)}", {"minAvailable": 9}),
            ("PodCliqueScalingGroup", f"{NAME}-{index}-{self._choose.one(GROUPS)}", {}),
            ("PodGang", f"{NAME}-{index}", {"podgroups": []}),
            ("Service", f"{NAME}-{index}", {"selector": {"app": "foreign"}}),
        )
        kind, name, spec = self._choose.one(edits)
        patch: Document = {"spec": spec} if spec else {"metadata": {"labels": {label: value}}}
        return {"patch": {"kind": kind, "name": name, "patch": patch}}

    def _kill(self) -> Document:
        match = f"pod.clique == '{self._choose.one(CLIQUES)}'"
        if self._choose.chance(30):
            match = f"revision == {self._choose.number(1, 3)}"
        return {"killPod": {"match": match, "count": self._choose.number(1, 3)}}


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value
