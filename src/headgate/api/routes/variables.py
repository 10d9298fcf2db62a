"""One variable of a resource, or of a deployment (its default)."""

from __future__ import annotations

from functools import partial

from headgate.api import finding
from headgate.api.documents import bodies, views
from headgate.api.http import refusals, replies
from headgate.api.http.calls import Answer, Request, Route
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import SetVariable
from headgate.fleet.model.kinds import Kind
from headgate.kernel import documents
from headgate.kernel.problems import Problem, Rejected
from headgate.runtime.commands import CommandContext, Reply


async def put_variable(kind: Kind, call: Request) -> Answer:
    key = call.path["key"]
    given = documents.read(bodies.VariableInput, call.body)
    problem = model.name_problem(key)
    if problem is not None:
        raise Rejected([Problem("key", problem)])
    if given.value is None:
        raise Rejected([Problem("value", "must not be null; DELETE takes a variable away")])

    def put(context: CommandContext) -> Reply:
        name = finding.name(context.engine, kind, call.path[kind.parameter])
        context.apply(_change(kind, name, key, given.value))
        return replies.reply(200, {"key": key, "value": given.value})

    return await replies.submit(call, put)


async def delete_variable(kind: Kind, call: Request) -> Answer:
    key = call.path["key"]

    def delete(context: CommandContext) -> Reply:
        owner = finding.required(context.engine, kind, call.path[kind.parameter])
        assert isinstance(owner, model.Resource | model.Deployment)
        if key not in owner.variables:
            raise refusals.not_found(f"variable of {owner.name}", key, owner.variables.keys())
        context.apply(_change(kind, owner.name, key, None))
        return replies.NOTHING

    return await replies.submit(call, delete)


def _change(kind: Kind, name: str, key: str, value: object) -> SetVariable:
    if kind is kinds.RESOURCE:
        return SetVariable(key, value, resource=name)
    return SetVariable(key, value, deployment=name)


def _routes(kind: Kind) -> tuple[Route, Route]:
    path = f"/v1/{kind.collection}/{{{kind.parameter}}}/variables/{{key}}"
    return (
        Route(
            "PUT",
            path,
            f"put{kind.name}Variable",
            f"Set a variable of a {kind.singular}",
            partial(put_variable, kind),
            "variable:write",
            kind.collection,
            {200: views.VariableView},
            body=bodies.VariableInput,
            mutates=True,
        ),
        Route(
            "DELETE",
            path,
            f"delete{kind.name}Variable",
            f"Take a variable of a {kind.singular} away",
            partial(delete_variable, kind),
            "variable:write",
            kind.collection,
            {204: None},
            mutates=True,
        ),
    )


ROUTES: tuple[Route, ...] = (*_routes(kinds.RESOURCE), *_routes(kinds.DEPLOYMENT))
