"""What a caller may do: permissions, and the roles that bundle them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

Role = Literal["viewer", "deployer", "approver", "operator", "admin"]

_VIEWER = frozenset({"read"})
_DEPLOYER = _VIEWER | {
    "version:write",
    "resource:write",
    "variable:write",
    "signal:write",
    "job:report",
    "job:config",
}
_APPROVER = _VIEWER | {"approval:write"}
_OPERATOR = _DEPLOYER | {
    "version:scope",
    "version:reject",
    "freeze:write",
    "skip:write",
    "group:act",
    "target:act",
    "target:adopt",
    "budget:resume",
    "audit:read",
}
_ADMIN = (
    _OPERATOR
    | _APPROVER
    | {"fleet:write", "policy:write", "token:write", "job:run", "workspace:admin", "version:import"}
)

BY_ROLE: dict[str, frozenset[str]] = {
    "viewer": _VIEWER,
    "deployer": _DEPLOYER,
    "approver": _APPROVER,
    "operator": _OPERATOR,
    "admin": _ADMIN,
}
ROLES: tuple[str, ...] = get_args(Role)
ALL = _ADMIN


def granted(role: str | None, permissions: Iterable[str] = ()) -> frozenset[str]:
    """A role that is no longer known grants nothing: a newer version may have written the token."""
    return BY_ROLE.get(role or "", frozenset()) | (frozenset(permissions) & ALL)
