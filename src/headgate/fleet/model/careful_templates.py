"""Manifests of pods with expressions in them: a value is a value, in no shell and in no reference code.

Commands of containers follow the rules of commands anywhere. What is more, kubelets replace `$(NAME)` in commands, arguments
and variables by the container's variables, secrets among them: in a text that has an expression they find none, and in code
none that has somebody's value in it. Where a pod runs and what it may do there is said by the agent's owner.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from headgate.fleet.model import careful_commands, job_configs
from headgate.fleet.model.careful_texts import Problems, has_expression, joined, parts_of
from headgate.fleet.model.job_configs import ConfigBindings
from headgate.kernel.documents import describe, field_path, item_path
from headgate.kernel.problems import Problem

_TEXTS_WITH_REFERENCES = frozenset({"subPathExpr"})
_LISTS = ("command", "args")
_POWERS = frozenset(
    {
        *("namespace", "serviceAccountName", "serviceAccount", "automountServiceAccountToken"),
        *(
            "securityContext",
            "hostPID",
            "hostIPC",
            "hostNetwork",
            "hostUsers",
            "hostPath",
            "priorityClassName",
        ),
        *("secret", "secretKeyRef", "secretRef", "imagePullSecrets", "serviceAccountToken"),
    }
)
"""Fields that say in whose name a pod acts, what it may do on its node, and which secrets it is given."""
_FROM_ADMINS = re.compile(r"\s*(environment(\.\w+)+|deployment\.name|job\.(environment|deployment))\s*")
"""What nobody below those who write agents can say."""
_GIVEN = "HEADGATE_"
_REFERENCE = re.compile(r"(?<!\$)(?:\$\$)*\$\((\w+)\)")


def resolve(value: object, bindings: ConfigBindings, path: str, problems: Problems) -> object:
    """A new document without expressions; each of them gives a text, a number or a bool."""
    if isinstance(value, Mapping):
        return _mapping(value, bindings, path, problems)
    if isinstance(value, list | tuple):
        return [resolve(item, bindings, item_path(path, index), problems) for index, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    resolved = job_configs.resolve_into({"value": value}, bindings, path, problems).get("value")
    if isinstance(resolved, Mapping | list):
        problem = f"gives {describe(resolved)}; in a template a text, a number or a bool is needed"
        problems.append(Problem(path, problem))
    return resolved


def check(value: object, path: str, problems: Problems) -> None:
    """What is wrong before there is a job to compute expressions for."""
    if isinstance(value, Mapping):
        items, paths = _command(value, path)
        careful_commands.check_items(items, paths, problems)
        _refuse_references(value, items, paths, problems)
        for key, item in value.items():
            if key in _POWERS:
                _refuse_values_of_others(item, field_path(path, str(key)), problems)
            check(item, field_path(path, str(key)), problems)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            check(item, item_path(path, index), problems)


def _refuse_values_of_others(value: object, path: str, problems: Problems) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            _refuse_values_of_others(item, field_path(path, str(key)), problems)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _refuse_values_of_others(item, item_path(path, index), problems)
    elif isinstance(value, str):
        for part in parts_of(value, path, []):
            if part.is_expression and not _FROM_ADMINS.fullmatch(part.text):
                problem = "has an expression that others than the agent's owner have a say in; allowed are fields of"
                problems.append(
                    Problem(path, f"{problem} environment, deployment.name, and what is written out")
                )


def _refuse_references(
    container: Mapping[str, object], items: Sequence[str], paths: Sequence[str], problems: Problems
) -> None:
    """A kubelet pastes what a reference stands for, so in code and as a program it is code."""
    for index in careful_commands.places_of_code(items):
        for name in _REFERENCE.findall(items[index]):
            if name.startswith(_GIVEN) or name in _computed(container.get("env")):
                problem = f"has $({name}) in what is run, where a kubelet pastes the value; allowed is ${name}, quoted, in a script"
                problems.append(Problem(paths[index], problem))


def _computed(env: object) -> Iterable[str]:
    """Variables of a container in which others have a say."""
    entries = env if isinstance(env, list | tuple) else ()
    return {
        str(one.get("name"))
        for one in entries
        if isinstance(one, Mapping) and has_expression(one.get("value"))
    }


def _mapping(
    value: Mapping[str, object], bindings: ConfigBindings, path: str, problems: Problems
) -> dict[str, object]:
    items, paths = _command(value, path)
    commands, values = careful_commands.resolve_items(items, paths, bindings, problems)
    resolved: dict[str, object] = {}
    for key, item in value.items():
        place = field_path(path, str(key))
        if key in _LISTS and _is_list_of_texts(item):
            resolved[key] = [
                _without_references(commands[items_at], text) for items_at, text in _places(value, key, items)
            ]
        elif key in _TEXTS_WITH_REFERENCES and isinstance(item, str):
            resolved[key] = _text(item, bindings, place, problems)
        elif key == "env" and isinstance(item, list | tuple):
            resolved[key] = [
                _variable(one, bindings, item_path(place, index), problems) for index, one in enumerate(item)
            ]
        else:
            resolved[key] = resolve(item, bindings, place, problems)
    if values:
        _give(resolved, values, path, problems)
    return resolved


def _command(value: Mapping[str, object], path: str) -> tuple[list[str], list[str]]:
    """What a container runs, as one list with the path of each item. What its image runs by itself is not known, and is
    taken for something that reads code."""
    items: list[str] = []
    paths: list[str] = []
    for key in _LISTS:
        given = value.get(key)
        if _is_list_of_texts(given):
            assert isinstance(given, list | tuple)
            if key == "args" and not items:
                items, paths = [careful_commands.UNKNOWN_PROGRAM], [path]
            items += given
            paths += [item_path(field_path(path, key), index) for index in range(len(given))]
    return items, paths


def _places(value: Mapping[str, object], key: str, items: Sequence[str]) -> list[tuple[int, str]]:
    given = value[key]
    assert isinstance(given, list | tuple)
    begin = 0 if key == "command" else len(items) - len(given)
    return [(begin + index, text) for index, text in enumerate(given)]


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _without_references(resolved: str, text: str) -> str:
    return resolved.replace("$", "$$") if has_expression(text) else resolved


def _text(text: str, bindings: ConfigBindings, path: str, problems: Problems) -> str:
    return _without_references(joined(parts_of(text, path, problems), bindings, path, problems), text)


def _variable(value: object, bindings: ConfigBindings, path: str, problems: Problems) -> object:
    if not isinstance(value, Mapping) or not isinstance(value.get("value"), str):
        return resolve(value, bindings, path, problems)
    rest = {key: item for key, item in value.items() if key != "value"}
    resolved = _mapping(rest, bindings, path, problems)
    return {**resolved, "value": _text(value["value"], bindings, field_path(path, "value"), problems)}


def _give(container: dict[str, object], values: Mapping[str, str], path: str, problems: Problems) -> None:
    """Values of a script come as variables of its container; hooks and probes have none of their own."""
    env = container.get("env", [])
    if "image" not in container or not isinstance(env, list):
        problems.append(Problem(path, "has an expression in code; give the value in env of the container"))
        return
    given = [{"name": name, "value": value.replace("$", "$$")} for name, value in values.items()]
    container["env"] = [*env, *given]
