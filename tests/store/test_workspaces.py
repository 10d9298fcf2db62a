"""Workspaces are found by name, and go with everything in them."""

from collections.abc import Callable

import pytest

from headgate.store import Store

from .sample import content, fill
from .values import AWKWARD_TEXTS, HOME, append, payloads, workspace


def test_a_new_store_has_no_workspace(store_url: str, opened: Callable[[str], Store]) -> None:
    assert opened(store_url).workspaces() == []


def test_workspaces_come_back_as_they_were_added(store: Store) -> None:
    store.add_workspace(workspace("other"))
    assert sorted(store.workspaces(), key=lambda one: one.name) == [workspace(HOME), workspace("other")]


def test_a_name_is_taken_once(store: Store) -> None:
    assert not store.add_workspace(workspace(HOME))
    assert len(store.workspaces()) == 1


@pytest.mark.parametrize("text", AWKWARD_TEXTS.values(), ids=AWKWARD_TEXTS)
def test_a_workspace_of_any_name_can_be_used(store: Store, text: str) -> None:
    store.add_workspace(workspace(text))
    with store.begin(text) as transaction:
        append(transaction, b"1")
    assert payloads(store, text) == [b"1"]


def test_removing_says_whether_it_was_there(store: Store) -> None:
    assert store.remove_workspace(HOME)
    assert not store.remove_workspace(HOME)


def test_removing_takes_everything_in_it(store: Store) -> None:
    empty = content(store)
    fill(store)
    assert all(content(store)[part] != empty[part] for part in empty if part != "workspace")
    store.remove_workspace(HOME)
    store.add_workspace(workspace(HOME))
    assert content(store) == empty


def test_removing_leaves_the_other_workspaces_alone(store: Store) -> None:
    store.add_workspace(workspace("other"))
    fill(store)
    fill(store, "other")
    before = content(store, "other")
    store.remove_workspace(HOME)
    assert content(store, "other") == before
