"""Nothing of the service is undocumented: permissions, metrics, options of OIDC, operations and their statuses."""

import re
import typing

import msgspec
import pytest
import yaml

from headgate.api.http import access as guarded
from headgate.api.http import permissions
from headgate.api.http.metrics import Metrics
from headgate.api.http.oidc_config import OidcConfig, OidcLogin
from headgate.api.routes import ALL
from headgate.kernel import documents

from . import fields, pages
from .test_reference import section

FOLDER = pages.ROOT / "docs" / "service"


def table_after(page: str, marker: str) -> list[list[str]]:
    """Body rows of the first table below that text, as cells."""
    text = (FOLDER / page).read_text("utf-8")
    match = re.compile(r"\n((?:\|[^\n]*\n)+)").search(text, text.index(marker))
    assert match is not None
    return [fields.cells(line) for line in match.group(1).splitlines()[2:]]


def test_the_table_of_permissions_is_the_one_that_is_checked() -> None:
    rows = table_after("security.md", "<!-- permissions -->")
    written = {row[0].strip("`"): [cell == "yes" for cell in row[2:]] for row in rows}
    assert written == {
        permission: [permission in permissions.BY_ROLE[role] for role in permissions.ROLES]
        for permission in permissions.ALL
    }
    assert all(row[1] for row in rows)


def test_the_table_of_guarded_fields_is_the_one_that_is_checked() -> None:
    rows = table_after("security.md", "<!-- fields -->")
    written = [(row[0], row[1].strip("`"), row[2].strip("`"), row[3]) for row in rows]
    assert written == [(one.kind, one.field, one.permission, one.reaches) for one in guarded.GUARDS]


def test_every_permission_that_a_call_needs_can_be_given() -> None:
    assert {route.permission for route in ALL if route.permission} <= permissions.ALL
    assert {one.permission for one in guarded.GUARDS} <= permissions.ALL


def metric_names() -> set[str]:
    """As Prometheus stores them: counters end in `_total`."""
    families = Metrics().registry.collect()
    return {f"{one.name}_total" if one.type == "counter" else one.name for one in families}


def test_every_metric_is_documented_with_its_labels() -> None:
    rows = table_after("metrics.md", "# Metrics and alerts")
    metrics = Metrics()
    labels = {
        name: set(collector._labelnames)  # type: ignore[attr-defined]  # every metric of ours has it
        for collector, names in metrics.registry._collector_to_names.items()
        for name in names
    }
    written = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[1])) for row in rows}
    assert written == {name: labels[name] for name in metric_names()}
    assert all(row[2] for row in rows)


@pytest.mark.parametrize("block", pages.all_blocks("yaml", "prometheus"), ids=lambda block: block.label)
def test_alerts_ask_for_metrics_that_there_are(block: pages.Block) -> None:
    rules = [rule for group in yaml.safe_load(block.text)["groups"] for rule in group["rules"]]
    asked = {name for rule in rules for name in re.findall(r"headgate_\w+", rule["expr"])}
    assert {name.removesuffix("_bucket") for name in asked} <= metric_names()
    assert all(rule.keys() <= {"alert", "expr", "for", "annotations"} for rule in rules)


@pytest.mark.parametrize("block", pages.all_blocks("yaml", "oidc"), ids=lambda block: block.label)
def test_an_oidc_file_on_a_page_is_valid(block: pages.Block) -> None:
    documents.read(OidcConfig, yaml.safe_load(block.text), "")


def test_every_key_of_the_oidc_file_is_documented_with_its_default() -> None:
    for before, config in (("leewaySeconds: 60", OidcConfig), ("title: Example SSO", OidcLogin)):
        rows = {row[0].strip("`"): row[1].strip("`") for row in table_after("security.md", before)}
        declared = msgspec.structs.fields(config)
        assert rows == {field.encode_name: _default(field) for field in declared}


def _default(field: typing.Any) -> str:
    if field.required:
        return "required"
    if field.default is None or field.default_factory is not msgspec.NODEFAULT:
        return "none"
    return ", ".join(field.default) if isinstance(field.default, tuple) else str(field.default)


def test_every_collection_is_named() -> None:
    written = (FOLDER / "api.md").read_text("utf-8")
    collections = {"/".join(route.path.split("/")[:3]) for route in ALL}
    assert [
        path for path in sorted(collections) if f"{path}`" not in written and f"{path}/" not in written
    ] == []


def test_every_status_of_a_refusal_is_told() -> None:
    written = section(FOLDER / "api.md", "What is refused")
    statuses = {status for route in ALL for status in route.problems}
    assert [status for status in sorted(statuses) if f"| {status} |" not in written] == []
