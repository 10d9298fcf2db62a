"""What is refused before it is stored, and how that is said."""

from __future__ import annotations

import pytest

from headgate import cel

RECORD = cel.map_of(cel.STRING, cel.DYN)
ENVIRONMENT = cel.CelEnvironment({"resource": RECORD, "deployment": RECORD, "count": cel.INT})


def problems(text: str, environment: cel.CelEnvironment = ENVIRONMENT) -> list[tuple[str, int, int]]:
    with pytest.raises(cel.CompileError) as raised:
        environment.compile(text)
    return [(problem.message, problem.line, problem.column) for problem in raised.value.problems]


def test_an_undeclared_name_is_refused_where_it_stands() -> None:
    assert problems("resource.name == 'a' &&\n  region == 'b'") == [
        ("undeclared reference to 'region'", 2, 3)
    ]


def test_every_problem_is_told_at_once() -> None:
    assert problems("one == 1 && two == 2") == [
        ("undeclared reference to 'one'", 1, 1),
        ("undeclared reference to 'two'", 1, 13),
    ]


def test_the_error_shows_the_line_with_a_caret_under_the_place() -> None:
    with pytest.raises(cel.CompileError) as raised:
        ENVIRONMENT.compile("count > 1 &&\ncount + 'a' == 2")
    assert str(raised.value) == (
        "2:7: found no matching overload for '_+_' applied to '(int, string)'\n"
        " | count + 'a' == 2\n"
        " |       ^"
    )


def test_the_caret_of_a_very_long_line_is_still_under_its_place() -> None:
    with pytest.raises(cel.CompileError) as raised:
        ENVIRONMENT.compile("count == 1 || " * 50 + "nowhere == 2")
    message, line, caret = str(raised.value).split("\n")
    assert message == "1:701: undeclared reference to 'nowhere'"
    assert line[caret.index("^") :].startswith("nowhere")


def test_positions_count_characters_not_bytes() -> None:
    assert problems("resource.name == 'é✌' && nowhere") == [("undeclared reference to 'nowhere'", 1, 26)]


def test_positions_are_those_of_the_text_with_its_words() -> None:
    assert problems("NOT (count == 1) AND count == 2 OR nowhere") == [
        ("undeclared reference to 'nowhere'", 1, 36)
    ]


def test_an_unfinished_expression_is_said_to_end_too_early() -> None:
    assert problems("count == ") == [("the expression ends too early", 1, 10)]


def test_an_unexpected_token_is_named() -> None:
    assert problems("count == == 1") == [("unexpected '=='", 1, 10)]


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("resource.name.matches('a(')", "regular expression 'a(': missing ): a(", 23),
        ("timestamp('yesterday')", "'yesterday' is not a timestamp such as 2030-01-31T08:00:00Z", 11),
        ("duration('5 minutes')", "'5 minutes' is not a duration such as 1h30m, 90s or 250ms", 10),
        (
            "timestamp(0).getHours('Mars/Base')",
            "'Mars/Base' is not a time zone; Europe/Berlin or +02:00 would be",
            23,
        ),
    ],
)
def test_a_literal_that_can_never_work_is_refused(text: str, message: str, column: int) -> None:
    assert problems(text) == [(message, 1, column)]


def test_messages_are_not_available() -> None:
    assert problems("google.protobuf.Int32Value{value: 1}") == [
        ("messages such as google.protobuf.Int32Value{...} are not available", 1, 1)
    ]


def test_an_expression_of_another_type_than_expected_is_refused() -> None:
    with pytest.raises(cel.CompileError, match="the expression gives int; bool is needed here"):
        ENVIRONMENT.compile("count + 1", expect=cel.BOOL)
    with pytest.raises(cel.CompileError, match="the expression gives string"):
        ENVIRONMENT.selector("'yes'")


def test_an_expression_of_unknown_type_passes_for_any() -> None:
    assert ENVIRONMENT.compile("resource.ready", expect=cel.BOOL).result_type == "dyn"


@pytest.mark.parametrize(
    ("text", "result_type"),
    [
        ("count == 1", "bool"),
        ("[count]", "list(int)"),
        ("{'a': 1.0}", "map(string, double)"),
        ("timestamp(0) - timestamp(0)", "duration"),
        ("timestamp(0)", "timestamp"),
        ("optional.of(count)", "optional(int)"),
        ("null", "null"),
        ("type(1)", "type"),
        ("resource", "map(string, dyn)"),
    ],
)
def test_the_result_type_is_known_before_evaluation(text: str, result_type: str) -> None:
    assert ENVIRONMENT.compile(text).result_type == result_type


def test_the_same_text_compiles_once() -> None:
    assert ENVIRONMENT.compile("count > 3") is ENVIRONMENT.compile("count > 3")
    assert ENVIRONMENT.selector("count > 3") is ENVIRONMENT.selector("count > 3")


def test_a_long_chain_of_or_is_no_deep_expression() -> None:
    text = " || ".join(f"resource.name == 'n{number}'" for number in range(500))
    selector = ENVIRONMENT.selector(text)
    assert selector.matches({"resource": {"name": "n499"}})
    assert not selector.matches({"resource": {"name": "n500"}})


def test_a_name_or_text_that_sounds_like_a_report_is_not_taken_for_one() -> None:
    assert problems("recursion == 1") == [("undeclared reference to 'recursion'", 1, 1)]
    assert problems("x == 'Exceeded max recursion depth'") == [("undeclared reference to 'x'", 1, 1)]
    assert problems("x == 'a' ||\n'ERROR: <input>:9:9: b' == 'b'") == [("undeclared reference to 'x'", 1, 1)]


def test_a_long_chain_of_plus_is_refused_with_advice() -> None:
    ((message, line, column),) = problems("+".join(["count"] * 40))
    assert message.startswith("the expression nests more than 32 levels deep")
    assert (line, column) == (1, 1)
