"""Startup order: with Explicit every clique names others that exist, and nobody waits in a circle."""

from headgate.workload import model
from headgate.workload.checks.view import DocumentView


def check(view: DocumentView) -> None:
    if view.template.value.get("cliqueStartupType") != model.EXPLICIT:
        for clique in view.cliques:
            if clique.entry("spec").texts("startsAfter"):
                view.warn(
                    clique.entry("spec").at("startsAfter"),
                    f"has no effect unless cliqueStartupType is {model.EXPLICIT}",
                )
        return
    graph: dict[str, tuple[str, ...]] = {}
    for clique in view.cliques:
        name = clique.text("name") or ""
        spec = clique.entry("spec")
        graph[name] = spec.texts("startsAfter")
        seen: set[str] = set()
        for index, parent in enumerate(graph[name]):
            problem = _problem(name, parent, parent in seen, view.clique_names)
            if problem:
                view.refuse(f"{spec.at('startsAfter')}[{index}]", problem)
            seen.add(parent)
    for circle in circles(graph):
        view.refuse(
            view.template.at("cliques"),
            f"must not wait for each other in a circle: {' after '.join([*circle, circle[0]])}",
        )


def _problem(name: str, parent: str, is_repeated: bool, known: frozenset[str]) -> str | None:
    if not parent:
        return "must not be empty"
    if parent == name:
        return f'"{parent}" is the clique itself, which cannot start after itself'
    if is_repeated:
        return f'"{parent}" is named twice'
    if parent not in known:
        return f'"{parent}" is not a clique of this set; there are {", ".join(sorted(known))}'
    return None


def circles(graph: dict[str, tuple[str, ...]]) -> list[list[str]]:
    """One circle through each clique that waits for itself by way of others, each circle once."""
    circles_so_far: list[list[str]] = []
    covered: set[str] = set()
    for start in graph:
        if start in covered:
            continue
        path = _path_to_itself(graph, start)
        if path is not None:
            circles_so_far.append(path)
            covered.update(path)
    return circles_so_far


def _path_to_itself(graph: dict[str, tuple[str, ...]], start: str) -> list[str] | None:
    """The shortest way from a clique to itself; waiting for oneself directly is another rule's business."""
    came_from: dict[str, str] = {}
    frontier = [start]
    while frontier:
        reached: list[str] = []
        for name in frontier:
            for parent in graph.get(name, ()):
                if parent == start and name != start:
                    return _retrace(came_from, start, name)
                if parent != start and parent not in came_from:
                    came_from[parent] = name
                    reached.append(parent)
        frontier = reached
    return None


def _retrace(came_from: dict[str, str], start: str, name: str) -> list[str]:
    path = [name]
    while path[-1] != start:
        path.append(came_from[path[-1]])
    return path[::-1]
