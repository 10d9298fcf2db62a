"""The kinds of objects, one entry each: what they are called, where they are kept, who may change them, what comes first.

Whoever treats kinds alike goes through this table, so that a new kind is one entry here. It loads neither the model nor
the state: a command that only names kinds has to start fast.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from headgate.fleet.model.changes import Object

_WORDS = re.compile(r"[A-Z][a-z]*")


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """The one of its Struct and of its manifests."""
    permission: str
    """Who may write it."""
    rank: int
    """What is referred to is applied before what refers to it, and deleted after it."""
    plural: str
    table: str
    """In the state and in snapshots of it."""
    collection: str
    """Its path in the API."""
    singular: str
    """In sentences."""
    variable: str
    """In expressions and filters."""
    parameter: str
    """What a path calls one of them."""
    is_target_part: bool = False
    """Its name is a part of the names of release targets."""
    is_confirmed: bool = False
    """Not deleted by the way while it has release targets."""

    @property
    def any_one(self) -> str:
        """In sentences about no particular one of them: `an environment`."""
        return f"{'an' if self.singular[0] in 'aeiou' else 'a'} {self.singular}"

    @property
    def model(self) -> type[Any]:
        from headgate.fleet.model import objects as model

        kind_model: type[Any] = getattr(model, self.name)
        return kind_model


def _kind(
    name: str,
    permission: str,
    rank: int,
    *,
    plural: str = "",
    collection: str = "",
    parameter: str = "",
    is_target_part: bool = False,
    is_confirmed: bool = False,
) -> Kind:
    """Most of what it is called follows from its name."""
    words, plurals = _WORDS.findall(name), _WORDS.findall(plural or f"{name}s")
    variable = name[0].lower() + name[1:]
    return Kind(
        name=name,
        permission=permission,
        rank=rank,
        plural="".join(plurals),
        table="_".join(plurals).lower(),
        collection=collection or "-".join(plurals).lower(),
        singular=" ".join(words).lower(),
        variable=variable,
        parameter=parameter or variable,
        is_target_part=is_target_part,
        is_confirmed=is_confirmed,
    )


RESOURCE = _kind("Resource", "resource:write", 4, is_target_part=True)
ENVIRONMENT = _kind("Environment", "fleet:write", 2, is_target_part=True, is_confirmed=True)
DEPLOYMENT = _kind("Deployment", "fleet:write", 3, is_target_part=True, is_confirmed=True)
VERSION = _kind("Version", "version:write", 7)
POLICY = _kind("Policy", "policy:write", 6, plural="Policies", is_confirmed=True)
JOB_AGENT = _kind("JobAgent", "fleet:write", 1, parameter="agent")
VARIABLE_SET = _kind("VariableSet", "fleet:write", 5, collection="variables")
FREEZE = _kind("Freeze", "freeze:write", 9)
SIGNAL = _kind("Signal", "signal:write", 8)

ALL = (RESOURCE, ENVIRONMENT, DEPLOYMENT, VERSION, POLICY, JOB_AGENT, VARIABLE_SET, FREEZE, SIGNAL)
BY_NAME: Mapping[str, Kind] = {kind.name: kind for kind in ALL}
NAMED = tuple(kind for kind in ALL if kind is not VERSION)
"""Known by their name alone."""
APPLY_ORDER = tuple(sorted(ALL, key=lambda kind: kind.rank))

if TYPE_CHECKING:
    KindName = str
else:
    KindName = Literal[tuple(BY_NAME)]
"""In bodies of requests; their description lists the kinds."""


def of(item: Object) -> Kind:
    return BY_NAME[type(item).__name__]


def name_of(item: Object) -> str:
    """A version is known by its deployment and its tag."""
    from headgate.fleet.model.objects import Version

    return f"{item.deployment}/{item.tag}" if isinstance(item, Version) else item.name


def object_of(node: Any) -> Object:
    """From what the engine keeps under a name to the object itself: beside it may be its selector, or what it leads to."""
    item: Object = node[0] if isinstance(node, tuple) else getattr(node, "object", node)
    return item
