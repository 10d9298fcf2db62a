import base64
import hashlib
import re
from html.parser import HTMLParser

from headgate.api.http.calls import Parameter
from headgate.api.http.schemas import PageSchema
from headgate.fleet.model import objects as model

from .machinery import app_of, route, send

APP = app_of(
    route("GET", "/v1/policies", operation="listPolicies", answers={200: PageSchema(model.Policy)}),
    route("PUT", "/v1/policies/{policy}", operation="putPolicy", answers={200: model.Policy}, body=model.Policy),
    route(
        "GET", "/v1/odd", operation="odd", description="Uses <b> & `code`.",
        query=(Parameter("x", {"type": "string", "enum": ["<", ">"]}, "Less & more"),),
    ),
)  # fmt: skip
ANSWER = send(APP, "GET", "/docs")
PAGE = ANSWER.body.decode()


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.names.append(tag)
        self.ids += [found["id"]] if found.get("id") else []  # type: ignore[list-item]
        self.links += [str(found[name]) for name in ("href", "src") if name in found]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def elements() -> _Elements:
    parser = _Elements()
    parser.feed(PAGE)
    return parser


def test_every_element_is_closed() -> None:
    assert elements().open == []


def test_every_operation_and_schema_can_be_reached() -> None:
    assert {"listPolicies", "putPolicy", "isAlive", "schema-Policy", "schema-GateRule"} <= set(elements().ids)
    assert len(elements().ids) == len(set(elements().ids))


def test_links_lead_to_places_on_the_page() -> None:
    places = {f"#{name}" for name in elements().ids}
    assert set(elements().links) - places == {"/openapi.json"}


def test_it_runs_no_script_and_loads_nothing() -> None:
    assert not {"script", "link", "img", "iframe", "form"} & set(elements().names)
    assert "javascript:" not in PAGE


def test_the_browser_may_apply_only_the_style_of_the_page() -> None:
    style = re.search(r"<style>(.*?)</style>", PAGE, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style.group(1).encode()).digest()).decode()
    policy = ANSWER.headers["content-security-policy"]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")


def test_text_is_text() -> None:
    assert "<p>Uses &lt;b&gt; &amp; <code>code</code>.</p>" in PAGE
    assert "<code>&lt;</code> | <code>&gt;</code>" in PAGE


def test_it_is_html_in_utf_8() -> None:
    assert ANSWER.headers["content-type"] == "text/html; charset=utf-8"
