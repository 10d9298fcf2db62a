"""What a schema allows is what the reader takes, tried value by value; and what is written is what it promises."""

from collections.abc import Iterator
from typing import Any, Literal

import jsonschema_rs
import msgspec
import pytest

import smallest
from headgate.api import objects
from headgate.api.http import schema_words
from headgate.api.http.schemas import Components, PageSchema, Patch
from headgate.fleet import rules
from headgate.fleet.model import expressions, kinds
from headgate.fleet.model import objects as model
from headgate.kernel import documents
from headgate.kernel.documents import Moment
from headgate.kernel.problems import Problem, Rejected

ID = "00000000-0000-4000-8000-000000000000"
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 1.0, 1.5, 100, 101, 2**31, 1e300,
    "", " ", "x", " x", "a/b", "x\x00", "a\tb", "é", "\u200b", "\u00a0x", "a" * 254, "true",
    "3%", "101%", "8m", "linear-normalized", "2026-03-01T09:00:00Z", "2026-03-01", ID, "https://x/y",
    "wait_for_all", "release", "percentage", "immediate", "failure",
    [], [1], ["x"], [""], ["true"], ["failure"],
    {}, {"a": 1}, {"a": "true"}, {"a": None}, {"a\x00": "x"}, {"a": ["\x00"]},
    {"default": 1}, {"values": 3}, {"a": {"default": 1}}, {"a": {"values": 3}},
    {"a": {"values": [{"value": 1}]}}, {"a": {"values": [{}]}}, {"a": {"versionSelector": "true"}},
    [{"approval": {}}], [{"anyApproval": {}}], [{"approval": {}, "gate": {"when": []}}],
    [{"id": None, "name": "n", "approval": {}}], [{"id": "x", "approval": {}}], [{"name": "n"}],
)  # fmt: skip
PROVIDERS: tuple[dict[str, Any], ...] = (
    {"type": "http", "url": "https://x"},
    {"type": "http", "url": "ftp://x"},
    {"type": "prometheus", "address": "http://x", "query": "q"},
    {"type": "prometheus", "address": "http://x", "query": ""},
    {"type": "sleep"},
    {"type": "nap"},
    {},
)
_IGNORED_WHEN_READ = frozenset({"updatedAt", "publishedAt", "setAt", "rejection"})
_SAID_BY_THE_PATH = frozenset({"deployment"})
_ONLY_THE_READER_KNOWS = frozenset({"rrule", "timezone"})
_EXPRESSIONS = frozenset(
    {
        expressions.SelectorText,
        expressions.DeploymentSelectorText,
        expressions.VersionSelectorText,
        expressions.JobAgentSelectorText,
        expressions.ConditionText,
        expressions.GateText,
        expressions.GroupByText,
    }
)


def components() -> Components:
    found = Components()
    for direction in ("answer", "input"):
        for kind in (*(kind.model for kind in kinds.ALL), model.Rule):
            found.of(kind, direction)  # type: ignore[arg-type]
    return found


COMPONENTS = components()


def validator(schema: Any, direction: Literal["input", "answer"]) -> Any:
    described = COMPONENTS.of(schema, direction)
    whole = {**described, "components": {"schemas": COMPONENTS.schemas}}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def is_read(kind: str, document: dict[str, Any]) -> bool:
    try:
        objects.parse(kind, {**document, "deployment": "d"} if kind == "Version" else document, "default")
    except Rejected:
        return False
    return True


def is_read_rule(rule: dict[str, Any]) -> bool:
    problems: list[Problem] = []
    rules.read_rules([rule], "p", "", problems)
    return not problems


def is_expression(kind: type, key: str) -> bool:
    field = documents.fields_of(kind).get(key)
    return field is not None and any(text in _texts(field.type) for text in _EXPRESSIONS)


def _texts(kind: Any) -> list[Any]:
    return [kind, *(deeper for part in getattr(kind, "__args__", ()) for deeper in _texts(part))]


def with_each_field(base: dict[str, Any], kind: type) -> Iterator[tuple[str, dict[str, Any]]]:
    """The document without the field, and with each value in it, valid expressions aside."""
    for key in (*documents.fields_of(kind), "colour"):
        yield key, {name: value for name, value in base.items() if name != key}
        for value in VALUES:
            if isinstance(value, str) and key in _ONLY_THE_READER_KNOWS:
                continue
            if (is_expression(kind, key) and may_be_wrong(value)) or is_another_spelling(value):
                continue
            yield key, {**base, key: value}


def is_another_spelling(value: Any) -> bool:
    """Taken, but not offered: generated clients would have two names for one thing."""
    if isinstance(value, list):
        return any(is_another_spelling(item) for item in value)
    return value == "linear-normalized" or (isinstance(value, dict) and "anyApproval" in value)


def may_be_wrong(value: Any) -> bool:
    """Text that only CEL itself can judge."""
    if isinstance(value, list):
        return any(may_be_wrong(item) for item in value)
    return isinstance(value, str) and bool(value.strip()) and value != "true"


@pytest.mark.parametrize("kind", kinds.BY_NAME)
def test_the_schema_of_an_object_allows_what_is_read(kind: str) -> None:
    struct = kinds.BY_NAME[kind].model
    schema = validator(struct, "input")
    differing = [
        (document, is_read(kind, document))
        for key, document in with_each_field({"name": "n", **smallest.OBJECTS.get(kind, {})}, struct)
        if key not in _IGNORED_WHEN_READ | _SAID_BY_THE_PATH
        and schema.is_valid(document) != is_read(kind, document)
    ]
    assert differing == []


@pytest.mark.parametrize("kind", rules.KINDS)
def test_the_schema_of_a_rule_allows_what_is_read(kind: str) -> None:
    schema = validator(model.Rule, "input")
    differing = [
        (spec, is_read_rule({kind: spec}))
        for _, spec in with_each_field(smallest.RULES.get(kind, {}), rules.KINDS[kind])
        if schema.is_valid({kind: spec}) != is_read_rule({kind: spec}) and spec != {"maxFailed": 1.0}
    ]
    assert differing == []


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("condition", [{}, {"successCondition": "true"}, {"successCondition": None}])
def test_the_schema_of_a_metric_allows_what_is_read(
    provider: dict[str, Any], condition: dict[str, Any]
) -> None:
    rule = {"verification": {"metrics": [{"name": "m", "provider": provider, **condition}]}}
    assert validator(model.Rule, "input").is_valid(rule) == is_read_rule(rule)


@pytest.mark.parametrize("kind", kinds.BY_NAME)
def test_what_is_written_is_what_the_schema_promises(kind: str) -> None:
    document = objects.document(
        objects.parse(kind, {"name": "n", **smallest.OBJECTS.get(kind, {})}, "default").object
    )
    struct = kinds.BY_NAME[kind].model
    assert [str(error) for error in validator(struct, "answer").iter_errors(document)] == []


@pytest.mark.parametrize("kind", kinds.BY_NAME)
def test_what_is_written_can_be_sent_back(kind: str) -> None:
    document = objects.document(
        objects.parse(kind, {"name": "n", **smallest.OBJECTS.get(kind, {})}, "default").object
    )
    assert validator(kinds.BY_NAME[kind].model, "input").is_valid(document)
    assert validator(Patch(kinds.BY_NAME[kind].model), "input").is_valid(document)


@pytest.mark.parametrize("kind", rules.KINDS)
def test_a_written_rule_is_what_the_schema_promises(kind: str) -> None:
    problems: list[Problem] = []
    (rule,) = rules.read_rules([{kind: smallest.RULES.get(kind, {})}], ID, "", problems)
    written = objects.rule_document(rule)
    assert [str(error) for error in validator(model.Rule, "answer").iter_errors(written)] == []
    assert validator(model.Rule, "input").is_valid(written)


def test_a_patch_may_take_optional_fields_away_but_not_required_ones() -> None:
    schema = validator(Patch(model.Deployment), "input")
    assert schema.is_valid({"jobAgent": None, "metadata": {"owner": None}, "jobAgentConfig": {"a": None}})
    assert not schema.is_valid({"name": None})
    assert not schema.is_valid({"colour": "red"})


def test_an_answer_has_every_field_and_no_workspace() -> None:
    schema = COMPONENTS.schemas["Resource"]
    assert sorted(schema["required"]) == sorted(schema["properties"])
    assert "workspace" not in schema["properties"]


def test_descriptions_use_the_names_of_documents() -> None:
    assert "`resourceSelector`" in COMPONENTS.schemas["Environment"]["description"]


def test_a_page_refers_to_its_items() -> None:
    found = Components()
    assert found.of(PageSchema(model.JobAgent), "answer") == {"$ref": "#/components/schemas/JobAgentPage"}
    items = found.schemas["JobAgentPage"]["properties"]["items"]
    assert items == {"type": "array", "items": {"$ref": "#/components/schemas/JobAgent"}}


def test_a_ready_schema_may_hold_types_and_is_named_by_its_title() -> None:
    found = Components()
    ready = {"title": "Wrapped", "type": "object", "properties": {"one": model.JobAgent, "at": Moment}}
    assert found.of(ready, "answer") == {"$ref": "#/components/schemas/Wrapped"}
    assert found.schemas["Wrapped"]["properties"] == {
        "one": {"$ref": "#/components/schemas/JobAgent"},
        "at": {"type": "string", "format": "date-time"},
    }


class Thing(msgspec.Struct, rename="camel"):
    long_name: str
    size: int = 3


def test_the_same_struct_has_two_schemas_if_it_is_read_and_written() -> None:
    found = Components()
    assert found.of(Thing, "answer") == {"$ref": "#/components/schemas/Thing"}
    assert found.of(Thing, "input") == {"$ref": "#/components/schemas/ThingInput"}
    assert found.schemas["Thing"]["required"] == ["longName", "size"]
    assert found.schemas["ThingInput"]["required"] == ["longName"]


def test_two_structs_of_one_name_are_a_mistake() -> None:
    found = Components()
    found.of(Thing, "answer")
    other = msgspec.defstruct("Thing", [("a", int)])
    with pytest.raises(ValueError, match="called Thing"):
        found.of(other, "answer")


def test_a_notation_that_nobody_described_is_a_mistake() -> None:
    class Colour(msgspec.Struct):
        @classmethod
        def from_document(cls, value: object) -> "Colour":
            return cls()

    with pytest.raises(TypeError, match="notation of its own"):
        Components().of(Colour, "input")


def test_every_text_with_rules_has_an_example_that_its_pattern_takes() -> None:
    for _, schema in schema_words.TEXTS.values():
        for example in schema.get("examples", ()):
            assert jsonschema_rs.Draft202012Validator(schema).is_valid(example)
