"""The rules of a policy, one by one. They are changed with their policy."""

from __future__ import annotations

from headgate.api import finding, kinds, lists, pages, refusals, replies
from headgate.api.calls import Answer, Call, Route
from headgate.api.schemas import Page as PageSchema
from headgate.fleet import model, rules
from headgate.runtime.commands import View


async def list_rules(call: Call) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, object]]]:
        policy = await replies.ask(call, lambda view: _policy(view, call))
        return [(f"{rule.index:06}", 0, rules.write_rule(rule)) for rule in policy.rules]

    return await lists.answer(call, lists.of_rows("rule", rows))


async def get_rule(call: Call) -> Answer:
    policy = await replies.ask(call, lambda view: _policy(view, call))
    reference = call.path["rule"]
    found = policy.rule(reference.lower()) or policy.rule(reference)
    if found is None:
        raise refusals.not_found(f"rule of {policy.name}", reference, [one.label for one in policy.rules])
    return replies.object_answer(rules.write_rule(found))


def _policy(view: View, call: Call) -> model.Policy:
    found = finding.required(view.engine.state, kinds.POLICY, call.path["policy"])
    assert isinstance(found, model.Policy)
    return found


ROUTES = (
    Route(
        "GET", "/v1/policies/{policy}/rules", "listRules", "List the rules of a policy, in their order",
        list_rules, "read", "policies", {200: PageSchema(model.Rule)},
        query=pages.parameters("rule", ()), problems=(422,),
    ),
    Route(
        "GET", "/v1/policies/{policy}/rules/{rule}", "getRule", "Get a rule by id, name or position",
        get_rule, "read", "policies", {200: model.Rule},
    ),
)  # fmt: skip
