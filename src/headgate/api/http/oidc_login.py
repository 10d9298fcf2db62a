"""Logging in at an OIDC provider with a browser: the code flow with PKCE (RFC 7636).

What has to be the same at the end as at the beginning is in a cookie of the browser that began. So any server can end
what another has begun, nothing is kept, and what an attacker has begun cannot be ended in somebody else's browser.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlencode

import msgspec

from headgate.api.http.calls import Principal, Refusal
from headgate.api.http.oidc import OidcVerifier
from headgate.api.http.oidc_config import OidcConfig, OidcLogin, principal
from headgate.api.http.oidc_provider import IdentityProviderError

CALLBACK = "/v1/session/callback"
ATTEMPT_SECONDS = 600
LONGEST_RETURN = 2_000
LONGEST_CREDENTIAL = 3_800
"""Browsers drop cookies of more than 4096 bytes, name and attributes included."""
_RETURN = re.compile(r"/(?![/\\])[!-\[\]-~]*")
_log = logging.getLogger("headgate.login")

Failure = Literal["denied", "stale", "away", "refused", "no-role", "too-long"]
"""Why nobody was logged in; the console has a sentence for each."""


class LoginFailedError(Exception):
    def __init__(self, failure: Failure, detail: str) -> None:
        super().__init__(detail)
        self.failure = failure


class LoginAttempt(msgspec.Struct, frozen=True):
    """What a browser keeps between the page it leaves and the page it comes back to."""

    state: str
    nonce: str
    verifier: str
    return_to: str

    @classmethod
    def begun(cls, return_to: str) -> LoginAttempt:
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(state, nonce, verifier, return_to if is_own_path(return_to) else "/")

    def written(self) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode().rstrip("=")

    @classmethod
    def read(cls, text: str) -> LoginAttempt | None:
        try:
            return msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=cls)
        except (ValueError, msgspec.MsgspecError, RecursionError):
            return None

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def is_own_path(text: str) -> bool:
    """A path of this server and nothing that a browser could take for another one's address."""
    return len(text) <= LONGEST_RETURN and _RETURN.fullmatch(text) is not None


class OidcLoginFlow:
    """`secret` is the client's, None for a public one."""

    def __init__(
        self, config: OidcConfig, login: OidcLogin, secret: str | None, verifier: OidcVerifier
    ) -> None:
        self._config = config
        self._login = login
        self._secret = secret
        self._verifier = verifier

    @property
    def title(self) -> str:
        return self._login.title

    async def address(self, attempt: LoginAttempt, public_url: str) -> str:
        """Where the browser goes to log in. Raises `LoginFailedError`."""
        try:
            discovery = await self._verifier.provider.metadata()
            page = discovery.address("authorization_endpoint")
        except IdentityProviderError as error:
            raise LoginFailedError("away", str(error)) from None
        asked = {
            "response_type": "code",
            "client_id": self._login.client_id,
            "redirect_uri": public_url.rstrip("/") + CALLBACK,
            "scope": " ".join(self._login.scopes),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return f"{page}{'&' if '?' in page else '?'}{urlencode(asked)}"

    async def finish(
        self, attempt: LoginAttempt | None, given: Mapping[str, Any], public_url: str
    ) -> tuple[str, Principal]:
        """The credential of who has logged in, and who that is. Raises `LoginFailedError`."""
        attempt = _own(attempt, given)
        if given.get("iss", self._config.issuer) != self._config.issuer:
            raise LoginFailedError("refused", "the answer is of another issuer")
        if "error" in given:
            failure: Failure = "denied" if given["error"] == "access_denied" else "refused"
            raise LoginFailedError(failure, f"the provider answers {given['error'][:100]!r}")
        if not given.get("code"):
            raise LoginFailedError("refused", "the answer has neither a code nor an error")
        token = await self._redeemed(attempt, given["code"], public_url)
        return token, await self._checked(token, attempt)

    async def _redeemed(self, attempt: LoginAttempt, code: str, public_url: str) -> str:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": public_url.rstrip("/") + CALLBACK,
            "client_id": self._login.client_id,
            "code_verifier": attempt.verifier,
        }
        client = None if self._secret is None else (self._login.client_id, self._secret)
        try:
            return await self._verifier.provider.redeem(form, client)
        except IdentityProviderError as error:
            raise LoginFailedError("away", str(error)) from None

    async def _checked(self, token: str, attempt: LoginAttempt) -> Principal:
        """The token is for this client and for this attempt, and its bearer may do something."""
        try:
            claims = await self._verifier.claims(token)
            signed_in = principal(self._config, claims)
        except (Refusal, ValueError) as refusal:
            raise LoginFailedError("refused", str(refusal)) from None
        audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if (
            self._login.client_id not in audience
            or claims.get("azp", self._login.client_id) != self._login.client_id
        ):
            raise LoginFailedError("refused", "the ID token is for another client")
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), attempt.nonce.encode()):
            raise LoginFailedError("refused", "the ID token was not given for this attempt to log in")
        if len(token) > LONGEST_CREDENTIAL:
            raise LoginFailedError("too-long", f"the ID token has {len(token)} characters")
        if not signed_in.grants:
            raise LoginFailedError("no-role", f"no group of {signed_in.user} has a role")
        return signed_in


def _own(attempt: LoginAttempt | None, given: Mapping[str, Any]) -> LoginAttempt:
    state = str(given.get("state", ""))
    if attempt is None or not hmac.compare_digest(attempt.state.encode(), state.encode()):
        raise LoginFailedError("stale", "the answer is not for what this browser has begun")
    return attempt


def note(error: LoginFailedError) -> None:
    """People are told which of the few things it was; whoever runs the service, what exactly."""
    _log.warning("nobody was logged in (%s): %s", error.failure, error)
