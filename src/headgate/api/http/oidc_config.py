"""How people of an OIDC provider become callers: whom to trust, and what their groups may do where."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec

from headgate.api.http import tokens
from headgate.api.http.calls import Principal
from headgate.api.http.permissions import BY_ROLE, Role
from headgate.fleet.model import objects as model
from headgate.kernel import instants
from headgate.kernel.documents import Checked
from headgate.kernel.problems import Problem

_LAST_SECOND = 253_402_300_799
"""Of the year 9999, the last that can be written."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def address_problem(text: str) -> str | None:
    """Keys that come over plain HTTP could be anybody's, unless they never leave the machine."""
    try:
        parts = urlsplit(text)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    except ValueError:
        is_safe = False
    if is_safe and parts.hostname:
        return None
    return f'is "{text[:80]}"; allowed are https:// addresses, and http:// on this machine'


def _check_address(text: str, path: str, problems: list[Problem]) -> None:
    problem = address_problem(text)
    if problem:
        problems.append(Problem(path, problem))


class OidcGrant(msgspec.Struct, frozen=True, rename="camel"):
    """`workspace` may be `*` for all of them."""

    role: Role
    workspace: model.Name = "*"


class OidcLogin(msgspec.Struct, frozen=True, rename="camel"):
    """How people log in to the console in their browser. Without `client_secret_env`, the variable that holds the
    secret, the provider must know the client as a public one."""

    client_id: Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
    client_secret_env: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    scopes: tuple[Annotated[str, msgspec.Meta(min_length=1, max_length=200, pattern="^[!-~]+$")], ...] = (
        "openid",
        "email",
        "profile",
    )
    title: Annotated[str, msgspec.Meta(min_length=1, max_length=60)] = "single sign-on"


class OidcConfig(msgspec.Struct, frozen=True, rename="camel"):
    """`roles_claim` may be a path such as `realm_access.roles`; its values are the keys of `roles`."""

    issuer: Annotated[str, Checked(_check_address)]
    audience: Annotated[str, msgspec.Meta(min_length=1)]
    user_claim: Annotated[str, msgspec.Meta(min_length=1)] = "email"
    roles_claim: Annotated[str, msgspec.Meta(min_length=1)] = "groups"
    roles: dict[str, OidcGrant] = {}
    leeway_seconds: Annotated[int, msgspec.Meta(ge=0, le=600)] = 60
    login: OidcLogin | None = None

    @property
    def audiences(self) -> tuple[str, ...]:
        """What a browser brings is for the client by which it logged in."""
        return (self.audience, *((self.login.client_id,) if self.login is not None else ()))


def principal(config: OidcConfig, claims: dict[str, Any]) -> Principal:
    """Raises ValueError with a sentence when the claims do not say who it is."""
    grants: dict[str, frozenset[str]] = {}
    groups = _groups(config, claims)
    roles = {"*": frozenset(groups)}
    for group in groups:
        grant = config.roles.get(group)
        if grant is not None:
            roles[grant.workspace] = roles.get(grant.workspace, frozenset()) | {grant.role}
            granted = grants.get(grant.workspace, frozenset())
            grants[grant.workspace] = granted | BY_ROLE[grant.role]
    return Principal(
        _user(config, claims),
        grants,
        roles=roles,
        proved_until=instants.seconds(min(int(claims["exp"]), _LAST_SECOND)),
    )


def _user(config: OidcConfig, claims: dict[str, Any]) -> str:
    user = claims.get(config.user_claim)
    if not isinstance(user, str) or model.name_problem(user) is not None:
        raise ValueError(f"the token has no usable claim {config.user_claim}, which names the user")
    if config.user_claim == "email" and claims.get("email_verified") is False:
        raise ValueError("the token's email is not verified by its issuer")
    return (
        user
        if tokens.PERSON_SIGN in user
        else f"{user}{tokens.PERSON_SIGN}{urlsplit(config.issuer).hostname}"
    )


def _groups(config: OidcConfig, claims: dict[str, Any]) -> list[str]:
    value: Any = claims.get(config.roles_claim)
    if value is None and "." in config.roles_claim:
        value = claims
        for part in config.roles_claim.split("."):
            value = value.get(part) if isinstance(value, dict) else None
    if isinstance(value, str):
        return [value]
    return [group for group in value if isinstance(group, str)] if isinstance(value, list) else []
