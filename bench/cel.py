"""Figures for CEL: selectors against a hand-written lambda and the C++ engine, the index against a scan.

What is compared is measured in turns within one run, and the least of several rounds counts, so that a busy machine
slows both sides alike.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

from cel_expr_python import cel as cpp

from headgate import cel
from headgate.cel import frontend

ROUNDS = 7
SELECTOR = "resource.metadata['cluster'] == 'prod-east' && deployment.metadata['layer'] == 'node'"
FILTER = "pods.filter(p, p.ready).size() >= pods.size() * 8 / 10"


def run() -> Iterator[str]:
    yield from _selectors()
    yield from _index()
    yield from _filter()


def _seconds(repetitions: int, *actions: Callable[[], object]) -> list[float]:
    """The least processor time of one repetition of each action, the actions taking turns."""
    least = [float("inf")] * len(actions)
    for _ in range(ROUNDS):
        for place, action in enumerate(actions):
            start = time.process_time()
            for _ in range(repetitions):
                action()
            least[place] = min(least[place], (time.process_time() - start) / repetitions)
    return least


def _environment() -> cel.CelEnvironment:
    record = cel.map_of(cel.STRING, cel.DYN)
    return cel.CelEnvironment({"resource": record, "deployment": record, "pods": cel.list_of(cel.DYN)})


def _cpp_expression(text: str) -> Any:
    record = cpp.Type.Map(cpp.Type.STRING, cpp.Type.DYN)
    variables = {"resource": record, "deployment": record, "pods": cpp.Type.List(cpp.Type.DYN)}
    environment = cpp.NewEnv(config=cpp.NewEnvConfigFromYaml(frontend.CONFIGURATION), variables=variables)
    return environment.compile(text)


def _resource(number: int) -> dict[str, object]:
    metadata: dict[str, object] = {f"label-{place}": f"value-{place}" for place in range(18)}
    metadata["cluster"] = ("prod-east", "prod-west", "staging")[number % 3]
    metadata["region"] = f"region-{number % 10}"
    return {"name": f"node-{number}", "kind": "node", "metadata": metadata}


def _handwritten(bindings: dict[str, Any]) -> Any:
    try:
        return (
            bindings["resource"]["metadata"]["cluster"] == "prod-east"
            and bindings["deployment"]["metadata"]["layer"] == "node"
        )
    except KeyError:
        return False


def _selectors() -> Iterator[str]:
    selector = _environment().selector(SELECTOR)
    expression = _cpp_expression(SELECTOR)
    native = eval(
        "lambda e: e['resource']['metadata']['cluster'] == 'prod-east' "
        "and e['deployment']['metadata']['layer'] == 'node'"
    )
    bindings: dict[str, Any] = {"resource": _resource(0), "deployment": {"metadata": {"layer": "node"}}}
    assert selector.matches(bindings) is native(bindings) is True

    # Whole calls of each kind in a loop of their own, so that no wrapper is measured with them.
    by_hand, ours = _timed_calls(native, selector.matches, bindings)
    (by_cpp,) = _seconds(2_000, lambda: expression.eval(data=bindings).value())
    yield f"selector: {ours * 1e9:.0f} ns; hand-written lambda {by_hand * 1e9:.0f} ns; ratio {ours / by_hand:.2f} (target: 1.5 or less)"
    yield f"selector against cel-expr-python on dicts: {by_cpp / ours:.0f} times faster (target: 20 or more)"

    missing: dict[str, Any] = {
        "resource": {"name": "n", "metadata": {}},
        "deployment": bindings["deployment"],
    }
    by_hand, ours = _timed_calls(_handwritten, selector.matches, missing)
    yield f"selector, key missing: {ours * 1e9:.0f} ns; hand-written try/except {by_hand * 1e9:.0f} ns; ratio {ours / by_hand:.2f}"

    texts = iter(range(10**9))
    environment = _environment()
    (compiling,) = _seconds(
        50, lambda: environment.selector(f"{SELECTOR} && resource.name != 'n{next(texts)}'")
    )
    yield f"selector, compiled: {compiling * 1e6:.0f} us"


def _timed_calls(
    first: Callable[[Any], object], second: Callable[[Any], object], argument: object
) -> list[float]:
    least = [float("inf")] * 2
    repetitions = range(50_000)
    for _ in range(ROUNDS):
        for place, call in enumerate((first, second)):
            start = time.perf_counter()
            for _ in repetitions:
                call(argument)
            least[place] = min(least[place], (time.perf_counter() - start) / len(repetitions))
    return least


def _index() -> Iterator[str]:
    rows = {f"key-{number}": _resource(number) for number in range(10_000)}
    environment = _environment()
    selector = environment.selector(
        "resource.metadata['cluster'] == 'prod-east' && resource.metadata['region'] in ['region-1', 'region-2'] "
        "&& deployment.metadata['layer'] == 'node'"
    )
    deployment = {"deployment": {"metadata": {"layer": "node"}}}
    index = cel.SelectorIndex("resource")

    start = time.perf_counter()
    for key, row in rows.items():
        index.put(key, row)
    filled = time.perf_counter() - start
    start = time.perf_counter()
    index.select(selector, deployment)
    first = time.perf_counter() - start

    def scan() -> list[str]:
        bindings: dict[str, object] = dict(deployment)
        found = []
        for key, row in rows.items():
            bindings["resource"] = row
            if selector.matches(bindings):
                found.append(key)
        return found

    assert index.select(selector, deployment) == scan()
    matched = itertools.cycle(index.select(selector, deployment))

    def change_and_select() -> list[str]:
        """Of the rows that match another one goes each time and comes back, so that no set of rows comes out twice."""
        key = next(matched)
        index.remove(key)
        found = index.select(selector, deployment)
        index.put(key, rows[key])
        return found

    scanned, indexed, anew = _seconds(20, scan, lambda: index.select(selector, deployment), change_and_select)
    yield (
        f"indexed selector over 10,000 resources: {indexed * 1e6:.0f} us (target 50); scan {scanned * 1e6:.0f} us; "
        f"{scanned / indexed:.0f} times faster"
    )
    yield f"indexed selector, after one of those that match has gone: {anew * 1e6:.0f} us"
    yield f"index: 10,000 rows put in {filled * 1e3:.1f} ms; first select, which makes two columns, {first * 1e3:.1f} ms"

    changed = {f"key-{number}": _resource(number + 1) for number in range(10_000)}
    start = time.perf_counter()
    for key, row in changed.items():
        index.put(key, row)
    update = (time.perf_counter() - start) / len(changed)
    yield f"index update, both columns changed: {update * 1e6:.1f} us a row"


def _filter() -> Iterator[str]:
    program = _environment().compile(FILTER)
    expression = _cpp_expression(FILTER)
    pods = [
        {"name": f"pod-{number}", "ready": number % 10 != 0, "phase": "Running"} for number in range(1_000)
    ]
    bindings: dict[str, Any] = {"pods": pods}

    def by_hand() -> bool:
        given = bindings["pods"]
        return len([pod for pod in given if pod["ready"]]) >= len(given) * 8 // 10

    assert program.evaluate(bindings) is by_hand() is True
    native, ours = _seconds(100, by_hand, lambda: program.evaluate(bindings))
    (by_cpp,) = _seconds(1, lambda: expression.eval(data=bindings).value())
    yield (
        f"filter over 1,000 items: {ours * 1e6:.0f} us; list comprehension {native * 1e6:.0f} us; "
        f"cel-expr-python {by_cpp * 1e6:.0f} us"
    )
