"""Whatever is written in a definition, it is compiled or refused."""

import copy
import os
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.graph.compile import validate

RIGHT = yaml.safe_load(
    """
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: app, annotations: {a: b}}
spec:
  schema:
    apiVersion: v1
    kind: App
    types: {Port: integer | default=80}
    spec: {name: string | required=true, zones: '[]string', port: Port, deep: {a: 'map[string]string'}}
    status:
      name: ${dep.metadata.name}
      list: ['x-${dep.metadata.name}']
      conditions: ["${runtime.newCondition({type: 'A', status: 'True'})}"]
    additionalPrinterColumns: [{name: N, type: string, jsonPath: .spec.name}]
    shortNames: [ap]
  propagateWhen: ['exponentiallyUpdated(app, apps)']
  resources:
    - id: ext
      externalRef: {apiVersion: v1, kind: ConfigMap, metadata: {selector: {matchLabels: {a: b}, matchExpressions: [{key: k, operator: Exists}]}}}
    - id: dep
      readyWhen: ['${dep.status.replicas == 1}']
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: '${schema.spec.name}', labels: {a: b}}
        spec: {replicas: 2, template: {spec: {containers: [{name: a, image: '${schema.spec.name}:1'}]}}}
    - id: many
      forEach: [{zone: '${schema.spec.zones}'}]
      includeWhen: ['${ext.size() > 0}']
      propagateWhen: ['linearlyUpdated(zone, many, 1)']
      template: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${zone}'}, data: {k: '${dep.metadata.name}'}}
"""
)
INSTANCE: dict[str, Any] = {"apiVersion": "kro.run/v1", "kind": "App", "spec": {"name": "a", "zones": ["x"]}}

values: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        [
            None, True, 0, -1, 1.5, 2**70, float("nan"), "", " ", "x", "${", "${}", "${a}", "${schema}", "${each}",
            "${schema.spec.zones}", "x${schema.spec.zones}", "${1}${2}", "string | default=", "[]", "map[string]",
            "${schema.spec.name.a.b}", "\x00", "\ud800", [], {}, [[]], [None], {"": 1}, {"a": {"b": [1]}}, ["${a}"],
            {"${a}": 1}, {"type": []}, {1: 2},
        ]
    ),
    st.text("${}[]|=\"'. ab", max_size=12),
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in below for place in places(item, (*path, key)))][0 if path else 1 :]


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    made = copy.deepcopy(document)
    holder = made
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    return made


MULTIPLIER = float(os.environ.get("HEADGATE_EXAMPLES", "1"))
effort = settings(
    max_examples=int(120 * MULTIPLIER),
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def test_the_definition_that_is_changed_is_right() -> None:
    assert validate.check([RIGHT, INSTANCE]) == []


@effort
@given(st.sampled_from(places(RIGHT)), values)
def test_a_definition_with_anything_anywhere_is_compiled_or_refused(
    place: tuple[Any, ...], value: Any
) -> None:
    for problem in validate.check([changed(RIGHT, place, value), INSTANCE]):
        assert problem.message
        str(problem).encode()


@effort
@given(st.sampled_from(places(INSTANCE)), values)
def test_an_instance_with_anything_anywhere_is_accepted_or_refused(
    place: tuple[Any, ...], value: Any
) -> None:
    for problem in validate.check([RIGHT, changed(INSTANCE, place, value)]):
        assert problem.message
        str(problem).encode()
