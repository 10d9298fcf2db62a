"""What a definition compiles to, and which definitions are refused with what words."""

import pytest

from headgate.graph.compile import validate
from headgate.graph.compile.compiler import CompiledGraph
from headgate.graph.reconcile import nodes

from .written import compiled, config_map, document, only_problem, problems_of

ZONES = "schema: {spec: {name: string, zones: '[]string', tiers: '[]string', count: integer}}\n"


def graph_of(*resources: str, head: str = ZONES) -> str:
    return head + "resources:\n" + "".join(f"  - {each}\n" for each in resources)


def one(resource: str, head: str = ZONES) -> str:
    return graph_of(resource, head=head)


def deployment(**fields: str) -> str:
    """A Deployment template in one line; fields are those of its spec."""
    entries = ", ".join(f"{key}: {value}" for key, value in fields.items())
    return f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: d}}, spec: {{{entries}}}}}"


def order(graph: CompiledGraph) -> str:
    return " ".join(graph.topological_order)


def test_a_graph_knows_the_names_of_its_kind() -> None:
    graph = compiled("schema: {kind: CautiousApp, apiVersion: v1, group: example.com}")
    assert (graph.name, graph.kind, graph.api_version) == ("app", "CautiousApp", "example.com/v1")
    assert (graph.singular, graph.plural) == ("cautiousapp", "cautiousapps")
    assert graph.is_namespaced
    assert graph.propagation_policy == "Latest"
    assert graph.propagate_when is None


def test_references_in_templates_for_each_and_include_when_are_edges() -> None:
    graph = compiled(
        graph_of(
            f"{{id: last, includeWhen: ['${{switch.data.on == \"1\"}}'], template: {config_map('a')}}}",
            f"{{id: many, forEach: [{{x: '${{[source.metadata.name]}}'}}], template: {config_map('${x}')}}}",
            f"{{id: text, template: {config_map('t', v='${string(many.size())}-${schema.spec.name}')}}}",
            f"{{id: source, template: {config_map('s')}}}",
            f"{{id: switch, template: {config_map('w')}}}",
        )
    )
    assert order(graph) == "source many text switch last"
    assert graph.node("last").depends_on == {"switch"}
    assert graph.node("many").depends_on == {"source"}
    assert graph.node("text").depends_on == {"many"}
    assert graph.node("many").is_collection
    assert [node.index for node in graph.nodes] == [3, 1, 2, 4, 0]
    assert {node.id: node.layer for node in graph.nodes} == {
        "source": 1, "switch": 1, "many": 2, "last": 2, "text": 3,
    }  # fmt: skip


def test_propagate_when_is_an_edge_to_others_but_not_to_its_own_collection() -> None:
    graph = compiled(
        graph_of(
            "{id: pods, forEach: [{pod: '${schema.spec.zones}'}], propagateWhen: ['exponentiallyUpdated(pod, pods)', "
            f"'${{gate.ready()}}'], template: {config_map('${pod}')}}}",
            f"{{id: gate, template: {config_map('g')}}}",
        )
    )
    assert order(graph) == "gate pods"
    assert graph.node("pods").gate_reads == {"gate"}
    assert graph.node("pods").depends_on == frozenset()
    assert nodes.names_of_item(graph.node("pods")) == {"each", "pod"}


def test_an_absent_gate_is_not_an_empty_one() -> None:
    graph = compiled(
        graph_of(
            f"{{id: a, template: {config_map('a')}}}",
            f"{{id: b, propagateWhen: [], template: {config_map('b')}}}",
            f"{{id: c, propagateWhen: null, template: {config_map('c')}}}",
        )
    )
    assert [node.propagate_when for node in graph.nodes] == [None, (), None]


def test_empty_and_null_lists_are_as_if_they_were_not_written() -> None:
    graph = compiled(
        one(f"{{id: a, forEach: [], includeWhen: null, readyWhen: [], template: {config_map('a')}}}")
    )
    (node,) = graph.nodes
    assert not node.is_collection
    assert (node.include_when, node.ready_when) == ((), ())


def test_a_template_renders_with_iterators_and_resources() -> None:
    graph = compiled(
        graph_of(
            f"{{id: base, template: {config_map('base')}}}",
            "{id: many, forEach: [{zone: '${schema.spec.zones}'}, {tier: '${schema.spec.tiers}'}], "
            f"template: {config_map('${zone}-${tier}', base='${base.metadata.name}')}}}",
        )
    )
    node = graph.node("many")
    schema = {"spec": {"zones": ["a", "b"], "tiers": ["x"]}}
    assert [dimension.values({"schema": schema}) for dimension in node.for_each] == [["a", "b"], ["x"]]
    assert node.template is not None
    rendered = node.template.render({"base": {"metadata": {"name": "n"}}, "zone": "a", "tier": "x"})
    assert rendered == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a-x"},
        "data": {"base": "n"},
    }


def test_external_references_by_name_and_by_selector() -> None:
    graph = compiled(
        graph_of(
            "{id: one, externalRef: {apiVersion: v1, kind: ConfigMap, metadata: {name: '${schema.spec.name}'}}}",
            "{id: all, externalRef: {apiVersion: v1, kind: ConfigMap, metadata: {selector: {matchLabels: "
            "{app: '${one.data.app}'}, matchExpressions: [{key: k, operator: In, values: ['${schema.spec.name}']}]}}}}",
            f"{{id: count, template: {config_map('c', n='${string(all.size())}', first='${all[0].data.x}')}}}",
        )
    )
    assert order(graph) == "one all count"
    reference = graph.node("all").external_ref
    assert reference is not None
    assert reference.by_selector
    assert graph.node("all").is_list
    bindings = {"schema": {"spec": {"name": "n"}}, "one": {"data": {"app": "web"}}}
    assert reference.metadata.render(bindings) == {
        "selector": {
            "matchLabels": {"app": "web"},
            "matchExpressions": [{"key": "k", "operator": "In", "values": ["n"]}],
        }
    }


def test_kinds_that_are_not_known_may_hold_anything() -> None:
    graph = compiled(
        one(
            "{id: env, readyWhen: ['${env.status.phase == \"Ready\"}'], template: {apiVersion: example.com/v1, "
            "kind: Environment, metadata: {name: e}, spec: {what: {ever: '${schema.spec.count}'}}}}"
        )
    )
    assert graph.node("env").known_kind is None
    assert graph.node("env").is_namespaced


def test_gates_may_be_bare_cel_and_mix_numbers() -> None:
    graph = compiled(
        one(
            "{id: pods, forEach: [{pod: '${schema.spec.zones}'}], propagateWhen: "
            "['pods.filter(p, p.ready()).size() >= pods.size() * 0.8', "
            "'${pods.filter(p, p.updated() && !p.ready()).size() < 2}'], "
            f"readyWhen: ['each.data.x == pod.value'], template: {config_map('${pod}')}}}"
        )
    )
    gates = graph.node("pods").propagate_when
    assert gates is not None
    assert [gate.reads for gate in gates] == [{"pods"}, {"pods"}]


def test_gates_over_instances_use_the_names_of_the_kind() -> None:
    graph = compiled(
        "propagateWhen: ['exponentiallyUpdated(app, apps)', 'linearlyUpdated(each, apps, 10)', "
        "'app.metadata.labels.tier != \"gold\"', \"!signals['stop'] && now > timestamp('2026-01-01T00:00:00Z')\"]"
    )
    assert graph.propagate_when is not None
    assert [sorted(gate.reads) for gate in graph.propagate_when] == [
        ["app", "apps"],
        ["apps", "each"],
        ["app"],
        ["now", "signals"],
    ]
    assert graph.propagate_when[3].signals == {"stop"}
    assert graph.propagate_when[3].reads_now
    assert graph.item_names == {"app", "each"}


def test_where_singular_and_plural_are_one_word_it_is_the_list() -> None:
    graph = compiled("schema: {kind: Fish}\npropagateWhen: ['exponentiallyUpdated(each, fish)']")
    assert (graph.singular, graph.plural) == ("fish", "fish")
    assert graph.item_names == {"each"}


SAME = f"resources: [{{id: a, template: {config_map('a', x='1')}}}, {{id: b, template: {config_map('b')}}}]"


@pytest.mark.parametrize(
    "other",
    [
        f"resources: [{{id: a, readyWhen: ['${{a.data.x == \"1\"}}'], propagateWhen: ['true'], template: {config_map('a', x='1')}}}, "
        f"{{id: b, template: {config_map('b')}}}]\npropagateWhen: []",
        f"resources: [{{id: a, includeWhen: [], template: {config_map('a', x='1')}}}, {{id: b, template: {config_map('b')}}}]",
        f"resources: [{{id: b, template: {config_map('b')}}}, {{id: a, template: {config_map('a', x='1')}}}]",
        SAME + "\npropagationPolicy: Concurrent",
    ],
)
def test_gates_readiness_order_and_empty_fields_are_not_content(other: str) -> None:
    assert compiled(SAME).content_hash == compiled(other).content_hash


@pytest.mark.parametrize(
    "other",
    [
        SAME.replace("x: '1'", "x: '2'"),
        SAME.replace("id: a,", "id: c,"),
        "schema: {spec: {n: string}}\n" + SAME,
    ],
)
def test_templates_ids_and_the_schema_are_content(other: str) -> None:
    assert compiled(SAME).content_hash != compiled(other).content_hash


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("schema: {kind: app}", "spec.schema.kind", 'is "app"; allowed is upper camel case'),
        ("schema: {apiVersion: example.com/v1}", "spec.schema.apiVersion", "allowed is a version such as v1"),
        ("schema: {group: Example}", "spec.schema.group", "allowed is a DNS name"),
        ("schema: {scope: Global}", "spec.schema.scope", "allowed are Namespaced, Cluster"),
        ("schema: {shortNames: [A]}", "spec.schema.shortNames[0]", "allowed is small letters"),
        ("schema: {spec: {a: sting}}", "spec.schema.spec.a", "unknown type 'sting'"),
        ("schema: {spec: {stages: [beta, prod]}}", "spec.schema.spec.stages", "not a list"),
        ("propagationPolicy: Fast", "spec.propagationPolicy", "allowed are Latest, Concurrent"),
        ("resorces: []", "spec.resorces", "did you mean resources?"),
        (one("{id: a, template: x}"), "spec.resources[0].template", "must be a map"),
        (one(f"{{id: A, template: {config_map('a')}}}"), "spec.resources[0].id", "'A' is not a valid id"),
        (one(f"{{id: {'a' * 64}, template: {config_map('a')}}}"), "spec.resources[0].id", "carry it in a label"),
        (one(f"{{id: a-b, template: {config_map('a')}}}"), "spec.resources[0].id", "lower camel case"),
        (one(f"{{id: schema, template: {config_map('a')}}}"), "spec.resources[0].id", "reserved word"),
        (one(f"{{id: now, template: {config_map('a')}}}"), "spec.resources[0].id", "reserved word"),
        (one(f"{{id: signals, template: {config_map('a')}}}"), "spec.resources[0].id", "reserved word"),
        (one(f"{{id: namespace, template: {config_map('a')}}}"), "spec.resources[0].id", "reserved word"),
        (one("{id: a}"), "spec.resources[0]", "exactly one of template and externalRef"),
        (
            graph_of(f"{{id: a, template: {config_map('a')}}}", f"{{id: a, template: {config_map('b')}}}"),
            "spec.resources[1].id",
            "'a' is the id of another resource already, at spec.resources[0].id",
        ),
        (
            one("{id: a, template: {apiVersion: v1, kind: ConfigMap}}"),
            "spec.resources[0].template.metadata",
            'resource "a": is required; it holds at least the name',
        ),
        (
            one("{id: a, template: {apiVersion: v1, kind: ConfigMap, metadata: {}}}"),
            "spec.resources[0].template.metadata.name",
            "is required",
        ),
        (
            one("{id: a, template: {kind: ConfigMap, metadata: {name: a}}}"),
            "spec.resources[0].template.apiVersion",
            "is required and must be a string",
        ),
        (
            one("{id: a, template: {apiVersion: a/b/c, kind: X, metadata: {name: a}}}"),
            "spec.resources[0].template.apiVersion",
            "allowed are version and group/version",
        ),
        (
            one("{id: a, template: {apiVersion: v1, kind: '${schema.kind}', metadata: {name: a}}}"),
            "spec.resources[0].template.kind",
            "must be written out",
        ),
        (
            one("{id: a, template: {apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}}"),
            "spec.resources[0].template.metadata.namespace",
            "objects of kind Namespace have no namespace",
        ),
        (
            one(f"{{id: a, template: {config_map('a')}}}", head="schema: {scope: Cluster}\n"),
            "spec.resources[0].template.metadata.namespace",
            "is required, since instances of the definition have no namespace",
        ),
        (
            one("{id: a, template: {apiVersion: v1, kind: X, metadata: {name: a, labels: {kro.run/x: y}}}}"),
            "spec.resources[0].template.metadata.labels['kro.run/x']",
            "are reserved",
        ),
        (one(f"{{id: a, template: {deployment(replicas='two')}}}"),
         "spec.resources[0].template.spec.replicas", 'resource "a": must be an integer, not "two"'),
        (one(f"{{id: a, template: {deployment(replica='2')}}}"),
         "spec.resources[0].template.spec.replica",
         "is not a known field of Deployment; did you mean 'replicas'?"),
        (one("{id: a, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {n: 1}}}"),
         "spec.resources[0].template.data.n", "must be a string, not the number 1"),
        (one("{id: a, template: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {'${schema.kind}': x}}}"),
         "spec.resources[0].template.data", "expressions are allowed in values only"),
        (one("{id: a, template: {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, "
             "metadata: {name: '${schema.spec.name}'}, spec: {group: '${schema.spec.name}'}}}"),
         "spec.resources[0].template.spec.group", "allowed under metadata only"),
        (one("{id: a, externalRef: {apiVersion: v1, kind: ConfigMap, metadata: {}}}"),
         "spec.resources[0].externalRef.metadata", "exactly one of name and selector"),
        (one("{id: a, externalRef: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, selector: {}}}}"),
         "spec.resources[0].externalRef.metadata", "exactly one of name and selector"),
        (one("{id: a, externalRef: {apiVersion: v1, kind: Node, metadata: {name: a, namespace: b}}}"),
         "spec.resources[0].externalRef.metadata.namespace", "have no namespace"),
        (one("{id: a, externalRef: {apiVersion: v1, kind: ConfigMap, metadata: {selector: {labels: {}}}}}"),
         "spec.resources[0].externalRef.metadata.selector.labels", "allowed are matchLabels, matchExpressions"),
        (one("{id: a, externalRef: {apiVersion: v1, kind: ConfigMap, metadata: {selector: "
             "{matchExpressions: [{key: k, operator: Is}]}}}}"),
         "spec.resources[0].externalRef.metadata.selector.matchExpressions[0].operator", "allowed are In, NotIn"),
        (one("{id: a, propagateWhen: ['true'], externalRef: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}"),
         "spec.resources[0].propagateWhen", "nothing to gate"),
    ],
)  # fmt: skip
def test_a_field_that_is_wrong_is_refused(text: str, path: str, message: str) -> None:
    problem = only_problem(text)
    assert problem.path == path
    assert message in problem.message


def test_a_name_that_no_cluster_takes_is_refused() -> None:
    first, second = validate.check([document("schema: {spec: {a: sting}}", name="Pipeline")])
    assert str(first) == (
        "ResourceGraphDefinition Pipeline: metadata.name: "
        'is "Pipeline"; allowed are small letters, digits, "-" and ".", at most 63'
    )
    assert "unknown type" in second.message


def item(expression: str, place: str = "data") -> str:
    """A collection over zones with one expression somewhere in it."""
    data = config_map("${zone}", x=expression if place == "data" else "1")
    more = f"{place}: ['{expression}'], " if place != "data" else ""
    return one(f"{{id: many, forEach: [{{zone: '${{schema.spec.zones}}'}}], {more}template: {data}}}")


@pytest.mark.parametrize(
    ("entry", "path", "message"),
    [
        ("[{zone: '${schema.spec.count}'}]", "forEach[0].zone", "gives an integer; a list is needed here"),
        ("[{zone: '${schema.spec.zones}', b: '${schema.spec.zones}'}]", "forEach[0]", "has 2 keys"),
        ("[{zone: '${schema.spec.zones}'}, {zone: '${schema.spec.tiers}'}]", "forEach[1].zone", "another iterator"),
        ("[{each: '${schema.spec.zones}'}]", "forEach[0].each", "reserved word"),
        ("[{Zone: '${schema.spec.zones}'}]", "forEach[0].Zone", "lower camel case"),
        ("[{other: '${schema.spec.zones}'}]", "forEach[0].other", "'other' is the id of a resource"),
        ("[{zone: '${schema.spec.zones}'}, {tier: '${[zone]}'}]", "forEach[1].tier", "unknown name 'zone'"),
        ("[{zone: '${schema.spec.zones.filter(z, other.updated())}'}]", "forEach[0].zone", "updated() cannot be used"),
        ("[{zone: '${schema.spec.zones}'}, {tier: '${schema.spec.tiers}'}]", "template.metadata.name", "missing: tier"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_for_each_is_told(entry: str, path: str, message: str) -> None:
    text = graph_of(
        f"{{id: many, forEach: {entry}, template: {config_map('${zone}')}}}",
        f"{{id: other, template: {config_map('o')}}}",
    )
    found = [problem for problem in problems_of(text) if message in problem.message]
    assert [problem.path for problem in found] == [f"spec.resources[0].{path}"]


def test_a_collection_has_at_most_ten_dimensions() -> None:
    dimensions = ", ".join(f"{{v{n}: '${{schema.spec.zones}}'}}" for n in range(11))
    name = "".join(f"${{v{n}}}" for n in range(11))
    problem = only_problem(one(f"{{id: many, forEach: [{dimensions}], template: {config_map(name)}}}"))
    assert "has 11 dimensions; allowed are at most 10" in problem.message


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("${schema.spec.nam}", "there is no field 'nam' here; did you mean 'name'?", 14),
        ("a-${schema.spec.nam}", "there is no field 'nam' here", 16),
        ("${schema.status.x}", "there is no field 'status' here", 9),
        ("${nope.x}", "unknown name 'nope'; in sight here are many, schema, zone", 3),
        ("${schema.spec.name + 1}", "found no matching overload for '_+_' applied to '(string, int)'", 20),
        ("${schema.spec.name.frobnicate()}", "there is no function frobnicate()", 20),
        ("${schema.spec.name +}", "the expression ends too early", None),
        ("${}", "the expression is empty", 3),
        ("${schema.spec.count}", "gives an integer; a string is needed here", 3),
        ("x-${schema.spec.count}", "gives an integer; a string is needed here", 5),
        ("${schema.spec.zones.map(z, z.x)}", "a string has no fields, so no 'x'", None),
        ("${schema.spec.zones[0].x}", "a string has no fields", None),
        ("${zone.value}", "a string has no fields", None),
        ("${b\"x\"}", "gives bytes; encode them", 3),
        ("${many.ready() ? \"a\" : \"b\"}", "ready() cannot be used here: it reads the state of the rollout", None),
        ("${string(now)}", "unknown name 'now'", None),
        ("${runtime.x}", "runtime is only available in status.conditions", 3),
        ("${a(${zone})}", "an expression holds another ${", 5),
    ],
)  # fmt: skip
def test_an_expression_that_is_wrong_is_shown_with_its_place(
    text: str, message: str, column: int | None
) -> None:
    problem = problems_of(item(text))[0]
    assert problem.path == "spec.resources[0].template.data.x"
    assert problem.message.startswith('resource "many": ${')
    assert message in problem.message
    if column is not None:
        assert f"(line 1, column {column})" in problem.message
        assert problem.message.splitlines()[1:] == [f"  {text}", "  " + " " * (column - 1) + "^"]


@pytest.mark.parametrize(
    ("place", "text", "message"),
    [
        ("readyWhen", "${each.ready()}", "ready() cannot be used here: readyWhen is what ready() asks for"),
        ("readyWhen", "${many.updated()}", "updated() cannot be used here"),
        ("readyWhen", "${schema.spec.count > 1}", "unknown name 'schema'; in sight here are each, zone"),
        (
            "readyWhen",
            "${many.all(z, z.data.size() > 0)}",
            "unknown name 'many'; in sight here are each, zone",
        ),
        ("readyWhen", "${each.data}", "gives an object; a boolean is needed here"),
        ("readyWhen", "${each.dat.x == 1}", "there is no field 'dat' here; did you mean 'data'?"),
        ("readyWhen", "ready ${each.data.x}", "only one expression is allowed here"),
        ("includeWhen", "${schema.spec.count}", "gives an integer; a boolean is needed here"),
        ("includeWhen", "${zone == 1}", "unknown name 'zone'"),
        ("includeWhen", "${many.size() > 0}", "cannot read the resource itself"),
        ("includeWhen", "${omit()}", "omit() can only be used in templates of resources"),
        ("propagateWhen", "linearlyUpdated(zone, many, 0)", "the size of a wave is 0; allowed is 1 or more"),
        (
            "propagateWhen",
            "linearlyUpdated(zone, many)",
            "linearlyUpdated() does not take what it is given here",
        ),
        ("propagateWhen", "zone.value + 1 == 2", "found no matching overload"),
        ("propagateWhen", "many.size()", "gives an integer; a boolean is needed here"),
        ("propagateWhen", "nothing.ready()", "unknown name 'nothing'"),
        ("propagateWhen", "runtime.newCondition({})", "runtime is only available in status.conditions"),
    ],
)
def test_a_condition_that_is_wrong_is_refused(place: str, text: str, message: str) -> None:
    (problem, *_) = problems_of(item(text, place))
    assert problem.path.startswith("spec.resources[0]")
    assert message in problem.message


@pytest.mark.parametrize(
    "text",
    [
        "${schema.spec.zones.map(many, many).join(',')}",
        "${has(schema.spec.name) ? schema.spec.name : 'x'}",
        "${schema.?spec.name.orValue('x')}",
        "${schema.spec.name == null ? 'a' : 'b'}",
        "${schema.metadata.?labels['app.kubernetes.io/name'].orValue('')}",
        "${schema.metadata.annotations.anything}",
        "${string(schema.spec.count * 1.5)}",
        "${cel.bind(z, schema.spec.zones, z[0])}",
        "${schema.spec.zones.sort().first().orValue('none')}",
        "${schema.spec.zones.transformMap(i, z, z).size() > 0 ? 'x' : omit()}",
        "${json.marshal({'a': schema.spec.zones})}",
        "${string(schema.metadata.creationTimestamp)}",
    ],
)
def test_expressions_that_are_right_are_taken(text: str) -> None:
    assert problems_of(item(text.replace("'", '"'))) == []


@pytest.mark.parametrize(
    ("field", "expression"),
    [
        ("replicas", "${schema.spec.count}"),
        ("paused", "${schema.spec.count > 1}"),
        ("selector", "${{'matchLabels': {'a': schema.spec.name}}}"),
        ("template", "${schema.spec.free}"),
        ("minReadySeconds", "${schema.spec.?count}"),
    ],
)
def test_a_value_that_fits_the_field_of_the_kind_is_taken(field: str, expression: str) -> None:
    head = "schema: {spec: {name: string, count: integer, free: object}}\n"
    template = deployment(**{field: f'"{expression}"'})
    assert problems_of(one(f"{{id: a, template: {template}}}", head=head)) == []


@pytest.mark.parametrize(
    ("field", "expression", "message"),
    [
        ("replicas", "${schema.spec.name}", "gives a string; an integer is needed here"),
        ("paused", "${schema.spec.count}", "gives an integer; a boolean is needed here"),
        ("selector", "${{'matchLabel': {}}}", "the field 'matchLabel', which is not known here; did you mean 'matchLabels'?"),
        ("selector", "${{'matchLabels': {'a': 1}}}", "whose field 'matchLabels' gives an object whose field 'a' gives an integer"),
        ("selector", "${schema.spec.zones}", "gives a list; an object is needed here"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_the_field_of_the_kind_is_refused(
    field: str, expression: str, message: str
) -> None:
    template = deployment(**{field: f'"{expression}"'})
    assert message in only_problem(one(f"{{id: a, template: {template}}}")).message


def test_resources_that_wait_for_each_other_are_refused_with_the_path() -> None:
    problem = only_problem(
        graph_of(
            f"{{id: a, template: {config_map('${b.metadata.name}')}}}",
            f"{{id: b, includeWhen: ['${{c.ready()}}'], template: {config_map('b')}}}",
            f"{{id: c, propagateWhen: ['a.ready()'], template: {config_map('c')}}}",
        )
    )
    assert problem.path == "spec.resources[0]"
    assert problem.message == "resources wait for each other: a -> b -> c -> a"


def test_a_template_that_reads_its_own_object_is_refused() -> None:
    problem = only_problem(one(f"{{id: a, template: {config_map('a', x='${a.metadata.uid}')}}}"))
    assert "cannot read the resource itself" in problem.message


def test_all_problems_are_told_at_once() -> None:
    text = graph_of(
        f"{{id: a, template: {config_map('${schema.spec.nam}', x='${nope}')}}}",
        f"{{id: B, readyWhen: ['1'], template: {deployment(replica='1')}}}",
        head="schema: {spec: {name: string, bad: sting}, status: {s: constant}}\n",
    )
    assert [problem.path for problem in problems_of(text)] == [
        "spec.schema.spec.bad",
        "spec.resources[1].id",
        "spec.resources[0].template.metadata.name",
        "spec.resources[0].template.data.x",
        "spec.resources[1].template.spec.replica",
        "spec.schema.status.s",
        "spec.resources[1].readyWhen[0]",
    ]
