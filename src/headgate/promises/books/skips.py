"""The skips that people have made, kept by the promises themselves: which rule, for what, until when."""

import msgspec

from headgate.fleet.model import changes
from headgate.fleet.model import objects as model
from headgate.kernel.instants import Instant
from headgate.promises.books.mirror import Mirror

Version = tuple[str, str]
"""A deployment and a tag."""


class KnownSkip(msgspec.Struct, frozen=True):
    """What is None is not restricted; `rule` is a rule's id."""

    rule: str
    version: Version | None
    environment: str | None
    resource: str | None
    expires_at: Instant | None

    def names(self, version: Version | None, environment: str, resource: str, now: Instant) -> bool:
        return (
            self.version in (None, version)
            and self.environment in (None, environment)
            and self.resource in (None, resource)
            and (self.expires_at is None or now < self.expires_at)
        )


class Skips:
    """A skip lasts until it expires, is removed, or its rule or its version is gone; put again under its id, it is another one."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror
        self._skips: dict[str, KnownSkip] = {}
        self._unnamed = 0

    def changed(self, change: changes.Change) -> None:
        match change:
            case changes.PutSkip():
                self._put(change)
            case changes.DeleteSkip():
                self._skips.pop(change.id, None)
            case changes.Put(object=model.Policy()) | changes.Delete(kind="Policy"):
                self._forget_rules_that_are_gone()
            case changes.Delete(kind="Version" | "Deployment"):
                self._forget_versions_that_are_gone()
            case _:
                pass

    def __bool__(self) -> bool:
        return bool(self._skips)

    def let_pass(
        self, rule: model.Rule, version: Version | None, environment: str, resource: str, now: Instant
    ) -> bool:
        return any(
            skip.rule == rule.id and skip.names(version, environment, resource, now)
            for skip in self._skips.values()
        )

    def _put(self, change: changes.PutSkip) -> None:
        rule = self._mirror.rule(change.policy, change.rule)
        if rule is None:
            return
        self._unnamed += 1
        version = None
        if change.deployment is not None and change.tag is not None:
            version = self._mirror.version_named(change.deployment, change.tag)
        self._skips[change.id or f"#{self._unnamed}"] = KnownSkip(
            rule.id,
            version,
            self._mirror.name_in("Environment", change.environment),
            self._mirror.name_in("Resource", change.resource),
            change.expires_at,
        )

    def _forget_rules_that_are_gone(self) -> None:
        known = {rule.id for policy in self._mirror.policies.values() for rule in policy.rules}
        self._skips = {key: skip for key, skip in self._skips.items() if skip.rule in known}

    def _forget_versions_that_are_gone(self) -> None:
        self._skips = {
            key: skip
            for key, skip in self._skips.items()
            if skip.version is None or self._mirror.version(*skip.version) is not None
        }
