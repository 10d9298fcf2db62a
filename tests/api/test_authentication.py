import asyncio
from collections.abc import Iterator

import pytest

from headgate.api.http import authentication, tokens
from headgate.api.http.authentication import REMEMBERED_SECONDS, Authenticator
from headgate.api.http.calls import Principal, Refusal
from headgate.api.http.permissions import BY_ROLE
from headgate.api.http.problems import headers
from headgate.kernel import instants
from headgate.store import Store, Token
from headgate.store.sql.opening import open_store

from .machinery import NOW, app_of, route, send


class Clock:
    now = NOW

    def __call__(self) -> int:
        return self.now

    def pass_seconds(self, count: float) -> None:
        self.now += instants.seconds(count)


class AnyJwt:
    async def verify(self, token: str) -> Principal:
        return Principal(f"bearer of {token}", {})


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store("memory:")
    opened.migrate()
    yield opened
    opened.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def add(
    store: Store,
    *,
    name: str = "ci",
    workspace: str | None = None,
    role: str | None = "viewer",
    permissions: tuple[str, ...] = (),
    agents: tuple[str, ...] = (),
    expires_at: int | None = None,
) -> tuple[str, Token]:
    secret, token = tokens.issue(
        name=name,
        workspace=workspace,
        role=role,
        now=NOW,
        permissions=permissions,
        agents=agents,
        expires_at=expires_at,
    )
    store.add_token(token)
    return secret, token


def ask(authenticator: Authenticator, authorization: str | None) -> Principal:
    return asyncio.run(_ask(authenticator, authorization))


async def _ask(authenticator: Authenticator, authorization: str | None) -> Principal:
    return await authenticator(authorization)


def refused(authenticator: Authenticator, authorization: str | None) -> Refusal:
    with pytest.raises(Refusal) as caught:
        ask(authenticator, authorization)
    assert caught.value.status == 401
    return caught.value


def test_a_secret_is_long_and_never_stored() -> None:
    secret, token = tokens.issue(name="ci", workspace=None, role="viewer", now=NOW)
    assert secret.startswith("hg_")
    assert len(secret) == 46
    assert secret not in str(token)
    assert token.hash == authentication.digest(secret)


def test_no_two_secrets_are_alike() -> None:
    assert len({tokens.issue(name="ci", workspace=None, role=None, now=NOW)[0] for _ in range(50)}) == 50


def test_a_token_is_recognised(store: Store, clock: Clock) -> None:
    secret, token = add(
        store, workspace="payments", role="deployer", permissions=("job:run",), agents=("runner",)
    )
    principal = ask(Authenticator(store, clock), f"Bearer {secret}")
    assert principal == Principal(
        "ci",
        {"payments": BY_ROLE["deployer"] | {"job:run"}},
        agents=frozenset({"runner"}),
        roles={"payments": frozenset({"deployer"})},
        token=token.id,
    )


def test_a_token_without_a_workspace_is_good_for_all(store: Store, clock: Clock) -> None:
    secret, _ = add(store)
    assert ask(Authenticator(store, clock), f"bearer  {secret}").grants == {"*": BY_ROLE["viewer"]}


@pytest.mark.parametrize(
    "authorization",
    [
        "Basic dXNlcjpwYXNz",
        "Bearer",
        "Bearer ",
        "Bearer nonsense",
        "Bearer hg_short",
        "Bearer hg_" + "a" * 43,
        "Bearer hg_" + "é" * 43,
        "Bearer a.b.c",
    ],
)
def test_anything_else_is_refused(store: Store, clock: Clock, authorization: str) -> None:
    challenge = headers(refused(Authenticator(store, clock), authorization))["WWW-Authenticate"]
    assert challenge.startswith('Bearer realm="headgate", error="invalid_token", error_description="')


@pytest.mark.parametrize("authorization", [None, ""])
def test_who_sends_nothing_is_told_what_to_send(
    store: Store, clock: Clock, authorization: str | None
) -> None:
    refusal = refused(Authenticator(store, clock), authorization)
    assert headers(refusal) == {"WWW-Authenticate": 'Bearer realm="headgate"'}


def test_an_expired_token_is_refused(store: Store, clock: Clock) -> None:
    secret, _ = add(store, expires_at=NOW + instants.seconds(2))
    authenticator = Authenticator(store, clock)
    assert ask(authenticator, f"Bearer {secret}").user == "ci"
    clock.pass_seconds(2)
    assert refused(authenticator, f"Bearer {secret}").detail == "the token ci has expired"


def test_a_token_that_is_refused_is_not_used(store: Store, clock: Clock) -> None:
    """Somebody who tries a token that is over must not make it look needed."""
    secret, _ = add(store, expires_at=NOW + instants.seconds(2))
    clock.pass_seconds(2)

    async def story() -> None:
        with pytest.raises(Refusal):
            await Authenticator(store, clock)(f"Bearer {secret}")
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

    asyncio.run(story())
    assert authentication.last_uses(store) == {}


def test_a_removed_token_is_refused_after_a_few_seconds(store: Store, clock: Clock) -> None:
    secret, token = add(store)
    authenticator = Authenticator(store, clock)
    ask(authenticator, f"Bearer {secret}")
    store.remove_token(token.id)
    clock.pass_seconds(REMEMBERED_SECONDS - 1)
    assert ask(authenticator, f"Bearer {secret}").user == "ci"
    clock.pass_seconds(1)
    refused(authenticator, f"Bearer {secret}")


def test_a_removed_token_is_refused_at_once_where_it_was_removed(store: Store, clock: Clock) -> None:
    secret, token = add(store)
    authenticator = Authenticator(store, clock)
    ask(authenticator, f"Bearer {secret}")
    store.remove_token(token.id)
    authenticator.forget()
    refused(authenticator, f"Bearer {secret}")


def test_a_new_token_is_good_at_once(store: Store, clock: Clock) -> None:
    authenticator = Authenticator(store, clock)
    secret, token = tokens.issue(name="ci", workspace=None, role="viewer", now=NOW)
    refused(authenticator, f"Bearer {secret}")
    store.add_token(token)
    assert ask(authenticator, f"Bearer {secret}").user == "ci"


def test_a_jwt_goes_to_the_issuers_verifier(store: Store, clock: Clock) -> None:
    assert ask(Authenticator(store, clock, AnyJwt()), "Bearer a.b.c").user == "bearer of a.b.c"


def test_a_refused_caller_gets_the_challenge(store: Store, clock: Clock) -> None:
    app = app_of(route("GET", "/v1/x"), authenticate=Authenticator(store, clock))
    answer = send(app, "GET", "/v1/x", headers={"Authorization": "Bearer wrong"})
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
