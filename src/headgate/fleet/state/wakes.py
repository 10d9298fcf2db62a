"""Everything that a unit of the fleet can wait for besides time: one constructor for who waits and for who wakes.

A name that is spelled in one place cannot be waited for under another name than it happens under.
"""

from headgate.kernel.wakes import Wake

FREEZES = Wake(("freeze",))
SIGNALS = Wake(("signals",))
ENVIRONMENTS = Wake(("environments",))
RANKS = Wake(("ranks",))
"""Places in a rollout order have moved."""


def resource(name: str) -> Wake:
    """Something began, ended or changed on the resource."""
    return Wake(("resource", name))


def pair(deployment: str, environment: str) -> Wake:
    """A target of the deployment in the environment has changed."""
    return Wake(("pair", deployment, environment))


def members(deployment: str) -> Wake:
    """The targets of the deployment are others than before."""
    return Wake(("members", deployment))


def versions(deployment: str) -> Wake:
    """There is a version that was not there, or not allowed, before."""
    return Wake(("versions", deployment))


def stages(version: str, environment: str) -> Wake:
    """The version has come further in the environment."""
    return Wake(("stages", version, environment))


def votes(version: str, environment: str) -> Wake:
    return Wake(("votes", version, environment))


def skips(rule: str) -> Wake:
    return Wake(("skips", rule))


def breaker(rule: str, scope: str) -> Wake:
    """A stopped line goes on, or one has stopped."""
    return Wake(("breaker", rule, scope))


def slot(resource_name: str) -> Wake:
    """The resource has a slot, or needs none any more."""
    return Wake(("slot", resource_name))


def slots(rule: str) -> Wake:
    """A slot of the rule is free."""
    return Wake(("slots", rule))


def location(environment: str, resource_name: str) -> Wake:
    """A cycle on the resource has ended or moved."""
    return Wake(("site", environment, resource_name))
