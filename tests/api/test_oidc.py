import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from headgate.api.http.calls import Principal, Refusal
from headgate.api.http.oidc import REFRESH_EVERY_SECONDS, OidcVerifier
from headgate.api.http.oidc_config import OidcConfig
from headgate.api.http.oidc_provider import KEEP_SECONDS, IdentityProviderError
from headgate.api.http.permissions import BY_ROLE
from headgate.kernel import documents, instants
from headgate.kernel.problems import Rejected

from .machinery import NOW

SECONDS = NOW // 1_000_000
RSA = RSAKey.generate_key(2048, {"kid": "first"})
OTHER_RSA = RSAKey.generate_key(2048, {"kid": "second"})
EC = ECKey.generate_key("P-256", {"kid": "curve"})


class Issuer:
    """A provider on this machine. `keys` is what it publishes; `fetches` counts how often it was asked for them."""

    def __init__(self) -> None:
        self.keys: list[Any] = [RSA, EC]
        self.fetches = 0
        self.discoveries = 0
        self.address = ""
        self.named: str | None = None
        self.now = NOW
        self.is_broken = False
        self.is_away = False

    async def start(self) -> None:
        app = web.Application()
        app.router.add_get("/.well-known/openid-configuration", self._discovery)
        app.router.add_get("/keys", self._keys)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.address = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _discovery(self, request: web.Request) -> web.Response:
        self.discoveries += 1
        if self.is_away:
            return web.Response(status=503)
        return web.json_response({"issuer": self.named or self.address, "jwks_uri": f"{self.address}/keys"})

    async def _keys(self, request: web.Request) -> web.Response:
        self.fetches += 1
        if self.is_broken:
            return web.Response(text="<html>")
        return web.json_response({"keys": [key.as_dict(private=False) for key in self.keys]})

    def token(self, key: Any = RSA, algorithm: str = "RS256", **claims: Any) -> str:
        whole = {
            "iss": self.address,
            "aud": "headgate",
            "sub": "u-1",
            "email": "ada@example.com",
            "groups": ["platform", "unrelated"],
            "exp": SECONDS + 300,
            **claims,
        }
        present = {name: value for name, value in whole.items() if value is not None}
        header = {"alg": algorithm} | ({"kid": key.kid} if key.kid else {})
        return jwt.encode(header, present, key, algorithms=[algorithm])

    def verifier(self, **changes: Any) -> OidcVerifier:
        document = {
            "issuer": self.address,
            "audience": "headgate",
            "roles": {
                "platform": {"workspace": "payments", "role": "operator"},
                "leads": {"role": "approver"},
            },
            **changes,
        }
        return OidcVerifier(documents.read(OidcConfig, document), lambda: self.now)


def with_issuer(test: Callable[[Issuer], Awaitable[None]]) -> None:
    async def run() -> None:
        issuer = Issuer()
        await issuer.start()
        try:
            await test(issuer)
        finally:
            await issuer.stop()

    asyncio.run(run())


async def refusal(verifier: OidcVerifier, token: str) -> tuple[int, str]:
    with pytest.raises(Refusal) as caught:
        await verifier.verify(token)
    return caught.value.status, caught.value.detail


def test_a_person_has_the_roles_of_their_groups() -> None:
    async def test(issuer: Issuer) -> None:
        found = await issuer.verifier().verify(issuer.token(groups=["platform", "leads"]))
        assert found == Principal(
            "ada@example.com",
            {"payments": BY_ROLE["operator"], "*": BY_ROLE["approver"]},
            roles={"*": frozenset({"platform", "leads", "approver"}), "payments": frozenset({"operator"})},
            proved_until=instants.seconds(SECONDS + 300),
        )

    with_issuer(test)


def test_a_role_of_one_workspace_is_none_in_another() -> None:
    async def test(issuer: Issuer) -> None:
        found = await issuer.verifier().verify(issuer.token(groups=["platform", "leads"]))
        assert found.roles_in("payments") == ("approver", "leads", "operator", "platform")
        assert found.roles_in("shop") == ("approver", "leads", "platform")

    with_issuer(test)


def test_both_kinds_of_keys_are_good() -> None:
    async def test(issuer: Issuer) -> None:
        found = await issuer.verifier().verify(issuer.token(EC, "ES256"))
        assert found.user == "ada@example.com"

    with_issuer(test)


def test_keys_are_fetched_once() -> None:
    async def test(issuer: Issuer) -> None:
        verifier = issuer.verifier()
        await asyncio.gather(*(verifier.verify(issuer.token()) for _ in range(5)))
        assert issuer.fetches == 1

    with_issuer(test)


def test_a_new_key_is_fetched_when_a_token_names_it() -> None:
    async def test(issuer: Issuer) -> None:
        verifier = issuer.verifier()
        await verifier.verify(issuer.token())
        issuer.keys = [OTHER_RSA]
        issuer.now += instants.seconds(REFRESH_EVERY_SECONDS)
        assert (await verifier.verify(issuer.token(OTHER_RSA))).user == "ada@example.com"
        assert (await refusal(verifier, issuer.token()))[0] == 401

    with_issuer(test)


def test_where_its_pages_are_is_asked_once_and_again_when_that_is_old_or_a_key_is_new() -> None:
    async def test(issuer: Issuer) -> None:
        verifier = issuer.verifier()
        await asyncio.gather(*(verifier.provider.metadata() for _ in range(5)))
        assert issuer.discoveries == 1
        await verifier.verify(issuer.token())
        assert issuer.discoveries == 2
        issuer.now += instants.seconds(KEEP_SECONDS - 1)
        await verifier.provider.metadata()
        assert issuer.discoveries == 2
        issuer.now += instants.seconds(1)
        await verifier.provider.metadata()
        assert issuer.discoveries == 3

    with_issuer(test)


def test_a_provider_that_was_never_there_is_said_to_be_away() -> None:
    async def test(issuer: Issuer) -> None:
        issuer.is_away = True
        with pytest.raises(IdentityProviderError, match="answers 503"):
            await issuer.verifier().provider.metadata()

    with_issuer(test)


def test_unknown_keys_do_not_make_the_service_ask_all_the_time() -> None:
    async def test(issuer: Issuer) -> None:
        verifier = issuer.verifier()
        await verifier.verify(issuer.token())
        for _ in range(5):
            status, detail = await refusal(verifier, issuer.token(OTHER_RSA))
            assert (status, detail) == (401, "the token is signed with a key that its issuer does not have")
        assert issuer.fetches == 1

    with_issuer(test)


def test_a_token_without_a_key_id_is_good_when_there_is_no_choice() -> None:
    async def test(issuer: Issuer) -> None:
        nameless = RSAKey.import_key(
            {name: value for name, value in RSA.as_dict(private=True).items() if name != "kid"}
        )
        verifier = issuer.verifier()
        assert (await verifier.verify(issuer.token(nameless))).user == "ada@example.com"
        issuer.keys = [RSA, OTHER_RSA]
        assert (await refusal(issuer.verifier(), issuer.token(nameless)))[0] == 401

    with_issuer(test)


@pytest.mark.parametrize(
    ("claims", "detail"),
    [
        ({"aud": "another"}, "Invalid claim: 'aud'"),
        ({"aud": None}, "Missing claim: 'aud'"),
        ({"exp": SECONDS - 61}, "The token is expired"),
        ({"exp": None}, "Missing claim: 'exp'"),
        ({"exp": "tomorrow"}, "Claim 'exp' must be a NumericDate value"),
        ({"nbf": SECONDS + 61}, "The token is not yet valid"),
    ],
)
def test_a_wrong_claim_is_refused(claims: dict[str, Any], detail: str) -> None:
    async def test(issuer: Issuer) -> None:
        said = await refusal(issuer.verifier(), issuer.token(**claims))
        assert said == (401, f"the token is not valid: {detail}")

    with_issuer(test)


def test_clocks_may_differ_a_little() -> None:
    async def test(issuer: Issuer) -> None:
        verifier = issuer.verifier()
        await verifier.verify(issuer.token(exp=SECONDS - 59))
        await verifier.verify(issuer.token(nbf=SECONDS + 59))

    with_issuer(test)


def test_one_of_several_audiences_is_enough() -> None:
    async def test(issuer: Issuer) -> None:
        await issuer.verifier().verify(issuer.token(aud=["other", "headgate"]))

    with_issuer(test)


def test_another_issuer_is_refused_without_asking_anybody() -> None:
    async def test(issuer: Issuer) -> None:
        said = await refusal(issuer.verifier(), issuer.token(iss="https://evil.example"))
        assert said == (401, "the token is of another issuer")
        assert issuer.fetches == 0

    with_issuer(test)


def test_a_token_that_nobody_signed_is_refused() -> None:
    async def test(issuer: Issuer) -> None:
        signed = issuer.token()
        header = base64.urlsafe_b64encode(json.dumps({"alg": "none"}).encode()).rstrip(b"=").decode()
        unsigned = f"{header}.{signed.split('.')[1]}."
        said = await refusal(issuer.verifier(), unsigned)
        assert said == (401, "the token is signed with none; allowed are RS256, ES256")

    with_issuer(test)


def test_the_public_key_is_no_shared_secret() -> None:
    async def test(issuer: Issuer) -> None:
        public = RSA.as_pem(private=False)
        header = {"alg": "HS256", "kid": "first"}
        claims = {"iss": issuer.address, "aud": "headgate", "email": "eve@example.com", "exp": SECONDS + 300}
        forged = _hmac_signed(header, claims, public)
        said = await refusal(issuer.verifier(), forged)
        assert said == (401, "the token is signed with HS256; allowed are RS256, ES256")

    with_issuer(test)


def _hmac_signed(header: dict[str, Any], claims: dict[str, Any], key: bytes) -> str:
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in (header, claims)
    ]
    signature = hmac.new(key, ".".join(parts).encode(), hashlib.sha256).digest()
    return ".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=").decode()])


def test_a_changed_token_is_refused() -> None:
    async def test(issuer: Issuer) -> None:
        header, _, signature = issuer.token().split(".")
        _, other, _ = issuer.token(email="eve@example.com").split(".")
        assert (await refusal(issuer.verifier(), f"{header}.{other}.{signature}"))[0] == 401

    with_issuer(test)


def test_a_key_of_another_kind_under_the_same_id_is_no_match() -> None:
    async def test(issuer: Issuer) -> None:
        curve = ECKey.generate_key("P-256", {"kid": "first"})
        assert (await refusal(issuer.verifier(), issuer.token(curve, "ES256")))[0] == 401

    with_issuer(test)


@pytest.mark.parametrize("token", ["a.b.c", "..", "e30.e30.", "e30.W10.x", "é.b.c", "a" * 20_000 + ".b.c"])
def test_garbage_is_refused(token: str) -> None:
    async def test(issuer: Issuer) -> None:
        assert (await refusal(issuer.verifier(), token))[0] == 401

    with_issuer(test)


def test_an_issuer_that_is_away_makes_the_service_unavailable() -> None:
    async def test(issuer: Issuer) -> None:
        verifier, token = issuer.verifier(), issuer.token()
        await issuer.stop()
        status, detail = await refusal(verifier, token)
        assert status == 503
        assert detail.startswith(f"the token cannot be checked: {issuer.address} gives no keys")
        assert (await refusal(verifier, token))[0] == 503
        await issuer.start()

    with_issuer(test)


def test_known_keys_stay_good_while_the_issuer_is_away() -> None:
    async def test(issuer: Issuer) -> None:
        verifier = issuer.verifier()
        await verifier.verify(issuer.token())
        issuer.is_broken = True
        issuer.now += instants.hours(2)
        later = issuer.token(exp=SECONDS + 7_500)
        assert (await verifier.verify(later)).user == "ada@example.com"
        assert issuer.fetches == 2

    with_issuer(test)


def test_a_discovery_document_of_somebody_else_is_not_trusted() -> None:
    async def test(issuer: Issuer) -> None:
        issuer.named = "https://evil.example"
        status, detail = await refusal(issuer.verifier(), issuer.token())
        assert (status, detail.rpartition(": ")[2]) == (503, "its discovery document names another issuer")

    with_issuer(test)


@pytest.mark.parametrize(
    ("claims", "detail"),
    [
        ({"email": None}, "the token has no usable claim email, which names the user"),
        ({"email": 7}, "the token has no usable claim email, which names the user"),
        ({"email": "a\nb"}, "the token has no usable claim email, which names the user"),
        ({"email_verified": False}, "the token's email is not verified by its issuer"),
    ],
)
def test_a_token_must_say_who_it_is(claims: dict[str, Any], detail: str) -> None:
    async def test(issuer: Issuer) -> None:
        assert await refusal(issuer.verifier(), issuer.token(**claims)) == (401, detail)

    with_issuer(test)


def test_claims_can_be_chosen() -> None:
    async def test(issuer: Issuer) -> None:
        verifier = issuer.verifier(userClaim="sub", rolesClaim="realm_access.roles")
        found = await verifier.verify(issuer.token(realm_access={"roles": ["leads"]}))
        assert found == Principal(
            "u-1@127.0.0.1",
            {"*": BY_ROLE["approver"]},
            roles={"*": frozenset({"leads", "approver"})},
            proved_until=instants.seconds(SECONDS + 300),
        )

    with_issuer(test)


def test_a_person_without_a_known_group_may_do_nothing() -> None:
    async def test(issuer: Issuer) -> None:
        assert (await issuer.verifier().verify(issuer.token(groups=None))).grants == {}
        assert (await issuer.verifier().verify(issuer.token(groups={"a": 1}))).grants == {}

    with_issuer(test)


def test_keys_shall_not_come_over_plain_http() -> None:
    with pytest.raises(Rejected) as caught:
        documents.read(OidcConfig, {"issuer": "http://id.example", "audience": "headgate"})
    allowed = 'is "http://id.example"; allowed are https:// addresses, and http:// on this machine'
    assert [(one.path, one.message) for one in caught.value.problems] == [("issuer", allowed)]
