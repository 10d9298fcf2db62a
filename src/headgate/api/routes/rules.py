"""The rules of a policy, one by one: a collection of their own, in their order. A rule changes with its policy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from headgate.api import concerning, finding, objects, secrecy
from headgate.api.http import lists, pages, refusals, replies
from headgate.api.http.calls import Answer, Parameter, Request, Route
from headgate.api.http.schemas import PageSchema
from headgate.api.routes import fleet_objects
from headgate.fleet.engine import policy_words
from headgate.fleet.engine.engine import Engine
from headgate.fleet.engine.queries import concerned
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.kernel.problems import renamed
from headgate.runtime.commands import CommandContext, EngineView, Reply

Documents = list[dict[str, Any]]
_PLACE = re.compile(r"rules\[\d+\]\.?(.*)", re.DOTALL)


async def list_rules(call: Request) -> Answer:
    async def rows() -> list[tuple[str, int, dict[str, object]]]:
        policy = await replies.ask(call, lambda view: _viewed(view, call))
        return [(f"{rule.index:06}", 0, _rendered(call, rule)) for rule in policy.rules]

    return await lists.answer(call, lists.of_rows("rule", rows))


async def get_rule(call: Request) -> Answer:
    policy = await replies.ask(call, lambda view: _viewed(view, call))
    return replies.object_answer(_rendered(call, _rule(policy, call)))


def _rendered(call: Request, rule: model.Rule) -> dict[str, object]:
    return secrecy.render_part(call, kinds.POLICY.name, objects.rule_document(rule))


async def get_text(call: Request) -> Answer:
    policy = await replies.ask(call, lambda view: _viewed(view, call))
    return Answer(200, msgspec.to_builtins(policy_words.of_policy(policy)))


async def create_rule(call: Request) -> Answer:
    position = call.query.get("position")

    def create(context: CommandContext) -> Reply:
        policy = _policy(context.engine, call)
        place = len(policy.rules) if position is None else min(int(position), len(policy.rules))

        def insert(documents: Documents) -> None:
            documents.insert(place, _body(call))

        return _written(context, call, policy, insert, place, 201)

    return await replies.submit(call, create)


async def put_rule(call: Request) -> Answer:
    def replace(context: CommandContext) -> Reply:
        policy, old = _held(context, call)

        def exchange(documents: Documents) -> None:
            body = _body(call)
            documents[old.index] = {"id": old.id, **body} if isinstance(body, dict) else body

        return _written(context, call, policy, exchange, old.index, 200)

    return await replies.submit(call, replace)


async def delete_rule(call: Request) -> Answer:
    def delete(context: CommandContext) -> Reply:
        policy, old = _held(context, call)

        def remove(documents: Documents) -> None:
            del documents[old.index]

        _put(context, call, policy, remove)
        kept = _policy(context.engine, call)
        concern = concerned.by_object(context.engine, kept)
        return concerning.reply_to_end(objects.rule_document(old), concern)

    return await replies.submit(call, delete)


def _written(
    context: CommandContext,
    call: Request,
    policy: model.Policy,
    change: Callable[[Documents], None],
    place: int,
    status: int,
) -> Reply:
    _put(context, call, policy, change)
    kept = _policy(context.engine, call)
    concern = concerned.by_object(context.engine, kept)
    return replies.reply_with(status, objects.rule_document(kept.rules[place]), concern)


def _body(call: Request) -> Any:
    """Whoever changes what was answered need not take out whom it concerned."""
    if not isinstance(call.body, dict):
        return call.body
    return {key: item for key, item in call.body.items() if key != "concerns"}


def _put(
    context: CommandContext, call: Request, policy: model.Policy, change: Callable[[Documents], None]
) -> None:
    """Every other rule keeps its id, whatever its place is now: skips, slots and groups know rules by their ids."""
    document = objects.document(policy)
    change(document["rules"])
    with renamed(_in_body):
        parsed = objects.parse(kinds.POLICY.name, document, call.workspace)
        fleet_objects.put(context, kinds.POLICY, parsed, call)


def _in_body(path: str) -> str:
    match = _PLACE.fullmatch(path)
    return match[1] if match is not None else path


def _held(context: CommandContext, call: Request) -> tuple[model.Policy, model.Rule]:
    """The rule that the caller has seen, with its policy."""
    policy = _policy(context.engine, call)
    old = _rule(policy, call)
    replies.check_etag(call.if_match, msgspec.json.encode(objects.rule_document(old)))
    return policy, old


def _viewed(view: EngineView, call: Request) -> model.Policy:
    return _policy(view.engine, call)


def _policy(engine: Engine, call: Request) -> model.Policy:
    known_policy = finding.required(engine, kinds.POLICY, call.path["policy"])
    assert isinstance(known_policy, model.Policy)
    return known_policy


def _rule(policy: model.Policy, call: Request) -> model.Rule:
    reference = call.path["rule"]
    known_rule = policy.rule(reference.lower()) or policy.rule(reference)
    if known_rule is None:
        raise refusals.not_found(f"rule of {policy.name}", reference, [one.label for one in policy.rules])
    return known_rule


_POSITION = Parameter(
    "position",
    {"type": "integer", "minimum": 0, "maximum": 1000},
    "Where it is put; behind all others if absent.",
)

ROUTES = (
    Route(
        "GET", "/v1/policies/{policy}/rules", "listRules", "List the rules of a policy, in their order",
        list_rules, "read", "policies", {200: PageSchema(model.Rule)},
        query=pages.parameters("rule", ()), problems=(422,),
    ),
    Route(
        "GET", "/v1/policies/{policy}/text", "getPolicyText", "A policy in words, one sentence a rule",
        get_text, "read", "policies", {200: policy_words.PolicyInWords},
    ),
    Route(
        "POST", "/v1/policies/{policy}/rules", "createRule", "Add a rule to a policy",
        create_rule, "policy:write", "policies", {201: model.Rule},
        query=(_POSITION,), body=model.Rule, mutates=True,
    ),
    Route(
        "GET", "/v1/policies/{policy}/rules/{rule}", "getRule", "Get a rule by id, name or position",
        get_rule, "read", "policies", {200: model.Rule},
    ),
    Route(
        "PUT", "/v1/policies/{policy}/rules/{rule}", "putRule", "Replace a rule of a policy",
        put_rule, "policy:write", "policies", {200: model.Rule},
        body=model.Rule, mutates=True, conditional=True,
    ),
    Route(
        "DELETE", "/v1/policies/{policy}/rules/{rule}", "deleteRule", "Delete a rule of a policy",
        delete_rule, "policy:write", "policies", {200: model.Rule},
        mutates=True, conditional=True,
    ),
)  # fmt: skip
