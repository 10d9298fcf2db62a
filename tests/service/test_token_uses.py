"""Which tokens somebody needs."""

from .client import Client
from .waiting import until


def used_at(client: Client, name: str) -> str | None:
    (found,) = (one for one in client.get("/v1/tokens")["items"] if one["name"] == name)
    at: str | None = found["lastUsedAt"]
    return at


def test_a_token_says_when_it_was_used_last(client: Client) -> None:
    other = client.token_with("seldom", role="viewer")
    assert used_at(client, "seldom") is None
    other.get("/v1/resources")
    until(lambda: used_at(client, "seldom") is not None)
    client.expect(204, "DELETE", "/v1/tokens/seldom")
    again = client.token_with("seldom", role="viewer")
    assert used_at(client, "seldom") is None
    assert again.get("/v1/whoami", workspace=None)["user"] == "seldom"
