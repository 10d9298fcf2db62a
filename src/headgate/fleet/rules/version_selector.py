"""Which versions may come here at all."""

from collections.abc import Mapping

from headgate.fleet.model import expressions
from headgate.fleet.rules.spec import GateStage, RuleSpec, Traits
from headgate.kernel import decisions
from headgate.kernel.decisions import Reason, Verdict


class VersionSelector(RuleSpec, frozen=True, rename="camel"):
    traits = Traits(stage=GateStage.SELECTION, keeps_version_away=True, may_hold_a_lock=True)

    selector: expressions.VersionSelectorText
    description: str | None = None

    def in_words(self) -> str:
        why = f" ({self.description})" if self.description else ""
        return f"Only versions with `{self.selector}` are deployed{why}."


def judge(rule: VersionSelector, bindings: Mapping[str, object]) -> Verdict:
    if expressions.VERSION_SELECTOR.selector(rule.selector).matches(bindings):
        return decisions.allowed("the version selector matches", selector=rule.selector)
    because = f" ({rule.description})" if rule.description else ""
    return decisions.denied(
        Reason.NOT_SELECTED,
        f"the version selector does not match: {rule.selector}{because}",
        selector=rule.selector,
    )
