"""Pod specs: little is looked at, only what the set decides itself and must not be said here."""

from headgate.workload.checks import words
from headgate.workload.checks.view import DocumentView, ListEntry, repeated


def check(view: DocumentView) -> None:
    for clique in view.cliques:
        pod_spec = clique.entry("spec").entry("podSpec")
        if pod_spec.has("restartPolicy") and pod_spec.value["restartPolicy"] != "Always":
            view.warn(pod_spec.at("restartPolicy"), "is ignored; pods of a clique are restarted Always")
        if view.is_new:
            for key in ("topologySpreadConstraints", "nodeName"):
                if pod_spec.value.get(key):
                    view.refuse(pod_spec.at(key), "must not be set: where pods go is for the gang to decide")
        for key in ("initContainers", "containers"):
            for container in pod_spec.entries(key):
                _check_environment(view, container)
    _check_scheduler(view)


def _check_environment(view: DocumentView, container: ListEntry) -> None:
    variables = container.entries("env")
    for variable in variables:
        name = variable.text("name")
        problem = words.environment_name_problem(name) if name else "is required"
        if problem:
            view.refuse(variable.at("name"), problem)
    for path, name in repeated((variable.at("name"), variable.text("name")) for variable in variables):
        view.refuse(path, f'"{name}" is set twice')


def _check_scheduler(view: DocumentView) -> None:
    named = [
        (clique, clique.entry("spec").entry("podSpec").text("schedulerName") or "") for clique in view.cliques
    ]
    if len({name for _, name in named}) < 2:
        return
    first = named[0][1]
    for clique, name in named:
        if name != first:
            view.refuse(
                clique.entry("spec").entry("podSpec").at("schedulerName"),
                f'is "{name}" and "{first}" in the first clique; all pods of a set have one scheduler',
            )
