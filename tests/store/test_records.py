"""What people read afterwards: events, audit, jobs and groups, page by page."""

import json
from typing import Any

import pytest

from headgate.kernel import instants
from headgate.store import Event, Store
from headgate.store.rows import Row

from .values import (
    AWKWARD_TEXTS,
    HOME,
    LONG_TEXT,
    NOW,
    abandoned,
    audit,
    event,
    identifier,
    row,
    workspace,
)

NOBODY = "00000000-0000-0000-0000-000000000000"


def add_events(store: Store, *messages: str, name: str = HOME) -> None:
    with store.begin(name) as transaction:
        transaction.add_events([event(message) for message in messages])


def test_events_are_numbered_without_gaps(store: Store) -> None:
    add_events(store, "a", "b")
    with abandoned(store) as transaction:
        transaction.add_events([event("never happened")])
    add_events(store, "c")
    assert [(one.seq, one.message) for one in store.events_after(HOME, 0, 10)] == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
    ]
    assert store.newest_event(HOME) == 3


def test_an_event_comes_back_as_it_was_added(store: Store) -> None:
    happened = Event(7, NOW, "job.failed", "Job", "api", "It failed", b'{"why": [1]}')
    with store.begin(HOME) as transaction:
        transaction.add_events([happened])
    assert store.events_after(HOME, 0, 10) == [Event(1, *happened_fields(happened))]


def happened_fields(happened: Event) -> tuple[int, str, str, str, str, bytes]:
    return happened.at, happened.type, happened.kind, happened.name, happened.message, happened.data


def test_a_page_of_events_starts_after_a_number(store: Store) -> None:
    add_events(store, "a", "b", "c", "d")
    assert [one.message for one in store.events_after(HOME, 1, 2)] == ["b", "c"]
    assert store.events_after(HOME, 4, 10) == []


def test_workspaces_number_their_own_events(store: Store) -> None:
    store.add_workspace(workspace("other"))
    add_events(store, "a", "b")
    add_events(store, "c", name="other")
    assert store.newest_event("other") == 1
    assert [one.message for one in store.events_after("other", 0, 10)] == ["c"]


@pytest.mark.parametrize("text", [*AWKWARD_TEXTS.values(), LONG_TEXT], ids=[*AWKWARD_TEXTS, "long"])
def test_messages_come_back_to_the_letter(store: Store, text: str) -> None:
    add_events(store, text)
    assert [one.message for one in store.events_after(HOME, 0, 10)] == [text]


def test_audit_entries_are_numbered_and_read_newest_first(store: Store) -> None:
    with store.begin(HOME) as transaction:
        transaction.add_audit([audit("a"), audit("b")])
    with store.begin(HOME) as transaction:
        transaction.add_audit([audit("c")])
    found = store.audit_before(HOME, None, 10)
    assert [(one.seq, one.name) for one in found] == [(3, "c"), (2, "b"), (1, "a")]


def test_an_audit_entry_comes_back_as_it_was_added(store: Store) -> None:
    with store.begin(HOME) as transaction:
        transaction.add_audit([audit("web")])
    [found] = store.audit_before(HOME, None, 10)
    assert (found.at, found.user, found.action, found.kind) == (NOW, "ada", "create", "Resource")
    assert (found.before, found.after, found.request_id) == (None, b'{"name":"x"}', "request-1")


def test_the_next_page_of_the_audit_log_goes_on_where_the_last_ended(store: Store) -> None:
    with store.begin(HOME) as transaction:
        transaction.add_audit([audit(name) for name in "abcde"])
    first = store.audit_before(HOME, None, 2)
    second = store.audit_before(HOME, first[-1].seq, 2)
    third = store.audit_before(HOME, second[-1].seq, 2)
    assert [one.name for one in (*first, *second, *third)] == ["e", "d", "c", "b", "a"]


def test_the_audit_log_is_filtered_by_kind_and_name(store: Store) -> None:
    with store.begin(HOME) as transaction:
        transaction.add_audit([audit("web"), audit("db"), audit("web", "Policy")])
    assert [one.seq for one in store.audit_before(HOME, None, 10, kind="Resource")] == [2, 1]
    assert [one.seq for one in store.audit_before(HOME, None, 10, name="web")] == [3, 1]
    assert [one.seq for one in store.audit_before(HOME, None, 10, kind="Resource", name="web")] == [1]
    assert [one.seq for one in store.audit_before(HOME, 3, 10, name="web")] == [1]


def put_jobs(store: Store, *jobs: dict[str, object], name: str = HOME) -> None:
    with store.begin(name) as transaction:
        transaction.put("job", [row("job", workspace=name, **job) for job in jobs])


def ids(rows: list[Row]) -> list[object]:
    return [one["id"] for one in rows]


def test_a_job_is_found_by_its_id(store: Store) -> None:
    document = b'{"id":  "x"}'
    put_jobs(store, {"id": identifier("a"), "deployment": "api", "status": "failed", "document": document})
    found = store.job(HOME, identifier("a"))
    assert found is not None
    assert (found["id"], found["deployment"], found["status"]) == (identifier("a"), "api", "failed")
    assert found["document"] == document
    assert found["created_at"] == NOW


@pytest.mark.parametrize("unknown", [NOBODY, "nobody", "", AWKWARD_TEXTS["quotes"], AWKWARD_TEXTS["unicode"]])
def test_what_is_no_id_is_no_job_and_no_group(store: Store, unknown: str) -> None:
    assert store.job(HOME, unknown) is None
    assert store.group(HOME, unknown) is None
    assert store.jobs_before(HOME, None, 10, {"group_id": unknown}) == []
    assert store.jobs_before(HOME, (NOW, unknown), 10, {}) == []


def test_a_job_belongs_to_its_workspace(store: Store) -> None:
    store.add_workspace(workspace("other"))
    put_jobs(store, {"id": identifier("a")})
    assert store.job("other", identifier("a")) is None
    assert store.jobs_before("other", None, 10, {}) == []


def test_a_row_replaces_the_one_with_its_key(store: Store) -> None:
    put_jobs(store, {"id": identifier("a"), "status": "pending"})
    put_jobs(store, {"id": identifier("a"), "status": "successful"})
    assert [one["status"] for one in store.jobs_before(HOME, None, 10, {})] == ["successful"]


def test_the_last_of_two_rows_with_one_key_counts(store: Store) -> None:
    put_jobs(
        store,
        {"id": identifier("a"), "status": "pending"},
        {"id": identifier("b"), "status": "pending"},
        {"id": identifier("a"), "status": "successful"},
    )
    assert [one["status"] for one in store.jobs_before(HOME, None, 10, {"status": "successful"})] == [
        "successful"
    ]


def test_deleted_rows_are_gone(store: Store) -> None:
    put_jobs(store, {"id": identifier("a")}, {"id": identifier("b")})
    with store.begin(HOME) as transaction:
        transaction.delete("job", [(HOME, identifier("a")), (HOME, NOBODY)])
    assert ids(store.jobs_before(HOME, None, 10, {})) == [identifier("b")]


def test_a_row_that_is_deleted_and_put_again_is_there(store: Store) -> None:
    put_jobs(store, {"id": identifier("a"), "status": "pending"})
    with store.begin(HOME) as transaction:
        transaction.delete("job", [(HOME, identifier("a"))])
        transaction.put("job", [row("job", id=identifier("a"), status="failed")])
    found = store.job(HOME, identifier("a"))
    assert found is not None
    assert found["status"] == "failed"


def test_pages_of_jobs_are_newest_first_and_leave_none_out(store: Store) -> None:
    """Several at one moment are told apart by their ids."""
    moments = {identifier(str(number)): NOW + number // 3 for number in range(20)}
    put_jobs(store, *({"id": job, "created_at": at} for job, at in moments.items()))
    found: list[Row] = []
    after: Any = None
    while page := store.jobs_before(HOME, after, 7, {}):
        found += page
        after = (page[-1]["created_at"], page[-1]["id"])
    assert ids(found) == sorted(moments, key=lambda job: (moments[job], job), reverse=True)


def test_moments_that_differ_in_a_microsecond_are_in_order(store: Store) -> None:
    moments = [NOW, NOW + 1, NOW + 10, NOW + 100_000, NOW + instants.seconds(1), NOW - 1]
    put_jobs(store, *({"id": identifier(str(at)), "created_at": at} for at in moments))
    found = [one["created_at"] for one in store.jobs_before(HOME, None, 10, {})]
    assert found == sorted(moments, reverse=True)


def test_jobs_are_filtered_by_what_they_are_about(store: Store) -> None:
    group = identifier("group")
    given = {
        "deployment": "api",
        "environment": "prod",
        "resource": "eu",
        "status": "failed",
        "agent": "runner",
        "group_id": group,
        "tag": "1.0",
    }
    put_jobs(store, {"id": identifier("a"), **given}, {"id": identifier("b"), "deployment": "api"})
    for column, value in given.items():
        expected = {identifier("a"), identifier("b")} if column == "deployment" else {identifier("a")}
        assert set(ids(store.jobs_before(HOME, None, 10, {column: value}))) == expected, column
    assert ids(store.jobs_before(HOME, None, 10, given)) == [identifier("a")]
    assert store.jobs_before(HOME, None, 10, given | {"tag": "2.0"}) == []


def put_groups(store: Store, *groups: dict[str, object]) -> None:
    with store.begin(HOME) as transaction:
        transaction.put("bracket_version_group", [row("bracket_version_group", **group) for group in groups])


def test_a_group_is_found_by_its_id(store: Store) -> None:
    put_groups(store, {"id": identifier("a"), "status": "rolling", "document": b'{"x": 1}'})
    found = store.group(HOME, identifier("a"))
    assert found is not None
    assert (found["status"], found["document"], found["created_at"]) == ("rolling", b'{"x": 1}', NOW)


def test_pages_of_groups_are_newest_first_and_filtered(store: Store) -> None:
    put_groups(
        store,
        *(
            {"id": identifier(str(number)), "created_at": NOW + number, "environment": f"e{number % 2}"}
            for number in range(6)
        ),
    )
    first = store.groups_before(HOME, None, 2, {"environment": "e1"})
    rest = store.groups_before(HOME, (NOW + 3, identifier("3")), 2, {"environment": "e1"})
    assert ids(first) == [identifier("5"), identifier("3")]
    assert ids(rest) == [identifier("1")]


def test_typical_durations_are_the_mean_of_successful_jobs(store: Store) -> None:
    def job(
        name: str, seconds: int, status: str = "successful", deployment: str = "api"
    ) -> dict[str, object]:
        times = {
            "created_at": NOW,
            "started_at": NOW + 5,
            "completed_at": NOW + 5 + instants.seconds(seconds),
        }
        document = json.dumps({"id": name, **times}).encode()
        return {"id": identifier(name), "status": status, "deployment": deployment, "document": document}

    put_jobs(store, job("a", 10), job("b", 20), job("c", 1000, "failed"), job("d", 60, deployment="db"))
    assert store.typical_durations(HOME) == {"api": instants.seconds(15), "db": instants.seconds(60)}


def test_what_was_loaded_is_what_the_engine_wrote(store: Store) -> None:
    with store.begin(HOME) as transaction:
        transaction.put("resource", [row("resource", name=name) for name in ("web", "db")])
        transaction.put(
            "job", [row("job", id=identifier("old")), row("job", id=identifier("new"), is_current=True)]
        )
        transaction.advance(7, 9)
    loaded = store.load(HOME)
    assert (loaded.consumed, loaded.sequence) == (7, 9)
    assert sorted(str(one["name"]) for one in loaded.tables["resource"]) == ["db", "web"]
    assert ids(loaded.tables["job"]) == [identifier("new")]


def test_rows_that_were_rolled_back_are_not_loaded(store: Store) -> None:
    with abandoned(store) as transaction:
        transaction.put("resource", [row("resource", name="web")])
        transaction.advance(7, 9)
    loaded = store.load(HOME)
    assert (loaded.consumed, loaded.sequence) == (0, 0)
    assert loaded.tables["resource"] == []


@pytest.mark.parametrize(
    "moment", ["1969-12-31T23:59:59Z", "2038-01-19T03:14:08.000001Z", "2999-01-01T00:00:00Z"]
)
def test_moments_come_back_to_the_microsecond(store: Store, moment: str) -> None:
    at = instants.parse(moment)
    put_jobs(store, {"id": identifier("a"), "created_at": at})
    found = store.job(HOME, identifier("a"))
    assert found is not None
    assert found["created_at"] == at


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
def test_any_moment_that_a_person_may_write_is_taken(store: Store, moment: str) -> None:
    with store.begin(HOME) as transaction:
        transaction.put("resource", [row("resource", name="web", created_at=instants.parse(moment))])
    assert [one["name"] for one in store.load(HOME).tables["resource"]] == ["web"]
