"""`groupBy` of a rule, read of a resource: the value by which limits, positions and budgets are kept apart."""

from __future__ import annotations

from headgate.fleet.model import expressions
from headgate.fleet.state.units import ResourceNode

NO_VALUE = ""
"""Resources without a value are one group together: a label that is missing must not lift a limit."""


def value_of(group_by: str | None, resource: ResourceNode) -> str:
    """As text, so that 1 and '1' are one group; remembered until the resource changes."""
    if group_by is None:
        return NO_VALUE
    value = resource.values.get(group_by)
    if value is None:
        value = resource.values[group_by] = expressions.group_value(group_by, resource.view)
    return value


def shown(value: str) -> str:
    return value or "(no value)"
