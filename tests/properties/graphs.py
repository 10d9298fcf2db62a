"""Random graphs: nodes that read each other, collections, gates, edits of definition and instance, faults, restarts.

Objects get other names with the value, ids of nodes are renamed, two nodes take turns at one object, and inputs move
between two collections whose objects have the same names.
"""

import json
import re
from typing import Any

from hypothesis import strategies as st

Document = dict[str, Any]
Draw = Any

LETTERS = ["a", "b", "c", "d", "e", "f", "g"]
ECHO = {
    "value": "${object.spec.value}",
    "observedGeneration": "${object.metadata.generation}",
}

OPEN_GATES = [
    None,
    [],
    ["exponentiallyUpdated(each, SELF)"],
    ["${linearlyUpdated(each, SELF, 2)}"],
    ["linearlyUpdated(each, SELF, 1)", "signals['go'] == true"],
    ["SELF.filter(x, x.updated() && !x.ready()).size() < 2"],
    ["SELF.filter(x, x.ready()).size() >= 0 && !SELF.exists(x, x.updated() && !x.ready())"],
    ["SELF.size() * 0.5 >= 0.0", "now > timestamp('2026-03-02T09:30:00Z')"],
    ["now.getMinutes() < 40"],
    ["each.value != 'z' || each.updated()"],
]
SINGLE_GATES = [
    None,
    [],
    ["signals['go'] == true"],
    ["now.getMinutes() < 40"],
    ["now > timestamp('2026-03-02T09:30:00Z')"],
]


def _named(gates: list[str] | None, own: str) -> list[str] | None:
    return None if gates is None else [gate.replace("SELF", own) for gate in gates]


@st.composite
def nodes(draw: Draw, index: int, before: list[Document]) -> Document:
    own = f"n{index}"
    is_collection = draw(st.booleans())
    reads = (
        draw(st.lists(st.sampled_from(before), max_size=2, unique_by=lambda node: node["id"]))
        if before
        else []
    )
    parts = ["${schema.spec.value}"] if draw(st.booleans()) or not reads else []
    for other in reads:
        name = other["id"]
        if "forEach" in other:
            parts.append(f"${{{name}.map(x, x.spec.value).join('.')}}")
        else:
            parts.append(f"${{{name}.status.value}}")
    node: Document = {
        "id": own,
        "template": {
            "apiVersion": "example.com/v1",
            "kind": "Thing",
            "metadata": {"name": _object_name(draw, index)},
            "spec": {"value": "-".join(parts), "constant": "one"},
        },
        "readyWhen": [
            f"${{{'each' if is_collection else own}.status.value == {'each' if is_collection else own}.spec.value}}"
        ],
    }
    if is_collection:
        node["forEach"] = [{"letter": "${schema.spec.items}"}]
        node["template"]["metadata"]["name"] += "-${letter}"
        gates = _named(draw(st.sampled_from(OPEN_GATES)), own)
        node["template"]["spec"]["value"] += "-${letter}" if draw(st.booleans()) else ""
    else:
        gates = _named(draw(st.sampled_from(SINGLE_GATES)), own)
    if gates is not None:
        node["propagateWhen"] = gates
    if draw(st.integers(0, 5)) == 0:
        node["includeWhen"] = ["${schema.spec.on}"]
    return node


def _object_name(draw: Draw, index: int) -> str:
    """Some carry the value in their name, as objects do that cannot be changed in place."""
    return f"t{index}-${{schema.spec.value}}" if draw(st.integers(0, 3)) == 0 else f"t{index}"


def _thing(own: str, name: str, value: str, **more: Any) -> Document:
    spec = {"value": value, "constant": "one"}
    item = "each" if "forEach" in more else own
    return {
        "id": own,
        "template": {
            "apiVersion": "example.com/v1",
            "kind": "Thing",
            "metadata": {"name": name},
            "spec": spec,
        },
        "readyWhen": [f"${{{item}.status.value == {item}.spec.value}}"],
        **more,
    }


def _alternatives(draw: Draw) -> list[Document]:
    """Two nodes with opposite conditions and one object."""
    value = draw(st.sampled_from(["same", "fast"]))
    gates = _named(draw(st.sampled_from(SINGLE_GATES)), "fast")
    more = {} if gates is None else {"propagateWhen": gates}
    return [
        _thing("plain", "either", "same", includeWhen=["${schema.spec.on}"]),
        _thing("fast", "either", value, includeWhen=["${!schema.spec.on}"], **more),
    ]


def _neighbours(draw: Draw) -> list[Document]:
    """Two collections whose objects have the same names."""
    value = draw(st.sampled_from(["same", "right"]))
    found: list[Document] = []
    for own, inputs, text in (("left", "items", "same"), ("right", "others", value)):
        gates = _named(draw(st.sampled_from(OPEN_GATES)), own)
        more = {} if gates is None else {"propagateWhen": gates}
        each = [{"letter": f"${{schema.spec.{inputs}}}"}]
        found.append(_thing(own, "of-${letter}", text, forEach=each, **more))
    return found


@st.composite
def definitions(draw: Draw) -> Document:
    made: list[Document] = []
    for index in range(draw(st.integers(1, 4))):
        made.append(draw(nodes(index, made)))
    if draw(st.integers(0, 2)) == 0:
        made.extend(_alternatives(draw))
    if draw(st.integers(0, 2)) == 0:
        made.extend(_neighbours(draw))
    spec: Document = {
        "schema": {
            "apiVersion": "v1",
            "group": "example.com",
            "kind": "Case",
            "spec": {
                "value": "string",
                "items": "[]string",
                "others": "[]string",
                "on": "boolean | default=true",
            },
        },
        "resources": made,
    }
    if draw(st.integers(0, 3)) == 0:
        spec["propagationPolicy"] = "Concurrent"
    top = draw(
        st.sampled_from(
            [
                None,
                [],
                ["linearlyUpdated(case, cases, 1)"],
                ["cases.filter(c, c.updated() && !c.ready()).size() < 2"],
            ]
        )
    )
    if top is not None:
        spec["propagateWhen"] = top
    return {
        "apiVersion": "kro.run/v1alpha1",
        "kind": "ResourceGraphDefinition",
        "metadata": {"name": "case"},
        "spec": spec,
    }


@st.composite
def _lists(draw: Draw) -> Document:
    """Both lists of inputs; no input is in both."""
    chosen = draw(st.lists(st.sampled_from(LETTERS), max_size=6, unique=True))
    count = draw(st.integers(0, len(chosen)))
    return {"items": chosen[:count], "others": chosen[count:]}


@st.composite
def edits(draw: Draw, definition: Document, names: list[str], *, with_faults: bool) -> Document:
    """One step. Definitions are edited as wholes, so that the last one says what must come of all."""
    name = draw(st.sampled_from(names))
    kinds = ["value", "items", "on", "constant", "gate", "rename", "drift", "vanish", "explain"]
    if with_faults:
        kinds += ["pause", "unpause", "crash", "signal", "delete", "recreate", "pauseAll", "unpauseAll"]
    match draw(st.sampled_from(kinds)):
        case "value":
            return _patched(name, {"spec": {"value": draw(st.sampled_from(["v1", "v2", "v3"]))}})
        case "items":
            return _patched(name, {"spec": draw(_lists())})
        case "on":
            return _patched(name, {"spec": {"on": draw(st.booleans())}})
        case "constant":
            resources = [
                _with_constant(node, draw(st.sampled_from(["one", "two"])))
                for node in definition["spec"]["resources"]
            ]
            return {
                "patch": {
                    "kind": "ResourceGraphDefinition",
                    "name": "case",
                    "patch": {"spec": {"resources": resources}},
                }
            }
        case "gate":
            resources = [
                {**node, "propagateWhen": []} if draw(st.booleans()) else node
                for node in definition["spec"]["resources"]
            ]
            return {
                "patch": {
                    "kind": "ResourceGraphDefinition",
                    "name": "case",
                    "patch": {"spec": {"resources": resources}},
                }
            }
        case "rename":
            chosen = draw(st.sampled_from(definition["spec"]["resources"]))["id"]
            resources = _renamed(definition["spec"]["resources"], chosen, f"{chosen}again")
            return {
                "patch": {
                    "kind": "ResourceGraphDefinition",
                    "name": "case",
                    "patch": {"spec": {"resources": resources}},
                }
            }
        case "drift":
            return {"patch": {"kind": "Thing", "name": f"{name}-t0", "patch": {"spec": {"value": "by hand"}}}}
        case "vanish":
            return {
                "delete": {
                    "kind": "Thing",
                    "name": f"{name}-{draw(st.sampled_from(['t0', 't1', 't2', 'either', 'of-a', 't0-v1']))}",
                }
            }
        case "pause" | "unpause" as word:
            value = "paused" if word == "pause" else None
            return _patched(name, {"metadata": {"annotations": {"headgate.dev/propagation": value}}})
        case "pauseAll" | "unpauseAll" as word:
            value = "paused" if word == "pauseAll" else None
            patch = {"metadata": {"annotations": {"headgate.dev/propagation": value}}}
            return {"patch": {"kind": "ResourceGraphDefinition", "name": "case", "patch": patch}}
        case "crash":
            return {"crash": "engine"}
        case "signal":
            return {"signal": {"name": "go", "value": draw(st.booleans())}}
        case "delete":
            return {"delete": {"kind": "Case", "name": name}}
        case "recreate":
            return {"apply": instance(name, "v9", draw(_lists()))}
    return {"explain": {"instance": name}}


def _patched(name: str, patch: Document) -> Document:
    return {"patch": {"kind": "Case", "name": name, "patch": patch}}


def _renamed(resources: list[Document], old: str, new: str) -> list[Document]:
    """Another id, wherever it is read; the objects keep their names."""
    changed: list[Document] = json.loads(re.sub(rf"\b{old}\b", new, json.dumps(resources)))
    return changed


def _with_constant(node: Document, value: str) -> Document:
    template = {**node["template"], "spec": {**node["template"]["spec"], "constant": value}}
    return {**node, "template": template}


def instance(name: str, value: str, lists: Document) -> Document:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Case",
        "metadata": {"name": name},
        "spec": {"value": value, **lists, "on": True},
    }


def _prefixed(definition: Document) -> Document:
    """Objects of two instances must not be the same ones."""
    for node in definition["spec"]["resources"]:
        metadata = node["template"]["metadata"]
        metadata["name"] = "${schema.metadata.name}-" + metadata["name"]
    return definition


@st.composite
def scenarios(draw: Draw, *, with_faults: bool = True, with_lag: bool = True) -> Document:
    definition = _prefixed(draw(definitions()))
    names = [f"i{index}" for index in range(draw(st.integers(1, 4)))]
    behaviors: list[Document] = []
    if with_faults and draw(st.integers(0, 2)) == 0:
        behaviors.append({"match": "object.spec.value.contains('v2') && revision == 2", "never": "ready"})
    behaviors.append(
        {
            "match": "object.kind == 'Thing'",
            "status": {"after": draw(st.sampled_from(["0s", "20s", "3m"])), "set": ECHO},
        }
    )
    cluster: Document = {"behaviors": behaviors}
    if with_lag and draw(st.integers(0, 3)) == 0:
        cluster["lag"] = "5s"
    if with_faults and draw(st.integers(0, 3)) == 0:
        cluster["crashAtWrites"] = sorted(draw(st.sets(st.integers(1, 60), max_size=4)))
    timeline: list[Document] = []
    if draw(st.booleans()):
        timeline.append({"at": "+0s", "signal": {"name": "go", "value": True}})
    at = 0
    for _ in range(draw(st.integers(0, 7))):
        at += draw(st.sampled_from([0, 7, 20, 60, 200, 900]))
        timeline.append({"at": f"+{at}s", **draw(edits(definition, names, with_faults=with_faults))})
    end = at + 60
    timeline.append({"at": f"+{end}s", "signal": {"name": "go", "value": True}})
    unpaused = {"metadata": {"annotations": {"headgate.dev/propagation": None}}}
    if with_faults:
        timeline.extend({"at": f"+{end}s", **_patched(name, unpaused)} for name in names)
    timeline.append(
        {
            "at": f"+{end}s",
            "patch": {
                "kind": "ResourceGraphDefinition",
                "name": "case",
                "patch": {"metadata": {"annotations": {"headgate.dev/propagation": None}}},
            },
        }
    )
    return {
        "apiVersion": "headgate.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": "random graph"},
        "spec": {
            "start": "2026-03-02T09:00:00Z",
            "agents": [],
            "objects": [definition, *(instance(name, "v1", draw(_lists())) for name in names)],
            "cluster": cluster,
            "timeline": timeline,
        },
    }
