"""The API for people: one page from the OpenAPI document, without a script and without asking anybody for anything."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from html import escape
from importlib import resources
from typing import Any

from headgate.api.http import docs_schemas

Json = dict[str, Any]

_INTRODUCTION = """
<p>Requests and answers are JSON. Objects are named by id or name; a name in a path is percent-encoded, so that it may
contain a slash.</p>
<h4>Tokens</h4>
<p>Send an API token, or a JWT of the configured OIDC issuer, with each request. The parameter <code>workspace</code>
chooses the workspace; without it, it is the token's only one, else <code>default</code>.</p>
<pre>curl -H "Authorization: Bearer $HEADGATE_TOKEN" {base}/v1/deployments</pre>
<h4>Lists</h4>
<p>A list has <code>items</code> and <code>next</code>. While <code>next</code> is not null, pass it as
<code>cursor</code> for the next page. <code>cel</code> filters, for example
<code>cel=resource.kind == 'Node'</code>; <code>sort</code> takes a field, with <code>-</code> before it for the
other way round.</p>
<h4>Changes</h4>
<p>With an <code>Idempotency-Key</code>, a request can be sent again when its answer was lost: it is done once. With
<code>If-Match</code> and the <code>ETag</code> that came with an object, a change is refused if somebody else was
faster.</p>
<h4 id="problems">Problems</h4>
<p>A refusal is a problem document (RFC 9457): <code>title</code> and <code>detail</code> are sentences,
<code>errors</code> names each place that is wrong. Nothing of a refused request is stored.</p>
"""


def render(document: Json) -> tuple[bytes, str]:
    """The page, and the hash of its style for the Content-Security-Policy."""
    style = resources.files("headgate.api").joinpath("docs_files", "docs.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    operations = list(_operations(document))
    tags = [tag["name"] for tag in document["tags"]]
    schemas: Json = document["components"]["schemas"]
    page = "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(document['info']['title'])} API</title><style>{style}</style></head><body>",
            '<a class="skip" href="#main">To the content</a>',
            _navigation(tags, operations, schemas),
            '<main id="main">',
            _head(document),
            *(_section(tag, operations) for tag in tags),
            '<h2 id="schemas">Schemas</h2>',
            *(docs_schemas.card(name, schema) for name, schema in sorted(schemas.items())),
            "</main></body></html>",
        ]
    )
    return page.encode(), digest


def _operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def _head(document: Json) -> str:
    info = document["info"]
    base = document["servers"][0]["url"].rstrip("/") or "http://localhost:8080"
    return (
        f"<h1>{escape(info['title'])} API</h1><p class=lead>{escape(info['description'])} Version"
        f' {escape(info["version"])}, as <a href="/openapi.json">OpenAPI 3.1</a>.</p>'
        f'<div class=card id="start">{_INTRODUCTION.replace("{base}", escape(base))}</div>'
    )


def _navigation(tags: Iterable[str], operations: list[tuple[str, str, Json]], schemas: Json) -> str:
    groups = "".join(_group(tag, operations) for tag in tags)
    names = "".join(f'<li><a href="#schema-{name}">{name}</a></li>' for name in sorted(schemas))
    return (
        '<nav aria-label="Contents"><a class=brand href="#start">Headgate API</a>'
        f"{groups}<details><summary>Schemas</summary><ul>{names}</ul></details></nav>"
    )


def _group(tag: str, operations: list[tuple[str, str, Json]]) -> str:
    entries = "".join(
        f'<li title="{escape(path)}"><a href="#{operation["operationId"]}">'
        f'<b class="{method}">{method.upper()}</b>{escape(operation["summary"])}</a></li>'
        for method, path, operation in operations
        if tag in operation["tags"]
    )
    return f"<details><summary>{escape(_title(tag))}</summary><ul>{entries}</ul></details>"


def _title(tag: str) -> str:
    return tag.replace("-", " ").capitalize()


def _section(tag: str, operations: list[tuple[str, str, Json]]) -> str:
    cards = "".join(_card(*one) for one in operations if tag in one[2]["tags"])
    return f'<h2 id="tag-{escape(tag)}">{escape(_title(tag))}</h2>{cards}'


def _card(method: str, path: str, operation: Json) -> str:
    permission = operation.get("x-headgate-permission")
    needs = f"<span class=permission>{escape(permission)}</span>" if permission else ""
    if not operation["security"]:
        needs = "<span class=permission>no token</span>"
    return (
        f'<section class=card id="{operation["operationId"]}"><div class=line>'
        f'<span class="method {method}">{method.upper()}</span><code>{escape(path)}</code>{needs}</div>'
        f"<h3>{escape(operation['summary'])}</h3>{_description(operation)}"
        f"{_parameters(operation)}{_body(operation)}{_answers(operation)}</section>"
    )


def _description(operation: Json) -> str:
    needs = f"Needs the permission `{operation.get('x-headgate-permission')}`."
    paragraphs = [part for part in operation.get("description", "").split("\n\n") if part and part != needs]
    return "".join(f"<p>{docs_schemas.words(paragraph)}</p>" for paragraph in paragraphs)


def _parameters(operation: Json) -> str:
    rows = "".join(_parameter(parameter) for parameter in operation["parameters"])
    if not rows:
        return ""
    return f"<h4>Parameters</h4><div class=wide><table><tbody>{rows}</tbody></table></div>"


def _parameter(parameter: Json) -> str:
    must = " <span class=must>required</span>" if parameter.get("required") else ""
    return (
        f"<tr><td><code>{escape(parameter['name'])}</code>{must}</td><td><small>{parameter['in']}</small></td>"
        f"<td>{docs_schemas.render(parameter['schema'])}</td><td>{docs_schemas.words(parameter.get('description', ''))}</td></tr>"
    )


def _body(operation: Json) -> str:
    body = operation.get("requestBody")
    if body is None:
        return ""
    must = "" if body["required"] else " (may be left out)"
    types = ", ".join(f"<code>{escape(name)}</code>" for name in body["content"])
    schema = next(iter(body["content"].values()))["schema"]
    return f"<h4>Body{must}</h4><p>{types}: {docs_schemas.render(schema)}</p>{docs_schemas.fields(schema)}"


def _answers(operation: Json) -> str:
    rows, problems = [], []
    for status, answer in operation["responses"].items():
        if "$ref" in answer:
            problems.append(status)
            continue
        answers_text = ", ".join(
            f"{docs_schemas.render(content['schema'])} <small>{escape(name)}</small>"
            for name, content in answer.get("content", {}).items()
        )
        rows.append(
            f"<tr><td><code>{status}</code> {escape(answer['description'])}</td><td>{answers_text}</td></tr>"
        )
    refused = (
        f'<p class=problems><a href="#problems">Problems</a>: {", ".join(problems)}</p>' if problems else ""
    )
    return f"<h4>Answers</h4><div class=wide><table><tbody>{''.join(rows)}</tbody></table></div>{refused}"
