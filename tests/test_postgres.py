"""The PostgreSQL that tests are given keeps what was committed, also over a crash."""

import postgres


def test_every_test_has_an_empty_database_of_its_own(postgres_url: str) -> None:
    postgres.execute(postgres_url, "CREATE TABLE kept (name text)")
    assert postgres.fetch(postgres_url, "SELECT name FROM kept") == []


def test_a_server_of_ones_own_comes_back_from_a_crash(private_postgres: postgres.Server) -> None:
    postgres.execute(private_postgres.url, "CREATE TABLE kept AS SELECT 'committed' AS name")
    private_postgres.restart(immediate=True)
    assert postgres.fetch(private_postgres.url, "SELECT name FROM kept") == [("committed",)]
