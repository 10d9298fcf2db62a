"""Status fields and conditions that an author computes."""

import pytest

from headgate import cel
from headgate.graph.compile.compiler import CompiledGraph

from .written import compiled, config_map, only_problem, problems_of


def graph_of(status: str) -> CompiledGraph:
    return compiled(text_of(status))


def text_of(status: str) -> str:
    return (
        f"schema: {{spec: {{name: string}}, status: {status}}}\nresources: [{{id: one, template: {config_map('a')}}}, "
        f"{{id: two, template: {config_map('b')}}}]"
    )


STATUS = (
    "{a: '${one.data.x}', nested: {b: '${two.data.y}', c: 'n-${schema.spec.name}'}, "
    "list: ['${one.data.x}', '${two.data.y}']}"
)


def test_what_can_be_computed_is_projected_and_the_rest_is_left_out_with_its_reason() -> None:
    bindings = {"schema": {"spec": {"name": "n"}}, "one": {"data": {"x": 1}}, "two": {}}
    projected, errors = graph_of(STATUS).status.project(bindings)
    assert projected == {"a": 1, "nested": {"c": "n-n"}, "list": [1]}
    assert [error.path for error in errors] == ["spec.schema.status.nested.b", "spec.schema.status.list[1]"]


def test_a_part_without_any_value_is_left_out_whole() -> None:
    projected, _ = graph_of("{nested: {deep: {b: '${two.data.y}'}}}").status.project({"two": {}})
    assert projected == {}


@pytest.mark.parametrize(
    ("status", "path", "message"),
    [
        ("{a: TCP}", "a", 'is "TCP"; a field of the status needs an expression in ${}'),
        ("{a: {b: 3}}", "a.b", "is the number 3; a field"),
        ("{a: '${1 + 1}'}", "a", "reads neither a resource nor the schema"),
        ("{a: '${three.x}'}", "a", "unknown name 'three'; in sight here are one, schema, two"),
        ("{a: '${one.dat}'}", "a", "there is no field 'dat' here; did you mean 'data'?"),
        ("{a: '${omit()}'}", "a", "omit() can only be used in templates"),
        ("{a: '${runtime.newCondition({})}'}", "a", "runtime is only available in status.conditions"),
        ("{conditions: x}", "conditions", "must be a list of conditions"),
        ("{conditions: [3]}", "conditions[0]", "must be an expression such as"),
        ("{conditions: ['${one.data.x}']}", "conditions[0]", "write it with runtime.newCondition"),
    ],
)
def test_a_status_that_is_wrong_is_refused(status: str, path: str, message: str) -> None:
    problem = problems_of(text_of(status))[0]
    assert problem.path == f"spec.schema.status.{path}"
    assert message in problem.message


UP = 'runtime.newCondition({type: "Up", status: one.ready() ? "True" : "False", reason: "Seen", message: "is {type: fine}"})'


class Ready(dict[str, object]):
    def is_ready(self) -> bool:
        return True


def test_conditions_are_written_with_bare_keys() -> None:
    (projection,) = graph_of(f"{{conditions: ['${{{UP}}}']}}").conditions or ()
    assert projection.type == "Up"
    assert projection.evaluate({"one": Ready()}) == [
        {"type": "Up", "status": "True", "reason": "Seen", "message": "is {type: fine}"}
    ]


def test_one_entry_may_give_several_conditions() -> None:
    listed = '[\\"A\\", \\"B\\"].map(t, runtime.newCondition({type: t, status: \\"Unknown\\"}))'
    (projection,) = graph_of(f'{{conditions: ["${{{listed}}}"]}}').conditions or ()
    assert projection.type is None
    assert [condition["type"] for condition in projection.evaluate({})] == ["A", "B"]


def test_a_condition_may_read_others_of_the_instance() -> None:
    text = (
        'runtime.newCondition({type: "X", status: runtime.condition(schema, "Ready").status == "True" '
        '? "True" : "False"})'
    )
    (projection,) = graph_of(f"{{conditions: ['${{{text}}}']}}").conditions or ()
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    assert projection.evaluate({"schema": ready})[0]["status"] == "True"
    assert projection.evaluate({"schema": {}})[0]["status"] == "False"


def test_a_condition_of_no_known_status_is_an_error() -> None:
    text = 'runtime.newCondition({type: "X", status: one.data.s})'
    (projection,) = graph_of(f"{{conditions: ['${{{text}}}']}}").conditions or ()
    with pytest.raises(cel.EvaluationError, match="allowed are True, False, Unknown"):
        projection.evaluate({"one": {"data": {"s": "Maybe"}}})


def test_without_a_list_of_conditions_the_built_in_ones_stay() -> None:
    assert graph_of("{}").conditions is None
    assert graph_of("{conditions: []}").conditions == ()


def test_a_condition_that_is_there_twice_is_refused() -> None:
    problem = only_problem(text_of(f"{{conditions: ['${{{UP}}}', '${{{UP}}}']}}"))
    assert problem.message == "the condition 'Up' is there twice"
