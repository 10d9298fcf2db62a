"""The table of kinds: whoever treats kinds alike goes through it, and every part of the product has them all."""

from typing import get_args

import pytest

import smallest
from headgate.api import routes
from headgate.api.http import permissions
from headgate.cli import kinds as listed
from headgate.fleet.engine import manifests
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes, kinds
from headgate.fleet.model.kinds import Kind
from headgate.kernel import identifiers
from headgate.runtime import rows
from headgate.store.schema import OBJECT_TABLES

EACH_KIND = pytest.mark.parametrize("kind", kinds.ALL, ids=lambda kind: kind.name)
EACH_NAMED_KIND = pytest.mark.parametrize("kind", kinds.NAMED, ids=lambda kind: kind.name)
IDS = identifiers.NamedIds("kinds")


def test_it_has_every_object_of_the_model() -> None:
    assert [kind.model for kind in kinds.ALL] == list(get_args(changes.Object))


def test_ranks_are_an_order() -> None:
    assert sorted(kind.rank for kind in kinds.ALL) == list(range(1, len(kinds.ALL) + 1))


@EACH_NAMED_KIND
def test_an_object_of_each_kind_is_kept_written_read_back_and_deleted(kind: Kind) -> None:
    """Without a word about the kind, but for the fields that it cannot do without."""
    engine = Engine(IDS, "default")
    [thing] = manifests.read_objects(
        f"apiVersion: headgate.dev/v1\nkind: {kind.name}\nmetadata: {{name: a}}\nspec: {smallest.OBJECTS.get(kind.name, {})}",
        ids=IDS,
        now=0,
    )
    engine.apply(changes.Put(thing), 1)
    kept = engine.state.get(kind, "a")
    assert kept is not None

    table = OBJECT_TABLES[kind.name].name
    assert len(rows.of_decisions(engine, [engine.decide(1)]).puts[table]) == 1
    assert Engine.load(engine.dump(), IDS).state.get(kind, "a") == kept

    engine.apply(changes.Delete(kind.name, "a"), 2)
    assert engine.state.get(kind, "a") is None
    assert rows.of_decisions(engine, [engine.decide(2)]).deletes[table, None] == [("default", "a")]


@EACH_KIND
def test_each_kind_has_a_collection_in_the_api(kind: Kind) -> None:
    paths = {route.path for route in routes.ALL}
    assert f"/v1/{kind.collection}" in paths
    assert kind.permission in permissions.ALL


@EACH_KIND
def test_each_kind_has_a_table_on_the_command_line(kind: Kind) -> None:
    found = listed.of_manifest(kind.name)
    assert found is not None
    assert found.is_deletable


@EACH_KIND
def test_each_kind_says_who_it_is(kind: Kind) -> None:
    names = set(kind.model.__struct_fields__)
    assert {"id", "name", "metadata", "created_at", "updated_at", "workspace"} <= names


def test_sentences_about_any_one_of_a_kind_have_its_article() -> None:
    found = {kind.any_one for kind in (kinds.ENVIRONMENT, kinds.POLICY, kinds.JOB_AGENT)}
    assert found == {"an environment", "a policy", "a job agent"}
