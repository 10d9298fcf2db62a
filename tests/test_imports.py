"""What import contracts cannot see of themselves: whom they forget, and what is reached without an import.

The contracts are in `pyproject.toml`; `lint-imports` checks them.
"""

import ast
import runpy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
MEASURE = runpy.run_path(str(ROOT / "scripts" / "measure"))
MODULES = MEASURE["modules"]()
PACKAGES = {module.package for module in MODULES} - {"headgate"} | {"validation"}
CONTRACTS: dict[str, dict[str, Any]] = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
}
ONLY = {
    "Only cel knows what parses CEL and matches patterns": {"cel"},
    "Only the store knows databases": {"store"},
    "Only the command line knows terminals, and runs the server of the API": {"cli"},
    "Only the API is made of a web framework": {"api"},
    "Only agents, the API, the client of Kubernetes and the operator know aiohttp, by which they ask others": {
        "agents",
        "api",
        "kubernetes",
        "operator",
    },
    "Only the command line and the store run event loops of their own": {"cli", "store"},
}
"""Who may, of each contract that says so."""
LEVELS = {"kernel", "cel", "fleet", "graph", "workload"}
PURE = {
    "__future__", "abc", "base64", "binascii", "bisect", "calendar", "collections", "contextlib", "copy", "dataclasses",
    "datetime", "decimal", "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "ipaddress", "itertools",
    "json", "math", "operator", "re", "struct", "types", "typing", "uuid", "zoneinfo",
    "cel_expr_python", "headgate", "msgspec", "re2", "yaml",
}  # fmt: skip
"""What those who decide may import: it computes. Of `datetime` and `uuid` a part does not; that is below."""
DATA_FILES = {"graph/compile/kinds.py": {"pkgutil"}}
"""Schemas of Kubernetes' kinds come with the package, and are read once."""
IMPURE_CALLS = {"open", "input", "print", "breakpoint", "__import__"}
IMPURE_METHODS = {"now", "utcnow", "today", "uuid1", "uuid4", "getnode"}
"""Of classes and modules that are pure otherwise."""
IMPURE_OWNERS = {"datetime", "date", "uuid"}
SERVES_BY_AIOHTTP = {"operator/running/health.py", "operator/webhook_server.py"}


def imports(module: Any) -> set[str]:
    """The packages that it imports, by the first part of their names."""
    return {name.partition(".")[0] for name in module.imports()}


def impure_calls(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id=name) if name in IMPURE_CALLS:
                yield name
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if (
                owner in IMPURE_OWNERS and name in IMPURE_METHODS
            ):
                yield f"{owner}.{name}"


def test_who_may_is_said_of_every_contract_that_names_them() -> None:
    assert ONLY.keys() == {name for name in CONTRACTS if name.startswith("Only ")}


@pytest.mark.parametrize("name", ONLY)
def test_every_package_is_bound_by_the_contract_or_may(name: str) -> None:
    bound = {source.removeprefix("headgate.") for source in CONTRACTS[name]["source_modules"]}
    assert (bound | ONLY[name], bound & ONLY[name]) == (PACKAGES, set())


@pytest.mark.parametrize("name", ONLY)
def test_those_who_may_do(name: str) -> None:
    forbidden = set(CONTRACTS[name]["forbidden_modules"])
    assert {module.package for module in MODULES if imports(module) & forbidden} == ONLY[name]


def test_every_package_has_its_layer() -> None:
    layers = CONTRACTS["The levels stand on cel, cel on the kernel, the shell on all of them"]["layers"]
    assert {one.removeprefix("headgate.") for layer in layers for one in layer.split(" | ")} == PACKAGES


def test_what_decides_imports_nothing_but_what_computes() -> None:
    found = {
        module.name: sorted(imports(module) - PURE - DATA_FILES.get(module.name, set()))
        for module in MODULES
        if module.package in LEVELS
    }
    assert {name: others for name, others in found.items() if others} == {}


def test_what_decides_asks_no_clock_no_chance_and_no_file_by_what_it_may_import() -> None:
    found = {module.name: list(impure_calls(module.tree)) for module in MODULES if module.package in LEVELS}
    assert {name: calls for name, calls in found.items() if calls} == {}


def test_a_clock_and_a_file_are_seen() -> None:
    text = "moment = datetime.now(UTC)\nwith open(name): ...\nkey = uuid.uuid4()\nledger.open(inputs)"
    assert sorted(impure_calls(ast.parse(text))) == ["datetime.now", "open", "uuid.uuid4"]


def test_sockets_are_served_by_the_command_line_and_by_the_operator_for_its_webhook_and_its_health() -> None:
    assert {module.name for module in MODULES if "aiohttp.web" in module.imports()} == SERVES_BY_AIOHTTP
    assert {module.package for module in MODULES if "uvicorn" in imports(module)} == {"cli"}
