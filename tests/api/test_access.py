import pytest

from headgate.api.http.access import ANY_TOKEN
from headgate.api.http.calls import Answer, Request
from headgate.api.http.permissions import ALL, BY_ROLE, ROLES, granted

from .machinery import app_of, route, send


async def where(call: Request) -> Answer:
    return Answer(200, {"workspace": call.workspace, "user": call.principal.user})


APP = app_of(
    route("GET", "/v1/things", where),
    route("PUT", "/v1/things", where, permission="policy:write"),
    route("GET", "/v1/workspaces", where, scope="service"),
    route("POST", "/v1/workspaces", where, permission="workspace:admin", scope="service"),
    route("GET", "/v1/whoami", where, permission=ANY_TOKEN, scope="service"),
    route("POST", "/v1/callback", where, permission=None),
)


def status(method: str, target: str, caller: str) -> int:
    return send(APP, method, target, headers={"Authorization": caller}).status


def workspace(target: str, caller: str) -> object:
    return send(APP, "GET", target, headers={"Authorization": caller}).json["workspace"]


def test_the_workspace_is_the_tokens_only_one() -> None:
    assert workspace("/v1/things", "viewer payments") == "payments"


def test_the_workspace_of_a_token_for_all_is_the_default_one() -> None:
    assert workspace("/v1/things", "viewer *") == "default"


def test_the_parameter_names_the_workspace() -> None:
    assert workspace("/v1/things?workspace=payments", "viewer *") == "payments"


def test_a_workspace_that_is_not_seen_is_not_there() -> None:
    assert status("GET", "/v1/things?workspace=secret", "admin payments") == 404


def test_a_missing_permission_in_a_seen_workspace_is_said() -> None:
    answer = send(APP, "PUT", "/v1/things", headers={"Authorization": "viewer payments"})
    sentence = "this needs the permission policy:write in the workspace 'payments'"
    assert (answer.status, answer.json["detail"]) == (403, sentence)


def test_a_list_of_the_service_is_for_whoever_may_read_somewhere() -> None:
    assert status("GET", "/v1/workspaces", "viewer payments") == 200


def test_a_change_of_the_service_needs_the_permission_for_all_workspaces() -> None:
    assert status("POST", "/v1/workspaces", "admin payments") == 403
    assert status("POST", "/v1/workspaces", "admin *") == 200


def test_every_token_may_ask_who_it_is() -> None:
    assert status("GET", "/v1/whoami", "approver payments") == 200


def test_a_route_without_permission_asks_for_no_token() -> None:
    async def nobody(authorization: str | None) -> None:
        raise AssertionError("asked for a token")

    app = app_of(route("POST", "/v1/callback", where, permission=None), authenticate=nobody)
    assert send(app, "POST", "/v1/callback?workspace=a").json == {"workspace": "a", "user": ""}


@pytest.mark.parametrize("role", ROLES)
def test_every_role_can_read(role: str) -> None:
    assert "read" in BY_ROLE[role]


def test_an_operator_can_do_what_a_deployer_can_but_not_approve() -> None:
    assert BY_ROLE["deployer"] < BY_ROLE["operator"]
    assert "approval:write" not in BY_ROLE["operator"]


def test_an_admin_can_do_everything() -> None:
    assert BY_ROLE["admin"] == ALL == frozenset().union(*BY_ROLE.values())


def test_permissions_add_to_a_role() -> None:
    assert granted("viewer", ["job:run"]) == {"read", "job:run"}
    assert granted(None, ["job:run"]) == {"job:run"}


def test_an_unknown_role_or_permission_grants_nothing() -> None:
    assert granted("emperor", ["world:rule"]) == frozenset()
