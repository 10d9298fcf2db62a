"""Objects as people write them: `apiVersion`, `kind`, `metadata`, `spec`; read with every problem at once, and back."""

from typing import Any, cast

import msgspec

from headgate.fleet import rules
from headgate.fleet.engine.manifest_text import TextDocument
from headgate.fleet.model import kinds
from headgate.fleet.model import objects as model
from headgate.fleet.model.changes import Object
from headgate.kernel import documents, identifiers, instants
from headgate.kernel.identifiers import IdSource
from headgate.kernel.instants import Instant
from headgate.kernel.problems import Problem, Rejected

API_VERSION = "headgate.dev/v1"
LARGEST_BYTES = 1024 * 1024
"""Of one object as JSON without spaces: it is in memory, in every answer about it, and in the audit log with each change."""
_encode = msgspec.json.Encoder(order="deterministic").encode

_TARGET_PARTS = frozenset(kind.name for kind in kinds.ALL if kind.is_target_part)
_NOT_IN_SPEC = frozenset({"id", "name", "workspace", "publishedAt", "setAt"})


class ForeignObject(msgspec.Struct, frozen=True):
    """An object of another level or system, kept as it was written."""

    api_version: str
    kind: str
    name: str
    document: dict[str, Any]


def parse(document: TextDocument | object, ids: IdSource, now: Instant) -> Object | ForeignObject:
    """`document` may be one that was read from text, or just its value."""
    value = document.value if isinstance(document, TextDocument) else document
    problems: list[Problem] = []
    result = _parse(value, ids, now, problems)
    if isinstance(document, TextDocument) and not isinstance(result, ForeignObject):
        problems.extend(document.problems)
    if problems or result is None:
        raise Rejected(problems)
    return result


def parse_parts(
    kind: str, metadata: dict[str, Any], spec: dict[str, Any], ids: IdSource, now: Instant
) -> Object:
    """An object of a known kind, of which only what a manifest wraps is given."""
    problems: list[Problem] = []
    result = _build(kind, metadata, spec, "spec", ids, now, problems)
    if problems or result is None:
        raise Rejected(problems)
    return result


def located(document: TextDocument, problem: Problem) -> Problem:
    """The same problem with file and line in front of its path; what was not read from text has no line."""
    line = document.line_of(problem.path)
    place = f"{document.source}:{line}" if line else document.source
    return Problem(f"{place}: {problem.path}" if problem.path else place, problem.message)


def _parse(
    value: object, ids: IdSource, now: Instant, problems: list[Problem]
) -> Object | ForeignObject | None:
    if not isinstance(value, dict):
        wanted = "a map with apiVersion, kind, metadata and spec"
        problems.append(Problem("", f"must be {wanted}, not {documents.describe(value)}"))
        return None
    if "kind" not in value and "rules" in value:
        return _parse_bare_policy(value, ids, now, problems)
    if _is_foreign(value):
        return _parse_foreign(value, problems)
    _check_api_version(value, problems)
    kind = _read_kind(value, problems)
    if kind is None:
        _read_metadata("", value.get("metadata"), problems)
        return None
    documents.refuse_unknown_keys(value, ("apiVersion", "kind", "metadata", "spec"), "", problems)
    spec = value.get("spec") if value.get("spec") is not None else {}
    if not isinstance(spec, dict):
        problems.append(Problem("spec", f"must be a map, not {documents.describe(spec)}"))
        spec = {}
    return _build(kind, value.get("metadata"), spec, "spec", ids, now, problems)


def _parse_bare_policy(
    value: dict[str, Any], ids: IdSource, now: Instant, problems: list[Problem]
) -> Object | None:
    """The short form of a policy: its fields without anything around them."""
    own_keys = ("id", "name", "workspace")
    metadata = {key: value[key] for key in own_keys if key in value}
    spec = {key: item for key, item in value.items() if key not in own_keys}
    return _build("Policy", metadata, spec, "", ids, now, problems)


def _is_foreign(value: dict[str, Any]) -> bool:
    """Kinds are shared with other systems (there is a Deployment in apps/v1), so the group decides."""
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return False
    if api_version == "v1":
        return kind not in kinds.BY_NAME
    return "/" in api_version and "headgate" not in api_version.lower()


def _parse_foreign(value: dict[str, Any], problems: list[Problem]) -> ForeignObject | None:
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not name:
        problems.append(Problem("metadata.name", "is required"))
    documents.check_json(value, "", problems)
    if problems:
        return None
    return ForeignObject(value["apiVersion"], value["kind"], str(name), value)


def _check_api_version(value: dict[str, Any], problems: list[Problem]) -> None:
    if "apiVersion" not in value:
        problems.append(Problem("apiVersion", f"is required; allowed is {API_VERSION}"))
    elif value["apiVersion"] != API_VERSION:
        given = documents.describe(value["apiVersion"])
        problems.append(Problem("apiVersion", f"is {given}; allowed is {API_VERSION}"))


def _read_kind(value: dict[str, Any], problems: list[Problem]) -> str | None:
    kind = value.get("kind")
    if isinstance(kind, str) and kind in kinds.BY_NAME:
        return kind
    if kind is None:
        problems.append(Problem("kind", f"is required; allowed are {', '.join(kinds.BY_NAME)}"))
    else:
        documents.read_choice(tuple(kinds.BY_NAME), kind, "kind", problems)
    return None


def _complete_version(spec: dict[str, Any], metadata: object) -> tuple[dict[str, Any], object]:
    """A version is known by deployment and tag; its name and its tag can stand for each other."""
    metadata = metadata if metadata is not None else {}
    if not isinstance(metadata, dict):
        return spec, metadata
    if "tag" not in spec and isinstance(metadata.get("name"), str):
        spec = {**spec, "tag": metadata["name"]}
    if "name" not in metadata and isinstance(spec.get("tag"), str):
        metadata = {**metadata, "name": f"{spec.get('deployment')}/{spec['tag']}"}
    return spec, metadata


def _read_metadata(
    kind: str, metadata: object, problems: list[Problem], *, path: str = "metadata"
) -> dict[str, str]:
    """What could be read of name, id and workspace."""
    if not isinstance(metadata, dict):
        message = "is required" if metadata is None else f"must be a map, not {documents.describe(metadata)}"
        problems.append(Problem(path, message))
        return {}
    if path:
        documents.refuse_unknown_keys(metadata, ("name", "id", "workspace"), path, problems)
    identity: dict[str, str] = {}
    name_kind = model.TargetPart if kind in _TARGET_PARTS else model.Name
    if "name" not in metadata:
        problems.append(Problem(documents.field_path(path, "name"), "is required"))
    for key, read_as in (("name", name_kind), ("workspace", model.Name), ("id", str)):
        if key in metadata:
            result = documents.read_into(read_as, metadata[key], documents.field_path(path, key), problems)
            if isinstance(result, str):
                identity[key] = result
    if "id" in identity and not identifiers.is_uuid(identity["id"]):
        message = f'must be a UUID, not "{identity["id"][:60]}"; leave it out to have one made'
        problems.append(Problem(documents.field_path(path, "id"), message))
    return identity


def _build(
    kind: str,
    metadata: object,
    spec: dict[str, Any],
    path: str,
    ids: IdSource,
    now: Instant,
    problems: list[Problem],
) -> Object | None:
    """`path` is that of the spec: where there is none, nothing is wrapped and all keys stand side by side."""
    if kind == "Version":
        spec, metadata = _complete_version(spec, metadata)
    identity = _read_metadata(kind, metadata, problems, path="metadata" if path else "")
    own_keys = () if path else ("id", "name", "workspace")
    allowed = tuple(key for key in documents.fields_of(kinds.BY_NAME[kind].model) if key not in _NOT_IN_SPEC)
    documents.refuse_unknown_keys(spec, (*own_keys, *allowed), path, problems)
    known: dict[str, Any] = {key: item for key, item in spec.items() if key in allowed and key != "rules"}
    name = identity.get("name", "-")
    workspace = identity.get("workspace", model.DEFAULT_WORKSPACE)
    id_ = identity["id"].lower() if "id" in identity else _new_id(kind, name, workspace, spec, ids)
    read_rules: tuple[model.Rule, ...] = ()
    if kind == "Policy":
        read_rules = _read_policy_rules(spec, id_, path, problems)
    document = {**known, "name": name, "id": id_, "workspace": workspace}
    result = documents.read_into(kinds.BY_NAME[kind].model, document, path, problems)
    if result is documents.INVALID or problems:
        return None
    built = cast(Object, result)
    if "createdAt" not in known:
        built = msgspec.structs.replace(built, created_at=now)
    built = _completed(built, read_rules, now)
    too_large = size_problem(built, path)
    if too_large is not None:
        problems.append(too_large)
    return built


def size_problem(item: msgspec.Struct, path: str) -> Problem | None:
    """Names the field that takes most of an object that is too large."""
    if len(_encode(item)) <= LARGEST_BYTES:
        return None
    sizes = {
        field.encode_name: len(_encode(getattr(item, field.name)))
        for field in msgspec.structs.fields(type(item))
    }
    size, largest = sum(sizes.values()), max(sizes, key=lambda name: sizes[name])
    message = (
        f"has {sizes[largest]:,} bytes as JSON, of {size:,} that the object has; "
        f"allowed are {LARGEST_BYTES:,} for one object"
    )
    return Problem(documents.field_path(path, largest), message)


def _new_id(kind: str, name: str, workspace: str, spec: dict[str, Any], ids: IdSource) -> str:
    if kind == "Version":
        name = f"{spec.get('deployment')}/{spec.get('tag')}"
    if documents.text_problem(name) is not None:
        name = "-"
    return ids.new(kind, name if workspace == model.DEFAULT_WORKSPACE else f"{workspace}/{name}")


def _read_policy_rules(
    spec: dict[str, Any], policy_id: str, path: str, problems: list[Problem]
) -> tuple[model.Rule, ...]:
    if "rules" not in spec:
        problems.append(Problem(documents.field_path(path, "rules"), "is required; [] means no rule"))
        return ()
    return rules.read_rules(spec["rules"], policy_id, documents.field_path(path, "rules"), problems)


def _completed(result: Object, read_rules: tuple[model.Rule, ...], now: Instant) -> Object:
    if isinstance(result, model.Policy):
        return msgspec.structs.replace(result, rules=read_rules)
    if isinstance(result, model.Resource):
        return msgspec.structs.replace(result, identifier=result.identifier or result.name)
    if isinstance(result, model.Version) and result.status == "ready":
        return msgspec.structs.replace(result, published_at=result.created_at)
    if isinstance(result, model.Signal):
        return msgspec.structs.replace(result, set_at=now)
    return result


def describe(described: Object | ForeignObject) -> dict[str, Any]:
    """The manifest that reads back as this object."""
    if isinstance(described, ForeignObject):
        return described.document
    metadata = {"name": described.name, "id": described.id}
    if described.workspace != model.DEFAULT_WORKSPACE:
        metadata["workspace"] = described.workspace
    written = documents.write(described)
    spec = {key: item for key, item in written.items() if key not in _NOT_IN_SPEC}
    if isinstance(described, model.Policy):
        spec["rules"] = [rules.write_rule(rule) for rule in described.rules]
    spec["createdAt"] = instants.show(described.created_at)
    return {"apiVersion": API_VERSION, "kind": kinds.of(described).name, "metadata": metadata, "spec": spec}
