"""What the service itself keeps: tokens, answers to repeated requests, hints."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from headgate.store import Store, Token
from headgate.store.port import Remembered

from .values import AWKWARD_TEXTS, HOME, NOW, abandoned, token, workspace


def test_a_token_is_found_by_its_hash(store: Store) -> None:
    store.add_token(token("ci"))
    assert store.token_by_hash("hash-of-ci") == token("ci")
    assert store.token_by_hash("hash-of-another") is None


def test_a_token_may_have_no_role_no_workspace_and_no_end(store: Store) -> None:
    bare = Token("id", "bare", "hash", None, None)
    store.add_token(bare)
    assert store.token_by_hash("hash") == bare


def test_tokens_are_listed_by_workspace(store: Store) -> None:
    store.add_workspace(workspace("other"))
    for one in (token("a"), token("b", "other"), token("c", None)):
        store.add_token(one)
    assert [one.name for one in store.tokens(HOME)] == ["a"]
    assert [one.name for one in store.tokens(None)] == ["a", "b", "c"]


def test_a_removed_token_is_good_for_nothing(store: Store) -> None:
    store.add_token(token("ci"))
    assert store.remove_token("id-of-ci")
    assert not store.remove_token("id-of-ci")
    assert store.token_by_hash("hash-of-ci") is None
    assert store.tokens(HOME) == []


@pytest.mark.parametrize("text", AWKWARD_TEXTS.values(), ids=AWKWARD_TEXTS)
def test_tokens_may_have_any_name(store: Store, text: str) -> None:
    store.add_token(token(text))
    assert store.token_by_hash(f"hash-of-{text}") == token(text)


ANSWER = Remembered("key", "fingerprint", 201, b'{"id":  1}', NOW)


def test_an_answer_is_recalled_as_it_was_given(store: Store) -> None:
    with store.begin(HOME) as transaction:
        assert transaction.recall("key") is None
        transaction.remember(ANSWER)
        assert transaction.recall("key") == ANSWER
    with store.begin(HOME) as transaction:
        assert transaction.recall("key") == ANSWER


@pytest.mark.parametrize("body", [b"", b"plain text", "Änderung".encode(), b"[1,"])
def test_an_answer_need_not_be_json(store: Store, body: bytes) -> None:
    answer = Remembered("key", "fingerprint", 204, body, NOW)
    with store.begin(HOME) as transaction:
        transaction.remember(answer)
    with store.begin(HOME) as transaction:
        assert transaction.recall("key") == answer


def test_an_answer_to_a_request_that_failed_is_not_recalled(store: Store) -> None:
    with abandoned(store) as transaction:
        transaction.remember(ANSWER)
    with store.begin(HOME) as transaction:
        assert transaction.recall("key") is None


def test_workspaces_remember_their_own_answers(store: Store) -> None:
    store.add_workspace(workspace("other"))
    with store.begin(HOME) as transaction:
        transaction.remember(ANSWER)
    with store.begin("other") as transaction:
        assert transaction.recall("key") is None


@pytest.mark.parametrize("text", AWKWARD_TEXTS.values(), ids=AWKWARD_TEXTS)
def test_any_key_is_recalled(store: Store, text: str) -> None:
    answer = Remembered(text, text, 200, b"{}", NOW)
    with store.begin(HOME) as transaction:
        transaction.remember(answer)
        assert transaction.recall(text) == answer


def test_without_a_hint_the_wait_ends_by_itself(store: Store) -> None:
    assert not store.wait_for_hint(0.01)


def test_what_a_store_wrote_itself_it_need_not_look_for(store: Store) -> None:
    store.wait_for_hint(0.01)
    store.hint()
    assert not store.wait_for_hint(0.05)


@pytest.mark.parametrize("shared_url", ["postgres"], indirect=True)
def test_a_hint_reaches_other_processes(two_stores: tuple[Store, Store]) -> None:
    one, other = two_stores
    assert _hears(one, other)


@pytest.mark.parametrize("shared_url", ["postgres"], indirect=True)
def test_of_many_hints_at_once_the_last_arrives_also_if_the_store_is_closed_after_it(
    two_stores: tuple[Store, Store],
) -> None:
    """Whoever hands over its work says so last of all."""
    listener, speaker = two_stores
    assert _hears(listener, speaker)
    while listener.wait_for_hint(0.1):
        pass
    speaker.hint()
    assert listener.wait_for_hint(20)
    speaker.hint()
    speaker.close()
    assert listener.wait_for_hint(20)


def _hears(listener: Store, speaker: Store) -> bool:
    """Hints before anybody listens may be lost, so they are given until one is heard."""
    heard = threading.Event()

    def listen() -> None:
        if listener.wait_for_hint(20):
            heard.set()

    with ThreadPoolExecutor(1) as threads:
        listening = threads.submit(listen)
        while not listening.done():
            speaker.hint()
            heard.wait(0.02)
        listening.result()
    return heard.is_set()
