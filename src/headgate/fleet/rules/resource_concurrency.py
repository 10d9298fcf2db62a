"""How many resources of a group may be in the middle of a change at the same time."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from headgate.fleet.model import expressions
from headgate.fleet.rules.spec import GateStage, RuleSpec, Traits
from headgate.kernel import quantities
from headgate.kernel.problems import Problem

LONGEST_LIST = 10


class ResourceConcurrency(RuleSpec, frozen=True, rename="camel"):
    """With `group_by` there is one group, and one limit, for each value that it gives. A slot is held until the
    verification of what was deployed has ended, unless `hold_through_verification` is false."""

    traits = Traits(stage=GateStage.SLOTS, event="a slot becomes free")

    group_selector: expressions.SelectorText
    limit_type: Literal["percentage", "count"]
    limit_value: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
    group_by: expressions.GroupByText | None = None
    hold_through_verification: bool = True

    @staticmethod
    def check_document(given: dict[str, object], path: str, problems: list[Problem]) -> None:
        value = given.get("limit_value")
        if given.get("limit_type") == "percentage" and isinstance(value, int) and value > 100:
            problems.append(
                Problem(f"{path}.limitValue", f"must be from 1 to 100 for a percentage, not {value}")
            )

    def in_words(self) -> str:
        if self.limit_type == "count":
            most = f"{self.limit_value} resource{'s' if self.limit_value > 1 else ''}"
        else:
            most = f"{self.limit_value}% of the resources"
        each = f", counted apart for each `{self.group_by}`" if self.group_by else ""
        until = "what was deployed is verified" if self.hold_through_verification else "its job has ended"
        return f"At most {most} with `{self.group_selector}` change at once{each}; one counts until {until}."


def limit(rule: ResourceConcurrency, total: int) -> int:
    """Rounded up: a small group can still move one at a time."""
    if rule.limit_type == "count":
        return rule.limit_value
    return quantities.Quantity(rule.limit_value, is_percentage=True).resolve(total, "up")


def sentence(active: Sequence[tuple[str, str]], total: int, limit: int, value: str | None = None) -> str:
    """`active` are the resources that hold a slot, each with what it does; `value` is that of the group."""
    listed = ", ".join(f"{resource} ({what})" for resource, what in active[:LONGEST_LIST])
    more = f" and {len(active) - LONGEST_LIST} more" if len(active) > LONGEST_LIST else ""
    holders = f": {listed}{more}" if active else ""
    group = f"{value}: " if value is not None else ""
    return f"{group}{len(active)} of {total} resources active, limit {limit}{holders}"
