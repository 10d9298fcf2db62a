"""Documents come back byte for byte, whatever is in them and however large they are."""

import json

import pytest

from headgate.store import Store

from .values import AWKWARD_TEXTS, HOME, append, payloads, workspace


@pytest.mark.parametrize("text", AWKWARD_TEXTS.values(), ids=AWKWARD_TEXTS)
def test_text_in_a_document_comes_back_to_the_letter(store: Store, text: str) -> None:
    document = json.dumps({text: text}, ensure_ascii=False).encode()
    store.put_document(HOME, "System", text, document)
    assert store.documents(HOME, "System") == {text: document}


def test_a_document_is_not_written_anew(store: Store) -> None:
    document = b'{"b":1.0,   "a" : 1e2, "b":2, "\\u0041":"\\u00e9", "zero":"\\u0000"}'
    with store.begin(HOME) as transaction:
        append(transaction, document)
    assert payloads(store) == [document]


def test_a_document_of_ten_megabytes_comes_back_whole(store: Store) -> None:
    document = json.dumps(["0123456789" * 100] * 10_000).encode()
    assert len(document) > 10_000_000
    with store.begin(HOME) as transaction:
        append(transaction, document)
    assert payloads(store) == [document]


def test_a_deep_document_comes_back_whole(store: Store) -> None:
    document = b'{"a":[' * 500 + b"1" + b"]}" * 500
    store.put_document(HOME, "System", "deep", document)
    assert store.documents(HOME, "System")["deep"] == document


@pytest.mark.parametrize("number", [0, -1, 2**53 + 1, 10**30, 1.5e300], ids=str)
def test_numbers_come_back_to_the_digit(store: Store, number: float) -> None:
    document = json.dumps(number).encode()
    store.put_document(HOME, "System", "number", document)
    assert store.documents(HOME, "System")["number"] == document


def test_a_document_replaces_the_one_of_its_name(store: Store) -> None:
    store.put_document(HOME, "System", "web", b"1")
    store.put_document(HOME, "System", "web", b"2")
    assert store.documents(HOME, "System") == {"web": b"2"}


def test_a_document_belongs_to_its_kind_and_workspace(store: Store) -> None:
    store.add_workspace(workspace("other"))
    store.put_document(HOME, "System", "web", b"1")
    store.put_document(HOME, "Setting", "web", b"2")
    store.put_document("other", "System", "web", b"3")
    assert store.documents(HOME, "System") == {"web": b"1"}
    assert store.documents(HOME, "Setting") == {"web": b"2"}
    assert store.documents("other", "System") == {"web": b"3"}


def test_removing_a_document_says_whether_it_was_there(store: Store) -> None:
    store.put_document(HOME, "System", "web", b"1")
    assert store.remove_document(HOME, "System", "web")
    assert not store.remove_document(HOME, "System", "web")
    assert store.documents(HOME, "System") == {}
