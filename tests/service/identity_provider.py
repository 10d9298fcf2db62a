"""An OIDC provider on this machine, as strict as it should be and as wrong as a test wants it."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from .answering import JsonHandler, serving

CLIENT = "headgate-console"
SECRET = "a secret with: signs & spaces"
_KEY = RSAKey.generate_key(2048, {"kid": "one"})


class IdentityProvider:
    """Everybody who comes to its page is logged in as who `claims` say."""

    def __init__(self) -> None:
        self.address = ""
        self.claims: dict[str, Any] = {"email": "ada@example.com", "groups": ["sre"]}
        self.seconds = 300
        self.error: str | None = None
        self.is_away = False
        self.discoveries = 0
        self.codes: dict[str, dict[str, str]] = {}
        self.forms: list[dict[str, str]] = []
        self.proofs: list[str | None] = []

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.address,
            "jwks_uri": f"{self.address}/keys",
            "authorization_endpoint": f"{self.address}/authorize?tenant=1",
            "token_endpoint": f"{self.address}/token",
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser is sent back to."""
        answer = {"state": asked["state"], "iss": self.address, "session_state": "something of its own"}
        if self.error is not None:
            return f"{asked['redirect_uri']}?{urlencode({**answer, 'error': self.error})}"
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({**answer, 'code': code})}"

    def token(self, form: dict[str, str]) -> dict[str, Any] | None:
        """The code is good once, for who began with the challenge of this verifier."""
        self.forms.append(form)
        asked = self.codes.pop(form.get("code", ""), None)
        if asked is None or asked["redirect_uri"] != form["redirect_uri"]:
            return None
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != asked["code_challenge"]:
            return None
        now = int(time.time())
        claims = {
            "iss": self.address,
            "aud": CLIENT,
            "sub": "u-1",
            "iat": now,
            "exp": now + self.seconds,
            "nonce": asked["nonce"],
            **self.claims,
        }
        present = {name: value for name, value in claims.items() if value is not None}
        return {"id_token": jwt.encode({"alg": "RS256", "kid": "one"}, present, _KEY), "token_type": "Bearer"}


@contextmanager
def running() -> Iterator[IdentityProvider]:
    provider = IdentityProvider()

    class Handler(JsonHandler):
        def get(self) -> None:
            parts = urlsplit(self.path)
            if provider.is_away:
                self.answer(503, {})
            elif parts.path == "/.well-known/openid-configuration":
                provider.discoveries += 1
                self.answer(200, provider.discovery())
            elif parts.path == "/keys":
                self.answer(200, {"keys": [_KEY.as_dict(private=False)]})
            elif parts.path == "/authorize":
                asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
                self.send_response(302)
                self.send_header("Location", provider.authorize(asked))
                self.end_headers()
            else:
                self.answer(404, {})

        def post(self) -> None:
            body = self.body().decode()
            if provider.is_away:
                self.answer(503, {})
                return
            provider.proofs.append(self.headers.get("Authorization"))
            found = provider.token({name: values[0] for name, values in parse_qs(body).items()})
            self.answer(200 if found else 400, found or {"error": "invalid_grant"})

    with serving(Handler) as provider.address:
        yield provider


def settings(provider: IdentityProvider) -> str:
    """The file of `--oidc`."""
    return json.dumps(
        {
            "issuer": provider.address,
            "audience": "headgate",
            "roles": {"sre": {"role": "operator"}, "guests": {"role": "viewer"}},
            "leewaySeconds": 0,
            "login": {
                "clientId": CLIENT,
                "clientSecretEnv": "HEADGATE_TEST_CLIENT_SECRET",
                "title": "Example SSO",
            },
        }
    )
